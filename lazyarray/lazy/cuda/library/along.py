"""Along lines: argmax, argmin, sorts, running sums and products; ranges.

CuPy's sorts are stable and put NaN last, if its sign bit is clear. Of several NaN its argmax may
find any.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import Array, Call, Hosted, runs
from lazyarray.lazy.formulas import running


def _lines(call: Call, k: int = 0) -> Array:
    """The lines of an operand, which have no gaps."""
    shape = (*call.shape, *call.core)
    return call.view(k, shape, (*call.steps[k], call.dtypes[k].itemsize))


@runs()
def argmax(call: Call) -> None:
    """The index of each line's first maximum, or of its first NaN."""
    _extremum(call, "argmax")


@runs()
def argmin(call: Call) -> None:
    """The index of each line's first minimum, or of its first NaN."""
    _extremum(call, "argmin")


def _extremum(call: Call, name: str) -> None:
    lines = _lines(call)
    if lines.size:
        call.view(1, call.shape, call.steps[1])[...] = first(name, lines)


def first(name: str, lines: Array) -> Array:
    """NumPy's ``name``, argmax or argmin, along the last axis."""
    found = getattr(lines, name)(axis=-1)
    if lines.dtype.kind not in "fc":
        return found
    wrong = lines != lines
    return calls.cupy().where(wrong.any(axis=-1), wrong.argmax(axis=-1), found)


@runs("sort", "stable_sort")
def sort(call: Call) -> None:
    """Each line sorted."""
    lines = _lines(call)
    if lines.size:
        _lines(call, 1)[...] = sorted_lines(lines)


@runs("argsort", "stable_argsort")
def argsort(call: Call) -> None:
    """The indices that sort each line."""
    lines = _lines(call)
    if lines.size:
        _lines(call, 1)[...] = order_of(lines)


def sorted_lines(x: Array) -> Array:
    """A copy sorted along the last axis."""
    if x.size == x.shape[-1]:  # one line: a radix sort
        return calls.cupy().sort(_ordinary(x).reshape(-1), kind="stable").reshape(x.shape)
    return calls.cupy().sort(_ordinary(x), axis=-1, kind="stable")


def order_of(x: Array) -> Array:
    """The indices that sort along the last axis; what is equal stays in order."""
    if x.size == x.shape[-1]:
        return calls.cupy().argsort(_ordinary(x).reshape(-1), kind="stable").reshape(x.shape)
    return calls.cupy().argsort(_ordinary(x), axis=-1, kind="stable")


def _ordinary(x: Array) -> Array:
    """The array in C order, with NaN whose sign bit is clear: CuPy sorts others to the front."""
    xp = calls.cupy()
    if x.dtype.kind == "f":
        return xp.where(x != x, x.dtype.type(np.nan), x)
    return xp.ascontiguousarray(x)


def _accumulate(name: str, call: Call) -> None:
    """Running sums or products, by CuPy's function of that name."""
    ((count,), (n, m)) = call.shape, call.core
    dtype = call.dtypes[0]
    if dtype.kind == "b":
        raise Hosted("a running sum of booleans")
    x, out = [
        call.view(k, (count, n, m), (call.steps[k][0], call.core_steps[k], dtype.itemsize))
        for k in range(2)
    ]
    calls.countable(x.size)
    if x.size:
        out[...] = getattr(calls.cupy(), name)(x, axis=1, dtype=dtype)


for _op, _function in running().items():
    runs(_op)(partial(_accumulate, _function))


@runs()
def arange(call: Call) -> None:
    """``start + i * delta`` for n numbers, as the host's loop has it: two roundings."""
    xp = calls.cupy()
    out = call.view(2, call.core, (call.dtypes[2].itemsize,))
    numbers = xp.arange(call.core[0], dtype=np.int64).astype(call.dtypes[2], copy=False)
    xp.multiply(numbers, call.constant(1), out=out)
    xp.add(out, call.constant(0), out=out)
