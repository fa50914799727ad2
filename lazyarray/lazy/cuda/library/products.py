"""Products of matrices and vectors: matmul, vecdot, matvec, vecmat.

Full precision: CuPy gives a single matrix of float32 to cuBLAS with an algorithm that may use
halves, and stacks of them without; so such a matrix is a stack of one here. Where a stack is
broadcast, CuPy is given its one matrix.
"""

from __future__ import annotations

import numpy as np

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import Array, Call, runs


@runs()
def matmul(call: Call) -> None:
    """Matrices (..., n, k) times matrices (..., k, m)."""
    a, b, out = call.arrays
    _multiply(a, b, out)


@runs()
def vecdot(call: Call) -> None:
    """The sums of products of vectors, with the conjugate of the first."""
    a, b, out = call.arrays
    if a.dtype.kind in "fc" and a.dtype.char != "e" and a.ndim == 1:
        out[...] = (a.conj() * b).sum()
        return
    _multiply(_conjugate(a)[..., None, :], b[..., :, None], out[..., None, None])


@runs()
def matvec(call: Call) -> None:
    """Matrices (..., m, n) times vectors (..., n)."""
    a, b, out = call.arrays
    _multiply(a, b[..., :, None], out[..., :, None])


@runs()
def vecmat(call: Call) -> None:
    """The conjugates of vectors (..., n) times matrices (..., n, m)."""
    a, b, out = call.arrays
    _multiply(_conjugate(a)[..., None, :], b, out[..., None, :])


def _conjugate(x: Array) -> Array:
    return x.conj() if x.dtype.kind == "c" else x


def _multiply(a: Array, b: Array, out: Array) -> None:
    """``out[...] = a @ b`` of stacks of matrices that have the same axes."""
    xp = calls.cupy()
    if out.size == 0:
        return
    kind, char = out.dtype.kind, out.dtype.char
    if kind == "b":
        # How many are true is no zero, however it is rounded.
        counts = _product(xp, a.astype(np.float32), b.astype(np.float32))
        out[...] = counts > 0
    elif kind in "iu":
        calls.countable(max(x.shape[-1] * x.shape[-2] for x in (a, b, out)))
        wide = np.int64 if kind == "i" else np.uint64  # the bits kept are those of any width
        out[...] = _product(xp, a.astype(wide, copy=False), b.astype(wide, copy=False))
    elif char == "e" and a.shape[-2] == b.shape[-1] == 1:  # else CuPy rounds each product
        out[...] = _product(xp, a.astype(np.float32), b.astype(np.float32))
    elif out.flags.c_contiguous:
        _product(xp, a, b, out)
    else:
        out[...] = _product(xp, a, b)


def _product(xp: calls.Any, a: Array, b: Array, out: Array | None = None) -> Array:
    if a.ndim == 2 and a.dtype.char in "fF":
        target = None if out is None else out[None]
        return xp.matmul(a[None], b[None], out=target)[0]
    return xp.matmul(_narrow(a), _narrow(b), out=out) if _fits(a, b) else xp.matmul(a, b, out=out)


def _fits(a: Array, b: Array) -> bool:
    """Whether no axis of the stacks is broadcast in both."""
    return all(
        x or y or n == 1
        for n, x, y in zip(a.shape[:-2], a.strides[:-2], b.strides[:-2], strict=True)
    )


def _narrow(x: Array) -> Array:
    """A stack without the repetitions along axes in which it is broadcast."""
    return x[tuple([slice(None) if step else slice(1) for step in x.strides[:-2]])]
