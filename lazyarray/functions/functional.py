"""Functions that take functions.

A function along an axis is given lazyarrays, so it is recorded with all that it does; one for
single elements (``vectorize``) is given Python's numbers, as in NumPy.
"""

from __future__ import annotations

import copy
import functools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _public
from lazyarray.functions.creation import zeros_like
from lazyarray.functions.manipulation import expand_dims, permute_dims
from lazyarray.lazy._lazy import Tensor, UsersOwn, is_capturing
from lazyarray.ops import hosts
from lazyarray.ops._differentiable import refuse
from lazyarray.ops._layout import operands, values
from lazyarray.ops._rows import asarray, assign_to, call, empty, holdable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike, ShapeLike

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize", "piecewise", "fromfunction"]

_Made = TypeVar("_Made")

# ---- along axes ---------------------------------------------------------------------------------


def apply_along_axis(
    func1d: Callable[..., ArrayLike], axis: int, arr: ArrayLike, *args: object, **kwargs: object
) -> NDArray:
    """``func1d(vector, *args, **kwargs)`` for each vector along an axis, which its results replace.

    The function is called now, on lazyarrays; its first result decides shape and dtype.

    Args:
        func1d: takes a vector, gives a number or an array.
        arr: the array.
        args: further arguments of the function.
        kwargs: further arguments of the function.
    Returns: an array of arr's shape, with the axis replaced by the shape of a result.
    Raises: ValueError if there is no vector; what the function raises.

    >>> import lazyarray as la
    >>> la.apply_along_axis(lambda v: v[::-1], 1, la.array([[1, 2], [3, 4]])).asnumpy()
    array([[2, 1],
           [4, 3]])
    """
    x = asarray(arr)
    axis = normalize_axis_index(axis, x.ndim)
    vectors = x.transpose(*range(axis), *range(axis + 1, x.ndim), axis)  # of a derived class, too
    around = vectors.shape[:-1]
    if 0 in around:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    out: Any = None
    for place in np.ndindex(*around):
        result = func1d(vectors[place], *args, **kwargs)
        if out is None:
            first = asarray(result)
            out = empty((*around, *first.shape), first.dtype, x.device)
        assign_to(out[(*place, ...)], result)
    axes = list(range(out.ndim))
    own = len(around)  # the results' axes begin there: they go where the vectors' axis was
    return permute_dims(out, axes[:axis] + axes[own:] + axes[axis:own])


def apply_over_axes(
    func: Callable[..., NDArray], a: ArrayLike, axes: int | Sequence[int]
) -> NDArray:
    """``func(array, axis)`` over one axis after the other; the axes stay, with length one.

    Args:
        func: takes an array and an axis.
        axes: the axis, or several.
    Returns: an array of as many axes.
    Raises: AxisError if there is no such axis; ValueError if the function gives another number of
        axes; what it raises.

    >>> import lazyarray as la
    >>> la.apply_over_axes(la.sum, la.ones((2, 3)), (0, 1)).asnumpy()
    array([[6.]])
    """
    x = asarray(a)
    ndim = x.ndim
    given: Any = axes
    for axis in given if np.ndim(given) else [given]:
        at = axis + ndim if axis < 0 else axis
        result = func(x, at)
        if result.ndim != x.ndim:
            result = expand_dims(result, at)
            if result.ndim != x.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        x = result
    return x


# ---- for each element ---------------------------------------------------------------------------


_OPEN: Any = np._NoValue  # a decorator that has got its options and waits for its function


def _of_numpys(name: str) -> Any:
    """An attribute of a `vectorize` that is that of NumPy's own."""
    return property(
        lambda self: getattr(self._numpy, name),
        lambda self, value: setattr(self._numpy, name, value),
        doc=f"As ``numpy.vectorize.{name}``.",
    )


class vectorize:
    """A function of numbers as a function of arrays, as ``numpy.vectorize``; also a decorator.

    Waits for the values: the function, which may read what the program changes later, is called at
    the call, as NumPy does. In a trace a call with ``otypes`` is one instruction.

    Args:
        pyfunc: takes and gives numbers, or with a ``signature`` arrays; without it this is a
            decorator's options.
        otypes: the dtypes of the results: characters, or a list of dtypes; None: those of the first
            results.
        doc: the docstring; None: the function's own.
        excluded: a set of the names or places of arguments that are handed on as they are.
        cache: whether not to call the function a second time for the first elements, without
            ``otypes``.
        signature: the axes that the function itself works on, ``"(n),(n)->()"``; None: single
            elements.
    Raises: TypeError for no function; ValueError for other ``otypes`` or ``signature``.

    >>> import lazyarray as la
    >>> la.vectorize(lambda u, v: max(u, v), otypes=[int])(la.arange(3), 1).asnumpy()
    array([1, 1, 2])
    """

    pyfunc: Callable[..., object] = _of_numpys("pyfunc")
    otypes: str | None = _of_numpys("otypes")
    excluded: set[int | str] = _of_numpys("excluded")
    cache: bool = _of_numpys("cache")
    signature: str | None = _of_numpys("signature")
    __name__ = _of_numpys("__name__")

    def __init__(
        self,
        pyfunc: Callable[..., object] = _OPEN,
        otypes: str | Iterable[DTypeLike] | None = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        # NumPy's own calls the function, and finds what is wrong with the arguments.
        options: dict[str, Any] = {} if pyfunc is _OPEN else {"pyfunc": pyfunc}
        options |= {"otypes": otypes, "doc": doc, "excluded": excluded, "cache": cache}
        self._numpy: Any = np.vectorize(**options, signature=signature)
        self._open = pyfunc is _OPEN
        self.__doc__ = self._numpy.__doc__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self._open:
            self._numpy(*args, **kwargs)
            self._open, self.__doc__ = False, self._numpy.__doc__
            return self
        given = [*args, *kwargs.values()]
        lazy: list[NDArray] = [o for o in given if isinstance(o, Tensor)]
        device = lazy[0].device if lazy else None
        if is_capturing() and self.otypes is not None and self.signature is None:
            keys = [*range(len(args)), *kwargs]
            looped = [o for key, o in zip(keys, given, strict=True) if key not in self.excluded]
            if looped and all(holdable(np.empty(0, t)) for t in self.otypes):
                return self._traced(given, [*kwargs], lazy, looped, device)
        refuse("vectorize", *lazy)
        read = [values(o, "vectorize()") if isinstance(o, Tensor) else o for o in given]
        results = self._called(read, kwargs)
        if all(map(holdable, given)):
            return hosts.given(results, device)
        return hosts.to_lazy(results, device)

    def _called(self, given: list[Any], names: Collection[str]) -> Any:
        """What NumPy gives for arguments, the last of which have these names."""
        n = len(given) - len(names)
        return self._numpy(*given[:n], **dict(zip(names, given[n:], strict=True)))

    def _traced(
        self,
        given: list[Any],
        names: list[str],
        lazy: list[NDArray],
        looped: list[Any],
        device: Any,
    ) -> Any:
        """The same as one instruction."""
        # The caller may change what it has given before the call is run.
        kept = [copy.copy(o) if isinstance(o, (np.ndarray, list)) else o for o in given]
        shape = np.broadcast_shapes(*[np.shape(o) for o in looped])

        def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
            read = iter(ins)
            found = self._called([next(read) if isinstance(o, Tensor) else o for o in kept], names)
            for out, value in zip(outs, found if len(outs) > 1 else [found], strict=True):
                out[...] = value

        targets = [(shape, np.dtype(t)) for t in self.otypes or ""]
        cost = 1e4 + 300.0 * math.prod(shape)
        made = call("vectorize", UsersOwn(run), lazy, targets, device=device, cost=cost)
        return tuple(made) if len(made) > 1 else made[0]


# ---- by conditions ------------------------------------------------------------------------------


def piecewise(
    x: ArrayLike,
    condlist: ArrayLike,
    funclist: Sequence[Callable[..., ArrayLike] | ArrayLike],
    *args: object,
    **kw: object,
) -> NDArray:
    """At each place the value of that function (or the number) whose condition is true there.

    Waits for the condition of each function: how many elements it is given depends on it. That of a
    number is not waited for.

    Args:
        condlist: arrays of bools, of x's shape.
        funclist: functions of a vector, or numbers: one for each condition, and perhaps one for
            where none is true, else 0.
        args: further arguments of the functions.
        kw: further arguments of the functions.
    Returns: an array of x's shape and dtype.
    Raises: ValueError for another number of functions; what they raise.

    >>> import lazyarray as la
    >>> x = la.array([-1.0, 2.0])
    >>> la.piecewise(x, [x < 0, x >= 0], [0, lambda v: v * 10]).asnumpy()
    array([ 0., 20.])
    """
    x = asarray(x)
    given: Any = condlist
    several = np.ndim(given) > 0 if isinstance(given, Tensor) else not np.isscalar(given)
    if several and x.ndim:  # a single condition needs no list
        several = isinstance(given[0], (list, np.ndarray)) or np.ndim(given[0]) > 0
    conditions = operands(*given) if several else operands(given)
    conditions = [c.astype(np.bool_, copy=False) for c in conditions]
    n = len(conditions)
    if n == len(funclist) - 1:
        conditions.append(~functools.reduce(operator.or_, conditions))
    elif n != len(funclist):
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    y = zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            y[condition] = function
            continue
        part = x[condition]
        if part.size:
            y[condition] = function(part, *args, **kw)
    return y


# ---- of indices ----------------------------------------------------------------------------------


def fromfunction(
    function: Callable[..., _Made],
    shape: ShapeLike,
    *,
    dtype: DTypeLike = float,
    like: object = None,
    **kwargs: object,
) -> _Made:
    """``function(i, j, ...)``, called once with the index along each axis at each place.

    Args:
        function: takes as many arrays as there are axes.
        shape: the lengths of the axes.
        dtype: the dtype of the indices.
        kwargs: further arguments of the function.
    Returns: what the function gives.
    Raises: what the function raises.

    >>> import lazyarray as la
    >>> la.fromfunction(lambda i, j: i + j, (2, 2), dtype=int).asnumpy()
    array([[0, 1],
           [1, 2]])
    """
    place = {"device": like.device} if isinstance(like, Tensor) else {}
    return function(*_public.namespace.indices(shape, dtype, **place), **kwargs)
