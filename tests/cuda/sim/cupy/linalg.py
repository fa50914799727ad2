"""``cupy.linalg`` of the simulated device: filled by _functions.py."""

from numpy.linalg import LinAlgError as LinAlgError
