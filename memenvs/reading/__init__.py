"""Reading a memory: what is retrieved, what is answered from it, and what counts as right."""
