"""``cupy.cuda.function`` of the simulated device."""

from .._raw import Function as Function
from .._raw import Module as Module
