"""Generated reductions, compiled by g++ and run on fibers, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lazyarray.lazy.cuda.source import Spec, Unsupported, source

from .kernels import Kernels

DTYPES = "bBhHiIlLqQefdFD"
# (lanes, team, outputs a block, splits, threads that combine)
LAUNCHES = [
    ("reduced", 1, 1, 1, 1),
    ("reduced", 32, 2, 1, 1),
    ("reduced", 3, 4, 5, 4),
    ("kept", 1, 8, 1, 1),
    ("kept", 4, 3, 1, 1),
    ("kept", 8, 2, 7, 2),
]
UFUNCS = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "all": np.logical_and, "any": np.logical_or, "nanmax": np.fmax, "nanmin": np.fmin,
}  # fmt: skip
FIRST = ("max", "min", "nanmax", "nanmin")


def identity(name: str, dtype: str) -> bytes:
    if name in FIRST:
        return b""
    return np.asarray(UFUNCS[name].reduce(np.zeros(0, dtype), dtype=dtype)).tobytes()


def reduction(name: str, dtype: str, lanes: str, operand: str = "dense") -> Spec:
    """One reduction of one array, of rows."""
    reduce = ("reduce", name, dtype, dtype, 0, 1, name in FIRST, identity(name, dtype))
    operands = ((dtype, operand), (dtype, "strided"))
    return (1, 1, lanes, False, operands, "", (("load", 0, 0), reduce))


CASES = [(name, d) for name in UFUNCS for d in ("?" if name in ("all", "any") else DTYPES)]
SUM, MAX = identity("sum", "d"), b""

# exp(x - m), stored, its sum and its maximum: what a softmax is made of.
SOFTMAX: Spec = (
    1,
    2,
    "reduced",
    True,
    (("d", "strided"), ("d", "strided"), ("d", "dense"), ("d", "strided"), ("f", "strided")),
    "d",
    (
        ("load", 0, 0),
        ("load", 1, 1),
        ("const", 2, 0),
        ("op", "subtract", "dd", "d", (0, 1), (3,)),
        ("op", "multiply", "dd", "d", (3, 2), (4,)),
        ("store", 2, 4),
        ("reduce", "sum", "d", "d", 4, 3, False, SUM),
        ("op", "cast", "d", "f", (4,), (5,)),
        ("reduce", "max", "f", "f", 5, 4, True, MAX),
    ),
)
# All of it: two totals of each row, and what needs them.
KEPT_ROWS: Spec = (
    1,
    1,
    "rows 16",
    False,
    (("f", "dense"), ("f", "strided"), ("f", "row")),
    "",
    (
        ("load", 0, 0),
        ("reduce", "max", "f", "f", 0, 1, True, MAX),
        ("op", "subtract", "ff", "f", (0, 1), (2,)),
        ("op", "exp", "f", "f", (2,), (3,)),
        ("reduce", "sum", "f", "f", 3, 4, False, identity("sum", "f")),
        ("op", "divide", "ff", "f", (3, 4), (5,)),
        ("store", 1, 5),
        ("op", "log", "f", "f", (4,), (6,)),
        ("op", "add", "ff", "f", (6, 1), (7,)),
        ("store", 2, 7),
    ),
)
MINUS_ZERO: Spec = (
    *reduction("sum", "d", "reduced")[:6],
    (("load", 0, 0), ("reduce", "sum", "d", "d", 0, 1, False, np.float64(-0.0).tobytes())),
)
TOTAL: Spec = (0, 1, "reduced", False, *reduction("sum", "d", "reduced")[4:])


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    specs = [reduction(*c, lanes) for c in CASES for lanes in ("reduced", "kept")]
    several = [SOFTMAX, (*SOFTMAX[:2], "kept", *SOFTMAX[3:]), MINUS_ZERO, TOTAL]
    return Kernels([*specs, *several], tmp_path_factory.mktemp("kernels"))


def rows(name: str, dtype: str) -> np.ndarray:
    """Rows of values, the last ones with what is odd of them."""
    rng = np.random.default_rng(5)
    d = np.dtype(dtype)
    shape = (7, 45)
    if dtype == "?":
        x = rng.random(shape) < [[0.0], [1.0], [0.02], [0.98], [0.5], [0.5], [0.0]]
        return x
    if d.kind in "iu":
        top = np.iinfo(d)
        return rng.integers(top.min, top.max, shape, d, endpoint=True).astype(d)
    low, high = (0.9, 1.1) if name == "prod" else (0.0, 4.0)
    x = rng.uniform(low, high, shape)
    x[3] *= -1
    if d.kind == "c":
        x = x + 1j * rng.uniform(0, 0.1, shape)
    if name != "prod":
        x[4, 20] = np.nan
        x[5, ::9] = -np.inf
        x[6] = np.nan
    return x.astype(d)


@pytest.mark.parametrize("launch", LAUNCHES, ids=str)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_row(
    kernels: Kernels, name: str, dtype: str, launch: tuple[str, int, int, int, int]
) -> None:
    lanes, team, outputs, splits, combined = launch
    x = rows(name, dtype)
    out = np.zeros(len(x), dtype)
    spec = reduction(name, dtype, lanes)
    kernels.reduction(spec, [x, out], x.shape, team, outputs, splits, combined)
    wide = {"e": "d", "f": "d", "F": "D"}.get(dtype, dtype) if name in ("sum", "prod") else dtype
    with np.errstate(all="ignore"):
        expected = UFUNCS[name].reduce(x.astype(wide), axis=1, dtype=wide).astype(dtype)
    if name in ("sum", "prod") and np.dtype(dtype).kind in "fc":
        eps = np.finfo(dtype).eps
        np.testing.assert_allclose(out, expected, rtol=32 * eps)
    else:
        np.testing.assert_array_equal(out, expected)


def test_a_sum_of_zeros_keeps_their_sign(kernels: Kernels) -> None:
    x = np.array([[-0.0] * 9, [-0.0] * 8 + [0.0]])
    out = np.ones(2)
    kernels.reduction(MINUS_ZERO, [x, out], x.shape, team=4, splits=2)
    assert np.signbit(out).tolist() == [True, False]


@pytest.mark.parametrize("lanes", ["reduced", "kept"])
@pytest.mark.parametrize("splits", [1, 4])
def test_several_in_one_kernel(kernels: Kernels, lanes: str, splits: int) -> None:
    rng = np.random.default_rng(1)
    shape = (5, 6, 7)
    x = rng.random((7, 5, 12)).transpose(1, 2, 0)[:, ::2]
    m = np.broadcast_to(rng.random((5, 1, 1)), shape)
    made, total, largest = np.zeros(shape), np.zeros(10)[::2], np.zeros(5, "f")
    spec = (*SOFTMAX[:2], lanes, *SOFTMAX[3:])
    operands = [x, m, made, total, largest]
    # One constant, behind the operands' words.
    kernels.reduction(spec, operands, shape, 8, 2, splits, constants=[np.float64(3)])
    expected = (x - m) * 3
    np.testing.assert_array_equal(made, expected)
    np.testing.assert_allclose(total, expected.sum((1, 2)), rtol=1e-14)
    np.testing.assert_array_equal(largest, expected.max((1, 2)).astype("f"))


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 4097])
@pytest.mark.parametrize("splits", [1, 3])
def test_the_whole(kernels: Kernels, n: int, splits: int) -> None:
    x, out = np.arange(n, dtype="d"), np.ones(())
    kernels.reduction(TOTAL, [x, out], (n,), 64, 1, splits, 16)
    assert out == math.comb(n, 2)


def test_the_same_bits_at_each_run(kernels: Kernels) -> None:
    x = np.random.default_rng(2).random((1, 3000)).astype("f")
    made = set()
    for _ in range(2):
        out = np.zeros(1, "f")
        spec = reduction("sum", "f", "reduced")
        kernels.reduction(spec, [x, out], x.shape, 32, 1, 5)
        made.add(out.tobytes())
    assert len(made) == 1
    np.testing.assert_allclose(out, x.sum(1, dtype="d"), rtol=1e-6)


def test_unknown_reductions_are_unsupported() -> None:
    spec = reduction("sum", "d", "reduced")
    renamed = (*spec[:6], (spec[6][0], ("reduce", "median", *spec[6][1][2:])))
    with pytest.raises(Unsupported, match="median"):
        source(renamed)
