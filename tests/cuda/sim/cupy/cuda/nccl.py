"""``cupy.cuda.nccl`` of the simulated device: ``sim/nccl.cpp``, by NCCL's names."""

import ctypes
import os
import tempfile
import uuid

from .._driver import current_device, in_context, lib

(NCCL_INT8, NCCL_UINT8, NCCL_INT32, NCCL_UINT32, NCCL_INT64, NCCL_UINT64, NCCL_FLOAT16,
 NCCL_FLOAT32, NCCL_FLOAT64) = range(9)  # fmt: skip
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN = range(4)
available = True
_BYTES = 128


class NcclError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"NCCL_ERROR_INVALID_ARGUMENT: the simulated driver's error {status}")


def _check(status):
    if status:
        raise NcclError(status)


def get_version():
    return 22800


def get_unique_id():
    return tuple(uuid.uuid4().hex.encode().ljust(_BYTES, b"\0"))


def groupStart():
    _check(lib.sim_nccl_group(0))


def groupEnd():
    _check(lib.sim_nccl_group(1))


class NcclCommunicator:
    def __init__(self, ndev, commId, rank):
        if not isinstance(commId, tuple) or len(commId) != _BYTES:
            raise TypeError("commId is what get_unique_id() gave")
        name = bytes(commId).rstrip(b"\0").decode()
        folder = os.environ.get("LAZYARRAY_SIM_CACHE") or tempfile.gettempdir()
        path = os.path.join(folder, f"nccl-{name}").encode()
        self._comm, self._size, self._rank = ctypes.c_void_p(), ndev, rank
        self._device = current_device()
        _check(lib.sim_nccl_init(ctypes.byref(self._comm), path, ndev, rank))

    def device_id(self):
        return self._device

    def rank_id(self):
        return self._rank

    def size(self):
        return self._size

    def destroy(self):
        self._end(0)

    def abort(self):
        self._end(1)

    __del__ = destroy

    def _end(self, aborts, call=lib.sim_nccl_end):
        comm, self._comm = self._comm, None
        if comm is not None:
            call(comm, aborts)

    def _call(self, what, sendbuf, recvbuf, count, datatype, op, other, stream):
        if current_device() != self._device:
            raise NcclError(5)
        _check(in_context().sim_nccl(
            self._comm, what, sendbuf, recvbuf, count, datatype, op, other, stream
        ))  # fmt: skip

    def allReduce(self, sendbuf, recvbuf, count, datatype, op, stream):
        self._call(b"A", sendbuf, recvbuf, count, datatype, op, 0, stream)

    def reduce(self, sendbuf, recvbuf, count, datatype, op, root, stream):
        self._call(b"R", sendbuf, recvbuf, count, datatype, op, root, stream)

    def broadcast(self, sendbuff, recvbuff, count, datatype, root, stream):
        self._call(b"B", sendbuff, recvbuff, count, datatype, 0, root, stream)

    def reduceScatter(self, sendbuf, recvbuf, recvcount, datatype, op, stream):
        self._call(b"S", sendbuf, recvbuf, recvcount, datatype, op, 0, stream)

    def allGather(self, sendbuf, recvbuf, count, datatype, stream):
        self._call(b"G", sendbuf, recvbuf, count, datatype, 0, 0, stream)

    def send(self, sendbuf, count, datatype, peer, stream):
        self._call(b">", sendbuf, 0, count, datatype, 0, peer, stream)

    def recv(self, recvbuf, count, datatype, peer, stream):
        self._call(b"<", 0, recvbuf, count, datatype, 0, peer, stream)
