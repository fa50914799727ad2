"""Arrays in notebooks: what they are and, if they are complete, a small picture; never a wait."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from lazyarray import autograd

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

_CELLS = 24  # of a picture's side
_POINTS = 120  # of a line
_COLORS = {"pending": "#b58900", "complete": "#2a7f3f", "failed": "#c0392b"}


def of_array(x: NDArray) -> str:
    """``x._repr_html_()``: shape, dtype, device, state; values and picture if complete."""
    state = x._state()
    facts = f"{type(x).__name__} {x.shape} {x.dtype} on {x.device!r}, {x.nbytes:,} bytes"
    parts = [
        f"<div><code>{html.escape(facts)}</code> "
        f'<span style="color:{_COLORS[state]}">{state}</span></div>'
    ]
    if state == "complete" and x.device._on_host:
        values = _sample(x)
        if x.size <= (_POINTS if x.ndim == 1 else 100) and x.ndim <= 2:
            parts.append(f"<pre>{html.escape(np.array2string(values, threshold=50))}</pre>")
        parts.append(picture(values))
    return "".join(parts)


def _sample(x: NDArray) -> np.ndarray:
    """A copy of some of the values: of a large array every so-and-so-many-th, in two axes."""
    most = _POINTS if x.ndim == 1 else _CELLS
    with autograd.pause():
        few = x[(0,) * (x.ndim - 2)] if x.ndim > 2 and 0 not in x.shape else x
        steps = tuple([slice(None, None, -(-n // most) or 1) for n in few.shape])
        return few[steps].asnumpy()


def picture(values: np.ndarray) -> str:
    """An SVG of a vector, as a line, or of a matrix, in shades; nothing for a number."""
    if values.ndim not in (1, 2) or values.size < 2:
        return ""
    v = np.abs(values) if values.dtype.kind == "c" else values
    v = v.astype(float)
    finite = np.isfinite(v)
    if not finite.any():
        return ""
    low, high = v[finite].min(), v[finite].max()
    part = np.where(finite, (v - low) / ((high - low) or 1), 0)
    return _line(part, finite) if v.ndim == 1 else _shades(part, finite)


def _line(part: np.ndarray, finite: np.ndarray) -> str:
    step = 240 / max(len(part) - 1, 1)
    points = [
        f"{i * step:.1f},{38 - 36 * y:.1f}"
        for i, (y, there) in enumerate(zip(part, finite, strict=True))
        if there
    ]
    return (
        '<svg width="240" height="40"><polyline fill="none" stroke="#36c" '
        f'points="{" ".join(points)}"/></svg>'
    )


def _shades(part: np.ndarray, finite: np.ndarray) -> str:
    rows, columns = part.shape
    side = 120 / max(rows, columns)
    cells = [
        f'<rect x="{j * side:.1f}" y="{i * side:.1f}" width="{side:.1f}" height="{side:.1f}" '
        f'fill="rgb({g},{g},{255 - g // 4})"/>'
        for i in range(rows)
        for j in range(columns)
        if finite[i, j]
        for g in [int(255 - 255 * part[i, j])]
    ]
    return f'<svg width="{columns * side:.0f}" height="{rows * side:.0f}">{"".join(cells)}</svg>'
