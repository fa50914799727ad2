"""What lazyarray does not hold, NumPy holds: where calls are handed over, and the note of it.

Arrays here are of numbers. A public function that meets anything else (strings, objects, dates,
records, masked arrays and other classes of NumPy's) gets an ``Unheld`` error from below; then what
runs is NumPy's function of that name, on NumPy arrays. What it gives is a lazyarray again where
that is possible. Who makes such an array where there was none says so, once a place.
"""

from __future__ import annotations

import datetime
import inspect
import numbers
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from lazyarray.context import chosen
from lazyarray.engine import Device
from lazyarray.lazy._lazy import Tensor, TracingError, is_capturing, returned
from lazyarray.ops import _rows
from lazyarray.ops._differentiable import refuse
from lazyarray.ops._layout import device_of, values

__all__ = ["HostArrayWarning"]


class HostArrayWarning(UserWarning):
    """A function gave a NumPy array, as lazyarray has no arrays of that dtype.

    Such an array (of strings, objects, dates or records; a masked one) works as in NumPy, also in
    calls of lazyarray's functions, but nothing of it runs asynchronously. The warning is given once
    for each line of code that makes one; the example turns it off.

    >>> import warnings, lazyarray as la
    >>> warnings.simplefilter("ignore", la.HostArrayWarning)
    >>> la.array(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """


# ---- the note -----------------------------------------------------------------------------------

_MOST_TOLD = 4096
_told: set[tuple[Any, ...]] = set()  # file, line, what; and as `_rows.news_of` has it


def note(host: Any, what: str = "") -> Any:
    """``host``; warns, once a place, that it is a NumPy array in the place of a lazyarray."""
    if not isinstance(host, np.ndarray):
        return host
    kind = _rows.news_of(host, what)
    if kind in _told:
        return host
    depth, frame = _rows.users_frame()
    if not what:
        plain = _rows.holdable(np.asarray(host))
        what = f"no {type(host).__name__}s" if plain else _dtype(host.dtype)
    place = (frame.f_code.co_filename, frame.f_lineno, what)
    if place in _told:
        _told.add(kind)
        return host
    warnings.warn(
        f"lazyarray has {what}: this is a NumPy array "
        '(to turn this note off: warnings.simplefilter("ignore", la.HostArrayWarning))',
        HostArrayWarning,
        stacklevel=depth,
    )
    if len(_told) >= _MOST_TOLD:
        _told.clear()
    _told.update((place, kind))
    return host


def _dtype(dtype: np.dtype[Any]) -> str:
    return f"no dtype {dtype}" if dtype.names is None else "no structured dtypes"


# ---- arguments and results ----------------------------------------------------------------------


MOST_AXES = 64  # of an array: no deeper lists can be one, and a list may be in itself


def to_host(o: Any, what: str, depth: int = 0) -> Any:
    """The object with NumPy arrays for the lazyarrays in it, which are waited for, as ``what``."""
    if isinstance(o, Tensor):
        return o._number(what) if _rows.holds_scalar(o) else values(o, what)  # type: ignore[attr-defined]
    if type(o) not in (list, tuple, dict) or depth > MOST_AXES:
        return o
    if type(o) is dict:
        return {key: to_host(value, what, depth + 1) for key, value in o.items()}
    return type(o)([to_host(v, what, depth + 1) for v in o])


def to_lazy(o: Any, device: Any = None, given: tuple[np.ndarray, ...] = ()) -> Any:
    """The object with lazyarrays for the NumPy arrays and scalars in it that can be such.

    A view of one of the arrays ``given`` stays one.
    """
    if not isinstance(o, Tensor) and isinstance(o, np.generic):
        return returned(_rows.array(o, None, device)) if _rows.holdable(o) else o
    if isinstance(o, np.ndarray):
        if not _rows.holdable(o) or any(o is x or np.may_share_memory(o, x) for x in given):
            return o
        if not o.dtype.isnative:  # who asked for it wants its bytes
            return o
        return _rows.array(o, None, device)
    if not isinstance(o, (list, tuple)):
        return o
    parts = [to_lazy(v, device, given) for v in o]
    return type(o)(*parts) if hasattr(o, "_fields") else type(o)(parts)


def given(made: Any, device: Device | None = None, alone: bool = False) -> Any:
    """What a function of NumPy's made, as an array on ``device``; noted where NumPy must hold it.

    ``alone``: nobody else knows its memory, which may become the array's own. TypeError if NumPy
    must hold it, and the device is a GPU.
    """
    if is_capturing() and not _rows.holdable(made):
        raise TracingError(f"NumPy's arrays can't be traced: lazyarray has {_dtype(made.dtype)}")
    if isinstance(made, (list, tuple)):
        return type(made)([given(part, device) for part in made])
    if _rows.holdable(made):
        return _rows.kept(made, device, True) if alone else _rows.array(made, None, device)
    if device is not None:
        _refuse_gpu(device, f"lazyarray has {_dtype(made.dtype)}")
    return note(made)


def _refuse_gpu(device: Device, why: object) -> None:
    if not device._on_host:
        raise TypeError(f"{why}, and NumPy's arrays are not on {device!r}") from None


# ---- calls --------------------------------------------------------------------------------------

# What makes an array of what it is given: the note is due also where that was one of NumPy's.
_MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
# What writes to its first argument, and by which name that may be given.
CHANGES: dict[Callable[..., Any], str] = {
    np.copyto: "dst",
    np.put: "a",
    np.place: "arr",
    np.putmask: "a",
    np.put_along_axis: "arr",
    np.fill_diagonal: "a",
    np.nan_to_num: "x",
}


def changed_by(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``function`` writes to of its arguments besides an output; None: nothing."""
    if function is np.nan_to_num and (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        return None
    if function in CHANGES:
        return args[0] if args else kwargs.get(CHANGES[function])
    return args[0] if args and getattr(function, "__name__", "") == "at" else None


def handed_over(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """What NumPy's ``function`` gives of what lazyarray can't hold: ``error`` says why.

    It waits for the lazyarrays among the arguments; those that it is to write to (``out``, the
    first argument of ``put`` and its like) are written.
    """
    name = getattr(function, "__name__", type(function).__name__)
    what = f"{name}()"
    if is_capturing():
        raise TracingError(f"{what} can't be traced: {error}; NumPy would compute it") from None
    device = chosen(kwargs.pop("ctx", None), kwargs.pop("device", None))
    for a in args:
        device = a if isinstance(a, Device) else device
    if device is not None:
        _refuse_gpu(device, error)
    args = tuple([a for a in args if not isinstance(a, Device)])
    arrays = _rows.inside((args, kwargs), Tensor)
    hosts, named = args, kwargs
    if arrays:
        refuse(name, *arrays)
        objects = function in _MAKERS and _asks_objects(*args[1:2], **kwargs)
        # An array of objects holds the lazyarrays themselves.
        hosts = tuple(
            [a if objects and not isinstance(a, Tensor) else to_host(a, what) for a in args]
        )
        named = {key: to_host(value, what) for key, value in kwargs.items()}
    place = place_of_out(function)
    places = slice(place, place + getattr(function, "nout", 1))
    outs = zip(
        (changed_by(function, args, kwargs), *args[places], *_as_tuple(kwargs.get("out"))),
        (changed_by(function, hosts, named), *hosts[places], *_as_tuple(named.get("out"))),
        strict=True,
    )
    written = [(array, host) for array, host in outs if isinstance(array, Tensor)]
    try:
        result = function(*hosts, **named)
    except Exception as exc:
        raise exc from None
    for array, host in written:
        _rows.assign_to(array, host)
    given = {id(host): array for array, host in written}
    if id(result) in given:
        return given[id(result)]
    if given and type(result) is tuple:
        result = tuple([given.get(id(part), part) for part in result])
    return _found(function, [args, kwargs], result, device or device_of(*arrays))


def of_objects(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """What a ufunc of ``np.frompyfunc``'s gives: objects, which NumPy makes at the call."""
    name, arrays = ufunc.__name__, _rows.inside(inputs, Tensor)
    refuse(name, *arrays)
    what = f"{name}()"
    result = ufunc(*[to_host(x, what) for x in inputs])
    return _found(ufunc, inputs, result, device_of(*arrays))


def of_hosts(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same of NumPy's arrays of other classes or dtypes, and options alone, on the host."""
    return from_hosts(function, args, kwargs, function(*args, **kwargs))


def from_hosts(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    """What such a call gives, of NumPy's result."""
    if isinstance(result, np.generic):
        return to_lazy(result)
    if isinstance(result, np.ndarray):
        if type(result) is not np.ndarray:
            return result
        first = args[0] if args else None
        if type(first) in (list, tuple) and first:
            first = first[0]
        if function not in _MAKERS and not _rows.holdable(result) and not _rows.holdable(first):
            return result  # no news
    return _found(function, [args, kwargs], result, None)


def _found(function: Callable[..., Any], given: Any, result: Any, device: Device | None) -> Any:
    own = tuple(_rows.inside(given, np.ndarray))
    # What makes an array of a matrix gives it NumPy's memory; ours is a copy.
    found = to_lazy(result, device, () if function in _MAKERS else own)
    numpys = _rows.inside(given, (np.ndarray, np.generic))
    if function in _MAKERS or all(map(_rows.holdable, numpys)):
        for host in _rows.inside(found, np.ndarray):
            if not any(host is x for x in own):
                note(host)
    return found


def place_of_out(function: Callable[..., Any]) -> int:
    """Where among its arguments NumPy's function takes ``out``; a large number if it doesn't."""
    if isinstance(function, np.ufunc):  # which a program may have made: no cache keeps it
        return function.nin
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return 4 if function.__name__ == "reduceat" else 3
    return _place_of_out(function)


@cache
def _place_of_out(function: Callable[..., Any]) -> int:
    try:
        names = [p.name for p in inspect.signature(function).parameters.values() if p.kind <= 1]
    except (TypeError, ValueError):
        return sys.maxsize
    return names.index("out") if "out" in names else sys.maxsize


def _as_tuple(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _asks_objects(dtype: Any = None, **rest: Any) -> bool:
    return dtype is not None and np.dtype(dtype) == object


def with_matrix(operator: Callable[..., Any], a: Any, b: Any) -> Any:
    """``a op b`` where one is an array and one NumPy's matrix, whose class gives a matrix."""
    x = a if isinstance(a, Tensor) else b
    what = operator.__name__
    refuse(what, x)
    host = to_host(x, f"{what}()")
    return operator(host, b) if x is a else operator(a, host)


def in_place(operator: Callable[..., Any], x: Any, other: Any, error: Exception) -> Any:
    """``x += other`` and the like, where ``other`` is what lazyarray can't hold: by NumPy."""
    if is_capturing():
        raise TracingError(f"an operator in place can't be traced: {error}") from None
    refuse("an operator in place", x)
    host = values(x, "an operator in place")
    try:
        result = operator(host, to_host(other, "an operator in place"))
    except Exception as exc:
        raise exc from None
    _rows.assign_to(x, host)
    return x if result is host else result


# What is an element of an array of objects, in operators, though NumPy has no dtype for it.
_objects: list[type] = [numbers.Number, datetime.date, datetime.timedelta]


def as_object(*kinds: type) -> None:
    """Has operators take things of further kinds: NumPy computes with them, element by element."""
    _objects.extend(kinds)
    _rows.teach(numbers=tuple(_objects))


_rows.teach(
    handed_over=handed_over,
    of_hosts=of_hosts,
    from_hosts=from_hosts,
    note=note,
    told=_told,
    makers=_MAKERS,
)
as_object()
