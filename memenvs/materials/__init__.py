"""Materials that ship with the package, and readers of published data sets."""
