"""Evaluation, comparison and the command line."""
