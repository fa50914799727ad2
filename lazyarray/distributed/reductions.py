"""Reductions over ranks that the backend doesn't do, or not in the order of the ranks.

NumPy's functions run on the backend's own arrays: CuPy's on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.distributed.backend import Backend

__all__ = ["OPS", "allreduce", "reduce", "reduce_scatter"]

OPS = ("sum", "mean", "prod", "max", "min")
_UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_WHOLE = 1 << 14  # bytes up to which every rank adds up everything: one collective instead of two


def _folded(rows: np.ndarray, op: str) -> np.ndarray:
    """The rows' reduction, from the first to the last, as ``rows[0] + rows[1] + ...`` has it."""
    total: np.ndarray = rows[0]
    with np.errstate(all="ignore"):
        for row in rows[1:]:
            _UFUNCS[op](total, row, out=total)
    return total


def _divided(x: np.ndarray, op: str, size: int) -> None:
    if op == "mean":
        with np.errstate(all="ignore"):
            np.true_divide(x, x.dtype.type(size), out=x)


def _native(backend: Backend, op: str, dtype: np.dtype[Any], ordered: bool) -> bool:
    return (not ordered or backend.size == 1) and backend.reduces(op, dtype)


def allreduce(backend: Backend, source: np.ndarray, to: np.ndarray, op: str, ordered: bool) -> None:
    """``to`` becomes the reduction of every rank's ``source``; the two may be one."""
    if _native(backend, op, source.dtype, ordered):
        backend.allreduce(source, to, op)
    elif source.nbytes <= _WHOLE:
        rows = np.empty((backend.size, source.size), source.dtype, like=source)
        backend.allgather(source, rows)
        to.reshape(-1)[...] = _folded(rows, op)
    else:  # each rank adds up a part, in the ranks' order, and tells it to all
        part = -(-source.size // backend.size)
        padded = np.zeros((backend.size, part), source.dtype, like=source)
        padded.reshape(-1)[: source.size] = source.reshape(-1)
        rows = np.empty_like(padded)
        backend.alltoall(padded, rows)
        backend.allgather(_folded(rows, op), padded)
        to.reshape(-1)[...] = padded.reshape(-1)[: source.size]
    _divided(to, op, backend.size)


def reduce(
    backend: Backend,
    source: np.ndarray,
    to: np.ndarray | None,
    op: str,
    root: int,
    ordered: bool,
) -> None:
    """As :func:`allreduce`, at the root only; elsewhere ``to`` is None."""
    if not _native(backend, op, source.dtype, ordered):
        allreduce(backend, source, np.empty_like(source) if to is None else to, op, ordered)
        return
    backend.reduce(source, to, op, root)
    if to is not None:
        _divided(to, op, backend.size)


def reduce_scatter(
    backend: Backend, source: np.ndarray, to: np.ndarray, op: str, ordered: bool
) -> None:
    """``source`` has a row a rank; ``to`` becomes the reduction of this rank's rows."""
    if _native(backend, op, source.dtype, ordered):
        backend.reduce_scatter(source, to, op)
    else:
        rows = np.empty_like(source)
        backend.alltoall(source, rows)
        to.reshape(-1)[...] = _folded(rows.reshape(backend.size, -1), op)
    _divided(to, op, backend.size)
