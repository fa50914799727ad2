"""Methods and operators of ``cupy.ndarray``: functions of the package, and those that are views."""

import numpy as np

from . import _apply

FUNCTIONS = """all any argmax argmin argpartition argsort clip compress conj conjugate cumprod
cumsum diagonal dot max mean min nonzero prod ptp repeat round searchsorted std sum take trace
var""".split()  # fmt: skip
VIEWS = ["ravel", "squeeze", "swapaxes"]
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "lshift": "left_shift",
    "rshift": "right_shift", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "matmul": "matmul",
}  # fmt: skip
COMPARE = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}


def reshape(self, *shape, order="C"):
    shape = shape[0] if len(shape) == 1 else shape
    return _apply.view_or_call(lambda a: a.reshape(shape, order=order), (self,), {})


def transpose(self, *axes):
    return _apply.view_or_call(lambda a: a.transpose(*axes), (self,), {})


def view(self, dtype=None):
    from ._core import supported

    return _apply.view_or_call(lambda a: a.view(supported(dtype or a.dtype)), (self,), {})


def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
    from ._core import new, supported

    dtype = supported(dtype)
    if not copy and dtype == self.dtype:
        return self
    with np.errstate(all="ignore"):
        return new(_apply.read(self).astype(dtype, casting=casting or "unsafe"))


def copy(self, order="C"):
    from ._core import new

    return new(_apply.read(self))


def flatten(self, order="C"):
    from ._core import new

    return new(_apply.read(self).flatten(order))


def fill(self, value):
    self[...] = value


def sort(self, axis=-1, kind=None):
    values = np.array(_apply.read(self))
    values.sort(axis, kind)
    _apply.write(self, values)


def partition(self, kth, axis=-1, kind="introselect", order=None):
    values = np.array(_apply.read(self))
    values.partition(kth, axis)
    _apply.write(self, values)


def _part(name):
    def get(self):
        if self.dtype.kind != "c" and name == "imag":
            from ._core import new

            return new(np.zeros(self.shape, self.dtype))
        return _apply.view_or_call(lambda a: getattr(a, name), (self,), {})

    def put(self, value):
        get(self)[...] = value

    return property(get, put)


def install(cls):
    """Puts all these into the array class."""
    import cupy

    def method(name, through=None):
        def run(self, *args, **kwargs):
            if through is not None:
                return through(getattr(np.ndarray, name), (self, *args), kwargs)
            return getattr(cupy, name)(self, *args, **kwargs)

        run.__name__ = name
        setattr(cls, name, run)

    def operators(short, name):
        def call(*inputs, **out):
            function = getattr(cupy, name)
            # A NumPy scalar is one of the operands at most; of other classes nothing is known.
            if any(_foreign(value) for value in inputs):
                return NotImplemented
            return function(*inputs, **out)

        setattr(cls, f"__{short}__", lambda self, other: call(self, other))
        if name not in COMPARE.values():
            setattr(cls, f"__r{short}__", lambda self, other: call(other, self))
            setattr(cls, f"__i{short}__", lambda self, other: call(self, other, out=self))

    for name in FUNCTIONS:
        method(name)
    for name in VIEWS:
        method(name, _apply.view_or_call)
    for short, name in (BINARY | COMPARE).items():
        operators(short, name)
    for short, name in UNARY.items():
        setattr(cls, f"__{short}__", lambda self, name=name: getattr(cupy, name)(self))
    for function in (reshape, transpose, view, astype, copy, flatten, fill, sort, partition):
        setattr(cls, function.__name__, function)
    cls.real, cls.imag = _part("real"), _part("imag")
    cls.T = property(transpose)
    cls.mT = property(lambda self: self.swapaxes(-1, -2))


def _foreign(value):
    from ._core import ndarray

    known = (ndarray, np.ndarray, np.generic, bool, int, float, complex)
    return not isinstance(value, known)
