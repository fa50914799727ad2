"""Instructions that CuPy does: what they say of their operands, as the library wants it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.lazy.cuda import views
from lazyarray.lazy.cuda.library.calls import SUPPORTED

__all__ = ["Gufunc", "run"]


class Gufunc:
    """A GUFUNC instruction of a GPU; see :class:`lazyarray.lazy.cuda.library.Call`."""

    def __init__(
        self,
        name: str,
        operands: list[Any],
        shape: tuple[int, ...],
        core: tuple[int, ...],
        core_steps: tuple[int, ...],
    ):
        self.name, self.shape, self.core, self.core_steps = name, shape, core, core_steps
        self._operands = operands
        self.dtypes = [np.dtype(o[2]) for o in operands]
        self.steps = [tuple(o[3]) for o in operands]
        self.arrays = self._arrays() if operands[0][4] is not None else []

    def constant(self, k: int) -> Any:
        """Operand k's value if it is a constant, else None."""
        value = self._operands[k][5]
        return None if value is None else np.frombuffer(value, self.dtypes[k])[0]

    def view(
        self,
        k: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
        dtype: Any = None,
        offset: int = 0,
    ) -> Any:
        """Operand k's memory as a CuPy array; ``offset`` and ``steps`` are bytes."""
        (base, nbytes, number), first, own = self._operands[k][:3]
        return views.view(base, nbytes, number, first + offset, shape, dtype or own, steps)

    def _arrays(self) -> list[Any]:
        out, at = [], 0
        for k, operand in enumerate(self._operands):
            axes = operand[4]
            shape = self.shape + tuple(self.core[i] for i in axes)
            steps = self.steps[k] + self.core_steps[at : at + len(axes)]
            at += len(axes)
            out.append(self.view(k, shape, steps))
        return out


def _misplaced(memory: Any, offset: int, dtype: str, steps: Any) -> bool:
    """Whether complex numbers lie where CuPy's kernels can't read them: a view of floats may."""
    if dtype not in "FD" or memory is None:
        return False
    size = np.dtype(dtype).itemsize
    return bool((memory[0] + offset) % size or any(s % size for s in steps))


def run(call: tuple[Any, ...]) -> bool:
    """Does it on CuPy's current stream; False if it has to be done on the host."""
    from lazyarray.lazy.cuda import library

    name, nin, operands = call[:3]
    steps = 3 if len(call) == 6 else 4
    if any(o[2] not in SUPPORTED or _misplaced(o[0], o[1], o[2], o[steps]) for o in operands):
        return False
    try:
        if len(call) == 6:
            library.gufunc(Gufunc(name, operands, *call[3:]))
            return True
        fn, context = call[3:]
        there = getattr(fn, "on_gpu", None)  # a draw says by itself what it does here
        function = library.PYTHON.get(name)
        if there is None and function is None:
            return False
        arrays = [
            views.view(base, nbytes, number, offset, shape, dtype, steps)
            for (base, nbytes, number), offset, dtype, shape, steps in operands
        ]
        if there is not None:
            return bool(context.run(there, arrays[nin:], arrays[:nin]))
        context.run(function, arrays[nin:], arrays[:nin], fn)
    except library.Hosted:
        return False
    return True
