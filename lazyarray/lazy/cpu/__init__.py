"""The host's processors: NumPy's own loops over tiles, and loops that are compiled."""
