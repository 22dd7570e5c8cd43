"""Beliefs about claims and sources, by the rates of the generator."""
