"""Classes that programs derive from ``NDArray``: what is made of their arrays is of the same class.

A class statement puts ``Derived`` between ``NDArray`` and the new class (``_ArrayType``), so that
arrays of our own class don't pay for it. What it follows: https://numpy.org/doc/stable/user/basics.subclassing.html
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from operator import attrgetter
from typing import Any

import numpy as np
from numpy._core import umath

from lazyarray import _ndarray, functions
from lazyarray._ndarray import NDArray, Scalar, power_row, product_axes
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows, reductions
from lazyarray.ops._rows import asks, expect_derived, is_written_here, told_of
from lazyarray.ops.hosts import to_lazy
from lazyarray.ops.operators import METHODS, REFLECTED
from lazyarray.protocols.dispatch import known

__all__: list[str] = []

_METHODS = """__copy__ __deepcopy__ all any argmax argmin argpartition argsort astype byteswap
    choose clip compress conj conjugate copy cumprod cumsum detach diagonal dot flatten max mean
    min prod ravel repeat reshape round squeeze std sum swapaxes take trace transpose""".split()
_OTHERS = """nonzero partition put searchsorted sort""".split()
_MOMENTS = ("mean", "std", "var")
_REDUCTIONS = {
    **{name: row.ufunc for name, row in reductions.TABLE.items()},
    **dict.fromkeys(_MOMENTS),
}
_RUNNING = {"cumprod": np.multiply, "cumsum": np.add}
_ADDING = ("mean", "prod", "std", "sum", "var")  # which have a dtype to add in
_PARAMETERS = ("dtype", "out", "keepdims", "initial", "where")
# A number of what these give is no array of the class.
_NUMBERS = ("argmax", "argmin", "dot", "take", "trace")
_PROPERTIES = ("T", "mT", "real", "imag")

# Functions of NumPy's, besides ufuncs and their reductions, that give one of their first operand's
# class, the latter by its __array_wrap__; those that give none of it though they copy nothing.
_KEEP = """argpartition argsort around asanyarray astype choose clip correlate count_nonzero cumprod
    cumsum cumulative_prod cumulative_sum delete diag diagflat diagonal dot ediff1d empty_like
    expand_dims fix full_like geomspace gradient i0 imag inner insert isneginf isposinf isreal kron
    linalg.cholesky linalg.inv linalg.matrix_power linalg.pinv linalg.qr linalg.svd linspace
    logspace meshgrid moveaxis nan_to_num nancumprod nancumsum nanmean nanmedian nanpercentile
    nanprod nanquantile nanstd nansum nanvar ones_like packbits partition percentile piecewise
    quantile ravel repeat require reshape roll rollaxis rot90 round setdiff1d sort squeeze swapaxes
    take take_along_axis tile transpose unique unique_values zeros_like""".split()
_WRAPPED = (*_MOMENTS, "median")
_GIVE_NUMBERS = """count_nonzero dot inner nanpercentile nanquantile percentile quantile
    take""".split()  # what these give as a number is one
_JOINS = """append block column_stack concatenate dstack hstack resize stack union1d
    vstack""".split()  # of the class of the greatest priority
_DROP = ("asarray", "ascontiguousarray", "asfortranarray", "einsum", "isin", "linalg.norm")

_MAKING = (np.diagonal, np.ravel, np.trace)  # which make arrays of NumPy's first, and call theirs

_OWN_WORDS = (np.compress, np.mean, np.put, np.squeeze, np.std, np.var)  # which call it themselves

_FEWER = (
    "__array_wrap__ must accept context and return_scalar arguments (positionally) in the future."
)
_PYTHONS = (int, float, complex, list, tuple, str, bytes, type(None))  # none of them defers
_clip: Any = vars(umath)["clip"]  # np.clip is no ufunc
_new, _view = NDArray.__new__, NDArray.view


def _is_class(kind: Any) -> bool:
    """Whether it is a class of arrays, and no dtype."""
    return isinstance(kind, type) and issubclass(kind, (NDArray, np.ndarray))


class _Free:
    """An attribute of ours that NumPy lacks: a class may keep something else by its name."""

    def __set_name__(self, kind: type, name: str) -> None:
        self._name, self._ours = name, getattr(NDArray, name)

    def __get__(self, array: Any, kind: type | None = None) -> Any:
        if array is None:
            return self
        kept = array.__dict__
        return kept[self._name] if self._name in kept else self._ours.__get__(array, kind)

    def __set__(self, array: Any, value: Any) -> None:
        array.__dict__[self._name] = value

    def __delete__(self, array: Any) -> None:
        if self._name not in array.__dict__:
            raise AttributeError(self._name)
        del array.__dict__[self._name]


def _told_ours(way: Callable[..., Any]) -> Callable[..., Any]:
    """A protocol's method of a module with lazyarray in NumPy's place: NumPy tells it of ours."""

    @wraps(way)
    def told(self: Any, called: Any, *args: Any, **named: Any) -> Any:
        return way(self, known(called), *args, **named)

    return told


def _wraps_ours(way: Callable[..., Any]) -> Callable[..., Any]:
    """The same of ``__array_wrap__``, which is told of the ufunc in its context."""

    @wraps(way)
    def told(self: Any, array: Any, *args: Any, **named: Any) -> Any:
        if args and args[0]:
            (called, *more), *args = args
            args = (known(called), *more), *args
        return way(self, array, *args, **named)

    return told


_TOLD = {
    "__array_ufunc__": _told_ours,
    "__array_function__": _told_ours,
    "__array_wrap__": _wraps_ours,
}


class _Asked:
    """An array of a derived class: what its own method doesn't take, by its words, arrays' does."""

    def __init__(self, of: Derived) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._of, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            try:
                return own(*args, **kwargs)
            except TypeError:
                plain = getattr(NDArray.view(self._of, type=NDArray), name)(*args, **kwargs)
                if isinstance(plain, Derived):
                    return plain  # what the program gave to write to
                return self._of._wrapped_by_class(_rows.array(plain), None, False)

        return called


class Derived(NDArray):
    """The base of classes that programs derive from ``NDArray``."""

    grad: Any = _Free()
    context: Any = _Free()
    ctx: Any = _Free()
    _variance: Any  # what ``x.var`` is as a method
    __array_priority__ = 0.0  # as NumPy's arrays have it

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # As NumPy's: the arguments are ndarray's, and an __init__ of the program's may take others.
        self = _new(cls)
        NDArray.__init__(self, *args, **kwargs)
        finalize = getattr(self, "__array_finalize__", None)
        if finalize is not None:
            finalize(None)
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep, wrapped, drop = [
            [attrgetter(name)(np) for name in names] for names in (_KEEP, _WRAPPED, _DROP)
        ]
        numbers, joins = [
            [getattr(np, name) for name in names] for names in (_GIVE_NUMBERS, _JOINS)
        ]
        expect_derived(Derived, keep, wrapped, drop, numbers, joins, _array_wrap)
        for name, told in _TOLD.items():
            way = getattr(cls, name)
            found = next(c for c in cls.__mro__ if name in vars(c))
            if (found is cls or not issubclass(found, Derived)) and is_written_here(way):
                setattr(cls, name, told(way))

    def __array_finalize__(self, obj: Any) -> None:
        """Called for each new array of the class; ``obj`` is what it was made of, or None."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """``array`` as one of the class, as NumPy's method gives it."""
        return self._like(array)

    def _wrapped(self, result: Any, context: Any = None) -> Any:
        """The result of a ufunc or a reduction: what the class's ``__array_wrap__`` makes of it."""
        if type(self).__array_wrap__ is Derived.__array_wrap__:
            return self._like(result)
        if type(result) is tuple:
            calls = [context and (*context[:2], place) for place in range(len(result))]
            return tuple([self._wrapped(*part) for part in zip(result, calls, strict=True)])
        if not isinstance(result, Tensor) or isinstance(result, Derived):
            return result
        number = isinstance(result, Scalar)
        plain = _rows.array(result) if number else result
        return self._wrapped_by_class(plain, context, number)

    def _wrapped_by_class(self, *given: Any) -> Any:
        """What the class's ``__array_wrap__`` makes; of one with fewer parameters, as NumPy."""
        try:
            return self.__array_wrap__(*given)
        except TypeError as error:
            why = error
        for n in (2, 1):
            with suppress(TypeError):
                found = self.__array_wrap__(*given[:n])
                warnings.warn(_FEWER, DeprecationWarning, stacklevel=_rows.users_frame()[0])
                return found
        raise why

    def _as_output(self, context: Any) -> Any:
        """What a ufunc gives for an output that it was given."""
        own = type(self).__array_wrap__ is not Derived.__array_wrap__
        return self._wrapped_by_class(self, context, False) if own else self

    @staticmethod
    def _as_outputs(result: Any, ufunc: Any, inputs: Any, outs: Any) -> Any:
        """The same of all results of a ufunc; those of no derived class stay what they are."""
        if type(result) is not tuple:
            given = isinstance(result, Derived)
            return result._as_output((ufunc, (*inputs, *outs), 0)) if given else result
        return tuple(
            [
                y._as_output((ufunc, (*inputs, *outs), i)) if isinstance(y, Derived) else y
                for i, y in enumerate(result)
            ]
        )

    @staticmethod
    def _joined(result: Any, args: Any, kwargs: Any) -> Any:
        """Joined arrays, as NumPy's: of the class that has the greatest priority over 0."""
        first: Any = max(_rows.inside(args, Derived), key=_priority, default=None)
        if first is None or _priority(first) <= 0 or _is_given(result, args, kwargs):
            return result
        return _ndarray.of_class(result, type(first), None)

    @staticmethod
    def _by_method(function: Any, args: Any, kwargs: Any) -> Any:
        """What a function of NumPy's gives that calls a method: NumPy's own code calls it here."""
        if function in _MAKING:
            return getattr(args[0], function.__name__)(*args[1:], **kwargs)
        if function not in _OWN_WORDS and isinstance(args[0], Derived):
            args = (_Asked(args[0]), *args[1:])
        return to_lazy(function._implementation(*args, **kwargs))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """A call of NumPy's ufunc: its result is of the first operand's class."""
        operands = *inputs, *kwargs.get("out", ())
        if asks(*operands) or (asks(self) and asks(*operands, others=True)):
            return NotImplemented  # as NumPy's: the class says it itself, or nobody does
        ufunc = getattr(ufunc, "ufunc", ufunc)  # super() is told of ours, too
        plain = [_view(x) if isinstance(x, Derived) else x for x in inputs]
        result = NDArray.__array_ufunc__(self, ufunc, method, *plain, **kwargs)
        if method == "__call__" and "out" in kwargs:
            return self._as_outputs(result, ufunc, inputs, kwargs["out"])
        if "out" in kwargs:
            return result
        return _wrapped(result, ufunc, inputs, method == "__call__")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A call of a function, which is done as if no class had anything to say of it."""
        if not all(issubclass(kind, (Tensor, np.ndarray)) for kind in types):
            return NotImplemented
        plain = _view(self)  # nobody is asked for that
        return NDArray.__array_function__(plain, func, types, args, kwargs)

    def _like(self, result: Any) -> Any:
        """A result as one of the class: arrays are, of no axes, too; all else isn't changed."""
        if type(result) is NDArray:
            return _ndarray.of_class(result, type(self), self)
        if isinstance(result, tuple):
            parts = [self._like(part) for part in result]
            return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        if isinstance(result, Tensor) and not isinstance(result, Derived):
            return _ndarray.of_class(result, type(self), self)
        return result

    def __getitem__(self, key: Any) -> Any:
        found = NDArray.__getitem__(self, key)
        return found if isinstance(found, Scalar) else self._like(found)  # an element is a number

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        found = NDArray.view(self, dtype, type)
        return found if type is not None or _is_class(dtype) else self._like(found)

    def _as_named(self, values: np.ndarray) -> np.ndarray:
        named: np.ndarray = values.view(type(type(self).__name__, (np.ndarray,), {}))
        return named

    def __reduce__(self) -> Any:
        # As NumPy's: classes put their own things behind the state's five, and take them off again.
        values: Any = self.view(NDArray)
        fortran = values.flags.fnc
        state = (1, values.shape, values.dtype, fortran, values)
        return unfilled, (type(self), self.__dict__), state


def unfilled(kind: type[Derived], attributes: dict[str, Any]) -> Any:
    """What pickle makes of a derived class before it sets the state."""
    made: Any = _new(kind)
    made.__dict__.update(attributes)
    return made


def _array_wrap(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """``np.ndarray.__array_wrap__(self, array)``, which the classes' own methods call."""
    if not isinstance(self, NDArray):
        return self  # a result of NumPy's, which asks an operand that is a class for its method
    if isinstance(self, Derived):
        return self._like(array)
    return array[()] if return_scalar and array.ndim == 0 else array


def _wrapped(result: Any, ufunc: Any, operands: tuple[Any, ...], called: bool = True) -> Any:
    """The result of a ufunc, as one of the class that NumPy makes it one of."""
    wrapper: Any = _rows.wrapper_of(operands)
    if wrapper is None:
        return result
    return wrapper._wrapped(result, (ufunc, operands, 0) if called else None)


def _plain(x: Any) -> Any:
    """An argument without derived classes."""
    if type(x) in (list, tuple):
        return type(x)(map(_plain, x))
    return _view(x) if isinstance(x, Derived) else x


def _unasked(base: Any) -> Callable[..., Any]:
    """A method that asks no class, as a function does, which may have come here to ask it."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self).__array_function__ is Derived.__array_function__:
            return base(_view(self), *args, **kwargs)
        values = [*args, *kwargs.values()]
        plain = [_plain(x) for x in values]
        found = base(
            _plain(self), *plain[: len(args)], **dict(zip(kwargs, plain[len(args) :], strict=True))
        )
        return next((x for x, p in zip(values, plain, strict=True) if found is p), found)

    return call


def _is_given(found: Any, args: Any, kwargs: Any) -> bool:
    """Whether a result is what the program gave, as ``out``."""
    return (args or kwargs) and any(found is x for x in (*args, *kwargs.values()))


def _variance(x: Any, *args: Any, **kwargs: Any) -> Any:
    variance: Any = functions.var  # type: ignore[attr-defined]
    return variance(x, *args, **kwargs)


def _method(name: str, of: Callable[..., Any] | None = None) -> Callable[..., Any]:
    base = of or getattr(NDArray, name)
    run = _unasked(base)
    if name in _REDUCTIONS:
        ufunc = _REDUCTIONS[name]

        @wraps(base)
        def method(self: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
            if ufunc is not None and asks(self):
                named = dict(
                    zip(_PARAMETERS if name in _ADDING else _PARAMETERS[1:], args, strict=False)
                )
                return _reduced(self, ufunc, axis, **named, **kwargs)
            found = base(_view(self), axis, *args, **kwargs)
            return found if _is_given(found, args, kwargs) else self._wrapped(found)
    elif name in _RUNNING:

        @wraps(base)
        def method(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
            if not asks(self):
                found = run(self, axis, dtype, out)
                return self._like(found) if out is None else found
            x = self.ravel() if axis is None and self.ndim != 1 else self
            given = {"dtype": dtype, "axis": axis or 0, "out": out}
            given = {key: value for key, value in given.items() if value is not None}
            return _RUNNING[name].accumulate(x, **given)
    elif name == "clip":

        @wraps(base)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if asks(self, *args, *kwargs.values()):
                return _clipped(self, *args, **kwargs)
            found = run(self, *args, **kwargs)
            return found if _is_given(found, args, kwargs) else self._like(found)
    else:

        @wraps(base)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            found = run(self, *args, **kwargs)
            number = name in _NUMBERS and isinstance(found, Scalar)
            return found if number or _is_given(found, args, kwargs) else self._like(found)

    return method


def _reduced(
    x: Any,
    ufunc: Any,
    axis: Any,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """A reduction as NumPy's methods ask for it, which pass all of this on."""
    if ufunc not in (np.logical_or, np.logical_and):
        return ufunc.reduce(x, axis, dtype, out, keepdims, initial, where)
    dtype = np.dtype(bool)
    if where is True:
        return ufunc.reduce(x, axis, dtype, out, keepdims)
    return ufunc.reduce(x, axis, dtype, out, keepdims, where=where)


def _clipped(x: Any, min: Any = None, max: Any = None, out: Any = None, **more: Any) -> Any:
    """``clip`` as NumPy's method asks for it."""
    if min is None and max is None:
        return np.positive(x, out=out, **more)
    if min is None:
        return np.minimum(x, max, out=out, **more)
    if max is None:
        return np.maximum(x, min, out=out, **more)
    return _clip(x, min, max, out=out, **more)


def _defers(self: Any, other: Any, inplace: bool = False) -> bool:
    """Whether an operator leaves the turn to the other operand: NumPy's binop_should_defer."""
    if type(other) is type(self) or isinstance(other, (Scalar, np.generic, *_PYTHONS)):
        return False
    if type(other) in (NDArray, np.ndarray):
        return False
    way = getattr(type(other), "__array_ufunc__", self)
    if way is not self:
        return not inplace and way is None
    if not inplace and isinstance(other, type(self)):  # which has had its turn
        return False
    return _priority(self) < _priority(other)


def _priority(o: Any) -> float:
    try:
        return float(getattr(o, "__array_priority__", -1e6))
    except Exception:  # none that is a number, which NumPy passes over
        return -1e6


def _operator(name: str, row: Any, reflected: bool) -> Callable[..., Any]:
    base: Any = getattr(NDArray, name)
    ufunc = row.ufunc
    power = name == "__pow__"

    @wraps(base)
    def method(self: Any, *others: Any) -> Any:
        operands = ((*others, self) if reflected else (self, *others))[: ufunc.nin]
        if not asks(self, *others) or (len(others) > 1 and others[1] is not None):
            return _wrapped(base(self, *others), ufunc, operands)
        if others and not reflected and _defers(self, others[0]):
            return NotImplemented
        if power and (short := power_row(self, others[0])) is not None:
            return told_of(short, "__call__", (self,), {})
        return told_of(row, "__call__", operands, {})

    return method


def _inplace(name: str, row: Any) -> Callable[..., Any]:
    base: Any = getattr(NDArray, name)
    named = {"__ipow__": power_row}.get(name, lambda a, b: None)

    @wraps(base)
    def method(self: Any, other: Any) -> Any:
        if not asks(self, other):
            found = base(self, other)
            if found is not self:
                return found
            short = named(self, other)
            inputs = (self, other) if short is None else (self,)
            return self._as_output(((short or row).ufunc, (*inputs, self), 0))
        if _defers(self, other, inplace=True):
            return NotImplemented
        if (short := named(self, other)) is not None:
            return told_of(short, "__call__", (self,), {"out": (self,)})
        more = {"axes": product_axes(self)} if name == "__imatmul__" else {}
        return told_of(row, "__call__", (self, other), {"out": (self,), **more})

    return method


def _property(name: str) -> property:
    base = getattr(NDArray, name)
    get = base.__get__
    return property(lambda self: self._like(get(_view(self))), base.__set__, doc=base.__doc__)


for _rows_of, _reflected in ((METHODS, False), (REFLECTED, True)):
    for _name, _row in _rows_of.items():
        setattr(Derived, _name, _operator(_name, _row, _reflected))
        if hasattr(NDArray, _inplaces := _name.replace("__", "__i", 1)) and not _reflected:
            setattr(Derived, _inplaces, _inplace(_inplaces, _row))
for _name in _METHODS:
    setattr(Derived, _name, _method(_name))
Derived._variance = _method("var", _variance)
for _name in _OTHERS:
    setattr(Derived, _name, wraps(getattr(NDArray, _name))(_unasked(getattr(NDArray, _name))))
for _name in _PROPERTIES:
    setattr(Derived, _name, _property(_name))
Derived.__hash__ = None


def _made(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``NDArray.__new__`` for who calls it by name: NumPy's makes the array there."""
    if issubclass(cls, Derived):
        return Derived.__new__(cls, *args, **kwargs)
    made = _new(cls)
    if args or kwargs:
        NDArray.__init__(made, *args, **kwargs)
    return made


_ndarray.set_derived(Derived, _made)
