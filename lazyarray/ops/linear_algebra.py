"""Products of arrays: the native matrix product, or one instruction that takes the GIL."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _layout, elementwise, table
from lazyarray.ops._layout import Shape, deliver, gil_op, operands
from lazyarray.ops._rows import astype, contiguous_signature, probe
from lazyarray.ops.manipulation import copy, expand_dims, permute_dims, ravel, reshape, swapaxes

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["dot", "vdot", "inner", "outer", "tensordot", "vecdot", "kron", "einsum"]

_matmul = table["matmul"]
_multiply = elementwise.TABLE["multiply"]


def _times(*shapes: Shape) -> float:
    """A guess, in nanoseconds, of what multiplying and adding over these axes costs."""
    n = 1.0
    for shape in shapes:
        for d in shape:
            n *= d
    return 3000 + n


def dot(a: Any, b: Any, out: NDArray | None = None) -> NDArray:
    """The sum of products over the last axis of ``a`` and the last but one (or only) of ``b``.

    Vectors and matrices: the inner and the matrix product. Shape: a's without its last axis, then
    b's without the axis summed. ValueError if the two lengths differ; ``out`` must be C-ordered,
    of the result's dtype and shape.

    >>> import lazyarray as la
    >>> la.dot(la.array([[1, 2], [3, 4]]), la.array([1, 1])).asnumpy()
    array([3, 7])
    """
    x, y = operands(a, b)
    if x.ndim == 0 or y.ndim == 0:
        shape = x.shape or y.shape
        result = _layout.new(shape, np.result_type(x.dtype, y.dtype), None, x.device)
        _multiply(x, y, out=result)
    else:
        summed = max(y.ndim - 2, 0)
        if x.shape[-1] != y.shape[summed]:
            raise _not_aligned(x, y, summed)
        if x.ndim <= 2 and y.ndim <= 2:
            dtype = x.dtype if x.dtype == y.dtype else np.result_type(x.dtype, y.dtype)
            result = _matmul(*[_blas_ready(astype(v, dtype, copy=False)) for v in (x, y)])
        else:
            result = gil_op(
                "dot",
                np.dot,
                [x, y],
                (*x.shape[:-1], *y.shape[:summed], *y.shape[summed + 1 :]),
                out=True,
                cost=_times(x.shape, y.shape[:summed], y.shape[summed + 1 :]),
            )
    if out is None:
        return result
    fits = isinstance(out, Tensor) and (out.shape, out.dtype) == (result.shape, result.dtype)
    if not fits or not probe(out).flags.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, "
            "and be a C-Array)"
        )
    return deliver(result, out, "dot")


def _not_aligned(x: NDArray, y: NDArray, axis: int) -> ValueError:
    texts = [f"({','.join(map(str, v.shape))}{',' if v.ndim == 1 else ''})" for v in (x, y)]
    return ValueError(
        f"shapes {texts[0]} and {texts[1]} not aligned: {x.shape[-1]} (dim {x.ndim - 1}) != "
        f"{y.shape[axis]} (dim {axis})"
    )


def _blas_ready(x: NDArray) -> NDArray:
    """``x``, or a copy that BLAS takes: np.dot copies where np.matmul runs a loop of its own."""
    if x.dtype.char not in "fdFD" or contiguous_signature(x) is not None:
        return x
    item = x.itemsize
    steps = [s for s, n in zip(x.strides, x.shape, strict=True) if n > 1]
    fits = all(s > 0 and s % item == 0 for s in steps) and (item in steps or len(steps) < 2)
    return x if fits else copy(x, "A")


def vdot(a: Any, b: Any, /) -> NDArray:
    """The inner product of the flattened arrays, with the conjugate of ``a``.

    >>> import lazyarray as la
    >>> la.vdot(la.array([1j, 2]), la.array([1j, 3])).item()
    (7+0j)
    """
    x, y = operands(a, b)
    if x.size != y.size:
        raise ValueError(f"cannot reshape array of size {y.size} into shape ({x.size},)")
    return gil_op("vdot", np.vdot, [x, y], (), cost=_times(x.shape))


def inner(a: Any, b: Any, /) -> NDArray:
    """The sum of products over the last axes.

    >>> import lazyarray as la
    >>> la.inner(la.array([1, 2, 3]), la.array([0, 1, 0])).item()
    2
    """
    x, y = operands(a, b)
    return dot(x, swapaxes(y, -1, -2) if x.ndim and y.ndim > 1 else y)


def outer(a: Any, b: Any, out: NDArray | None = None) -> NDArray:
    """All products of an element of ``a`` and one of ``b``: shape (a.size, b.size).

    >>> import lazyarray as la
    >>> la.outer(la.array([1, 2]), la.array([3, 4])).asnumpy()
    array([[3, 4],
           [6, 8]])
    """
    x, y = operands(a, b)
    return _multiply(ravel(x)[:, None], ravel(y)[None, :], out=out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> NDArray:
    """The sum of products over pairs of axes: the last ``axes`` of ``a`` and first of ``b``.

    Or ``axes`` are two sequences that name them. ValueError if their lengths differ.

    >>> import lazyarray as la
    >>> la.tensordot(la.ones((2, 3)), la.ones((3, 2)), axes=([0, 1], [1, 0])).item()
    6.0
    """
    x, y = operands(a, b)
    try:
        mine, theirs = axes
    except TypeError:
        mine, theirs = range(-axes, 0), range(axes)
    mine, theirs = _list(mine), _list(theirs)
    if len(mine) != len(theirs):
        raise ValueError("shape-mismatch for sum")
    for i, j in zip(mine, theirs, strict=True):
        if x.shape[i] != y.shape[j]:
            raise ValueError("shape-mismatch for sum")
    mine = [i + x.ndim if i < 0 else i for i in mine]
    theirs = [j + y.ndim if j < 0 else j for j in theirs]
    kept = [i for i in range(x.ndim) if i not in mine]
    rest = [j for j in range(y.ndim) if j not in theirs]
    summed = rows = columns = 1
    for i in mine:
        summed *= x.shape[i]
    for i in kept:
        rows *= x.shape[i]
    for j in rest:
        columns *= y.shape[j]
    left = reshape(permute_dims(x, [*kept, *mine]), (rows, summed))
    right = reshape(permute_dims(y, [*theirs, *rest]), (summed, columns))
    shape = (*[x.shape[i] for i in kept], *[y.shape[j] for j in rest])
    return reshape(dot(left, right), shape)


def _list(axes: Any) -> list[int]:
    return list(axes) if hasattr(axes, "__iter__") else [axes]


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> NDArray:
    """The sum of products over one axis, with the conjugate of ``x1``; other axes broadcast.

    >>> import lazyarray as la
    >>> la.vecdot(la.array([[1, 2], [3, 4]]), la.array([1, 1])).asnumpy()
    array([3, 7])
    """
    x, y = operands(x1, x2)
    i, j = normalize_axis_index(axis, x.ndim), normalize_axis_index(axis, y.ndim)
    if x.shape[i] != y.shape[j]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
            f"signature (n),(n)->() (size {y.shape[j]} is different from {x.shape[i]})"
        )
    shape = np.broadcast_shapes(
        (*x.shape[:i], *x.shape[i + 1 :]), (*y.shape[:j], *y.shape[j + 1 :])
    )
    return gil_op(
        "vecdot",
        lambda v, w: np.vecdot(v, w, axis=axis),  # type: ignore[call-overload]
        [x, y],
        shape,
        axis,
        cost=_times(shape, (x.shape[i],)),
    )


def kron(a: Any, b: Any) -> NDArray:
    """The Kronecker product: blocks of ``b`` scaled by the elements of ``a``.

    >>> import lazyarray as la
    >>> la.kron(la.array([1, 10]), la.array([1, 2])).asnumpy()
    array([ 1,  2, 10, 20])
    """
    x, y = operands(a, b)
    ndim = max(x.ndim, y.ndim)
    if x.ndim == 0 or y.ndim == 0:
        return _multiply(x, y)
    x = expand_dims(x, tuple(range(ndim - x.ndim)))
    y = expand_dims(y, tuple(range(ndim - y.ndim)))
    product = _multiply(
        expand_dims(x, tuple(range(1, 2 * ndim, 2))), expand_dims(y, tuple(range(0, 2 * ndim, 2)))
    )
    return reshape(product, tuple([n * m for n, m in zip(x.shape, y.shape, strict=True)]))


def multi_dot(arrays: Sequence[Any], *, out: NDArray | None = None) -> NDArray:
    """The product of several matrices (the first and last may be vectors), in the cheapest order.

    >>> import lazyarray as la
    >>> la.linalg.multi_dot([la.ones((2, 3)), la.ones((3, 4)), la.ones(4)]).asnumpy()
    array([12., 12.])
    """
    xs = operands(*arrays)
    if len(xs) < 2:
        raise ValueError("Expecting at least two arrays.")
    for i, x in enumerate(xs):
        if x.ndim != 2 and not (x.ndim == 1 and i in (0, len(xs) - 1)):
            raise np.linalg.LinAlgError(
                f"{x.ndim}-dimensional array given. Array must be two-dimensional"
            )
    for x, y in pairwise(xs):
        if x.shape[-1] != y.shape[0]:
            raise _not_aligned(x, y, 0)
    shape = (*xs[0].shape[:-1], *xs[-1].shape[1:])
    result = gil_op(
        "multi_dot",
        lambda *v: np.linalg.multi_dot(v),
        xs,
        shape,
        cost=_times(*[x.shape for x in xs]),
    )
    return deliver(result, out, "multi_dot")


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> NDArray:
    """The cross product of vectors of three, which lie along ``axis``; other axes broadcast.

    >>> import lazyarray as la
    >>> la.linalg.cross(la.array([1, 0, 0]), la.array([0, 1, 0])).asnumpy()
    array([0, 0, 1])
    """
    x, y = operands(x1, x2)
    i, j = normalize_axis_index(axis, x.ndim), normalize_axis_index(axis, y.ndim)
    if x.shape[i] != 3 or y.shape[j] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x.shape[i]} and {y.shape[j]} dimensional instead."
        )
    shape = np.broadcast_shapes(x.shape, y.shape)
    return gil_op(
        "cross",
        lambda v, w: np.linalg.cross(v, w, axis=axis),
        [x, y],
        shape,
        axis,
        mini=lambda v, w: np.linalg.cross(*[u.take([0, 0, 0], axis) for u in (v, w)], axis=axis),
    )


# ---- einsum -------------------------------------------------------------------------------------


def einsum(
    subscripts: Any, /, *arrays: Any, out: NDArray | None = None, optimize: Any = False
) -> NDArray:
    """Einstein's summation: ``einsum("ij,jk->ik", a, b)`` names axes by letters.

    Letters that the result lacks are summed over; ``...`` stands for axes that broadcast. NumPy's
    other form, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, works too. ValueError for subscripts
    that don't fit. One array of which nothing is summed gives a view.

    >>> import lazyarray as la
    >>> la.einsum("ij->j", la.array([[1, 2], [3, 4]])).asnumpy()
    array([4, 6])
    """
    if not isinstance(subscripts, str):
        subscripts, given = _spelled((subscripts, *arrays))
        arrays = tuple(given)
    xs = operands(*arrays)
    path = tuple(optimize) if isinstance(optimize, list) else optimize

    def run(*values: np.ndarray) -> np.ndarray:
        return np.einsum(subscripts, *values, optimize=optimize)

    signs = tuple([_layout.signature(x) for x in xs])
    # The miniatures check the subscripts before a shape is made of them.
    _layout.infer(("einsum", subscripts), lambda *v: np.einsum(subscripts, *v), signs)
    if len(xs) == 1 and out is None and _is_view(subscripts, signs[0]):
        return _layout.viewed(xs[0], lambda v: np.einsum(subscripts, v))
    shape, summed = _einsum_shape(subscripts, [x.shape for x in xs])
    result = gil_op("einsum", run, xs, shape, (subscripts, path), cost=_times(shape, summed))
    return deliver(result, out, "einsum")


@functools.lru_cache(1024)
def _is_view(subscripts: str, sign: tuple[Any, ...]) -> bool:
    """Whether NumPy gives a view: diagonals and permutations of one array, nothing summed."""
    v = _layout.miniature(sign)
    return np.may_share_memory(np.einsum(subscripts, v), v)


def _spelled(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The form with lists of axis numbers, as subscripts and arrays."""

    def letters(numbers: Any) -> str:
        return "".join(["..." if n is Ellipsis else _LETTERS[n] for n in numbers])

    pairs = len(args) // 2
    terms = ",".join([letters(args[2 * i + 1]) for i in range(pairs)])
    if len(args) % 2:
        terms += "->" + letters(args[-1])
    return terms, [args[2 * i] for i in range(pairs)]


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _einsum_shape(subscripts: str, shapes: Sequence[Shape]) -> tuple[Shape, Shape]:
    """The lengths of the result's axes and of those summed over."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    lengths: dict[str, int] = {}
    spare: list[Shape] = []  # what each "..." stands for
    for term, shape in zip(terms.split(","), shapes, strict=True):
        head, _, tail = term.partition("...")
        end = len(shape) - len(tail)
        spare.append(shape[len(head) : end])
        for letter, n in zip(head + tail, shape[: len(head)] + shape[end:], strict=True):
            if lengths.setdefault(letter, n) == 1:
                lengths[letter] = n
            elif n not in (1, lengths[letter]):
                raise ValueError(
                    f"operands could not be broadcast together: {letter!r} is both "
                    f"{lengths[letter]} and {n} long in {subscripts!r}"
                )
    if not arrow:
        once = [c for c in sorted(lengths) if terms.count(c) == 1]
        result = "..." * ("..." in terms) + "".join(once)
    head, dots, tail = result.partition("...")
    between = np.broadcast_shapes(*spare) if dots else ()
    kept = (*[lengths[c] for c in head], *between, *[lengths[c] for c in tail])
    return kept, tuple([n for c, n in lengths.items() if c not in result])
