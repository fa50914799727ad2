"""``cupy.ufunc`` of the simulated device: NumPy's ufuncs with what CuPy has of their methods."""

import numpy as np

from . import _apply

REDUCE = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
ACCUMULATE = {"add": "cumsum", "multiply": "cumprod"}
AT = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
CALL = {"out", "dtype", "casting", "where"}


class UFunc:
    def __init__(self, function):
        self._function = function
        self.__name__ = function.__name__
        self.name = f"cupy_{function.__name__}"
        self.nin = getattr(function, "nin", 1)
        self.nout = getattr(function, "nout", 1)
        self.nargs = self.nin + self.nout

    def __repr__(self):
        return f"<ufunc '{self.name}'>"

    def __call__(self, *args, **kwargs):
        wrong = {k: v for k, v in kwargs.items() if k not in CALL}
        if wrong:
            raise TypeError(f"Wrong arguments {wrong}")
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(f"Wrong number of arguments for {self.name}: {len(args)}")
        if len(args) > self.nin:
            if kwargs.get("out") is not None:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            kwargs["out"] = args[self.nin] if self.nout == 1 else args[self.nin :]
            args = args[: self.nin]
        if kwargs.get("out", True) is None:
            del kwargs["out"]
        for value in args:
            if not isinstance(value, (_apply._array(), np.generic, bool, int, float, complex)):
                raise TypeError(f"Unsupported type {type(value)}")
        return _apply.call(self._function, args, kwargs)

    def _lacks(self, method):
        return NotImplementedError(f"`{self.name}.{method}` is not supported yet")

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        import cupy

        if self.__name__ not in REDUCE:
            raise self._lacks("reduce")
        options = {"axis": axis, "keepdims": keepdims}
        options |= {k: v for k, v in (("dtype", dtype), ("out", out)) if v is not None}
        return getattr(cupy, REDUCE[self.__name__])(array, **options)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        import cupy

        if self.__name__ not in ACCUMULATE:
            raise self._lacks("accumulate")
        options = {k: v for k, v in (("dtype", dtype), ("out", out)) if v is not None}
        return getattr(cupy, ACCUMULATE[self.__name__])(array, axis=axis, **options)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        if self.__name__ != "add":
            raise self._lacks("reduceat")
        options = {"axis": axis, "dtype": dtype}
        return _apply.call(self._function.reduceat, (array, indices), options)

    def outer(self, A, B, **kwargs):
        return _apply.call(self._function.outer, (A, B), kwargs)

    def at(self, a, indices, b=None):
        if self.__name__ not in AT:
            raise self._lacks("at")
        args = (a, indices) if b is None else (a, indices, b)
        return _apply.call(self._function.at, args, {}, changed=(0,))
