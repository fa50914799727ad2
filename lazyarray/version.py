"""The version of this package, as in ``pyproject.toml`` and ``meson.build``: ``numpy.version``.

>>> import lazyarray as la
>>> la.version.full_version == la.__version__
True
"""

__all__ = ["full_version", "release", "short_version", "version"]

__version__ = version = full_version = short_version = "0.1.0"
release = True
