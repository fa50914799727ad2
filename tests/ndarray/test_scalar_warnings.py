"""What operators of scalars tell of, in NumPy's words, and what errstate makes of it."""

import warnings

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

LINES = """
f[0] ** 2 | f[0] ** 2.5 | f[0] ** f[0] | f[1] ** -1 | f[1] ** -1.5 | (-f[0]) ** 0.5 | f[0] * 10
f[0] + f[0] | f[0] / 0 | f[1] / f[1] | f[0] // 0 | f[0] % 0 | divmod(f[0], 0) | f.sum() ** 2
s[0] * s[0] | s[0] ** 2 | h[0] * h[0] | 1 / f[1] | i[0] * i[0] | -i[0] | abs(i[0]) | i[0] - 1
1 - i[0] | i[0] // 0 | i[0] % 0 | i[0] // -1 | u[0] - 2 | u[0] * 200 | -u[0] | c[0] * c[0]
c[0] / 0 | c[0] ** 2 | abs(c[1]) | f[0] - 1 | u[0] + 3 | i[1] ** 2 | f[1] * f[0]
""".replace("\n", "|")


def outcome(line, xp, **errstate):
    names = {
        "f": xp.array([1e308, 0.0]),
        "s": xp.array([3e38], "f4"),
        "h": xp.array([6e4], "f2"),
        "i": xp.array([-(2**63), 3]),
        "u": xp.array([1], "u1"),
        "c": xp.array([1e200 + 1e200j, 1e308 + 1.5e308j]),
    }
    with warnings.catch_warnings(record=True) as caught, np.errstate(**errstate):
        warnings.simplefilter("always")
        try:
            found = repr(eval(line, names))
        except FloatingPointError as e:
            found = str(e)
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize("line", [line.strip() for line in LINES.split("|") if line.strip()])
def test_scalars_warn_as_numpys(line):
    assert outcome(line, la) == outcome(line, np)
    assert outcome(line, la, all="raise") == outcome(line, np, all="raise")
    assert outcome(line, la, all="ignore") == outcome(line, np, all="ignore")


@pytest.mark.parametrize(
    "line", ["x.sum()", "xp.prod(x)", "xp.mean(x)", "x.sum(axis=0)", "xp.ptp(x * y)"]
)
@pytest.mark.parametrize("n", [2, 5000])
def test_reductions_warn_as_numpys(line, n):
    found = []
    for xp in (la, np):
        x = xp.tile(xp.array([1.7e308, 1.7e308]), n // 2)
        with pytest.warns(RuntimeWarning) as caught:
            repr(eval(line, {"xp": xp, "x": x, "y": xp.resize([1.0, -1.0], n)}))
        found.append([str(w.message) for w in caught])
    assert found[0] == found[1]
