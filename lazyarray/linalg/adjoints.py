"""The gradient rules of decompositions, with the parameters of ``ops._differentiable.note``.

Those of eigenvectors and singular vectors divide by differences of eigenvalues or squared singular
values; where two are equal the vectors are not determined, and that part is left out. The gradient
of a function of Hermitian matrices is Hermitian. Sources: Giles (2008), "An extended collection of
matrix derivative results"; Golub and Pereyra (1973) for the pseudo-inverse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.joining import concatenate
from lazyarray.ops import names as op
from lazyarray.ops._rows import array, select
from lazyarray.ops.lapack import lapack

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

_conjugate, _equal = op.conjugate, op.equal


def conjugated(x: NDArray) -> NDArray:
    """The conjugate transposes of matrices."""
    found: NDArray = _conjugate(x.mT)
    return found


def _mask(x: NDArray, values: np.ndarray) -> NDArray:
    """A constant matrix of x's kind of real numbers, on its device."""
    return array(values.astype(x.real.dtype), None, x.device)


def _inverse(x: NDArray) -> NDArray:
    """1 / x, and 0 for 0."""
    zero = _equal(x, 0)
    return select(zero, 0.0, 1.0 / select(zero, 1.0, x))


def slogdet(g: NDArray, h: NDArray, a: NDArray, y: NDArray) -> NDArray:
    """Of slogdet: the sign of a complex matrix turns with it."""
    scale: Any = h
    if a.dtype.kind == "c":
        scale = h - 1j * (_conjugate(g) * y).imag
    return scale[..., None, None] * conjugated(lapack("inv", a))


def eigh(g: NDArray, h: NDArray, y: NDArray, z: NDArray) -> NDArray:
    """Of eigh, by eigenvalues and vectors."""
    n = y.shape[-1]
    gaps = _inverse(y[..., None, :] - y[..., :, None])
    inner = conjugated(z) @ h * gaps + g[..., None] * _mask(y, np.eye(n))
    return _hermitian(z @ inner @ conjugated(z))


def _hermitian(x: NDArray) -> NDArray:
    return (x + conjugated(x)) / 2


def eigvalsh(g: NDArray, vectors: NDArray) -> NDArray:
    """Of eigvalsh, with the eigenvectors."""
    return _hermitian((vectors * g[..., None, :]) @ conjugated(vectors))


def svd(g: NDArray, h: NDArray, k: NDArray, y: NDArray, z: NDArray, w: NDArray) -> NDArray:
    """Of the reduced singular value decomposition: U, S and Vh."""
    (m, rank), n = y.shape[-2:], w.shape[-1]
    one = _mask(z, np.eye(rank))
    squares = z * z
    gaps = _inverse(squares[..., None, :] - squares[..., :, None])
    uh, v = conjugated(y), conjugated(w)
    gv = conjugated(k)
    turn_u, turn_v = uh @ g, w @ gv
    skew_u, skew_v = turn_u - conjugated(turn_u), turn_v - conjugated(turn_v)
    rows, columns = z[..., :, None], z[..., None, :]
    inner = skew_u * gaps * columns + rows * (skew_v * gaps) + h[..., None] * one
    if y.dtype.kind == "c":  # a common phase of the vectors
        inner = inner + skew_u * one * _inverse(2 * columns)
    over = _inverse(columns)
    outer = y @ inner
    if m > rank:
        outer = outer + (g - y @ turn_u) * over
    found = outer @ w
    if n > rank:
        rest = conjugated(gv - v @ turn_v)
        found = found + (y * over) @ rest
    return found


def svdvals(g: NDArray, u: NDArray, vh: NDArray) -> NDArray:
    """Of the singular values alone, with the vectors."""
    return (u * g[..., None, :]) @ vh


def qr(g: NDArray, h: NDArray, a: NDArray, y: NDArray, z: NDArray) -> NDArray:
    """Of the reduced QR decomposition; of a wide matrix the columns behind the square are R's."""
    k, n = z.shape[-2:]
    if n > k:
        behind = a[..., k:]
        gq = g + behind @ conjugated(h[..., k:])
        square = _qr(gq, h[..., :k], y, z[..., :k])
        return concatenate([square, y @ h[..., k:]], axis=-1)
    return _qr(g, h, y, z)


def _qr(g: NDArray, h: NDArray, q: NDArray, r: NDArray) -> NDArray:
    n = r.shape[-1]
    inner = r @ conjugated(h) - conjugated(g) @ q
    lower = inner * _mask(q, np.tril(np.ones((n, n)), -1))
    middle = (inner * _mask(q, np.eye(n))).real
    found = (g + q @ (lower + conjugated(lower) + middle)) @ conjugated(lapack("inv", r))
    return found


def pinv(g: NDArray, a: NDArray, y: NDArray) -> NDArray:
    """Of the pseudo-inverse, where the rank stays."""
    gh, yh = conjugated(g), conjugated(y)
    left = gh @ y @ yh
    left = left - a @ (y @ left)
    right = yh @ (y @ gh)
    right = right - (right @ y) @ a
    return left + right - yh @ g @ yh
