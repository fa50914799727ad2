"""``cupy.cuda.stream`` of the simulated device."""

from .._streams import Event as Event
from .._streams import ExternalStream as ExternalStream
from .._streams import Stream as Stream
from .._streams import get_current_stream as get_current_stream
