"""NumPy's protocols: calls of NumPy's ufuncs and functions on arrays of this package.

``np.add(x, 1)`` runs the row of the op table that has that ufunc; ``np.concatenate([x, y])`` runs
``lazyarray.concatenate``. What has no counterpart here is a TypeError that names it: nothing is
computed in NumPy behind the user's back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _layout, _rows, elementwise, reductions
from lazyarray.ops._rows import Reduction, Ufunc

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__: list[str] = []

_ufuncs = {row.ufunc: row for row in elementwise.TABLE.values() if isinstance(row, Ufunc)}
_reductions = {row.ufunc: row for row in reductions.TABLE.values() if isinstance(row, Reduction)}


def _no_counterpart(name: str) -> TypeError:
    return TypeError(
        f"{name} has no counterpart in lazyarray: use NumPy on x.asnumpy() to compute it there"
    )


# ---- ufuncs -------------------------------------------------------------------------------------


def ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``NDArray.__array_ufunc__``: runs the row, or what the method is composed of."""
    if any(_is_foreign(x) for x in inputs):
        return NotImplemented  # that type may know what to do
    outs = kwargs.pop("out", ())
    for key, plain in (("order", "K"), ("subok", True)):
        if kwargs.pop(key, plain) != plain:
            raise TypeError(f"np.{ufunc.__name__} of a lazyarray takes no {key}=")
    if method == "__call__":
        function = _ufuncs.get(ufunc) or _public("numpy", ufunc.__name__)
        if function is not None:
            return _call(function, inputs, outs, kwargs)
    elif ufunc in _ufuncs and method in _METHODS:
        result = _METHODS[method](ufunc, *inputs, **kwargs)
        return _deliver(result, outs[0], True) if outs else result
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise _no_counterpart(f"the ufunc {name}")


def _is_foreign(x: Any) -> bool:
    """Whether ``x`` is of a type with its own idea of what ufuncs do."""
    return not isinstance(x, (Tensor, np.ndarray, np.generic)) and hasattr(x, "__array_ufunc__")


def _call(
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    outs: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if len(outs) == 1 and isinstance(outs[0], Tensor):
        return function(*inputs, out=outs[0], **kwargs)
    results = function(*inputs, **kwargs)
    if not outs:
        return results
    where = kwargs.get("where", True)
    if not isinstance(results, tuple):
        return _deliver(results, outs[0], where)
    return tuple([_deliver(r, o, where) for r, o in zip(results, outs, strict=True)])


def _deliver(result: NDArray, out: Any, where: Any) -> Any:
    """``result`` written into ``out``; a NumPy array is written at once, so this waits."""
    if out is None:
        return result
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc output from {result.dtype!r} to {out.dtype!r} with casting rule "
            "'same_kind'"
        )
    if isinstance(out, Tensor):
        return _layout.deliver(result, out, "a ufunc")
    mask = where if where is True else np.asarray(where)
    np.copyto(out, np.asarray(result), casting="same_kind", where=mask)
    return out


def _reduce(
    ufunc: np.ufunc,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    **kwargs: Any,
) -> NDArray:
    row = _reductions.get(ufunc)
    kwargs = {k: v for k, v in kwargs.items() if not (k == "where" and v is True)}
    if row is not None:
        return row(x, axis, dtype, None, keepdims, **kwargs)
    if kwargs:
        raise TypeError(f"np.{ufunc.__name__}.reduce of a lazyarray takes no {', '.join(kwargs)}=")
    x = _rows.asarray(x)
    axes = _rows.normalize_axes(axis, x.ndim)
    if ufunc.identity is None and 0 in [x.shape[a] for a in axes]:
        raise ValueError(
            f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        )
    function = partial(ufunc.reduce, axis=axes, dtype=dtype, keepdims=keepdims)
    shape = _rows.reduced_shape(x.shape, axes, keepdims)
    key = (axes, dtype and np.dtype(dtype), keepdims)
    return _layout.gil_op(f"{ufunc.__name__}.reduce", function, [x], shape, key)


def _accumulate(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: Any = None) -> NDArray:
    x = _rows.asarray(x)
    function = partial(ufunc.accumulate, axis=axis, dtype=dtype)
    key = (axis, dtype and np.dtype(dtype))
    return _layout.gil_op(f"{ufunc.__name__}.accumulate", function, [x], x.shape, key)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **kwargs: Any) -> Any:
    a, b = _layout.operands(a, b)
    return _ufuncs[ufunc](a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


def _at(ufunc: np.ufunc, a: Any, indices: Any, *values: Any) -> None:
    """``ufunc.at``: unbuffered, in place, so that an index given twice counts twice."""
    if not isinstance(a, Tensor):
        raise TypeError(f"np.{ufunc.__name__}.at changes an NDArray here, not a NumPy array")
    x: NDArray = a
    ufunc.at(np.ones(1, x.dtype), [0], *[np.ones(1, _dtype_of(v)) for v in values])  # its errors
    inputs: list[NDArray] = []

    def slot(o: Any) -> Any:
        if o is None or o is Ellipsis or isinstance(o, (slice, int)):
            return lambda ins: o
        place = len(inputs)
        inputs.append(o if isinstance(o, Tensor) else _rows.array(o, None, x.device))
        return lambda ins: ins[place]

    keys = [slot(k) for k in (indices if isinstance(indices, tuple) else (indices,))]
    operands = [slot(v) for v in values]

    def run(to: np.ndarray, *ins: np.ndarray) -> None:
        ufunc.at(to, tuple([k(ins) for k in keys]), *[v(ins) for v in operands])

    _layout.gil_write(f"{ufunc.__name__}.at", run, x, inputs)


def _dtype_of(value: Any) -> np.dtype[Any]:
    return value.dtype if isinstance(value, Tensor) else np.asarray(value).dtype


_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
}


# ---- functions ----------------------------------------------------------------------------------


def function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``NDArray.__array_function__``: calls lazyarray's function of the same module and name."""
    module, name = func.__module__, func.__name__
    mine = _SPECIAL.get((module, name)) or _public(module, name)
    if mine is None:
        raise _no_counterpart(f"{module}.{name}()")
    return mine(*args, **kwargs)


def _public(module: str, name: str) -> Callable[..., Any] | None:
    """The function of lazyarray that stands for ``module.name`` of NumPy."""
    root, *rest = module.split(".")
    space: Any = sys.modules["lazyarray"]
    if root != "numpy" or (module, name) in _OTHERWISE:
        return None
    for part in [*rest, name]:
        if part not in getattr(space, "__all__", ()):
            return None
        space = getattr(space, part)
    return space if callable(space) else None


# The same name with another meaning: numpy.save writes an .npy file, not an archive.
_OTHERWISE = {("numpy", "save")}


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    source = src if isinstance(src, Tensor) else np.asarray(src)
    if not isinstance(dst, Tensor):
        np.copyto(dst, np.asarray(src), casting=casting, where=where)
        return
    if not np.can_cast(source.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {source.dtype!r} to {dst.dtype!r} according to the "
            f"rule {casting!r}"
        )
    if where is not True:
        src = _rows.select(where, src, dst)
    _rows.assign_to(dst, src)


_SPECIAL: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "copyto"): _copyto,
    ("numpy", "shape"): lambda a: _rows.asarray(a).shape,
    ("numpy", "ndim"): lambda a: _rows.asarray(a).ndim,
    ("numpy", "size"): lambda a, axis=None: np.size(_rows.probe(_rows.asarray(a)), axis),
}
