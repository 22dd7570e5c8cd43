"""Hand-written write rules."""
