"""A trace file's counters as lines over time, for notebooks."""

from __future__ import annotations

import html
import json
import math

import numpy as np

from lazyarray import _html


def counters(filename: str | bytes) -> str:
    """For each counter of a finished file (memory in use, pending work): a line, and its most."""
    try:
        with open(filename, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
    except (OSError, ValueError, KeyError):  # it is not written yet
        return ""
    found: dict[str, list[tuple[float, float]]] = {}
    for event in events:
        if event.get("ph") == "C":
            value = float(event["args"]["value"])  # what is no number is in quotes
            if math.isfinite(value):
                found.setdefault(event["name"], []).append((event["ts"], value))
    rows = []
    for name, samples in found.items():
        times, values = np.array(sorted(samples)).T
        # What a counter showed last before each of so many moments.
        moments = np.linspace(times[0], times[-1], 120)
        shown = values[np.searchsorted(times, moments, side="right") - 1]
        rows.append(
            f"<tr><td>{html.escape(name)}</td><td>{_html.picture(shown)}</td>"
            f"<td>most {values.max():,.0f}, {(times[-1] - times[0]) / 1e3:.3g} ms</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>" if rows else ""
