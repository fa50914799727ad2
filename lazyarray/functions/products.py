"""Products of arrays: the native matrix product, or one instruction that takes the GIL."""

from __future__ import annotations

import functools
import operator
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _numpy_facts
from lazyarray.functions.joining import stack
from lazyarray.functions.manipulation import (
    copy,
    diagonal,
    expand_dims,
    moveaxis,
    permute_dims,
    ravel,
    reshape,
    squeeze,
    swapaxes,
)
from lazyarray.lazy._lazy import Tensor, returned
from lazyarray.ops import _layout, _rows
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import Shape, deliver, gil_op, operands
from lazyarray.ops._rows import (
    Gufunc,
    astype,
    contiguous_signature,
    out_array,
    probe,
    sole_out,
    writable,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import (
        ArrayLike,
        Casting,
        CoreAxes,
        DTypeLike,
        Order,
        ShapeLike,
        Signature,
    )

__all__ = [
    "dot",
    "vdot",
    "inner",
    "outer",
    "tensordot",
    "vecdot",
    "matvec",
    "vecmat",
    "kron",
    "cross",
]
if not TYPE_CHECKING:
    __all__ += ["trace"]  # to checkers la.trace is graph's, which knows both

_max, _min, _sum = op.max, op.min, op.sum
_matmul: Any = op.matmul
_add, _multiply, _conjugate = op.add, op.multiply, op.conjugate


def _times(*shapes: Shape) -> float:
    """A guess, in nanoseconds, of what multiplying and adding over these axes costs."""
    n = 1.0
    for shape in shapes:
        for d in shape:
            n *= d
    return 3000 + n


def dot(a: ArrayLike, b: ArrayLike, out: NDArray | None = None) -> NDArray:
    """The sum of products over the last axis of ``a`` and the last but one (or only) of ``b``.

    Vectors and matrices: the inner and the matrix product.

    Args:
        b: an array; its axis is as long as that of ``a``.
        out: an array for the result, in C order, of exactly its dtype and shape.
    Returns: an array: a's shape without its last axis, then b's without the axis summed.
    Raises: ValueError if the two lengths differ.

    >>> import lazyarray as la
    >>> la.dot(la.array([[1, 2], [3, 4]]), la.array([1, 1])).asnumpy()
    array([3, 7])
    """
    simple = _rows.dot(_matmul, a, b, out) if out is None or isinstance(out, Tensor) else None
    if simple is not None:
        return simple
    x, y = operands(a, b)
    dtype = np.result_type(x.dtype, y.dtype)
    if x.ndim == 0 or y.ndim == 0:
        if out is not None and dtype.char not in "fdFD":  # NumPy's product, into any array that is
            return _multiply(x, y, out=out_array(out))
        result = _multiply(*[astype(v, dtype, copy=False) for v in (x, y)])
        if dtype.char in "fdFD" and 0 < result.ndim <= 2:
            result = _added_to_zeros(result, y if x.ndim else x)
    else:
        summed = max(y.ndim - 2, 0)
        if x.shape[-1] != y.shape[summed]:
            raise _not_aligned(x, y, summed)
        if 1 in (x.size, y.size) and dtype.char in "fdFD" and x.ndim <= 2 and y.ndim <= 2:
            shape = (*x.shape[:-1], *y.shape[:summed], *y.shape[summed + 1 :])
            result = reshape(_multiply(*[astype(v, dtype, copy=False) for v in (x, y)]), shape)
            if result.size > 1:
                result = _added_to_zeros(result, x if x.size == 1 else y)
        elif x.ndim <= 2 and y.ndim <= 2:
            result = _matmul(*[_blas_ready(astype(v, dtype, copy=False)) for v in (x, y)])
        else:
            result = gil_op(
                "dot",
                np.dot,
                [x, y],
                (*x.shape[:-1], *y.shape[:summed], *y.shape[summed + 1 :]),
                out=True,
                cost=_times(x.shape, y.shape[:summed], y.shape[summed + 1 :]),
                gradient=_dotted(x.ndim, y.ndim),
            )
    return into_exact(returned(result), out, "dot")


def into_exact(result: NDArray, out: Any, name: str) -> NDArray:
    """The result of a product by BLAS, in ``out`` if that is given: of exactly its kind."""
    if out is None:
        return result
    out = out_array(out)
    fits = isinstance(out, Tensor) and (out.shape, out.dtype) == (result.shape, result.dtype)
    if not fits or not probe(out).flags.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, "
            "and be a C-Array)"
        )
    return deliver(result, out, name)


def _added_to_zeros(product: NDArray, number: NDArray) -> NDArray:
    """A product by a number as BLAS makes it: added to zeros, and nothing where the number is zero.

    So -0.0 becomes 0.0, and so does infinity times zero. Whose slope is wanted stays a product.
    """
    if follows(product):
        return product
    zero = product.dtype.type(0)
    found = _rows.select(reshape(number, ()) == 0, zero, product)
    return _add(found, 0, out=_layout.new(found.shape, found.dtype, None, found.device))


def _dotted(n: int, m: int) -> Any:
    """The gradient rules of dot for arrays of n and m axes."""
    mine, theirs = list(range(n - 1)), [i for i in range(m) if i != m - 2]
    behind = list(range(n - 1, n + m - 2))
    if m == 1:
        theirs, behind = [], []
    return (
        lambda g, b: tensordot(g, _conjugate(b), (behind, theirs)) if m > 1 else g[..., None] * b,
        lambda g, a: moveaxis(tensordot(_conjugate(a), g, (mine, mine)), 0, max(m - 2, 0)),
    )


def _not_aligned(x: NDArray, y: NDArray, axis: int) -> ValueError:
    texts = [f"({','.join(map(str, v.shape))}{',' if v.ndim == 1 else ''})" for v in (x, y)]
    return ValueError(
        f"shapes {texts[0]} and {texts[1]} not aligned: {x.shape[-1]} (dim {x.ndim - 1}) != "
        f"{y.shape[axis]} (dim {axis})"
    )


def _blas_ready(x: NDArray) -> NDArray:
    """``x``, or a copy that BLAS takes: np.dot copies where np.matmul runs a loop of its own."""
    flags = probe(x).flags
    if x.dtype.char not in "fdFD" or flags.c_contiguous or flags.f_contiguous:
        return x
    steps = [s for s, n in zip(x.strides, x.shape, strict=True) if n > 1]
    fits = len(steps) < 2 and all(s > 0 and s % x.itemsize == 0 for s in steps)
    return x if fits else copy(x, "C")


def vdot(a: ArrayLike, b: ArrayLike, /) -> NDArray:
    """The inner product of the flattened arrays, with the conjugate of ``a``.

    Args:
        b: an array of a's size.
    Returns: an array without axes.
    Raises: ValueError if the sizes differ.

    >>> import lazyarray as la
    >>> la.vdot(la.array([1j, 2]), la.array([1j, 3])).item()
    (7+0j)
    """
    x, y = operands(a, b)
    if x.size != y.size:
        raise ValueError(f"cannot reshape array of size {y.size} into shape ({x.size},)")
    if (
        _vdot is not None
        and x.device._on_host
        and x.dtype == y.dtype
        and x.dtype.char in "fdFD"
        and contiguous_signature(x)
        and contiguous_signature(y)
        and not follows(x, y)
    ):
        product: NDArray = _vdot(reshape(x, -1), reshape(y, -1))
        return product
    shapes = x.shape, y.shape
    return gil_op(
        "vdot",
        np.vdot,
        [x, y],
        (),
        mini=lambda v, w: np.vdot(v.reshape(-1)[:1], w.reshape(-1)[:1]),
        cost=3000 + x.size * (0.1 if x.dtype.char in "fdFD" else 1.0),  # BLAS's, or NumPy's loops
        gradient=(
            lambda g, b: (_conjugate(g) * b).reshape(shapes[0]),
            lambda g, a: (g * a).reshape(shapes[1]),
        ),
    )


def inner(a: ArrayLike, b: ArrayLike, /) -> NDArray:
    """The sum of products over the last axes.

    Args:
        b: an array whose last axis is as long.
    Returns: an array: a's shape without its last axis, then b's.
    Raises: ValueError if the lengths differ.

    >>> import lazyarray as la
    >>> la.inner(la.array([1, 2, 3]), la.array([0, 1, 0])).item()
    2
    """
    x, y = operands(a, b)
    return dot(x, swapaxes(y, -1, -2) if x.ndim and y.ndim > 1 else y)


def outer(a: ArrayLike, b: ArrayLike, out: NDArray | None = None) -> NDArray:
    """All products of an element of ``a`` and one of ``b``.

    Args:
        b: an array; both are flattened.
    Returns: a matrix (a.size, b.size).

    >>> import lazyarray as la
    >>> la.outer(la.array([1, 2]), la.array([3, 4])).asnumpy()
    array([[3, 4],
           [6, 8]])
    """
    simple = _rows.outer(_multiply, a, b) if out is None else None
    if simple is not None:
        return simple
    x, y = operands(a, b)
    return _multiply(ravel(x)[:, None], ravel(y)[None, :], out=out)


def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[ShapeLike] = 2) -> NDArray:
    """The sum of products over pairs of axes: the last ``axes`` of ``a`` and first of ``b``.

    Args:
        b: an array.
        axes: how many of the last axes of ``a`` and of the first of ``b``, or two sequences that
            name them.
    Returns: an array: a's other axes, then b's.
    Raises: ValueError if the lengths of the pairs differ.

    >>> import lazyarray as la
    >>> la.tensordot(la.ones((2, 3)), la.ones((3, 2)), axes=([0, 1], [1, 0])).item()
    6.0
    """
    x, y = operands(a, b)
    given: Any = axes
    try:
        mine, theirs = given
    except TypeError:
        mine, theirs = range(-given, 0), range(given)
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


# ---- where the vectors and matrices lie, and what they are computed in ---------------------------


def _along(
    product: Callable[..., NDArray],
    cores: tuple[int, ...],
    pair: Any,
    axes: Any,
    out: NDArray | None,
    **options: Any,
) -> NDArray:
    """``product`` of operands, and into an ``out``, whose last axes are those that ``axes`` names.

    ``cores``: how many of the operands' axes, and of the result's, are of a vector or a matrix.
    """
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    if len(axes) != 3 and (len(axes) != 2 or product is not vecdot):
        raise ValueError(
            "axes should be a list with an entry for all 3 inputs and outputs; entries for outputs "
            "can only be omitted if none of them has core axes."
        )
    named = [axis if isinstance(axis, tuple) else (axis,) for axis in axes] + [()]
    for place, (given, n) in enumerate(zip(named, cores, strict=False)):
        if len(given) != n:
            raise np.exceptions.AxisError(
                f"operand {place} has {n} core dimensions, but {len(given)} dimensions are "
                "specified by axes tuple."
            )
    lasts: list[tuple[int, ...]] = [tuple(range(-n, 0)) for n in cores]
    ready = [moveaxis(*part) for part in zip(operands(*pair), named[:2], lasts[:2], strict=True)]
    if out is not None:
        product(*ready, out=moveaxis(out_array(out), named[2], lasts[2]), **options)
        return out
    return moveaxis(product(*ready, **options), lasts[2], named[2])


class _Choice(NamedTuple):
    """What a call of a generalised ufunc may say of its loop and of its result."""

    dtype: DTypeLike = None
    casting: Casting = "same_kind"
    order: Order = "K"
    signature: Signature = None

    def loop(self, ufunc: np.ufunc, pair: list[NDArray], out: NDArray | None) -> Any:
        """The dtypes that the loop takes and gives; NumPy's errors."""
        if self.signature is not None and self.dtype is not None:
            raise TypeError("cannot specify both 'signature' and 'dtype'")
        given: Any = self.signature
        if given is None:
            given = (None, None, None if self.dtype is None else np.dtype(self.dtype))
        elif isinstance(given, str):
            if len(given) == 1:
                raise TypeError("Use `dtype` or  fill the tuple with more than one 'None'.")
            if not re.fullmatch("..->.", given):
                raise ValueError(
                    f"a type-string for {ufunc.__name__}, 2 typecode(s) before and 1 after the "
                    "-> sign"
                )
            given = tuple(given.replace("->", ""))
        signature = tuple([None if kind is None else np.dtype(kind) for kind in given])
        kinds = (*(x.dtype for x in pair), None if out is None else out.dtype)
        return ufunc.resolve_dtypes(kinds, signature=signature, casting=self.casting)

    def put(
        self,
        product: Callable[..., NDArray],
        pair: list[NDArray],
        cores: tuple[int, int],
        out: NDArray | None,
        kind: Any,
        order: str,
    ) -> NDArray:
        """The ``product``, of dtype ``kind``, in ``out`` or as the memory's order is asked for."""
        if out is not None and out.dtype != kind:
            _rows.assign_to(out, product(*pair))
            return out
        if order == "A":
            order = "F" if all(probe(x).flags.fnc for x in pair) else "C"
        if out is None and order == "F":
            (a, b), (m, n) = (x.shape for x in pair), cores
            stacks = np.broadcast_shapes(a[: len(a) - m], b[: len(b) - n])
            shape = stacks + (a[-2:-1] if m == 2 else ()) + (b[-1:] if n == 2 else ())
            if not shape:  # a number
                return product(*pair)
            out = _layout.new(shape, kind, range(len(shape))[::-1], pair[0].device)
        return product(*pair, out=out)


_USUAL = _Choice()


def _matmul_of(
    a: ArrayLike,
    b: ArrayLike,
    out: NDArray | None = None,
    axes: Any = None,
    subok: bool = True,
    **options: Any,
) -> NDArray:
    """``matmul`` with the arguments that are seldom given."""
    pair = operands(a, b)
    m, n = (min(x.ndim, 2) for x in pair)  # a vector's one axis is no axis of the result
    if axes is not None:
        return _along(_matmul_of, (m, n, max(m + n - 2, 0)), pair, axes, out, **options)
    return _of_cores(_matmul, np.matmul, pair, (m, n), out, _Choice(**options))


_rows.teach(matmul=_matmul_of)


def _of_cores(
    product: Callable[..., NDArray],
    ufunc: np.ufunc,
    pair: list[NDArray],
    cores: tuple[int, int],
    out: Any,
    choice: _Choice,
) -> NDArray:
    """The ``product`` of operands of as many ``cores`` axes, as the loop takes them."""
    if choice == _USUAL and pair[0].dtype == pair[1].dtype:
        return product(*pair, out=out)
    order = _layout.order_of(choice.order, "K")
    to = None if out is ... else sole_out(out)
    *kinds, kind = choice.loop(ufunc, pair, to)
    ready = [  # cast in C order, as a gufunc's operands are: BLAS sees the order
        x if x.dtype == d else copy(astype(x, d), "C") for x, d in zip(pair, kinds, strict=True)
    ]
    found = choice.put(product, ready, cores, to, kind, order)
    return writable(found) if out is ... else found


# ---- stacks of vectors --------------------------------------------------------------------------


_gufuncs = {
    name: Gufunc(getattr(np, name), name=name, section="linear algebra", cost=0.3, linear=True)
    for name in ("vecdot", "matvec", "vecmat")
    if hasattr(np, name)
}
_vdot = (
    Gufunc(np.vecdot, name="vdot", cost=0.12, linear=True, shared_from=None, silent=True)
    if hasattr(np, "vecdot")
    else None
)
_SIGNATURES = {"vecdot": "(n),(n)->()", "matvec": "(m,n),(n)->(m)", "vecmat": "(n),(n,m)->(m)"}


def _of_vectors(name: str, x1: Any, x2: Any, out: Any, **options: Any) -> NDArray:
    """The generalised ufunc of that name, by its own loop."""
    pair = operands(x1, x2)
    signature = _SIGNATURES[name]
    m, n = (core.count(",") + 1 for core in signature.split("->")[0].split("),("))
    for i, (x, wanted) in enumerate(zip(pair, (m, n), strict=True)):
        if x.ndim < wanted:
            raise ValueError(
                f"{name}: Input operand {i} does not have enough dimensions (has {x.ndim}, gufunc "
                f"core with signature {signature} requires {wanted})"
            )
    row = _gufuncs.get(name)  # matvec and vecmat came with NumPy 2.2
    product: Any = row or functools.partial(_by_matmul, name)
    ufunc = row.ufunc if row else np.matmul
    return _of_cores(product, ufunc, pair, (m, n), out, _Choice(**options))


def _by_matmul(name: str, x1: NDArray, x2: NDArray, out: NDArray | None = None) -> NDArray:
    """``matvec`` or ``vecmat`` as a product of matrices of which one has one column, or row."""
    axis = -1 if name == "matvec" else -2
    if axis == -2 and x1.dtype.kind == "c":
        x1 = _conjugate(x1)
    pair = (x1, expand_dims(x2, axis)) if axis == -1 else (expand_dims(x1, axis), x2)
    product: NDArray = _matmul(*pair, None if out is None else expand_dims(out_array(out), axis))
    return squeeze(product, axis) if out is None else out


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: NDArray | None = None,
    *,
    axes: CoreAxes = None,
    axis: int = -1,
    keepdims: bool = False,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Signature = None,
) -> NDArray:
    """The sum of products over one axis, with the conjugate of ``x1``; other axes broadcast.

    Args:
        axes: the axis of each operand, [0, 0] say, in the place of ``axis``; None: that.
    Returns: an array of the broadcast shape without that axis.
    Raises: ValueError if the lengths differ, or the other axes do not broadcast.

    >>> import lazyarray as la
    >>> la.vecdot(la.array([[1, 2], [3, 4]]), la.array([1, 1])).asnumpy()
    array([3, 7])
    """
    if not isinstance(keepdims, bool):
        raise TypeError("'keepdims' must be a boolean")
    options: dict[str, Any] = {"dtype": dtype, "casting": casting, "order": order}
    options["signature"] = signature
    if axes is not None:
        if axis != -1 or keepdims:
            raise TypeError("cannot specify both 'axis' or 'keepdims' and 'axes'")
        return _along(vecdot, (1, 1, 0), (x1, x2), axes, out, **options)
    if axis != -1:
        axis = operator.index(axis)
        x1, x2 = [moveaxis(x, axis, -1) for x in operands(x1, x2)]
    if keepdims and out is not None:
        vecdot(x1, x2, squeeze(out_array(out), axis), **options)
        return out
    found = _of_vectors("vecdot", x1, x2, out, **options)
    return expand_dims(found, axis) if keepdims else found


def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: NDArray | None = None,
    *,
    axes: CoreAxes = None,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Signature = None,
) -> NDArray:
    """The products of matrices and vectors.

    Args:
        x1: matrices (..., M, N).
        x2: vectors (..., N).
        axes: the axes of these and of the result: [(-2, -1), -1, -1] is what None stands for.
    Returns: an array (..., M).
    Raises: ValueError if the lengths differ, or the other axes do not broadcast.

    >>> import lazyarray as la
    >>> la.matvec(la.array([[1, 2], [3, 4]]), la.array([[1, 0], [0, 1]])).asnumpy()
    array([[1, 3],
           [2, 4]])
    """
    options = {"dtype": dtype, "casting": casting, "order": order, "signature": signature}
    if axes is not None:
        return _along(matvec, (2, 1, 1), (x1, x2), axes, out, **options)
    return _of_vectors("matvec", x1, x2, out, **options)


def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: NDArray | None = None,
    *,
    axes: CoreAxes = None,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Signature = None,
) -> NDArray:
    """The products of vectors' conjugates and matrices.

    Args:
        x1: vectors (..., N).
        x2: matrices (..., N, M).
        axes: the axes of these and of the result: [-1, (-2, -1), -1] is what None stands for.
    Returns: an array (..., M).
    Raises: ValueError if the lengths differ, or the other axes do not broadcast.

    >>> import lazyarray as la
    >>> la.vecmat(la.array([1, 1]), la.array([[1, 2], [3, 4]])).asnumpy()
    array([4, 6])
    """
    options = {"dtype": dtype, "casting": casting, "order": order, "signature": signature}
    if axes is not None:
        return _along(vecmat, (1, 2, 1), (x1, x2), axes, out, **options)
    return _of_vectors("vecmat", x1, x2, out, **options)


def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> NDArray:
    """The cross product of vectors of three along an axis of each; other axes broadcast.

    Vectors of two (a DeprecationWarning, and since NumPy 2.5 a ValueError, as there) have a zero
    for their third.

    Args:
        a: vectors.
        b: vectors.
        axisa: the axis along which those of ``a`` lie.
        axisb: the axis along which those of ``b`` lie.
        axisc: the axis along which the result's lie.
        axis: sets all three.
    Returns: an array of the broadcast shape.
    Raises: ValueError for vectors of other lengths than two and three.

    >>> import lazyarray as la
    >>> la.cross(la.array([1, 0, 0]), la.array([0, 1, 0])).asnumpy()
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x: NDArray
    y: NDArray
    x, y = operands(a, b)
    if x.ndim < 1 or y.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    x = moveaxis(x, normalize_axis_index(axisa, x.ndim, "axisa"), -1)
    y = moveaxis(y, normalize_axis_index(axisb, y.ndim, "axisb"), -1)
    m, n = x.shape[-1], y.shape[-1]
    if _numpy_facts.CROSS_OF_THREE and (m, n) != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{m} and {n} dimensional instead."
        )
    if m not in (2, 3) or n not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if m == 2 or n == 2:
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors "
            "instead. (deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    dtype = np.promote_types(x.dtype, y.dtype)
    x, y = astype(x, dtype, copy=False), astype(y, dtype, copy=False)
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    if not shape:  # by arrays: what scalars of integers overflow is told
        x, y = x.reshape(1, m), y.reshape(1, n)
    if m == n == 2:
        return writable(reshape(_in_c_order(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]), shape))
    axisc = normalize_axis_index(axisc, len(shape) + 1, "axisc")
    last = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    if m == 2:
        parts = [x[..., 1] * y[..., 2], -(x[..., 0] * y[..., 2]), last]
    elif n == 2:
        parts = [-(x[..., 2] * y[..., 1]), x[..., 2] * y[..., 0], last]
    else:
        parts = [
            x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1],
            x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2],
            last,
        ]
    return moveaxis(reshape(_in_c_order(stack(parts, -1)), (*shape, 3)), -1, axisc)


def _in_c_order(x: NDArray) -> NDArray:
    """As NumPy's ``cross`` lies, whose parts are written into an empty array."""
    return x if x.flags.c_contiguous else copy(x, order="C")


# ---- Kronecker's product ------------------------------------------------------------------------


def kron(a: ArrayLike, b: ArrayLike) -> NDArray:
    """The Kronecker product: blocks of ``b`` scaled by the elements of ``a``.

    Returns: an array, each axis as long as those of ``a`` and ``b`` multiplied.

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


@_rows.public("trace", host=np.trace)
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
) -> NDArray:
    """The sum of a diagonal of two axes.

    Args:
        a: an array of two axes at least.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        axis1: the rows' axis.
        axis2: the columns' axis.
        dtype: what is added in, and the result's dtype.
    Returns: an array without the two axes.
    Raises: ValueError for an array of fewer than two axes.

    >>> import lazyarray as la
    >>> la.trace(la.array([[1, 2], [3, 4]])).item()
    5
    """
    return _sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)
