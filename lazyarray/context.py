"""Contexts: the devices that arrays live on, and the one that new arrays are made on."""

from __future__ import annotations

import os

from lazyarray.engine import Device
from lazyarray.lazy._lazy import DeviceScope, swap_current_device
from lazyarray.lazy._lazy import hosted_ops as hosted
from lazyarray.lazy.cuda import device as cuda

__all__ = [
    "Context", "cpu", "cpu_pinned", "current_context", "gpu", "gpu_count", "hosted_ops",
    "memory_info",
]  # fmt: skip


class Context(DeviceScope):
    """A device as users name it: ``la.cpu(0)``; as a ``with`` block, where new arrays are made.

    Args:
        device_type: "cpu", "gpu" or "cpu_pinned"; or a device, which is copied.
        device_id: its number among those, from 0.
    Raises: ValueError for another type, or a number not from 0 to 65535; TypeError for a number
        that is no integer.

    >>> import lazyarray as la
    >>> with la.cpu(1):
    ...     x = la.zeros(2)
    >>> x.ctx, la.current_context()
    (cpu(1), cpu(0))
    """

    def _checked(self) -> None:
        as_device(self)


def cpu(device_id: int = 0) -> Context:
    """CPU device ``device_id``: each is a device with its own workers and memory pool.

    Args:
        device_id: its number, from 0.
    Returns: a :class:`Context`.
    Raises: ValueError for a negative number, TypeError for what is no integer.

    >>> import lazyarray as la
    >>> la.zeros(2, ctx=la.cpu(1)).ctx
    cpu(1)
    """
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Host memory that a GPU can copy from directly; without a GPU it is ordinary memory.

    Where there is one, it is opened: arrays that are made there before would be ordinary ones.

    Args:
        device_id: the number of the GPU that is to copy.
    Returns: a :class:`Context`.
    Raises: ValueError for a negative number, TypeError for what is no integer.

    >>> import lazyarray as la
    >>> la.cpu_pinned()
    cpu_pinned(0)
    """
    place = Context("cpu_pinned", device_id)
    if cuda.count() > place.device_id:
        cuda.open_device(place.device_id)
    return place


def gpu(device_id: int = 0) -> Context:
    """CUDA device ``device_id``; RuntimeError, saying what is missing, if there is none.

    Args:
        device_id: its number, from 0.
    Returns: a :class:`Context`.
    Raises: RuntimeError if CuPy, a driver or that device is missing; ValueError for a negative
        number.

    >>> import lazyarray as la
    >>> try:
    ...     x = la.ones(3, ctx=la.gpu(0))
    ... except RuntimeError as exc:
    ...     print("no GPU here:", exc)  # doctest: +SKIP
    """
    place = Context("gpu", device_id)
    cuda.open_device(place.device_id)
    return place


def gpu_count() -> int:
    """The number of CUDA devices; 0 without CuPy or without a driver.

    Returns: an int.
    Raises: nothing: what does not work is counted as no device.

    >>> import lazyarray as la
    >>> la.gpu_count() >= 0
    True
    """
    return cuda.count()


def hosted_ops() -> dict[str, int]:
    """How often operations on GPUs ran on the host so far, by name: what no GPU has.

    Each costs two copies and a wait of its worker. The names are those of ``la.explain()``.

    Returns: a dict.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.context.hosted_ops()
    {}
    """
    return hosted()


def memory_info(ctx: object = None) -> tuple[int, int]:
    """Free and total bytes of memory of the device ``ctx`` (default: the current one).

    Of a GPU as its driver counts them, of a CPU device what the system can give.

    Args:
        ctx: the device; None: the current one.
    Returns: a pair of ints.
    Raises: RuntimeError for a GPU that is not there.

    >>> import lazyarray as la
    >>> free, total = la.context.memory_info()
    >>> 0 < free <= total
    True
    """
    device = as_device(ctx) or current_context()
    if device.device_type == "gpu":
        return cuda.memory_info(device.device_id)
    page = os.sysconf("SC_PAGE_SIZE")
    return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


def current_context() -> Context:
    """The device that this thread makes new arrays on.

    Returns: a :class:`Context`: that of the innermost ``with`` block, else ``cpu(0)``.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.current_context()
    cpu(0)
    """
    device = swap_current_device(Device("cpu", 0))
    swap_current_device(device)
    return Context(device.device_type, device.device_id)


def as_device(device: object) -> Device | None:
    """A device from what ``ctx=`` or ``device=`` may be: None, a Device, or ``"cpu:1"``."""
    if device is None:
        return None
    if isinstance(device, str):
        kind, _, number = device.partition(":")
        if number and not number.isdigit():
            raise ValueError(f"a device is written like 'cpu:0', not {device!r}")
        device = Context(kind, int(number or 0))
    if not isinstance(device, Device):
        raise TypeError(f"a device is a Context, not {type(device).__name__}")
    return gpu(device.device_id) if device.device_type == "gpu" else device


def chosen(ctx: object, device: object) -> Device | None:
    """The device that ``ctx=`` and ``device=`` of a function name; ValueError if they differ."""
    one, two = as_device(ctx), as_device(device)
    if one is not None and two is not None and one != two:
        raise ValueError(f"ctx={one!r} and device={two!r} name different devices: give one of them")
    return two if one is None else one
