"""What NumPy's namespaces have and lazyarray leaves out: each name, by category, with its reason.

Names are as seen from ``numpy``: ``"busday_count"``, ``"random.sample"``. ``OUTSIDE`` holds what no
library of numeric arrays would have; ``LEFT_OUT`` what it could have. The tests count by these.
"""

from __future__ import annotations

Categories = dict[str, dict[str, str]]  # category: {name: reason}


def _all(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


OUTSIDE: Categories = {
    "dates and times": _all(
        "dtypes are numeric: no dates",
        "datetime64 timedelta64 datetime_as_string datetime_data isnat busday_count busday_offset "
        "busdaycalendar is_busday",
    ),
    "strings, objects and records": {
        **_all(
            "dtypes are numeric: no strings, objects or records",
            "bytes_ str_ object_ void character flexible record recarray char rec strings",
        ),
        "fromregex": "makes records",
        "frompyfunc": "its results are objects: vectorize",
        "ndarray.getfield": "fields are of records",
        "ndarray.setfield": "fields are of records",
    },
    "deprecated in NumPy": {
        "row_stack": "deprecated: vstack",
    },
    "about NumPy itself": _all(
        "tells about NumPy's own build, tests and documentation",
        "test get_include show_runtime info",
    ),
}

LEFT_OUT: Categories = {
    "subclasses of ndarray": _all(
        "an array is an NDArray: no subclasses, of which NumPy itself advises against matrix",
        "matrix asmatrix bmat memmap",
    ),
    "iterators over memory": _all(
        "walks memory element by element, which would wait for every one",
        "nditer nested_iters flatiter",
    ),
    "masked arrays": {
        "ma": "an array is an NDArray: where=, boolean masks and the nan functions do without",
    },
}

ABSENT: dict[str, str] = {
    name: reason
    for categories in (OUTSIDE, LEFT_OUT)
    for names in categories.values()
    for name, reason in names.items()
}
