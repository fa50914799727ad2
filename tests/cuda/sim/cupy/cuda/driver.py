"""``cupy.cuda.driver`` of the simulated device."""

from .._driver import CUDARuntimeError


class CUDADriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(str(CUDARuntimeError(status)))
