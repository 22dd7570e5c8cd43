"""Policies that are fitted or trained, and the files that they are saved in."""
