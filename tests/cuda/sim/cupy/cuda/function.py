"""``cupy.cuda.function`` of the simulated device."""

from .._raw import Function as Function
