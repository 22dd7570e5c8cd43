"""What all files of our own share: strict reading, whole writing, open handles, trust, messages."""
