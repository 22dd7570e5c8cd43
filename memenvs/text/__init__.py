"""Texts: encoders and embedders, and the client of language models."""
