"""Sums, extremes, moments."""

_AXES = ["(m)", "(t, axis=1)", "(t, axis=(0, -1), keepdims=True)", "(t.T, axis=0)", "(j, axis=-1)"]
_OUT, _MASK, _FROM = "(m, axis=0, out=v[:4])", "(m, where=m > 0)", "(m, initial=5, where=m > 0)"
_DDOF = ["(m, axis=0, ddof=1)", "(m, axis=0, correction=1)"]

CALLS = {
    name: [f"xp.{name}{args}" for args in [*_AXES, *more]]
    for name, more in {
        "sum": ["(b)", "(c)", "(f, dtype=float)", _OUT, _FROM],
        "prod": ["(c)", "(f, dtype=float)", _OUT, _FROM],
        "max": ["(f)", "(n)", _OUT, _FROM],
        "min": ["(f)", "(n)", _OUT, _FROM],
        "amax": ["(f)"],
        "amin": ["(f)"],
        "all": ["(b)", "(m > 9, axis=0)", _MASK],
        "any": ["(b)", "(m > 9, axis=0)", _MASK],
        "mean": ["(f)", "(c)", "(b)", _OUT, _MASK],
        "std": ["(f)", "(c)", *_DDOF, _MASK],
        "var": ["(f)", "(c)", *_DDOF, _MASK],
    }.items()
}
