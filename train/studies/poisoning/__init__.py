"""The study of memories and policies on poisoned histories."""
