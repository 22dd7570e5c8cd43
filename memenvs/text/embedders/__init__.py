"""Text encoders that are models: on disk, or behind an OpenAI-compatible endpoint."""
