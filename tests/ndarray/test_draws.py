"""Draws without a size are Python's numbers to NumPy, and so is what is computed of them."""

import json
import math
import statistics

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import on_gpu

COMPUTED = """
rng.random() * 2 | 1 - rng.random() | -rng.normal() | abs(rng.normal()) | +rng.random()
rng.random() ** 2 | 2 ** rng.random() | rng.random() // 0.1 | rng.random() % 0.1
divmod(rng.random(), 0.1) | round(rng.random(), 2)
round(rng.random() + 2.675 - rng.random() * 0, 2) | r.randint(9) + 1 | r.randint(9) / 2
r.randint(9) // 2 | -r.randint(9) | ~r.randint(9) | r.randint(9) << 70 | 1 << r.randint(70, 80)
r.randint(9) >> 1 | r.randint(9) & 3 | r.randint(9) | 8 | r.randint(9) ^ 1
divmod(r.randint(9), 2) | divmod(99, r.randint(1, 9)) | round(r.randint(99), -1)
r.randint(10**9, 2 * 10**9) ** 3 | r.randint(1, 9) ** -1 | 3 ** r.randint(50, 60)
pow(r.randint(9), 1000, 97) | r.randint(2**62, 2**63 - 1) * 2
-(r.randint(2**62, 2**63 - 1) + 2**62) | r.randint(2**62, 2**63 - 1) + 2**62
(rng.random() - 5) ** 0.5 | rng.random() * 1j | rng.random() < 0.5 | r.randint(9) == 3
rng.random() != rng.random() | (r.rand() < 0.9) + (r.rand() < 0.9)
(r.rand() < 0.9) - (r.rand() < 0.9) | -(r.rand() < 0.9) | [5, 6][r.rand() < 0.5]
sum(r.rand() for _ in range(3)) | sum(r.rand() < 0.5 for _ in range(9)) | max(r.rand(), 0.5)
math.floor(r.rand() * 9) | 1 / r.randint(0, 1) | r.rand() / 0 | r.randint(9) // 0
r.randint(9) % 0 | divmod(r.rand(), 0) | 0.0 ** -r.rand() | (r.rand() + 1e3) ** 1e3
1 << -r.randint(1, 9) | r.rand() + "a" | r.rand() & 1 | r.rand() + None | r.rand() * xp.float64(2)
xp.float64(2) * r.rand() | r.randint(9) + xp.int64(2) | r.rand() * xp.float32(2)
xp.float32(2) * r.rand() | xp.ones(2, "f4") * r.rand() | r.rand() * xp.ones(2, "f4")
xp.ones(2, "f4") ** r.rand() | xp.ones(2, "f4") * (r.rand() + 1) | xp.ones(2, "f2") / r.rand()
xp.ones(2, "i1") * r.randint(9) | r.rand() > xp.ones(2) | xp.ones(2, "i1") + r.randint(300, 400)
xp.ones(2, "f4") ** r.randint(2, 3) | xp.maximum(xp.ones(2, "f4"), r.rand())
xp.where([True, False], xp.ones(2, "f4"), r.rand()) | xp.clip(xp.ones(2, "f4"), 0, r.rand())
xp.sqrt(r.rand()) | xp.add(xp.ones(2, "f4"), r.rand(), where=[True, False], out=xp.zeros(2, "f4"))
xp.array([r.rand(), r.randint(3)]) | isinstance(r.randint(9), int)
isinstance(r.rand(), np.floating) | isinstance(rng.integers(9), np.int64)
isinstance(r.rand() * 2, float) | json.dumps([r.randint(9), r.rand() * 2])
statistics.mean([r.randint(9) for _ in "abc"])
statistics.variance([r.randint(9) for _ in "abc"]) | f"{r.rand() * 2} {r.randint(9) + 1:03d}"
1j * v[0] | 1j * v[0] / v[1] | (2 + 1j) / v[2] | (2 + 1j) ** v[2] | 2j + v[0] | 2j - v[0]
v[0] - 2j | v[0] * 1j | v[0] ** 2j | (2 + 1j) * v.sum() / v[2] | v[1] / (1j * v[0]) | 1j / v[3]
1j * v[0] * v[1] / v[2] | v[0] - 1j * v[1] / v[2] | (1j * v[0]) ** -1 | -(1j * v[0])
abs(1j * v[0]) | (1j * v[0]).real | (1j * v[0]).imag / v[1] | (1j * v[0]).conjugate()
r.rand().imag | r.rand().real
xp.ones(2, "f4") * (1j * v[0]) | xp.ones(2, "F") * (2j + v[0]) | xp.exp(1j * v[0])
1j * v[0].astype("f4") | xp.where([True, False], 1j * v[0], xp.ones(2, "f4"))
xp.ones(2, "f4") * (1j * v[0]).imag
1j * xp.float64(2) / 7 | (2 + 1j) / xp.float64(0.3) | 1j * xp.array([3])[0] / v[1]
1j * v[:1] / v[1] | isinstance(1j * v[0], complex)
(2 + 1j) // v[0] | 1j * v.astype("F")[0] / v[1]
"""


def outcome(line, xp):
    names = {"rng": xp.random.default_rng(3), "r": xp.random.RandomState(3), "xp": xp, "np": np}
    names["v"] = xp.array([3.0, 7.0, 0.3, 0.0])
    try:
        found = eval(line, names | {"math": math, "json": json, "statistics": statistics})
    except Exception as e:
        return type(e).__name__.removeprefix("UFunc")
    return repr(found), str(getattr(found, "dtype", None))


@pytest.mark.parametrize(
    "line", [part for text in COMPUTED.splitlines() for part in text.split(" | ") if part]
)
@pytest.mark.parametrize("direct", [True, False], indirect=True)
@pytest.mark.host
def test_what_is_computed_of_draws(line, direct):
    got, want = outcome(line, la), outcome(line, np)
    if type(want) is tuple and want[1] == "None" and type(got) is tuple:
        got = got[0], "None"  # a Python number has no dtype
    assert got == want


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1"])
def test_draws_that_are_pending_are_as_weak(dtype):
    def times(xp):
        r = xp.random.RandomState(3)
        r.rand(300_000)
        x = xp.ones(3, dtype)
        y = r.randint(9) if dtype == "i1" else r.rand()
        found = [x * y, y - x, xp.where(x > 0, x, y)]
        return found if on_gpu() else [*found, [y * 2]]  # which is no Python number there

    for got, want in zip(times(la), times(np), strict=True):
        assert repr(got).replace(", device=gpu(0)", "") == repr(want)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_in_place_by_a_draw(dtype):
    got, want = (xp.arange(300, dtype=dtype) for xp in (la, np))
    got *= la.random.RandomState(3).rand() * 7
    want *= np.random.RandomState(3).rand() * 7
    np.testing.assert_array_equal(got, want)
