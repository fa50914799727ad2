"""What a program captured, as records: its instructions, and the views and numbers they take."""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from lazyarray.engine import Device


class Layout(NamedTuple):
    """A view of a chunk: bytes from its start, shape, and bytes from one index to the next."""

    dtype: np.dtype
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def end(self) -> int:
        """The byte after the last one that it touches."""
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        return self.offset + sum(max(s, 0) for s in spans) + self.dtype.itemsize

    @property
    def order(self) -> tuple[int, ...]:
        """The axes as they lie in memory, slowest first; those of length one where they stand."""
        return tuple(sorted(range(len(self.shape)), key=lambda i: -abs(self._step(i))))

    def _step(self, axis: int) -> int:
        if self.shape[axis] != 1:
            return self.strides[axis]
        later = [s for n, s in zip(self.shape[axis:], self.strides[axis:], strict=True) if n != 1]
        return max(later, default=0)

    @property
    def dense(self) -> bool:
        """Whether it is a new array's: all elements of a piece of memory, in some order of axes."""
        step = self.dtype.itemsize
        if 0 in self.shape:
            return True
        for i in reversed(self.order):
            if self.shape[i] != 1:
                if self.strides[i] != step:
                    return False
                step *= self.shape[i]
        return True

    @property
    def forward(self) -> bool:
        """Whether its axes lie in memory in their order."""
        steps = [s for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        return all(a >= b > 0 for a, b in zip(steps, [*steps[1:], 1], strict=False))

    def permuted(self, order: tuple[int, ...]) -> Layout:
        """The view with its axes in another order."""
        shape = tuple([self.shape[i] for i in order])
        return self._replace(shape=shape, strides=tuple([self.strides[i] for i in order]))


def c_layout(shape: tuple[int, ...], dtype: np.dtype, offset: int = 0) -> Layout:
    """The layout of a new array in C order."""
    strides = [0] * len(shape)
    step = dtype.itemsize
    for i in reversed(range(len(shape))):
        strides[i] = step
        step *= shape[i]
    return Layout(dtype, offset, shape, tuple(strides))


class View(NamedTuple):
    """An operand in memory."""

    chunk: int  # stands for the memory
    layout: Layout
    nbytes: int  # of the chunk
    resource: bool  # it is a generator's state
    born: bool  # inside the capture
    device: Device


class Number(NamedTuple):
    """An operand that the instruction holds itself."""

    value: Any
    dtype: np.dtype


class Kind(Enum):
    """How an instruction computes."""

    ELEMENTWISE = auto()
    ROLL = auto()
    PICK = auto()
    REDUCE = auto()
    GUFUNC = auto()
    PYTHON = auto()
    TRANSFER = auto()


class Instruction(NamedTuple):
    """One captured instruction."""

    number: int  # its place among all
    name: str
    kind: Kind
    inputs: list[View | Number]
    outputs: list[View]
    overwrites: list[bool]  # for each output, whether nothing of what was there stays
    reduced: tuple[int, ...]  # axes
    core: tuple[int, ...]  # of a GUFUNC that doesn't name its core axes: what its loop is told
    core_steps: tuple[int, ...]
    function: Any  # of PYTHON: what it calls
    site: str  # the line that recorded it

    @property
    def views(self) -> list[View]:
        """Its operands in memory."""
        return [o for o in (*self.inputs, *self.outputs) if isinstance(o, View)]

    @property
    def sources(self) -> list[View]:
        """Its inputs, where all are in memory."""
        return [o for o in self.inputs if isinstance(o, View)]
