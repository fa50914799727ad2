"""Arrays on their way: in a row for the backend; from GPUs without NCCL through the host's memory.

A task's views are NumPy's of arrays on the host, CuPy's on GPUs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lazyarray.context import cpu
from lazyarray.distributed._task import on_host
from lazyarray.functions.creation import empty
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import asarray

if TYPE_CHECKING:
    from lazyarray.distributed.thread import Task

__all__ = ["Onto", "in_a_row", "sent_from", "through_host"]

_F = TypeVar("_F", bound=Callable[..., Any])


def in_a_row(x: Any) -> Any:
    """The elements in a row: the memory itself where it is that, else a copy."""
    return x.reshape(-1) if x.flags.c_contiguous else x.flatten()


def sent_from(task: Task, x: Any, to: Any, flat: Any = None) -> Any:
    """The elements of ``x`` in a row, where nobody writes while they are sent.

    ``flat`` itself, if the op is in place and that is ``x``'s own memory.
    """
    view = task.view(x)
    if task.own(x).var != task.own(to).var or not view.flags.c_contiguous:
        return in_a_row(view)
    if flat is not None and x is to:
        return flat
    return view.flatten()


class Onto:
    """Where results go that may not lie in a row: ``with Onto(x) as flat`` packs and unpacks."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.direct = x.flags.c_contiguous
        self.flat = x.reshape(-1) if self.direct else np.empty(x.size, x.dtype, like=x)

    def __enter__(self) -> Any:
        return self.flat

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is None and not self.direct:
            self.x[...] = self.flat.reshape(self.x.shape)


def _on_gpu(x: Any) -> bool:
    return isinstance(x, Tensor) and not on_host(x)


def _on_host(x: Any) -> Any:
    return x.to_device(cpu(0)) if _on_gpu(x) else x


def through_host(collective: _F) -> _F:
    """Has a collective take arrays on GPUs that the communicator has no way of its own for.

    It gets copies, which are made by ops.
    """

    @functools.wraps(collective)
    def call(self: Any, x: Any, *args: Any, out: Any = None, **options: Any) -> Any:
        if isinstance(x, Tensor) and on_host(x):  # the most frequent
            if out is None:
                return collective(self, x, *args, **options)
            if isinstance(out, Tensor) and on_host(out):
                return collective(self, x, *args, out=out, **options)
        several = isinstance(x, (list, tuple))
        xs = [asarray(v) for v in x] if several else [asarray(x)]
        outs: list[Any] = [None] * len(xs) if out is None else list(out) if several else [out]
        if out is not None:
            options["out"] = out
        arrays = [*xs, *outs]
        if not any(map(_on_gpu, arrays)) or self._stays(collective.__name__, arrays):
            return collective(self, xs if several else xs[0], *args, **options)
        sent = list(map(_on_host, xs))
        tos = [empty(o.shape, o.dtype, device=cpu(0)) if _on_gpu(o) else o for o in outs]
        if out is not None:
            options["out"] = tos if several else tos[0]
        found = collective(self, sent if several else sent[0], *args, **options)
        if found is None:
            return None
        results = []
        for y, v, o in zip(found if several else [found], xs, outs, strict=True):
            if _on_gpu(o):
                y.copyto(o)
            results.append(o if o is not None else y.to_device(v.device) if _on_gpu(v) else y)
        return results if several else results[0]

    made: Any = call
    return made
