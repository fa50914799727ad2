"""``cupy.ndarray`` of the simulated device: metadata here, elements in device memory."""

import numpy as np

from . import _apply, _memory, _methods

_KINDS = "?bhilqBHILQefdFD"


def supported(dtype):
    """The dtype, if the device has it; ValueError as CuPy."""
    dtype = np.dtype(dtype)
    if dtype.char not in _KINDS or not dtype.isnative:
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def extent(shape, strides, itemsize):
    """First byte and the one behind the last, from the first element; (0, 0) if there is none."""
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + itemsize


class ndarray:
    __array_priority__ = 100
    __module__ = "cupy"

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(int(n) for n in shape)
        if any(n < 0 for n in shape):
            raise ValueError("Negative dimensions are not allowed")
        dtype = supported(float if dtype is None else dtype)
        if strides is None:
            axes = range(len(shape))
            steps, step = [0] * len(shape), dtype.itemsize
            for axis in axes if order == "F" else reversed(axes):
                steps[axis] = step
                step *= max(shape[axis], 1)
            strides = tuple(steps)
        elif memptr is None:
            raise ValueError("memptr is required if strides is given.")
        self._shape, self._strides = shape, tuple(int(step) for step in strides)
        self.dtype, self.base = dtype, None
        if memptr is None:
            size = dtype.itemsize
            for n in shape:
                size *= n
            memptr = _memory.alloc(size)
        self.data = memptr

    # --- metadata ---

    shape = property(lambda self: self._shape)
    strides = property(lambda self: self._strides)
    ndim = property(lambda self: len(self._shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    device = property(lambda self: self.data.device)
    flags = property(lambda self: _apply.bare(self).flags)

    @shape.setter
    def shape(self, shape):
        view = self.reshape(shape)
        if view.data.ptr != self.data.ptr:
            raise AttributeError("Incompatible shape for in-place modification.")
        self._shape, self._strides = view.shape, view.strides

    @property
    def size(self):
        size = 1
        for n in self._shape:
            size *= n
        return size

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self._shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "version": 3,
            "strides": self._strides,
            "data": (self.data.ptr, False),
            "stream": 1,
        }

    # --- from and to the host ---

    def get(self, stream=None, order="C", out=None, blocking=True):
        """A copy on the host, after all that the stream has."""
        found = _apply.read(self, stream).copy(order)
        if out is None:
            return found
        out[...] = found
        return out

    def set(self, arr, stream=None):
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError("Shape or dtype mismatch.")
        _apply.write(self, arr, stream)

    def item(self, *at):
        return self.get().item(*at)

    def tolist(self):
        return self.get().tolist()

    def tobytes(self, order="C"):
        return self.get().tobytes(order)

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __bool__(self):
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is "
                "ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get())

    __int__ = lambda self: int(self.get())  # noqa: E731
    __float__ = lambda self: float(self.get())  # noqa: E731
    __complex__ = lambda self: complex(self.get())  # noqa: E731
    __repr__ = lambda self: repr(self.get())  # noqa: E731
    __str__ = lambda self: str(self.get())  # noqa: E731
    __hash__ = None

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    # --- indexing ---

    def __getitem__(self, key):
        return _apply.getitem(self, key)

    def __setitem__(self, key, value):
        _apply.setitem(self, key, value)

    # --- the protocols that NumPy's functions ask for ---

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return _apply.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return _apply.array_function(func, types, args, kwargs)


def new(host, stream=None):
    """A device array with a NumPy array's elements, in C order."""
    made = ndarray(host.shape, host.dtype)
    _apply.write(made, host, stream)
    return made


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    found = np.asarray(a, order=order)
    if out is None:
        return found
    out[...] = found
    return out


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    if isinstance(obj, ndarray) and not copy and dtype in (None, obj.dtype) and ndmin <= obj.ndim:
        return obj
    if not isinstance(obj, ndarray) and hasattr(obj, "__cuda_array_interface__"):
        return array(_shared(obj), dtype, copy, order, subok, ndmin)
    host = np.array(_apply.on_host(obj), dtype=dtype, ndmin=ndmin)
    supported(host.dtype)
    return new(host)


def _shared(obj):
    """An array on the memory that another library's describes."""
    seen = obj.__cuda_array_interface__
    dtype = np.dtype(seen["typestr"])
    steps = seen["strides"] or np.empty(seen["shape"], dtype).strides
    # CuPy's own rule, which is wrong of steps that overlap or go back.
    nbytes = max(
        [abs(n * s) for n, s in zip(seen["shape"], steps, strict=True)], default=dtype.itemsize
    )
    memory = _memory.UnownedMemory(seen["data"][0], nbytes, obj)
    return ndarray(seen["shape"], dtype, _memory.MemoryPointer(memory, 0), steps)


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return array(a, dtype, copy=bool(copy), order=order or "K")


_methods.install(ndarray)
