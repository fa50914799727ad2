"""``cupy.cuda.device`` of the simulated device."""

from .._streams import Device as Device
