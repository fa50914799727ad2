"""Opaque: an instruction without a public name, held with what is needed to run it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lazyarray.lazy.captured import Layout
from lazyarray.ops import _rows
from lazyarray.ops._layout import new

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray


@dataclass(eq=False)
class Opaque:
    """Calls ``function(outs, ins)`` as one instruction that takes the GIL.

    Called with the inputs, and for each output with what was in it before (None: nothing). A
    generator's state among the outputs is one of ``resources``: it is written itself.
    """

    name: str
    function: Callable[..., Any]
    inputs: int
    layouts: list[Layout]
    resources: list[Any]
    overwrites: list[bool]

    def __call__(self, *arrays: Any) -> Any:
        ins, before = [*arrays[: self.inputs]], arrays[self.inputs :]
        device = ins[0].device if ins else None
        outs: list[NDArray] = []
        made: list[NDArray] = []
        for layout, resource, old in zip(self.layouts, self.resources, before, strict=True):
            if resource is not None:
                outs.append(resource)
                continue
            made.append(
                new(layout.shape, layout.dtype, layout.order, device)
                if old is None
                else old.copy("K")
            )
            outs.append(made[-1])
        _rows.call(self.name, self.function, ins, outs, overwrites=self.overwrites)
        return made
