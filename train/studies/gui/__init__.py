"""The ladder of merge rules on graphical interfaces: play it, and say what it shows."""
