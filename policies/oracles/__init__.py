"""Oracles: privileged policies that read the material."""
