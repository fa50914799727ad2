"""The version of this package, as in ``pyproject.toml`` and ``meson.build``: ``numpy.version``.

Its first two numbers are those of the NumPy whose interface it has: programs ask them of
``np.__version__``, and go by NumPy 1's rules where the first one is less than 2.

>>> import lazyarray as la
>>> la.version.full_version == la.__version__
True
"""

__all__ = ["full_version", "release", "short_version", "version"]

__version__ = version = full_version = short_version = "2.4.0"
release = True
