"""Studies: settings, a loader and a score each."""
