"""Materials: their records, what claims entail, and their files."""
