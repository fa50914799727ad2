"""NumPy's functions on device arrays: wait for the current stream, compute, write in its order.

Inputs are read at the call, after all that the current stream has; results come to device memory
by a task of that stream. So a dependency that is missing shows on either side.
"""

import ctypes

import numpy as np

from . import _streams
from ._driver import check, in_context, lib


def _array():
    from ._core import ndarray

    return ndarray


def _extent(a):
    from ._core import extent

    return extent(a.shape, a.strides, a.itemsize)


class _Place:
    """Elements at an address, as NumPy is told of them."""

    def __init__(self, address, a, read_only):
        self.__array_interface__ = {
            "version": 3,
            "shape": a.shape,
            "strides": a.strides,
            "typestr": a.dtype.str,
            "data": (address, read_only),
        }


def bare(a):
    """NumPy's view of a device array's memory, without waiting: for metadata alone."""
    low, high = _extent(a)
    if low == high:
        return np.empty(a.shape, a.dtype)
    return np.asarray(_Place(lib.sim_where(a.data.ptr), a, False))


def read(a, stream=None):
    """NumPy's read-only view of the elements, after all that the stream has."""
    low, high = _extent(a)
    if low == high:
        check(in_context().cuStreamSynchronize(_streams.pointer(stream)))
        return np.empty(a.shape, a.dtype)
    where = ctypes.c_void_p()
    pointer = _streams.pointer(stream)
    check(lib.sim_read(a.data.ptr + low, high - low, pointer, ctypes.byref(where)))
    return np.asarray(_Place(where.value - low, a, True))


def write(a, values, stream=None):
    """Writes NumPy values (broadcast, cast) in the stream's order; they are taken now."""
    low, high = _extent(a)
    if low == high:
        return
    values = np.ascontiguousarray(np.broadcast_to(values, a.shape), a.dtype)
    shape = (ctypes.c_int64 * max(a.ndim, 1))(*a.shape)
    steps = (ctypes.c_int64 * max(a.ndim, 1))(*a.strides)
    check(lib.sim_write(
        a.data.ptr, a.ndim, shape, steps, low, high, a.itemsize, values.ctypes.data,
        _streams.pointer(stream),
    ))  # fmt: skip


def on_host(value, reader=read):
    """Device arrays in a nest of lists and tuples, as NumPy's."""
    if isinstance(value, _array()):
        return reader(value)
    if isinstance(value, tuple):
        return tuple(on_host(v, reader) for v in value)
    if isinstance(value, list):
        return [on_host(v, reader) for v in value]
    if isinstance(value, slice):
        return slice(*(on_host(v, reader) for v in (value.start, value.stop, value.step)))
    return value


def arrays_in(value):
    if isinstance(value, _array()):
        return [value]
    if isinstance(value, tuple | list):
        return [a for v in value for a in arrays_in(v)]
    return []


def _as_view(result, sources):
    """The device array of a NumPy view of one of the sources' memory; None if it is none's."""
    address = result.__array_interface__["data"][0]
    for source in sources:
        low, high = _extent(source)
        if low == high:
            continue
        offset = address - lib.sim_where(source.data.ptr)
        if low <= offset < high and result.size:
            made = _array()(result.shape, result.dtype, source.data + offset, result.strides)
            made.base = source if source.base is None else source.base
            return made
    return None


def on_device(result, sources=()):
    """A result of NumPy's as CuPy has it: arrays and scalars on the device, views as views."""
    if isinstance(result, np.ndarray):
        from ._core import new

        view = _as_view(result, sources)
        return new(result) if view is None else view
    if isinstance(result, np.generic):
        return on_device(np.asarray(result))
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(on_device(r, sources) for r in result))
    if isinstance(result, tuple | list):
        return type(result)(on_device(r, sources) for r in result)
    return result


def refuse_host(values):
    """CuPy's functions take no NumPy arrays."""
    for value in values:
        if isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {type(value)}")
        if isinstance(value, tuple | list):
            refuse_host(value)


def call(function, args, kwargs, changed=()):
    """NumPy's `function` on device arrays; `changed`: numbers of arguments it writes to."""
    refuse_host(args)
    refuse_host(kwargs.values())
    out = kwargs.pop("out", None)
    single = not isinstance(out, tuple)
    outs = [out] if single else list(out)
    if any(o is not None and not isinstance(o, _array()) for o in outs):
        raise TypeError("Output arguments must be cupy.ndarray")
    sources = arrays_in(args) + arrays_in(list(kwargs.values()))
    host_args = [on_host(a) for a in args]
    copies = [(args[k], np.array(host_args[k])) for k in changed]
    for k, (_, copy) in zip(changed, copies, strict=True):
        host_args[k] = copy
    kwargs = {name: on_host(value) for name, value in kwargs.items()}
    if out is not None:
        temporary = [None if o is None else np.array(read(o)) for o in outs]
        copies += [(o, t) for o, t in zip(outs, temporary, strict=True) if o is not None]
        kwargs["out"] = temporary[0] if single else tuple(temporary)
    with np.errstate(all="ignore"):
        result = function(*host_args, **kwargs)
    for target, copy in copies:
        write(target, copy)
    if out is None:
        return on_device(result, sources)
    results = result if isinstance(result, tuple) else (result,)
    made = tuple(
        given if given is not None else on_device(r) for r, given in zip(results, outs, strict=True)
    )
    return made if isinstance(result, tuple) else made[0]


def metadata(function, args, kwargs):
    """For functions that look at shapes and types alone: nothing is waited for."""
    kwargs = {name: on_host(value, bare) for name, value in kwargs.items()}
    result = function(*(on_host(a, bare) for a in args), **kwargs)
    return on_device(result) if isinstance(result, np.ndarray) else result


def view_or_call(function, args, kwargs):
    """For functions that mostly give views: those are made without waiting for the stream."""
    refuse_host(args)
    sources = arrays_in(args)
    if sources:
        found = function(*(on_host(a, bare) for a in args), **kwargs)
        several = isinstance(found, tuple | list)
        views = [_as_view(f, sources) for f in (found if several else [found])]
        if all(view is not None for view in views):
            return type(found)(views) if several else views[0]
    return call(function, args, kwargs)


# --- indexing ---


def _parts(key):
    return key if isinstance(key, tuple) else (key,)


def _is_basic(key):
    """Whether indexing gives a view: by integers, slices, None and Ellipsis (a bool is a mask)."""
    return all(
        part is None
        or part is Ellipsis
        or (isinstance(part, slice | int | np.integer) and not isinstance(part, bool))
        for part in _parts(key)
    )


def _wrapped(key, shape):
    """CuPy goes round where integer arrays of indices go out of bounds; NumPy raises."""
    parts = list(_parts(key))
    axis, taken = 0, 0
    for part in parts:
        if part is not None and part is not Ellipsis:
            taken += part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1
    for k, part in enumerate(parts):
        if part is None:
            continue
        if part is Ellipsis:
            axis += len(shape) - taken
        elif isinstance(part, list | np.ndarray):
            host = np.asarray(part)
            if host.dtype == bool:
                axis += host.ndim
                continue
            if shape[axis]:
                parts[k] = host.astype(np.intp) % shape[axis]
            axis += 1
        else:
            axis += 1
    return tuple(parts) if isinstance(key, tuple) else parts[0]


def getitem(a, key):
    if not _is_basic(key):
        return on_device(read(a)[_wrapped(on_host(key), a.shape)])
    view = bare(a)[_parts(key)]
    if isinstance(view, np.generic):  # an element: CuPy has a view of no axes
        view = bare(a)[(*_parts(key), Ellipsis)]
    return _as_view(view, [a]) if view.size else _array()(view.shape, view.dtype)


def setitem(a, key, value):
    if isinstance(value, np.ndarray | list | tuple) and np.ndim(value):
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    value = on_host(value)
    if _is_basic(key):
        target = getitem(a, key)
        shape = np.shape(value)
        while len(shape) > target.ndim and shape[0] == 1:
            value, shape = np.asarray(value)[0], shape[1:]
        with np.errstate(all="ignore"):
            values = np.empty(target.shape, a.dtype)
            values[...] = value
        write(target, values)
        return
    copy = np.array(read(a))
    with np.errstate(all="ignore"):
        copy[_wrapped(on_host(key), a.shape)] = value
    write(a, copy)


# --- protocols ---


def array_ufunc(ufunc, method, inputs, kwargs):
    import cupy

    if "out" in kwargs:
        if len(kwargs["out"]) != 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        kwargs["out"] = kwargs["out"][0]
    mine = getattr(cupy, ufunc.__name__, None)
    if mine is None:
        return NotImplemented
    if method != "__call__":
        mine = getattr(mine, method)
    return mine(*inputs, **kwargs)


def array_function(func, types, args, kwargs):
    import cupy

    module = cupy
    for part in func.__module__.split(".")[1:]:
        module = getattr(module, part, None)
    mine = getattr(module, func.__name__, None)
    if mine is None:
        return NotImplemented
    return mine(*args, **kwargs)
