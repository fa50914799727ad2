"""Devices, streams and events; each thread has a current device, and on each a current stream."""

import contextlib
import ctypes
import threading
import warnings

from ._driver import check, current_device, in_context, lib, set_device


class _Thread(threading.local):
    def __init__(self):
        self.devices = []  # those to go back to
        self.streams = {}  # the current one of each device
        self.outer = []  # streams to go back to


_here = _Thread()


class Device:
    def __init__(self, device=None):
        self.id = current_device() if device is None else int(device)

    def __int__(self):
        return self.id

    def __enter__(self):
        _here.devices.append(current_device())
        set_device(self.id)
        return self

    def __exit__(self, *exc):
        set_device(_here.devices.pop())

    def use(self):
        set_device(self.id)

    @contextlib.contextmanager
    def _inside(self):
        before = current_device()
        set_device(self.id)
        try:
            yield
        finally:
            set_device(before)

    def synchronize(self):
        with self._inside():
            check(lib.cuCtxSynchronize())

    @property
    def compute_capability(self):
        return "90"

    @property
    def mem_info(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        with self._inside():
            check(lib.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        return free.value, total.value

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


class _BaseStream:
    def __init__(self, ptr, device_id):
        self.ptr, self.device_id = ptr, device_id

    def __eq__(self, other):
        if not isinstance(other, _BaseStream):
            return NotImplemented
        return self.ptr == other.ptr

    def __hash__(self):
        return hash(self.ptr)

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def _on(self):
        """The device that this stream is for; RuntimeError if it is not the current one."""
        device = current_device()
        if self.device_id not in (-1, device):
            raise RuntimeError(
                f"This stream was not created on the current device (device {device}). "
                f"Stream device: {self.device_id}"
            )
        return device

    def __enter__(self):
        device = self._on()
        _here.outer.append((device, get_current_stream(device)))
        _here.streams[device] = self
        return self

    def __exit__(self, *exc):
        device, before = _here.outer.pop()
        _here.streams[device] = before

    def use(self):
        _here.streams[self._on()] = self
        return self

    @property
    def done(self):
        status = in_context().cuStreamQuery(self.ptr)
        if status not in (0, 600):
            check(status)
        return status == 0

    def synchronize(self):
        check(in_context().cuStreamSynchronize(self.ptr))

    def record(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        check(in_context().cuStreamWaitEvent(self.ptr, event.ptr, 0))


class Stream(_BaseStream):
    null: "Stream"

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=0):
        if ptds:
            raise NotImplementedError("the simulated device has no per-thread default stream")
        self._owned = not null
        if null:
            super().__init__(0, -1)
            return
        device, made = current_device(), ctypes.c_void_p()
        flags = 1 if non_blocking else 0
        check(in_context().cuStreamCreateWithPriority(ctypes.byref(made), flags, priority))
        super().__init__(made.value, device)

    def __del__(self):
        if lib is not None and getattr(self, "_owned", False):
            lib.cuStreamDestroy_v2(self.ptr)

    @classmethod
    def from_external(cls, obj):
        if not hasattr(obj, "__cuda_stream__"):
            raise TypeError(f"{type(obj).__name__} does not implement __cuda_stream__")
        found = obj.__cuda_stream__()
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError("__cuda_stream__ must return a tuple of version and handle")
        made = cls.__new__(cls)
        _BaseStream.__init__(made, int(found[1]), -1)
        made._foreign_stream_ref, made._owned = obj, False
        return made


class ExternalStream(_BaseStream):
    def __init__(self, ptr, device_id=-1):
        warnings.warn(
            "ExternalStream is deprecated. Use Stream.from_external() instead to interoperate "
            "with external streams that implement the CUDA stream protocol.",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(int(ptr), device_id)


Stream.null = Stream(null=True)


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        made = ctypes.c_void_p()
        current_device()
        flags = block * 1 | disable_timing * 2 | interprocess * 4
        check(in_context().cuEventCreate(ctypes.byref(made), flags))
        self.ptr = made.value

    def __del__(self):
        if lib is not None and getattr(self, "ptr", 0):
            lib.cuEventDestroy_v2(self.ptr)

    @property
    def done(self):
        status = in_context().cuEventQuery(self.ptr)
        if status not in (0, 600):
            check(status)
        return status == 0

    def record(self, stream=None):
        check(in_context().cuEventRecord(self.ptr, pointer(stream)))

    def synchronize(self):
        check(in_context().cuEventSynchronize(self.ptr))


def get_elapsed_time(start_event, end_event):
    milliseconds = ctypes.c_float()
    check(lib.cuEventElapsedTime(
        ctypes.byref(milliseconds),
        ctypes.c_void_p(start_event.ptr),
        ctypes.c_void_p(end_event.ptr),
    ))  # fmt: skip
    return milliseconds.value


def get_current_stream(device_id=-1):
    device = current_device() if device_id < 0 else device_id
    return _here.streams.get(device, Stream.null)


def pointer(stream=None):
    """The handle of ``stream``, or of the current one."""
    return (get_current_stream() if stream is None else stream).ptr
