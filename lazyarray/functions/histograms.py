"""Histograms and counts.

With a number of bins, or edges, a histogram does not wait: its edges are computed when it runs. An
estimator of the number of bins ("auto", ...) waits for the values, as ``bincount`` does.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.joining import stack
from lazyarray.functions.manipulation import atleast_2d
from lazyarray.functions.selecting import take
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, is_recording
from lazyarray.ops import _rows
from lazyarray.ops._differentiable import refuse
from lazyarray.ops._layout import cut_places, device_of, gil_op, looked_at, operands, values
from lazyarray.ops._rows import array, asarray, astype, between, in_bins, scatter
from lazyarray.ops.hosts import to_host

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Bins, Bounds

__all__ = ["histogram", "histogram_bin_edges", "histogramdd", "histogram2d", "bincount", "digitize"]

_Range = tuple[Any, Any] | None


# ---- arguments ----------------------------------------------------------------------------------


def _sample(a: Any, weights: Any, bins: Any) -> list[NDArray]:
    """The sample and, if they are given, its weights; array-likes join the bins' device, too."""
    place = device_of(a, weights, bins)
    inputs = [asarray(o, place) for o in (a, weights) if o is not None]
    if inputs[0].dtype == np.bool_:
        text = "Converting input from bool to <class 'numpy.uint8'> for compatibility."
        warnings.warn(text, RuntimeWarning, stacklevel=3)
        inputs[0] = astype(inputs[0], np.uint8)
    if inputs[-1].shape != inputs[0].shape:
        raise ValueError("weights should have the same shape as a.")
    return inputs


def _limits(given: Any, name: str) -> _Range:
    """The range as two numbers; those of an NDArray are waited for."""
    if given is None:
        return None
    low, high = [values(v, name)[()] if isinstance(v, Tensor) else v for v in given]
    return low, high


def _check(bins: Any, limits: _Range, weighted: bool) -> None:
    """NumPy's own errors about bins and range, which the sample's values don't change."""
    if isinstance(bins, Tensor) and bins.ndim:
        if bins.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        return  # its values are looked at when the histogram runs
    bins = to_host(bins, "histogram()")
    with suppress(TypeError):  # no integer
        bins = min(operator.index(bins), 1)
    np.histogram_bin_edges(np.zeros(1), bins, limits, np.zeros(1) if weighted else None)


def _kind(limits: _Range) -> Any:
    """What of a range decides the edges' dtype."""
    return limits and tuple([(type(v), getattr(v, "dtype", None)) for v in limits])


# ---- one dimension ------------------------------------------------------------------------------


def histogram(
    a: ArrayLike,
    bins: Bins = 10,
    range: Bounds | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[NDArray, NDArray]:
    """How many elements of ``a`` (or what ``weights``) lie in each bin, and the bins' edges.

    Waits for the values if ``bins`` is a name: it decides how many there are.

    Args:
        bins: how many, their edges, or the name of an estimator ("auto", "fd", ...). The last bin
            has both its edges.
        range: the outer edges; None: the least and the largest element.
        density: whether to divide so that the integral is one.
        weights: what each element counts.
    Returns: the pair (counts, edges): vectors of n and n + 1.
    Raises: ValueError for edges that decrease, a ``range`` that is not finite or not ascending, or
        weights of another shape: at the wait if it depends on values.

    >>> import lazyarray as la
    >>> counts, edges = la.histogram(la.array([1, 2, 1, 4]), 3)
    >>> counts.asnumpy(), edges.asnumpy()
    (array([2, 1, 1]), array([1., 2., 3., 4.]))
    """
    inputs = _sample(a, weights, bins)
    x, weighted = inputs[0], weights is not None
    limits = _limits(range, "histogram()")
    by: Any = bins
    _check(by, limits, weighted)
    if isinstance(bins, str):
        refuse("histogram", *inputs)
        v, *w = [values(u, "histogram()") for u in inputs]
        found = np.histogram(v, bins, limits, density, *w)
        return array(found[0], None, x.device), array(found[1], None, x.device)
    key, cost = (bool(density), weighted, _kind(limits)), 3000 + 20.0 * x.size
    if np.ndim(by):
        edges = operands(x, by)[1]
        result = gil_op(
            "histogram",
            lambda v, e, *w: _histogram_between(v, e, limits, density, *w),
            [x, edges, *inputs[1:]],
            (max(edges.size - 1, 0),),
            ("edges", *key),
            cost=cost,
        )
        return result, edges
    n = operator.index(by)
    counts, edges = gil_op(
        "histogram",
        lambda v, *w: _histogram(v, n, limits, density, *w),
        inputs,
        [(n,), (n + 1,)],
        key,
        mini=lambda v, *w: np.histogram(v, 1, limits, density, *w),
        cost=cost,
    )
    return counts, edges


def _histogram(v: np.ndarray, n: int, limits: _Range, density: bool | None, *w: np.ndarray) -> Any:
    """``np.histogram``, whose temporary arrays take five times as long as the counting."""
    edges = np.histogram_bin_edges(v, n, limits)
    counts: Any = in_bins(v.ravel(), edges, *[u.ravel() for u in w])
    if counts is None:
        return np.histogram(v, n, limits, density, *w)
    return _dense(counts, edges) if density else counts, edges


def _histogram_between(
    v: np.ndarray, edges: np.ndarray, limits: _Range, density: bool | None, *w: np.ndarray
) -> Any:
    """The same between given edges, for which NumPy sorts the elements."""
    counts: Any = None if w else between(v.ravel(), edges)
    if counts is None:
        return np.histogram(v, edges, limits, density, *w)[0]
    return _dense(counts, edges) if density else counts


def _dense(counts: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return counts / np.array(np.diff(edges), float) / counts.sum()


def histogram_bin_edges(
    a: ArrayLike,
    bins: Bins = 10,
    range: Bounds | None = None,
    weights: ArrayLike | None = None,
) -> NDArray:
    """The edges of :func:`histogram`'s bins. Waits for values if ``bins`` is a name or an array.

    Args:
        bins: how many, their edges, or the name of an estimator ("auto", "fd", ...).
        range: the outer edges; None: the least and the largest element.
        weights: what each element counts.
    Returns: a vector of n + 1 edges for n bins.
    Raises: ValueError for edges that decrease, or a ``range`` that is not finite or not ascending:
        at the wait if it depends on values.

    >>> import lazyarray as la
    >>> la.histogram_bin_edges(la.array([0, 0, 3]), bins=3).asnumpy()
    array([0., 1., 2., 3.])
    """
    inputs = _sample(a, weights, bins)
    x = inputs[0]
    limits = _limits(range, "histogram_bin_edges()")
    by: Any = bins
    _check(by, limits, weights is not None)
    if isinstance(bins, str):
        refuse("histogram_bin_edges", x)
        edges = looked_at(
            x, "histogram_bin_edges()", lambda v: np.histogram_bin_edges(v, bins, limits)
        )
        return array(edges, None, x.device)
    if isinstance(by, Tensor) and by.ndim:
        np.histogram_bin_edges(np.zeros(0), values(by, "histogram_bin_edges()"))  # its error
        return operands(x, by)[1]
    if np.ndim(by):
        return operands(x, by)[1]
    n = operator.index(by)
    return gil_op(
        "histogram_bin_edges",
        lambda v: np.histogram_bin_edges(v, n, limits),
        [x],
        (n + 1,),
        _kind(limits),
        mini=lambda v: np.histogram_bin_edges(v, 1, limits),
        cost=3000 + x.size,
    )


# ---- several dimensions -------------------------------------------------------------------------


def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Bounds | None] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[NDArray, list[NDArray]]:
    """The histogram of N points of D coordinates, an (N, D) array or D vectors; does not wait.

    Args:
        sample: an array (N, D), or D vectors.
        bins: how many along each axis, or for each axis how many or the edges.
        range: the outer edges of each axis; None: the least and the largest coordinate.
        density: whether to divide so that the integral is one.
        weights: what each point counts: (N,).
    Returns: the pair (counts, edges): an array with an axis for each coordinate, and a tuple of
        vectors.
    Raises: ValueError for edges that decrease, or another number of bins or ranges than axes.

    >>> import lazyarray as la
    >>> counts, edges = la.histogramdd(la.array([[0, 0], [1, 3], [1, 0]]), bins=(2, 2))
    >>> counts.asnumpy()
    array([[1., 0.],
           [1., 1.]])
    """
    points: Any = sample
    by: Any = bins
    columns = not hasattr(points, "shape")  # given one by one
    if columns and any(isinstance(v, Tensor) for v in points):
        points = stack(points)
    x, *w = operands(points, *([] if weights is None else [weights]))
    if columns or x.ndim != 2:
        x = atleast_2d(x).T
    depth = x.shape[1]
    try:
        if len(by) != depth:
            raise ValueError(
                "The dimension of bins must be equal to the dimension of the sample x."
            )
    except TypeError:
        by = [by] * depth
    ranges = [None] * depth if range is None else list(range)
    if len(ranges) != depth:
        raise ValueError("range argument must have one entry per dimension")
    limits = [_limits(v, "histogramdd()") for v in ranges]
    numbers: list[int | None] = []  # of bins; None where the edges are given
    given: list[NDArray] = []
    for i, (entry, limit) in enumerate(zip(by, limits, strict=True)):
        number = _number_of_bins(entry, i)
        numbers.append(number)
        if number is None:
            given.append(operands(x, entry)[1])
        else:
            _check(1, limit, False)

    def counted(v: np.ndarray, numbers: list[int | None], *more: np.ndarray) -> Any:
        known = iter(more)
        along = [next(known) if n is None else n for n in numbers]
        counts, edges = np.histogramdd(v, along, limits, density, *known)  # type: ignore[arg-type]
        return counts, *[e for e, n in zip(edges, numbers, strict=True) if n is not None]

    def mini(v: np.ndarray, *more: np.ndarray) -> Any:
        # With all D columns; its counts are floats, whatever their shape.
        few: list[int | None] = [None if n is None else 1 for n in numbers]
        return counted(np.ones((len(v), depth), v.dtype), few, *more)

    known = iter(given)
    lengths = [next(known).size if n is None else n + 1 for n in numbers]
    counts, *new = gil_op(
        "histogramdd",
        lambda v, *more: counted(v, numbers, *more),
        [x, *given, *w],
        [tuple([n - 1 for n in lengths]), *[(n + 1,) for n in numbers if n is not None]],
        (depth, *[n is None for n in numbers], bool(density), *[_kind(v) for v in limits]),
        mini=mini,
        cost=3000 + 40.0 * x.size,
    )
    known, made = iter(given), iter(new)
    return counts, [next(known if n is None else made) for n in numbers]


def _number_of_bins(entry: Any, i: int) -> int | None:
    """The number of bins along axis ``i``, or None if its edges are given."""
    ndim = entry.ndim if isinstance(entry, Tensor) else np.ndim(entry)
    if ndim > 1:
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    if ndim == 1:
        if not isinstance(entry, Tensor):
            edges = np.asarray(entry)
            if np.any(edges[:-1] > edges[1:]):
                raise ValueError(f"`bins[{i}]` must be monotonically increasing, when an array")
        return None
    if entry < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    try:
        return operator.index(entry)
    except TypeError as e:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from e


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Bounds | None] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[NDArray, NDArray, NDArray]:
    """The histogram of points (x, y) and the edges along both axes; does not wait.

    Args:
        x: a vector of N.
        y: a vector of N.
        bins: how many, the edges for both axes, or for each axis how many or the edges.
        range: the outer edges of each axis; None: the least and the largest coordinate.
        density: whether to divide so that the integral is one.
        weights: what each point counts: (N,).
    Returns: the three (counts, edges of x, edges of y): a matrix and two vectors.
    Raises: ValueError if the lengths differ, or edges decrease.

    >>> import lazyarray as la
    >>> la.histogram2d(la.array([0, 1, 1]), la.array([0, 3, 0]), bins=2)[0].asnumpy()
    array([[1., 0.],
           [1., 1.]])
    """
    by: Any = bins
    if len(x) != len(y):  # type: ignore[arg-type]
        raise ValueError("x and y must have the same length.")
    try:
        both = len(by) not in (1, 2)
    except TypeError:
        both = False
    if both:
        edges = asarray(by)
        by = [edges, edges]
    counts, edges_along = histogramdd(operands(x, y), by, range, density, weights)
    return counts, edges_along[0], edges_along[1]


# ---- counts and places --------------------------------------------------------------------------


_FEW = 8192  # elements: to look at them first costs more than to copy them
_MOST = np.iinfo(np.intp).max


def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> NDArray:
    """How often each of 0, 1, ... occurs in a vector, or the sums of the ``weights`` of each.

    Waits for the values of ``x``: the largest decides the result's length.

    Args:
        x: a vector of integers, none negative.
        weights: what each counts; None: 1.
        minlength: the least length of the result.
    Returns: a vector of max(x) + 1, or ``minlength``: of integers, or of floats with ``weights``.
    Raises: ValueError for a negative integer, or weights of another length; TypeError for floats.

    >>> import lazyarray as la
    >>> la.bincount(la.array([0, 1, 1, 3])).asnumpy()
    array([1, 2, 0, 1])
    """
    places, *w = operands(x, *([] if weights is None else [weights]))
    on_host = places.device.device_type == "cpu"
    if w and on_host and places.size > _FEW and not is_recording():  # both read where they are
        read = [_share.export(o, "?bincount()") for o in (places, *w)]
        return array(_rows.bincount(read[0], read[1], minlength), None, places.device)
    if not w or places.size <= _FEW or places.ndim != 1:
        # A list goes to NumPy as it is: an empty one is a vector of integers there.
        if isinstance(x, (list, tuple, range)):
            given: Any = x
        elif places.size > _FEW and on_host:
            given = _share.export(places, "?bincount()")  # many are not copied to be looked at
        else:
            given = values(places, "bincount()")
        counts = _rows.bincount(given, minlength=minlength)
        del given
        if not w:
            return array(counts, None, places.device)
        length = len(counts)
        if not places.size:  # NumPy does not look at the weights
            return array(counts, None, places.device)
    else:
        # NumPy's errors come of the dtype, of minlength, and of the least element.
        length = len(np.bincount(np.zeros(1, places.dtype), minlength=minlength))
        least, most = values(stack([places.min(), places.max()]), "bincount()")
        if least < 0:
            np.bincount([-1])
        if most == _MOST:
            _rows.bincount([most])
        length = max(length, int(most) + 1)
    if w[0].shape != places.shape:
        raise ValueError("The weights and list don't have the same length.")
    if places.size > _FEW and np.can_cast(w[0].dtype, np.float64):
        # As NumPy: each weight is added in turn.
        summed: NDArray = scatter(
            astype(w[0], np.float64, False), astype(places, np.intp, False), 0, (length,)
        )
        return summed
    return gil_op(
        "bincount",
        lambda u, p: np.bincount(p.astype(np.intp, copy=False), u, minlength),
        [w[0], places],
        (length,),
        cost=3000 + 2.0 * places.size,
        mini=lambda u, p: np.bincount(np.zeros(len(u), np.intp), u, 1),
        gradient=(lambda g, b: take(g, b),),
    )


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> NDArray:
    """The index of the bin that each element lies in: ``bins[i-1] <= x < bins[i]``.

    Args:
        bins: the edges, a vector.
        right: whether a bin has its right edge, not its left one.
    Returns: an array of integers, of x's shape, from 0 to the number of edges.
    Raises: ValueError unless the edges increase or decrease monotonically: at the wait if they are
        an NDArray; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.digitize(la.array([0.2, 6.4]), [0.0, 1.0, 2.5]).asnumpy()
    array([1, 3])
    """
    v, edges = operands(x, bins)
    if not isinstance(bins, Tensor):
        np.digitize(np.zeros(0, v.dtype), bins)  # type: ignore[arg-type]  # NumPy's errors
    return gil_op(
        "digitize",
        lambda u, e: _rows.digitize(u, e, right),
        [v, edges],
        v.shape,
        mini=lambda u, e: np.digitize(u, np.ones_like(e), right),
        cost=3000 + 10.0 * v.size,
        cut=cut_places(v.shape, 2),
    )
