"""``pad``: arrays with more places at their edges, filled by copies between slices.

The steps are NumPy's, so the corners are: an axis is padded over what the axes before it have got.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions import statistics
from lazyarray.functions.broadcasting import broadcast_to
from lazyarray.functions.creation import new, zeros
from lazyarray.functions.manipulation import copy, squeeze
from lazyarray.functions.quantiles import median
from lazyarray.functions.ranges import linspace
from lazyarray.functions.rearranging import flip
from lazyarray.functions.rounding import round
from lazyarray.lazy._lazy import Tensor, note_constant
from lazyarray.ops import hosts
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, refuse
from lazyarray.ops._layout import values
from lazyarray.ops._rows import asarray, assign_to, probe

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, PadMode, PadWidth

__all__ = ["pad"]

Pair = tuple[Any, Any]  # what belongs to the two edges of an axis
_ZEROED = 128 << 10  # bytes: up to here all zeros cost less than those of each edge

_STATISTICS: dict[str, Callable[..., NDArray]] = {
    "maximum": op.max,
    "minimum": op.min,
    "mean": statistics.mean,
    "median": median,
}
_OPTIONS = {
    "constant": {"constant_values"},
    "empty": set(),
    "edge": set(),
    "wrap": set(),
    "linear_ramp": {"end_values"},
    **{mode: {"stat_length"} for mode in _STATISTICS},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
}


def pad(
    array: ArrayLike, pad_width: PadWidth, mode: PadMode = "constant", **kwargs: object
) -> NDArray:
    """An array with ``pad_width`` more places before and after each axis, filled as ``mode`` says.

    Waits where ``mode`` is a function, which is called at the call.

    Args:
        array: the array.
        pad_width: how many places: a number, a pair (before, after), a pair for each axis, or a
            dict of them by axis.
        mode: "constant", "empty", "edge", "linear_ramp", "maximum", "minimum", "mean", "median",
            "reflect", "symmetric", "wrap", or a function that NumPy's ``pad`` calls on NumPy's
            vectors.
        kwargs: the mode's own: ``constant_values``; ``end_values`` of the ramp; ``stat_length`` of
            the statistics; ``reflect_type``.
    Returns: an array, each axis longer by what was put before and after it.
    Raises: ValueError for a negative width, or an argument that the mode has not; TypeError for
        widths that are no integers.

    >>> import lazyarray as la
    >>> la.pad(la.array([1, 2, 3]), (2, 1)).asnumpy()
    array([0, 0, 1, 2, 3, 0])
    >>> la.pad(la.array([1, 2, 3]), 2, "reflect").asnumpy()
    array([3, 2, 1, 2, 3, 2, 1])
    """
    x = asarray(array)
    widths = _widths(pad_width, x.ndim)
    shape = tuple([before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)])
    if callable(mode):  # at the call: it may read what the program changes later
        refuse("pad", x)
        made = np.pad(values(x, "pad()"), widths, mode, **kwargs)  # type: ignore[call-overload]
        return hosts.to_lazy(made, x.device)
    if mode not in _OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    unsupported = set(kwargs) - _OPTIONS[mode]
    if unsupported:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unsupported}")

    fills = mode in ("constant", "empty")
    for axis, width in enumerate(widths):
        if not fills and x.shape[axis] == 0 and any(width):
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
    order = "F" if probe(x).flags.fnc else "C"
    zeroed = mode == "constant" and not kwargs and order == "C" and x.nbytes <= _ZEROED
    if zeroed:
        padded = zeros(shape, x.dtype, x.device)
    else:
        padded = new(shape, x.dtype, order, x.device)
    inside = tuple(
        [slice(before, before + n) for n, (before, _) in zip(x.shape, widths, strict=True)]
    )
    assign_to(padded[(*inside, ...)], x)
    if not zeroed and mode != "empty" and (fills or x.size):
        options = _options(mode, kwargs, x.ndim)
        for axis, width in enumerate(widths):
            # The corners are left to the last axis that they belong to.
            region = padded[(slice(None),) * (axis + 1) + inside[axis + 1 :]]
            if any(width):
                _pad_axis(mode, _Axis(region, axis, *width), options[axis])
    if not x.size:  # nothing of it was copied
        note_constant([x], [padded])
    return padded


# ---- arguments ----------------------------------------------------------------------------------


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(given, dict):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, width in given.items():
            pairs[axis] = (width, width) if isinstance(width, int) else width
        given = pairs
    if type(given) is int and given >= 0:
        return [(given, given)] * ndim
    widths = values(given, "pad()")
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return [(int(a), int(b)) for a, b in _pairs(widths, ndim, True)]


def _pairs(given: Any, ndim: int, lengths: bool = False) -> list[Pair]:
    """What was given for each edge: one value for all, one for before and after, or a pair each."""
    if given is None:
        return [(None, None)] * ndim
    x: Any = given if isinstance(given, Tensor) else np.array(given)
    if lengths:
        x = np.round(values(x, "pad()")).astype(np.intp)
        if x.size and x.min() < 0:
            raise ValueError("index can't contain negative values")
    if x.ndim < 3 and (x.size == 1 or (x.size == 2 and x.shape != (2, 1))):
        first, last = (x.reshape(-1)[i] for i in (0, x.size - 1))
        return [(first, last)] * ndim
    if isinstance(x, Tensor):
        rows = broadcast_to(x, (ndim, 2))
        return [(rows[i, 0], rows[i, 1]) for i in range(ndim)]
    return [(a, b) for a, b in np.broadcast_to(x, (ndim, 2)).tolist()]


def _options(mode: str, kwargs: dict[str, Any], ndim: int) -> list[Any]:
    """The option of a mode for each axis."""
    if mode == "constant":
        return _pairs(kwargs.get("constant_values", 0), ndim)
    if mode == "linear_ramp":
        return _pairs(kwargs.get("end_values", 0), ndim)
    if mode in _STATISTICS:
        lengths = _pairs(kwargs.get("stat_length"), ndim, True)
        if mode in ("maximum", "minimum") and any(0 in pair for pair in lengths):
            raise ValueError("stat_length of 0 yields no value for padding")
        return lengths
    return [kwargs.get("reflect_type", "even")] * ndim


# ---- one axis -----------------------------------------------------------------------------------


class _Axis:
    """An axis of a padded array: places before and after those that have values."""

    def __init__(self, region: NDArray, axis: int, before: int, after: int) -> None:
        self.region, self.axis, self.before, self.after = region, axis, before, after

    @property
    def stop(self) -> int:
        """Where the values end."""
        return self.region.shape[self.axis] - self.after

    def __getitem__(self, part: slice) -> NDArray:
        return self.region[(slice(None),) * self.axis + (part, ...)]

    def fill(self, pair: Pair) -> None:
        """Fills all places left, with a value or array before, and one after."""
        assign_to(self[: self.before], pair[0])
        assign_to(self[self.stop :], pair[1])

    def edges(self) -> tuple[NDArray, NDArray]:
        """The first and the last values."""
        return self[self.before : self.before + 1], self[self.stop - 1 : self.stop]


def _pad_axis(mode: str, at: _Axis, option: Any) -> None:
    if mode == "constant":
        at.fill(option)
    elif mode == "edge":
        at.fill(at.edges())
    elif mode == "linear_ramp":
        at.fill(_ramps(at, option))
    elif mode in _STATISTICS:
        at.fill(_statistics(at, option, mode))
    elif mode == "wrap":
        _wrap(at)
    elif at.stop - at.before == 1:  # NumPy pads these with the edge
        at.fill(at.edges())
    else:
        _reflect(at, mode == "symmetric", option == "odd")


def _ramps(at: _Axis, ends: Pair) -> Pair:
    before, after = [
        linspace(end, squeeze(edge, at.axis), width, False, dtype=edge.dtype, axis=at.axis)
        for end, edge, width in zip(ends, at.edges(), (at.before, at.after), strict=True)
    ]
    return before, flip(after, at.axis)


def _statistics(at: _Axis, lengths: Pair, mode: str) -> Pair:
    most = at.stop - at.before
    first, last = [most if n is None or n > most else int(n) for n in lengths]

    def statistic(part: NDArray) -> NDArray:
        part = copy(part) if follows(part) else part  # the places beside it are written
        found = _STATISTICS[mode](part, axis=at.axis, keepdims=True)
        return round(found) if part.dtype.kind in "iu" and found.dtype.kind not in "iu" else found

    before = statistic(at[at.before : at.before + first])
    if first == last == most:
        return before, before
    return before, statistic(at[at.stop - last : at.stop])


def _reflect(at: _Axis, with_edge: bool, odd: bool) -> None:
    """Copies mirror images, each as long as there are values, until all places are filled."""
    period = at.stop - at.before - (not with_edge)
    while at.before or at.after:
        # The values that may be mirrored: whole periods, so that the next images fit on.
        length = (at.stop - at.before - (not with_edge)) // period * period
        start, stop = at.before, at.stop
        skip = 0 if with_edge else 1
        n = min(length, at.before)
        if n:
            image = flip(at[start + skip : start + skip + n], at.axis)
            assign_to(at[start - n : start], 2 * at[start : start + 1] - image if odd else image)
        m = min(length, at.after)
        if m:
            image = flip(at[stop - skip - m : stop - skip], at.axis)
            assign_to(at[stop : stop + m], 2 * at[stop - 1 : stop] - image if odd else image)
        at.before -= n
        at.after -= m


def _wrap(at: _Axis) -> None:
    """Copies whole periods, each as long as there are values, until all places are filled."""
    original = at.stop - at.before
    while at.before or at.after:
        period = (at.stop - at.before) // original * original
        start, stop = at.before, at.stop
        n, m = min(period, at.before), min(period, at.after)
        assign_to(at[start - n : start], at[start + period - n : start + period])
        assign_to(at[stop : stop + m], at[stop - period : stop - period + m])
        at.before -= n
        at.after -= m
