"""Environments: the registry table and what it registers."""
