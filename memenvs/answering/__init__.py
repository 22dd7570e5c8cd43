"""The end-to-end layer: what is read of a memory, what is answered from it, what counts."""
