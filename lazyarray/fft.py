"""Discrete Fourier transforms: ``numpy.fft`` as asynchronous ops.

Each transform of one axis is an instruction that calls NumPy, whose loops let go of the GIL while
they run. (They can't run without a Python thread, as LAPACK's do here: out of memory, they set a
Python exception.) Results are NumPy's, bit for bit: float32 and float16 give complex64.

``norm`` says which direction is scaled: "backward" (the default) or "forward" by 1/n, "ortho" both
by its root. ``out`` gets the result if given. Wrong lengths, axes and norms raise at the call.
"""

from __future__ import annotations

import math
import operator
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _direct, _numpy_facts
from lazyarray.functions.creation import empty, zeros
from lazyarray.functions.joining import concatenate
from lazyarray.functions.ranges import arange
from lazyarray.functions.rearranging import roll
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import names as op
from lazyarray.ops._layout import check_shape, cut_apart, deliver, gil_op, operands
from lazyarray.ops._rows import assign_to, astype, sole_out

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike

__all__ = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]


_conjugate = op.conjugate


# ---- one axis -----------------------------------------------------------------------------------


def _transform(
    name: str, a: Any, n: int | None, axis: int, norm: str | None, out: NDArray | None = None
) -> NDArray:
    """NumPy's transform of that name; ``n`` None is the length that suits the axis."""
    (x,) = operands(a)
    if n is None:
        n = x.shape[axis]
        if name in ("irfft", "hfft"):
            n = 2 * (n - 1)
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    at = normalize_axis_index(axis, x.ndim)
    length = n // 2 + 1 if name in ("rfft", "ihfft") else n
    shape = (*x.shape[:at], length, *x.shape[at + 1 :])
    function: Callable[..., np.ndarray] = getattr(np.fft, name)

    def run(v: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if v.shape[at] == 0:  # NumPy's transforms to real numbers read a value that is not there
            v = np.zeros_like(v, shape=(*v.shape[:at], 1, *v.shape[at + 1 :]))
        return function(v, n, at, norm, out=out)

    # NumPy computes in the precision of both.
    out = sole_out(out)
    into = None if name == "hfft" else out
    if into is not None and _precision(into.dtype) == _precision(x.dtype):
        into = None
    result = gil_op(
        f"fft.{name}",
        run,
        [x],
        shape,
        (at, norm),
        mini=lambda v, out=None: function(v, 2, at, norm, out=out),
        out=name != "hfft",  # which forgets its out
        into=into,
        # Of 64 x 64 to 1000 x 1000, 2.7 to 6.6 ns an element.
        cost=5000 + 4.0 * max(x.size, math.prod(shape)),
        gradient=(_adjoint(name, x.shape[at], n, at, norm),),
        cut=cut_apart(x.shape, [at]),
    )
    return result if into is not None else deliver(result, out, name)


def _precision(dtype: np.dtype) -> np.dtype:
    return np.finfo(dtype).dtype if dtype.kind in "fc" else np.dtype(np.float64)


_OTHER = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _adjoint(name: str, given: int, n: int, axis: int, norm: str | None) -> Callable[..., Any]:
    """The gradient rule of a transform of ``given`` values: linear, so it is the adjoint."""
    lead = (slice(None),) * axis

    def fitted(x: NDArray, length: int) -> NDArray:
        """The axis cut or padded with zeros."""
        if x.shape[axis] >= length:
            return x[(*lead, slice(length))]
        out = zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype, device=x.device)
        assign_to(out[(*lead, slice(x.shape[axis]))], x)
        return out

    def twice(g: NDArray, norm: str | None) -> NDArray:
        """Of the values that stand for their conjugates, too: all but the first and the middle."""
        found = _transform("rfft", g, n, axis, norm)
        last = (n - 1) // 2 + 1
        return concatenate(
            [
                found[(*lead, slice(0, 1))],
                found[(*lead, slice(1, last))] * 2,
                found[(*lead, slice(last, None))],
            ],
            axis,
        )

    def rule(g: NDArray) -> NDArray:
        other = _OTHER[norm]
        if name in ("fft", "ifft"):
            found = _transform("ifft" if name == "fft" else "fft", g, n, axis, other)
        elif name == "rfft":
            found = _transform("ifft", fitted(g, n), n, axis, other)
        elif name == "ihfft":
            found = _transform("ifft", fitted(_conjugate(g), n), n, axis, norm)
        elif name == "irfft":
            found = twice(g, other)
        else:
            found = _conjugate(twice(g, norm))
        return fitted(found, given)

    return rule


def fft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The transform along an axis.

    Returns: a complex array, along the axis of length ``n``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.fft(la.array([1.0, 0.0, 0.0])).asnumpy()
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transform("fft", a, n, axis, norm, out)


def ifft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The inverse of :func:`fft`.

    Returns: a complex array, along the axis of length ``n``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.ifft(la.fft.fft(la.array([1.0, 2.0]))).asnumpy()
    array([1.+0.j, 2.+0.j])
    """
    return _transform("ifft", a, n, axis, norm, out)


def rfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The transform of real numbers: the first half of :func:`fft`.

    Returns: a complex array, along the axis of length ``n // 2 + 1``.
    Raises: TypeError for complex numbers; IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.rfft(la.array([1.0, 0.0, 0.0, 0.0])).asnumpy()
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transform("rfft", a, n, axis, norm, out)


def irfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The inverse of :func:`rfft`: real numbers.

    Args:
        n: the length of the result; None: twice that of the axis, less two.
    Returns: an array of floats, along the axis of length ``n``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.irfft(la.fft.rfft(la.array([1.0, 2.0, 3.0])), 3).asnumpy()
    array([1., 2., 3.])
    """
    return _transform("irfft", a, n, axis, norm, out)


def hfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The transform of a signal with Hermitian symmetry, of which ``a`` is the first half: real.

    Args:
        n: the length of the result; None: twice that of the axis, less two.
    Returns: an array of floats, along the axis of length ``n``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.hfft(la.array([1.0, 0.0])).asnumpy()
    array([1., 1.])
    """
    return _transform("hfft", a, n, axis, norm, out)


def ihfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The inverse of :func:`hfft`.

    Returns: a complex array, along the axis of length ``n // 2 + 1``.
    Raises: TypeError for complex numbers; IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.ihfft(la.array([1.0, 1.0])).asnumpy()
    array([1.-0.j, 0.-0.j])
    """
    return _transform("ihfft", a, n, axis, norm, out)


# ---- several axes -------------------------------------------------------------------------------


def _lengths_and_axes(
    x: NDArray, s: Sequence[int] | None, axes: Sequence[int] | None, inverse_real: bool = False
) -> tuple[list[Any], list[int]]:
    """The length of each axis transformed, and the axes; NumPy's errors and warnings."""
    if axes is None and s is not None:
        _deprecated("`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0).")
    if s is None:
        lengths = list(x.shape) if axes is None else [x.shape[i] for i in axes]
    else:
        lengths = list(s)
    along = list(range(-len(lengths), 0)) if axes is None else list(axes)
    if len(lengths) != len(along):
        raise ValueError("Shape and axes have different lengths.")
    if inverse_real and s is None:
        lengths[-1] = 2 * (x.shape[along[-1]] - 1)
    if None in lengths:
        _deprecated(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will "
            "raise an error in a future version of NumPy."
        )
    return [x.shape[i] if n == -1 else n for n, i in zip(lengths, along, strict=True)], along


def _deprecated(text: str) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=5)


def _transforms(
    name: str, a: Any, s: Any, axes: Any, norm: str | None, out: NDArray | None
) -> NDArray:
    """The transforms of one axis after the other, in NumPy's order."""
    (x,) = operands(a)
    lengths, along = _lengths_and_axes(x, s, axes, name == "irfft")
    pairs = list(zip(lengths, along, strict=True))
    if name == "irfft":
        order = [("ifft", pair) for pair in pairs[:-1]] + [("irfft", pairs[-1])]
    elif name == "rfft":
        others = pairs[-2::-1] if _numpy_facts.RFFTN_FROM_THE_LAST else pairs[:-1]
        order = [("rfft", pairs[-1])] + [("fft", pair) for pair in others]
    else:
        order = [(name, pair) for pair in pairs[::-1]]
    to = sole_out(out)
    for one, (n, axis) in order:
        # NumPy writes each step into ``out``, but for those before a transform to real numbers.
        into = None
        if to is not None and (name != "irfft" or one == name):
            length = n // 2 + 1 if one == "rfft" else n
            shape = [*x.shape]
            shape[axis] = length
            check_shape(to, tuple(shape), name)
            into = empty(tuple(shape), to.dtype, device=x.device)
        x = _transform(one, x, n, axis, norm, into)
    return deliver(x, to, f"{name}n")


def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The transform along several axes.

    Returns: a complex array, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.fftn(la.ones((2, 2))).asnumpy().real
    array([[4., 0.],
           [0., 0.]])
    """
    return _transforms("fft", a, s, axes, norm, out)


def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The inverse of :func:`fftn`.

    Returns: a complex array, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.ifftn(la.ones((2, 2))).asnumpy().real
    array([[1., 0.],
           [0., 0.]])
    """
    return _transforms("ifft", a, s, axes, norm, out)


def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """:func:`rfft` along the last of the axes, :func:`fft` along the others.

    Returns: a complex array, along the axes of lengths ``s``, the last one ``s[-1] // 2 + 1``.
    Raises: TypeError for complex numbers; IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.rfftn(la.ones((2, 4))).shape
    (2, 3)
    """
    return _transforms("rfft", a, s, axes, norm, out)


def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """The inverse of :func:`rfftn`.

    Args:
        s: the lengths of the result; None: the axes' own, of the last one twice less two.
    Returns: an array of floats, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.irfftn(la.fft.rfftn(la.ones((2, 4)))).asnumpy()
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    return _transforms("irfft", a, s, axes, norm, out)


def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """:func:`fftn` along the last two axes.

    Returns: a complex array, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.fft2(la.ones((2, 2))).asnumpy().real
    array([[4., 0.],
           [0., 0.]])
    """
    return _transforms("fft", a, s, axes, norm, out)


def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """:func:`ifftn` along the last two axes.

    Returns: a complex array, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.ifft2(la.ones((2, 2))).asnumpy().real
    array([[1., 0.],
           [0., 0.]])
    """
    return _transforms("ifft", a, s, axes, norm, out)


def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """:func:`rfftn` along the last two axes.

    Returns: a complex array, along the axes of lengths ``s``, the last one ``s[-1] // 2 + 1``.
    Raises: TypeError for complex numbers; IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.rfft2(la.ones((3, 2, 4))).shape
    (3, 2, 3)
    """
    return _transforms("rfft", a, s, axes, norm, out)


def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """:func:`irfftn` along the last two axes.

    Args:
        s: the lengths of the result; None: the axes' own, of the last one twice less two.
    Returns: an array of floats, along the axes of lengths ``s``.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.irfft2(la.ones((3, 2, 3))).shape
    (3, 2, 4)
    """
    return _transforms("irfft", a, s, axes, norm, out)


# ---- frequencies --------------------------------------------------------------------------------


def fftfreq(
    n: int, d: ArrayLike = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None
) -> NDArray:
    """The frequencies of :func:`fft` of ``n`` samples at steps of ``d``, the negative ones last.

    Args:
        n: how many samples.
        d: the distance of samples.
        dtype: a real floating dtype; None: float64.
    Returns: a vector (n,).
    Raises: ValueError if ``n`` is negative or no integer, or for another dtype.

    >>> import lazyarray as la
    >>> la.fft.fftfreq(4, 0.5).asnumpy()
    array([ 0. ,  0.5, -1. , -0.5])
    """
    whole = partial(arange, dtype=np.intp, device=device)

    def places(n: int) -> NDArray:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
        return concatenate([whole(0, (n + 1) // 2), whole(-(n // 2), 0)])

    return _frequencies(n, d, dtype, places)


def rfftfreq(
    n: int, d: ArrayLike = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None
) -> NDArray:
    """The frequencies of :func:`rfft` of ``n`` samples at steps of ``d``.

    Args:
        n: how many samples.
        d: the distance of samples.
        dtype: a real floating dtype; None: float64.
    Returns: a vector (n // 2 + 1,).
    Raises: ValueError if ``n`` is no integer, or for another dtype.

    >>> import lazyarray as la
    >>> la.fft.rfftfreq(4, 0.5).asnumpy()
    array([0. , 0.5, 1. ])
    """
    return _frequencies(n, d, dtype, lambda n: arange(0, n // 2 + 1, dtype=np.intp, device=device))


def _frequencies(n: Any, d: Any, dtype: Any, places: Callable[[int], NDArray]) -> NDArray:
    if isinstance(n, Tensor) or not isinstance(n, (int, np.integer)):
        if not isinstance(n, Tensor) or n.ndim or n.dtype.kind not in "iu":
            raise ValueError("n should be an integer")
        n = operator.index(n)
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise TypeError(f"frequencies are real floating numbers, not {np.dtype(dtype)}")
    step = 1.0 / (n * d)
    found: NDArray = places(int(n)) * step
    return found if dtype is None else astype(found, dtype, copy=False)


def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> NDArray:
    """Axes (None: all) rolled by half their length: frequency zero comes to the centre.

    Args:
        axes: the axis, or several; None: all.
    Returns: an array of x's shape.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.fftshift(la.fft.fftfreq(4, 0.25)).asnumpy()
    array([-2., -1.,  0.,  1.])
    """
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> NDArray:
    """The inverse of :func:`fftshift`.

    Args:
        axes: the axis, or several; None: all.
    Returns: an array of x's shape.
    Raises: IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.fft.ifftshift(la.array([-2.0, -1.0, 0.0, 1.0])).asnumpy()
    array([ 0.,  1., -2., -1.])
    """
    return _shifted(x, axes, lambda n: -(n // 2))


def _shifted(x: Any, axes: Any, half: Callable[[int], int]) -> NDArray:
    (v,) = operands(x)
    along = range(v.ndim) if axes is None else axes if np.ndim(axes) else (axes,)
    if not v.ndim and not len(along):
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # NumPy's, of `roll`
    return roll(v, [half(v.shape[i]) for i in along], along)


_direct.in_fft(sys.modules[__name__])
