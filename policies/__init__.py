"""Write policies: everything that chooses what a memory keeps."""
