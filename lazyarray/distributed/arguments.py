"""What collectives are given: checked where they are called, before other ranks hear of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lazyarray.distributed import reductions
from lazyarray.distributed._task import is_writable
from lazyarray.functions.creation import empty
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import asarray

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["INT", "integer", "rank_of", "reduction", "result", "rows_of", "tag_of"]

INT = (1 << 31) - 1  # MPI's greatest integer
_TAGS = 1 << 15


def integer(what: str, given: Any, least: int, most: int) -> int:
    """A number within limits; ``what`` says which, for the error."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"{what}, not {given!r}")
    found: int = given.__index__()
    if not least <= found <= most:
        raise ValueError(f"{what}, not {found}")
    return found


def rank_of(what: str, rank: int, size: int) -> int:
    return integer(f"{what} is a rank of {size}", rank, 0, size - 1)


def tag_of(tag: int) -> int:
    return integer(f"a tag is an integer from 0 to {_TAGS - 1}", tag, 0, _TAGS - 1)


def reduction(op: str, arrays: Sequence[Any]) -> str:
    """The name of a reduction that there is for these arrays."""
    if op not in reductions.OPS:
        raise ValueError(f"a reduction is one of {', '.join(reductions.OPS)}, not {op!r}")
    if op == "mean":
        for x in arrays:
            if asarray(x).dtype.kind not in "fc":
                raise TypeError(
                    f"the mean over ranks is of floats, not of {asarray(x).dtype}: x.astype(float)"
                )
    return op


def rows_of(name: str, x: NDArray, size: int) -> tuple[int, ...]:
    """The shape of one rank's part."""
    if not x.ndim or x.shape[0] != size:
        raise ValueError(
            f"{name}: the first axis has a row for each of the {size} ranks, not shape {x.shape}"
        )
    return x.shape[1:]


def result(name: str, out: Any, x: NDArray, shape: tuple[int, ...]) -> Any:
    """Where a result of a shape goes: ``out``, or a new array like ``x``."""
    if out is None:
        return empty(shape, x.dtype, device=x.device)
    if out is x and shape == x.shape and is_writable(x):
        return out
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}: out is an NDArray, not {type(out).__name__}")
    if out.shape != shape or out.dtype != x.dtype:
        raise ValueError(
            f"{name}: out has shape {out.shape} and {out.dtype}, the result {shape} and {x.dtype}"
        )
    if not is_writable(out):
        raise ValueError(f"{name}: out is read-only")
    return out
