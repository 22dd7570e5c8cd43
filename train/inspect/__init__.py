"""Inspection: what a material holds, how hard it is, and what is likely wrong with it."""
