"""Readers of published data sets, each a Conversion of files to materials."""
