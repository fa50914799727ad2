"""``cupy.fft`` of the simulated device: filled by _functions.py."""
