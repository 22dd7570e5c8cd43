"""Opponents of a writer in the games: poisoners and askers."""
