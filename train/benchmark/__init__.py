"""The benchmark: a frozen protocol, so that two people's numbers compare."""
