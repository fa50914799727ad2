"""``cupy.lib`` of the simulated device."""

from . import stride_tricks as stride_tricks
