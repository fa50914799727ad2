"""What NumPy's namespaces have and lazyarray leaves out: each name, by category, with its reason.

Names are as seen from ``numpy``: ``"busday_count"``, ``"random.sample"``. ``OUTSIDE`` holds what no
library of numeric arrays would have; ``LEFT_OUT`` what it could have. The tests count by these.
"""

from __future__ import annotations

Categories = dict[str, dict[str, str]]  # category: {name: reason}


def _all(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


OUTSIDE: Categories = {
    "strings, objects and records": _all(
        "of records, which NumPy holds: there the array has it",
        "ndarray.getfield ndarray.setfield",
    ),
    "deprecated in NumPy": {
        "row_stack": "deprecated: vstack",
    },
    "about NumPy itself": _all(
        "tells about NumPy's own build, tests and documentation",
        "test get_include show_runtime info",
    ),
}

LEFT_OUT: Categories = {
    "iterators over memory": {
        "flatiter": "what x.flat is has no public name: it is made by that alone",
    },
}

ABSENT: dict[str, str] = {
    name: reason
    for categories in (OUTSIDE, LEFT_OUT)
    for names in categories.values()
    for name, reason in names.items()
}
