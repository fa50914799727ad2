"""What CuPy does, by the names of kernels."""
GUFUNCS = {}
PYTHON = {}
CLOSURES = frozenset()
