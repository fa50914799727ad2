"""NumPy's protocols: calls of NumPy's ufuncs and functions on arrays of this package.

``np.add(x, 1)`` runs the row of the op table that has that ufunc; ``np.concatenate([x, y])`` runs
``lazyarray.concatenate``. What has no counterpart here is a TypeError that names it: nothing is
computed in NumPy behind the user's back.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray.lazy._lazy import Tensor, Unheld, is_capturing
from lazyarray.ops import _rows, hosts
from lazyarray.ops._layout import device_of, values
from lazyarray.ops._rows import Public, Row, row_of
from lazyarray.protocols import ufunc_methods
from lazyarray.protocols.ufunc_methods import deliver, deliver_each


def _no_counterpart(name: str) -> TypeError:
    return TypeError(
        f"{name} has no counterpart in lazyarray: use NumPy on x.asnumpy() to compute it there"
    )


# ---- ufuncs -------------------------------------------------------------------------------------


def ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``NDArray.__array_ufunc__``: runs the row, or what the method is composed of."""
    for x in inputs:
        if _is_foreign(x):
            return _told(x, ufunc, method, inputs, kwargs)
    try:
        return _ufunc(ufunc, method, inputs, {**kwargs})
    except Unheld as error:
        return hosts.handed_over(getattr(ufunc, method), inputs, kwargs, error)


def _gives_objects(ufunc: np.ufunc) -> bool:
    """Whether it is one of ``np.frompyfunc``'s."""
    return ufunc.ntypes == 1 and not ufunc.types[0].strip("O->")


def _told(
    x: Any, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What ``x`` of another type says, which may know what to do: with our arrays, or NumPy's."""
    result = x.__array_ufunc__(ufunc, method, *inputs, **kwargs)
    if result is not NotImplemented:
        return result
    return x.__array_ufunc__(ufunc, method, *_host(inputs, ufunc.__name__), **kwargs)


def _ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs.pop("subok", True) is not True:
        raise TypeError(f"np.{ufunc.__name__} of a lazyarray takes no subok=")
    if method != "__call__":
        return ufunc_methods.METHODS[method](ufunc, *inputs, **kwargs)
    outs = kwargs.pop("out", ())
    function: Callable[..., Any] | None = row_of(ufunc)
    if function is None and kwargs.pop("order", "K") != "K":
        raise TypeError(f"np.{ufunc.__name__} of a lazyarray takes no order=")
    if function is None and _gives_objects(ufunc):
        if not outs and not kwargs and not is_capturing():
            return hosts.of_objects(ufunc, inputs)
        raise Unheld(f"{ufunc.__name__} gives objects")
    if function is None and getattr(np, ufunc.__name__, None) is ufunc:
        function = _counterpart("numpy", ufunc.__name__)
        if function is ufunc:
            raise Unheld(_NUMPYS.format(ufunc.__name__))
    if function is None:
        function = partial(ufunc_methods.call, ufunc)
    if len(outs) == 1 and isinstance(outs[0], Tensor):
        return function(*inputs, out=outs[0], **kwargs)
    for out in outs:
        if _is_foreign(out):
            return _told(out, ufunc, method, inputs, {**kwargs, "out": outs})
    return _call(function, inputs, outs, kwargs)


_NUMPYS = "lazyarray has no {} of its own"


def _is_foreign(x: Any) -> bool:
    """Whether ``x`` is of a type with its own idea of ufuncs; a GPU's array is an operand."""
    if isinstance(x, (Tensor, np.ndarray, np.generic)) or not hasattr(x, "__array_ufunc__"):
        return False
    return not hasattr(x, "__cuda_array_interface__")


def _call(
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    outs: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    results = function(*inputs, **kwargs)
    if not outs:
        return results
    rest = kwargs.get("where", True), kwargs.get("casting", "same_kind")
    if not isinstance(results, tuple):
        return deliver(results, outs[0], *rest)
    return deliver_each(results, outs, *rest)


# ---- functions ----------------------------------------------------------------------------------


def function(
    func: Callable[..., Any],
    types: Collection[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    asked: Tensor,
) -> Any:
    """``NDArray.__array_function__``: calls lazyarray's function of the same module and name.

    ``asked`` is the array whose method it is: the ``like`` of a creation, which NumPy leaves out.
    A NumPy array that the call changes, or names as ``out``, is written at once: this waits.
    """
    if len(types) == 1 and (usual := _usual(func)) is not None:
        mine, place = usual
        if len(args) <= place and "out" not in kwargs:
            try:
                return mine(*args, **kwargs)
            except Unheld as error:
                return hosts.handed_over(func, args, kwargs, error)
    if isinstance(func, (Public, Row)):  # super() is told of ours, too
        return past_classes(func)(*args, **kwargs)
    if len(types) > 1:
        found = _others_say(func, types, args, kwargs)
        if found is not NotImplemented:
            return found
    module, name = func.__module__, func.__name__
    target = hosts.changed_by(func, args, kwargs)
    if target is not None and not isinstance(target, Tensor):
        return func(*_host(args, name), **_host(kwargs, name))
    mine = _stand_in(func)
    if mine is None:
        raise _no_counterpart(f"{module}.{name}()")
    try:
        if mine is func:  # NumPy's own, of what lazyarray can't hold
            raise Unheld(_NUMPYS.format(name))
        if _takes_like(mine):
            return mine(*args, **kwargs, like=asked)
        return _run(func, past_classes(mine), args, kwargs)
    except Unheld as error:
        return hosts.handed_over(func, args, kwargs, error)


def _stand_in(func: Callable[..., Any]) -> Callable[..., Any] | None:
    module, name = func.__module__, func.__name__
    return _SPECIAL.get((module, name)) or _counterpart(module, name)


@lru_cache(1024)
def _usual(func: Callable[..., Any]) -> tuple[Callable[..., Any], int] | None:
    """What stands for a function of NumPy's, and where it takes ``out``.

    None where a call has more to it: what it changes, or whose ``like`` an array is.
    """
    if isinstance(func, (Public, Row)) or func in hosts.CHANGES:
        return None
    mine = _stand_in(func)
    if mine is None or mine is func or _takes_like(mine):
        return None
    return past_classes(mine), hosts.place_of_out(func)


def _others_say(
    func: Callable[..., Any], types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What arrays that hold ours say (Dask's), wherever they stand: NumPy asks from left to right.

    So it is with ufuncs, and with lazyarray's own functions.
    """
    for kind in types:
        if not issubclass(kind, (Tensor, np.ndarray)) and _has_own_functions(kind):
            for x in _rows.inside((args, kwargs), kind)[:1]:
                found = kind.__array_function__(x, func, types, args, kwargs)  # type: ignore[attr-defined]
                if found is not NotImplemented:
                    return found
    return NotImplemented


def _has_own_functions(kind: type) -> bool:
    """Not a GPU's array, which is an operand, and nothing of this package."""
    ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    return not ours and not hasattr(kind, "__cuda_array_interface__")


def _run(
    func: Callable[..., Any],
    mine: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    place = hosts.place_of_out(func)
    out = args[place] if len(args) > place else kwargs.get("out")
    if not _rows.of_numpys(out):
        return mine(*args, **kwargs)
    return into_numpys(mine, out, args, kwargs)


def into_numpys(mine: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call whose ``out`` is, or holds, NumPy arrays: they are written at once, so this waits.

    Returns what the call returns, those arrays in the place of what stood for them.
    """
    device = device_of(*args, *kwargs.values())
    hosts = [o for o in (out if type(out) is tuple else (out,)) if isinstance(o, np.ndarray)]
    # With what is in them: a mask may leave some of that.
    stand_ins = {id(host): _rows.array(host, None, device) for host in hosts}

    def instead(o: Any) -> Any:
        return tuple(map(instead, o)) if o is out and type(o) is tuple else stand_ins.get(id(o), o)

    result = mine(*map(instead, args), **{key: instead(value) for key, value in kwargs.items()})
    found = {key: values(array, "out= of NumPy") for key, array in stand_ins.items()}
    for host in hosts:
        np.copyto(host, found[id(host)])
    numpys = {id(stand_ins[id(host)]): host for host in hosts}
    if isinstance(result, tuple):
        return tuple([numpys.get(id(r), r) for r in result])
    return numpys.get(id(result), result)


_rows.teach(into_numpys=into_numpys)


def _host(o: Any, name: str) -> Any:
    """Arguments for NumPy itself: the values of NDArrays."""
    return hosts.to_host(o, f"numpy.{name} of what is NumPy's")


@cache
def _takes_like(mine: Callable[..., Any]) -> bool:
    """Whether it creates arrays: of NumPy's such functions only ``like=`` leads here."""
    try:
        return "like" in inspect.signature(mine).parameters
    except (TypeError, ValueError):
        return False


@cache
def _names(space: Any) -> frozenset[str]:
    """What a namespace offers: the main one has 500 names."""
    return frozenset(getattr(space, "__all__", ()))


@cache
def _counterpart(module: str, name: str) -> Callable[..., Any] | None:
    """The function of lazyarray that stands for ``module.name`` of NumPy."""
    root, *rest = module.split(".")
    space: Any = _public.namespace
    if root != "numpy":
        return None
    for part in [*rest, name]:
        if part not in _names(space):
            return None
        space = getattr(space, part)
    return space if callable(space) else None


def past_classes(func: Any) -> Any:
    """A function that asks no classes: they have been asked."""
    return getattr(func, "_implementation", func)


def known(func: Any) -> Any:
    """NumPy's ufunc or function as a module knows it that has lazyarray in NumPy's place."""
    if isinstance(func, (Public, Row)):
        return func
    name = getattr(func, "__name__", "")
    if isinstance(func, np.ufunc):
        found = _counterpart("numpy", name) if getattr(np, name, None) is func else None
    else:
        found = _counterpart(getattr(func, "__module__", None) or "", name)
    return func if found is None else found


def _save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """``numpy.save``, an .npy file, not lazyarray's archive of the same name."""
    np.save(file, values(arr, "numpy.save"), allow_pickle)


_SPECIAL: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "save"): _save,
    ("numpy", "shape"): lambda a: _rows.asarray(a).shape,
    ("numpy", "ndim"): lambda a: _rows.asarray(a).ndim,
    ("numpy", "size"): lambda a, axis=None: np.size(_rows.probe(_rows.asarray(a)), axis),
}
