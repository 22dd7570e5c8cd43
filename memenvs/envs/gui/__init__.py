"""Graphical user interfaces as environments: simulated panels, and real pages in a browser."""
