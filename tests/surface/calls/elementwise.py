"""Elementwise functions: each on the dtypes that it has loops for, and with its options.

The names are the op table's.
"""

from lazyarray.ops import elementwise

ROWS = {**elementwise.TABLE, **{a: elementwise.TABLE[n] for a, n in elementwise.ALIASES.items()}}


def rows(nin, loop):
    """The rows of so many inputs whose first loop on doubles (else on integers) is such."""
    for name, row in ROWS.items():
        floats = any(t.startswith("d" * nin) for t in row.types)
        if row.nin == nin and (loop == "floats") == floats and name not in SPECIAL:
            yield name, row


SPECIAL = {
    "ldexp": ["xp.ldexp(v, i)", "xp.ldexp(0.5, 3)"],
    "frexp": ["xp.frexp(v)", "xp.frexp(m.T)"],
    "modf": ["xp.modf(v)", "xp.modf(n)"],
}
CALLS = {**SPECIAL}
for _name, _row in rows(1, "floats"):
    _xp = f"xp.{_name}"
    CALLS[_name] = [f"{_xp}(w)", f"{_xp}(f)", f"{_xp}(m.T)", f"{_xp}(2)", f"{_xp}([[1, 2]])"]
    CALLS[_name] += [f"{_xp}(w, out=v)", f"{_xp}(w, where=b, out=v)"]
    if any(t.startswith("D") for t in _row.types):
        CALLS[_name] += [f"{_xp}(c)"]
for _name, _row in rows(2, "floats"):
    _xp = f"xp.{_name}"
    CALLS[_name] = [
        f"{_xp}(v, w)",
        f"{_xp}(m, 2)",
        f"{_xp}(i, i + 1)",
        f"{_xp}(t, n)",
        f"{_xp}(w, f)",
    ]
    CALLS[_name] += [f"{_xp}(v[:, None], v)"]
    if _row.nout == 1:
        CALLS[_name] += [f"{_xp}(i, 3, where=b, out=xp.zeros(12, {_xp}(i, 3).dtype))"]
for _name, _row in rows(2, "integers"):
    _xp = f"xp.{_name}"
    CALLS[_name] = [f"{_xp}(i, 2)", f"{_xp}(i, i[::-1])", f"{_xp}(j[:, :1] ** 2, i[:4])"]
for _name, _row in rows(1, "integers"):
    CALLS[_name] = [f"xp.{_name}(i)", f"xp.{_name}(j.T)", f"xp.{_name}(7)"]
