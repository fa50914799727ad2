"""How windows lie on planes, for convolutions and pooling."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from lazyarray.nn.inputs import listed, pair

__all__: list[str] = []

Pair = tuple[int, int]


class Windows(NamedTuple):
    """Windows on planes; each field is for (rows, columns)."""

    kernel: Pair  # elements of a window
    stride: Pair  # from one window to the next
    padding: Pair  # zeros before the plane; those behind it follow from `shape`
    dilation: Pair  # from one element of a window to the next
    shape: Pair  # how many windows


def windows(
    name: str,
    plane: tuple[int, ...],
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    axes: int,
) -> Windows:
    """Windows over planes, from a function's arguments for one or two ``axes``."""
    given = [listed(v) for v in (kernel, stride, padding, dilation)]
    try:
        return _windows(name, plane, *given, axes)
    except TypeError:
        pass  # what the cache says of a set says little
    return _windows.__wrapped__(name, plane, *given, axes)


@lru_cache(maxsize=4096, typed=True)
def _windows(
    name: str,
    plane: tuple[int, ...],
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    axes: int,
) -> Windows:
    kernel = pair(name, "kernel_size", kernel, axes, 1)
    stride = kernel if stride is None else pair(name, "stride", stride, axes, 1)
    dilation = pair(name, "dilation", dilation, axes, 1)
    before: Any
    total: Any
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"{name}: padding is 'same', 'valid' or numbers, not {padding!r}")
        if padding == "same" and stride != (1, 1):
            raise ValueError(f"{name}: padding='same' is for stride 1, not {stride[2 - axes :]}")
    else:
        padding = pair(name, "padding", padding, axes, 0)
    reach = tuple([d * (k - 1) for k, d in zip(kernel, dilation, strict=True)])
    if padding == "same":
        total, before = reach, tuple([r // 2 for r in reach])
    else:
        before = (0, 0) if padding == "valid" else padding
        total = tuple([2 * p for p in before])
    count = tuple(
        [(n + t - r - 1) // s + 1 for n, t, r, s in zip(plane, total, reach, stride, strict=True)]
    )
    if min(count) < 1:
        raise ValueError(
            f"{name}: windows of {kernel} with dilation {dilation} don't fit in planes of {plane} "
            f"with padding {padding!r}"
        )
    if plane[0] * plane[1] >= 1 << 31:
        raise ValueError(f"{name}: planes of {plane} have too many elements")
    return Windows(kernel, stride, before, dilation, count)
