"""Memories that exist, measured: whatever adds texts and lists what it holds, in any language."""
