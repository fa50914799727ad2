"""How arrays travel between workers, and to disk: by their memory itself, without a copy."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray.context import Context, as_device
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, leaf_grad, no_sync, paused, returned
from lazyarray.ops import _rows

__all__ = ["register", "register_cuda"]

_WHAT = "serialization"


def register(protocol: Any) -> None:
    """Teaches the family of serialisers that ``distributed`` asks first.

    Pickle's buffers would do as well, but an array that is made on a buffer that its caller may
    still have has to be a copy; here we know that nobody else has it.
    """
    protocol.dask_serialize.register(Tensor, _dumps)
    protocol.dask_deserialize.register(Tensor, _loads)


def _dumps(x: Any) -> tuple[dict[str, Any], list[Any]]:
    try:
        x.wait_to_read()
    except Exception as error:
        return _failed(x, error)
    if leaf_grad(x):
        raise NotImplementedError("an array with a gradient")  # pickle, which is next, takes both
    # Until the frame is gone, each op on x has run when its call returns.
    host: np.ndarray = _share.export(x, _WHAT) if x.device._on_host else x.asnumpy()
    once = host[tuple(slice(None) if step else slice(1) for step in host.strides)]
    turned = once.flags.f_contiguous and not once.flags.c_contiguous
    rows = once.T if turned else np.asarray(once, order="C")
    header = _about(x, rows.shape) | {
        "turned": turned,
        "broadcast": x.shape if once.shape != host.shape else None,
    }
    bits: Any = rows.reshape(-1).view(np.uint8)
    return header, [_APART, memoryview(bits)]


def _about(x: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """What all headers say of an array; ``shape`` is that of what is sent."""
    return {
        "dtype": x.dtype.str,
        "shape": shape,
        "device": (x.device.device_type, x.device.device_id),
        "scalar": isinstance(x, Number),
    }


def _place(header: dict[str, Any]) -> Any:
    """The device that the array was on; RuntimeError for a GPU that is not here."""
    return as_device(Context(*header["device"]))


# Over TCP the first frame arrives in one buffer with the message before it, at any address. That is
# this one: the array's has a buffer of its own, and so is aligned.
_APART = bytearray()


def _loads(header: dict[str, Any], frames: list[Any]) -> Any:
    la = _public.namespace
    _, frame = frames
    if "failed" in header:
        return _fails(header, frame)
    bits = np.frombuffer(frame, np.uint8) if len(frame) else np.empty(0, np.uint8)
    rows = bits.view(header["dtype"]).reshape(header["shape"])
    # Read-only or unaligned memory is copied.
    x: Any = _rows.kept(rows, _place(header), alone=True)
    x = x.T if header["turned"] else x
    if header["broadcast"] is not None:
        x = la.broadcast_to(x, header["broadcast"])
    return returned(x) if header["scalar"] else x


def _failed(x: Any, error: Exception) -> tuple[dict[str, Any], list[Any]]:
    """The error in the place of the values: Dask waits for ever for what can't be sent."""
    from distributed.protocol.pickle import dumps

    try:
        what = dumps(error)
    except Exception:
        what = dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return _about(x, x.shape) | {"failed": True}, [_APART, what]


def _fails(header: dict[str, Any], frame: Any) -> Any:
    """An array like the one that failed: who reads it gets the error."""
    from distributed.protocol.pickle import loads

    error = loads(frame)

    def fail(outs: Any, ins: Any) -> None:
        raise error

    out = _rows.empty(tuple(header["shape"]), np.dtype(header["dtype"]), _place(header))
    with no_sync(), paused():  # Dask receives inside a `try`, where an op would raise at once
        x: Any = _rows.call("received", fail, [], [out], cost=0)[0]
    return returned(x) if header["scalar"] else x


def register_cuda(protocol: Any) -> None:
    """Teaches the family of serialisers for connections between GPUs (``UCX``)."""
    protocol.cuda_serialize.register(Tensor, _cuda_dumps)
    protocol.cuda_deserialize.register(Tensor, _cuda_loads)


def _cuda_dumps(x: Any) -> tuple[dict[str, Any], list[Any]]:
    """As Dask has it for CuPy's arrays, whose file there needs Numba or RMM, too."""
    if x.device.device_type != "gpu":
        raise NotImplementedError("an array on the host")  # the next family has a try
    try:
        x.wait_to_read()
    except Exception as error:
        raise NotImplementedError("an array that failed") from error
    turned = x.flags.f_contiguous and not x.flags.c_contiguous
    rows = x.T if turned else x
    flat = _public.namespace.ascontiguousarray(rows).reshape(-1)
    return _about(x, rows.shape) | {"turned": turned}, [flat.ascupy().view("u1")]


def _cuda_loads(header: dict[str, Any], frames: list[Any]) -> Any:
    import cupy

    (frame,) = frames
    rows = cupy.asarray(frame).view(header["dtype"]).reshape(header["shape"])
    # A copy on the device: what is shared with CuPy has its ops wait for all of the device.
    x: Any = _public.namespace.from_dlpack(rows).copy()
    x = x.T if header["turned"] else x
    return returned(x) if header["scalar"] else x
