"""How to say a view of memory in terms of the array that lies there: the inverse of strides.

A traced instruction names its operands by offset, shape and strides (bytes) in a chunk. ``find``
gives the steps (``transpose``, ``reshape``, ``getitem``) that make such a view of the dense array
that the chunk holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lazyarray.lazy.captured import Layout, c_layout

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Path:
    """The steps from an array to a view of it, in this order; None: not taken."""

    part: str | None = None  # "real" or "imag" of complex numbers; else a dtype to see it as
    order: tuple[int, ...] | None = None  # transposed to its order in memory
    shape: tuple[int, ...] | None = None  # reshaped
    key: Key | None = None
    axes: tuple[int, ...] | None = None  # transposed
    groups: tuple[tuple[int, ...], ...] = ()  # the lengths that each axis asked for came out as

    @property
    def lengths(self) -> tuple[int, ...]:
        """The shape that comes out."""
        return tuple([n for group in self.groups for n in group])

    @property
    def is_key(self) -> bool:
        """Whether it is an index, or nothing at all."""
        return self == Path(key=self.key, groups=self.groups)


def find(base: Layout, view: Layout) -> Path | None:
    """The steps from the dense array ``base`` to ``view``; None if only strides can say it.

    Axes without a step, or of length one, come out as no axis. One that runs over several axes of
    the base comes out as these.
    """
    if base.dtype != view.dtype:
        return _find_part(base, view)
    found = _match(base, view)
    if found is not None:
        return found
    line = base.permuted(base.order)
    order = None if base.order == tuple(range(len(base.order))) else base.order
    item = base.dtype.itemsize
    wanted = {abs(s) // item for n, s in zip(view.shape, view.strides, strict=True) if n > 1 and s}
    own = {s // item for n, s in zip(line.shape, line.strides, strict=True) if n > 1}
    for steps in (wanted | own, wanted | {1}):
        shape = _cut(base.size, steps)
        if shape is not None:
            found = _match(c_layout(shape, base.dtype, base.offset), view)
            if found is not None:
                return replace(found, order=order, shape=shape)
    return None


def _find_part(base: Layout, view: Layout) -> Path | None:
    """The view as another dtype: the parts of complex numbers, or bytes taken otherwise."""
    item = base.dtype.itemsize
    if base.dtype.kind == "c" and view.dtype.itemsize * 2 == item and view.dtype.kind == "f":
        behind = (view.offset - base.offset) % item
        part = "imag" if behind else "real"
        half = base._replace(dtype=view.dtype, offset=base.offset + behind)
        found = _match(half, view)
        if found is not None:
            return replace(found, part=part)
    if base.size * item % view.dtype.itemsize:
        return None
    line = c_layout((base.size * item // view.dtype.itemsize,), view.dtype, base.offset)
    found = find(line, view)
    if found is None:
        return None
    order = None if base.order == tuple(range(len(base.order))) else base.order
    return replace(found, part=view.dtype.str, order=order, shape=found.shape or line.shape)


def _cut(size: int, steps: set[int]) -> tuple[int, ...] | None:
    """The shape in C order of ``size`` elements whose axes step by these numbers of elements."""
    shape, before = [], size
    for step in sorted(steps | {1}, reverse=True):
        if not step or before % step:
            return None
        shape.append(before // step)
        before = step
    return tuple(shape)


class _Axis(NamedTuple):
    of: int  # an axis of the base
    length: int
    step: int  # in indices


def _match(base: Layout, view: Layout) -> Path | None:
    """The index, and the order of axes, that make the view; None where it isn't one."""
    steps = sorted(
        [(t, i) for i, (n, t) in enumerate(zip(base.shape, base.strides, strict=True)) if n > 1],
        reverse=True,
    )
    starts = dict.fromkeys(range(len(base.shape)), 0)
    rest = view.offset - base.offset
    for t, i in steps:
        starts[i], rest = divmod(rest, t)
        if not 0 <= starts[i] < base.shape[i]:
            return None
    if rest:
        return None
    groups: list[list[_Axis]] = []
    used: set[int] = set()
    for n, s in zip(view.shape, view.strides, strict=True):
        group: list[_Axis] = []
        while n > 1 and s:
            axis = _on_axis(base, steps, starts, n, s)
            if axis is None or axis.of in used:
                return None
            used.add(axis.of)
            group.insert(0, axis)
            n, s = n // axis.length, s * axis.length
        groups.append(group)
    flat = [axis for group in groups for axis in group]
    key = tuple(
        [
            next((_slice(starts[i], a, n) for a in flat if a.of == i), starts[i])
            for i, n in enumerate(base.shape)
        ]
    )
    place = {i: k for k, i in enumerate(sorted(used))}
    axes = tuple([place[a.of] for a in flat])
    lengths = tuple([tuple([a.length for a in group]) for group in groups])
    whole = all(k == slice(None) for k in key)
    in_place = axes == tuple(range(len(axes)))
    return Path(key=None if whole else key, axes=None if in_place else axes, groups=lengths)


def _on_axis(
    base: Layout, steps: list[tuple[int, int]], starts: dict[int, int], n: int, s: int
) -> _Axis | None:
    """The innermost part of a run of n steps of s bytes, as indices of one axis of the base."""
    for t, i in steps:
        length = base.shape[i]
        if t > abs(s) or s % t or abs(s) >= t * length:
            continue
        step = s // t
        if 0 <= starts[i] + step * (n - 1) < length:
            return _Axis(i, n, step)
        count = length // abs(step)
        fits = 0 <= starts[i] + step * (count - 1) < length
        if length % abs(step) or n % count or count < 2 or not fits:
            return None
        return _Axis(i, count, step)
    return None


def _slice(start: int, axis: _Axis, length: int) -> slice:
    """The slice of ``axis.length`` indices from ``start`` in steps."""
    stop: int | None = start + axis.step * axis.length
    if axis.step > 0:
        begin = start or None
        end = None if stop is not None and stop >= length else stop
        return slice(begin, end, axis.step if axis.step != 1 else None)
    return slice(
        None if start == length - 1 else start,
        stop if stop is not None and stop >= 0 else None,
        axis.step,
    )
