"""Calls that CuPy does: what an instruction says of its operands, as CuPy arrays."""

from __future__ import annotations

from typing import Any

from lazyarray.lazy.cuda import device

__all__ = ["Call", "run"]


class Call:
    """An instruction of a GPU that is no kernel of ours, and its operands' memory.

    ``steps[k]`` are operand k's byte steps along the batch axes (``shape``), ``core`` and
    ``core_steps`` what the native loop would be told. ``arrays`` are the operands, inputs first,
    shaped batch axes and then core axes; None unless the kernel names its core axes.
    """

    def __init__(
        self,
        number: int,
        name: str,
        nin: int,
        operands: list[Any],
        shape: tuple[int, ...],
        core: list[int],
        core_steps: list[int],
    ):
        self.number, self.name, self.nin, self.shape = number, name, nin, shape
        self.core, self.core_steps = core, core_steps
        self._operands = operands
        self.steps = [tuple(o[3]) for o in operands]
        self.arrays = self._arrays() if operands[0][4] is not None else None

    def view(
        self,
        k: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: str | None = None,
        offset: int = 0,
    ) -> Any:
        """A CuPy array on operand k's memory, ``offset`` bytes from its first element."""
        place, first, own, _, _, value = self._operands[k]
        if place is None:
            import cupy
            import numpy as np

            one = np.frombuffer(value, own).reshape((1,) * len(shape))
            return cupy.broadcast_to(cupy.asarray(one), shape)
        base, nbytes, number = place
        return device.view(base, nbytes, number, first + offset, shape, dtype or own, strides)

    def _arrays(self) -> list[Any]:
        out, at = [], 0
        for k, operand in enumerate(self._operands):
            axes = operand[4]
            shape = self.shape + tuple(self.core[i] for i in axes)
            steps = self.steps[k] + tuple(self.core_steps[at : at + len(axes)])
            at += len(axes)
            out.append(self.view(k, shape, steps))
        return out


def run(number: int, call: tuple[Any, ...]) -> bool:
    """Does it under the current stream of GPU ``number``; False if CuPy isn't known to."""
    from lazyarray.lazy.cuda import library

    name, nin, operands = call[:3]
    if len(call) == 5:
        fn, context = call[3:]
        if name not in library.CLOSURES and name not in library.PYTHON:
            return False
        arrays = [
            device.view(*place, offset, shape, dtype, strides)
            for place, offset, dtype, shape, strides in operands
        ]
        replaced = library.PYTHON.get(name)
        if replaced is not None:
            return context.run(replaced, arrays[nin:], arrays[:nin], fn) is not False
        context.run(fn, arrays[nin:], arrays[:nin])
        return True
    if name not in library.GUFUNCS:
        return False
    return library.GUFUNCS[name](Call(number, name, nin, operands, *call[3:])) is not False
