"""How many arrays the public functions give that give several: known before any shape is."""

from __future__ import annotations

from collections.abc import Callable

from lazyarray.graph import registry
from lazyarray.graph.nodes import Tree

Args = tuple[Tree, ...]
Kwargs = dict[str, Tree]


def number_of_outputs(op: str, args: Args, kwargs: Kwargs) -> int:
    """How many outputs a call has, 0 if it gives one array and no tuple."""
    known = _SEVERAL.get(op)
    if known is None:
        count = getattr(registry.function_of(op), "nout", 1)
        return count if count > 1 else 0
    return known(args, kwargs) if callable(known) else known


def _sections(args: Args, kwargs: Kwargs) -> int:
    given = kwargs.get("indices_or_sections", args[1] if len(args) > 1 else None)
    if isinstance(given, int):
        return given
    if isinstance(given, (tuple, list)):
        return len(given) + 1
    raise TypeError("the sections of a split are a number or a list of indices")


def _each(args: Args, kwargs: Kwargs) -> int:
    return len(args) if len(args) > 1 else 0


def _all(args: Args, kwargs: Kwargs) -> int:
    return len(args)


def _if_asked(key: str, count: int) -> Callable[[Args, Kwargs], int]:
    return lambda args, kwargs: count if kwargs.get(key) else 0


def _qr(args: Args, kwargs: Kwargs) -> int:
    return 0 if kwargs.get("mode") == "r" else 2


def _svd(args: Args, kwargs: Kwargs) -> int:
    return 3 if kwargs.get("compute_uv", True) else 0


def _unique(args: Args, kwargs: Kwargs) -> int:
    extra = sum(bool(kwargs.get(f"return_{k}")) for k in ("index", "inverse", "counts"))
    return 1 + extra if extra else 0


def _gradient(args: Args, kwargs: Kwargs) -> int:
    axis = kwargs.get("axis")
    return len(axis) if isinstance(axis, (tuple, list)) else 0


_SEVERAL: dict[str, int | Callable[[Args, Kwargs], int]] = {
    "split": _sections,
    "array_split": _sections,
    "hsplit": _sections,
    "vsplit": _sections,
    "dsplit": _sections,
    "broadcast_arrays": _all,
    "meshgrid": _all,
    "ix_": _all,
    "atleast_1d": _each,
    "atleast_2d": _each,
    "atleast_3d": _each,
    "average": _if_asked("returned", 2),
    "linspace": _if_asked("retstep", 2),
    "intersect1d": _if_asked("return_indices", 3),
    "unique": _unique,
    "unique_all": 4,
    "unique_counts": 2,
    "unique_inverse": 2,
    "gradient": _gradient,
    "histogram": 2,
    "histogram2d": 3,
    "histogramdd": 2,
    "polydiv": 2,
    "tril_indices": 2,
    "triu_indices": 2,
    "tril_indices_from": 2,
    "triu_indices_from": 2,
    "mask_indices": 2,
    "linalg.qr": _qr,
    "linalg.svd": _svd,
    "linalg.eig": 2,
    "linalg.eigh": 2,
    "linalg.slogdet": 2,
    "linalg.lstsq": 4,
}
