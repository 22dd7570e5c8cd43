"""What docs/generate.py writes, by page."""
