"""What NumPy gives one value or another, by the loop that it happens to take."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

BY_STEPS = {"arctan2", "logaddexp", "hypot", "power"}
SEARCHED = {"searchsorted": 0, "interp": 1}  # which argument is searched in


def undecided(text: str, names: Mapping[str, Any]) -> bool:
    """Whether NumPy could as well have given other values for the line.

    * Complex scalars are multiplied, and compared where one is a NaN, by other code than arrays.
    * Numbers alone stay NumPy's, of which each library makes arrays of its own.
    * A function of two operands has other last bits over one that goes backwards, unless NumPy
      copies it to a buffer, which it may do where it casts the other one.
    * A view of wider elements is NumPy's array where they are not aligned.
    * A search in what is not sorted ends anywhere: it begins where the last one ended.
    * A line of elements stored in itself by other steps is stored as it goes, without a copy.
    * Several quantiles have the array's type, not theirs, where its first line is all NaN.
    """
    tree = ast.parse(text)
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_read(node)}
    if found == {"np"}:
        return True
    for node in ast.walk(tree):
        if stored := _stored(node):
            with contextlib.suppress(NameError):  # made in the loop that it is in
                if _meet_by_other_steps(*(_value(x, names) for x in stored)):
                    return True
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "astype" and ast.unparse(node.args[0]) in ("'F'", "'D'", "'G'"):
            if not np.ndim(_value(node.func.value, names)):
                return True
        elif node.func.attr == "view":
            with contextlib.suppress(TypeError, ValueError):
                if not _value(node, names).flags.aligned:
                    return True
        elif node.func.attr in SEARCHED:
            x = np.asarray(_value(node.args[SEARCHED[node.func.attr]], names))
            if not np.array_equal(x, np.sort(x), equal_nan=x.dtype.kind in "fc"):
                return True
        elif node.func.attr in ("nanpercentile", "nanquantile"):
            x, q = (np.asarray(_value(arg, names)) for arg in node.args[:2])
            if q.ndim and _value(node, names).dtype != np.result_type(x, q):
                return True
        elif node.func.attr in BY_STEPS:
            values = [np.asarray(_value(x, names)) for x in node.args[:2]]
            steps = [n for x in values if x.ndim for n in x.strides]
            if min(steps, default=0) < 0 and len({x.dtype for x in values}) > 1:
                return True
    return False


def _stored(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Where an assignment to elements, or copyto, stores what."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return node.targets[0], node.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "xp.copyto":
        return node.args[0], node.args[1]
    return None


def _meet_by_other_steps(to: Any, value: Any) -> bool:
    if np.ndim(to) != 1 or not isinstance(value, np.ndarray) or not value.ndim:
        return False
    return to.strides[0] != value.strides[-1] and np.may_share_memory(to, value)


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return eval(ast.unparse(node), dict(names))
