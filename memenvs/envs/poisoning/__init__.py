"""The poisoning environment: which entries of a misleading history enter the context."""
