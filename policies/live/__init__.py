"""A memory for a running agent."""
