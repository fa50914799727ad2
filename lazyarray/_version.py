"""The version of this package, as in ``pyproject.toml`` and ``meson.build``."""

__version__ = "0.1.0"
