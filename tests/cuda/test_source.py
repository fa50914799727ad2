"""The text of generated kernels, and every layout of operands, compiled by g++."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lazyarray.lazy.cuda.source import UNROLL, Spec, Unsupported, prelude, source

from .kernels import Kernels, body

AXPY: Spec = (
    1,
    0,
    "",
    False,
    (("f", "dense"), ("f", "one"), ("f", "dense")),
    "f",
    (
        ("load", 0, 0),
        ("load", 1, 1),
        ("const", 2, 0),
        ("op", "multiply", "ff", "f", (0, 1), (3,)),
        ("op", "add", "ff", "f", (3, 2), (4,)),
        ("store", 2, 4),
    ),
)
AXPY_TEXT = """
struct Args { i8 w[7]; };
extern "C" __global__ void kernel(Args a) {
  f4* const p0 = (f4*)a.w[2];
  f4* const p1 = (f4*)a.w[3];
  f4* const p2 = (f4*)a.w[4];
  const u4 n = a.w[0];
  const u4 start = u4(blockIdx.x) * 1024 + threadIdx.x;
  const f4 v1 = *p1;
  const f4 v2 = from_words<f4>(a.w[5]);
  f4 v0[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u4 i = start + k * 256;
    v0[k] = f4();
    if (i < n) v0[k] = p0[i];
  }
  f4 v3[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    v3[k] = v0[k] * v1;
  }
  f4 v4[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    v4[k] = v3[k] + v2;
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u4 i = start + k * 256;
    if (i < n) p2[i] = v4[k];
  }
}
"""

KINDS = ("dense", "one", "strided")


def sums(axes: int, wide: bool, kinds: tuple[str, str, str]) -> Spec:
    """Two operands of other dtypes added as doubles; the third is the output."""
    given, other, out = kinds
    operands = (("f", given), ("i", other), ("d", out))
    statements = (
        ("load", 0, 0),
        ("load", 1, 1),
        ("op", "cast", "f", "d", (0,), (2,)),
        ("op", "cast", "i", "d", (1,), (3,)),
        ("op", "add", "dd", "d", (2, 3), (4,)),
        ("store", 2, 4),
    )
    return (axes, 0, "", wide, operands, "", statements)


LAYOUTS = [
    (axes, wide, (a, b, c))
    for axes, wide in itertools.product((1, 2, 3), (False, True))
    for a, b, c in itertools.product(KINDS, KINDS, ("dense", "strided"))
]
# x = x * c; y = x + x: what is loaded after a store is what was stored.
IN_PLACE: Spec = (
    1,
    0,
    "",
    False,
    (("d", "dense"), ("d", "strided"), ("d", "dense")),
    "d",
    (
        ("load", 0, 0),
        ("const", 1, 0),
        ("op", "multiply", "dd", "d", (0, 1), (2,)),
        ("store", 0, 2),
        ("load", 3, 1),
        ("op", "add", "dd", "d", (3, 3), (4,)),
        ("store", 2, 4),
    ),
)
_TWO = (("const", 0, 1), ("const", 1, 0), ("store", 0, 0), ("store", 1, 1))
FILLS: list[Spec] = [
    (1, 0, "", False, ((d, "dense"), ("b", "dense")), "b" + d, _TWO) for d in "?bBhHiIlLqQefdFD"
]
STEPS = list(itertools.product("fdD", [2, 4, 5, 8, 9, 16, 17, 32, 33]))


def totals(dtype: str, given: int) -> Spec:
    """Adds operands up. The sum of a half is stored, too, and then the first is loaded again."""
    loads = tuple(("load", v, v) for v in range(given))
    body: list[tuple[object, ...]] = []
    last = 0
    for v in range(1, given):
        body.append(("op", "add", dtype * 2, dtype, (last, v), (given + v,)))
        last = given + v
        if v == given // 2:
            body.append(("store", given, last))
    again, total = 2 * given, 2 * given + 1
    body.append(("load", again, 0))
    body.append(("op", "add", dtype * 2, dtype, (last, again), (total,)))
    body.append(("store", given + 1, total))
    operands = tuple((dtype, ("dense", "strided")[n % 2]) for n in range(given + 2))
    return (1, 0, "", False, operands, "", (*loads, *body))


SCALAR: Spec = (0, 0, "", False, *sums(0, False, ("strided", "one", "dense"))[4:])


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    specs = [AXPY, IN_PLACE, SCALAR, *FILLS, *(sums(*layout) for layout in LAYOUTS)]
    specs += [totals(*step) for step in STEPS]
    return Kernels(specs, tmp_path_factory.mktemp("kernels"))


def operand(dtype: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array that lies in memory as ``kind`` says."""
    rng = np.random.default_rng(3)
    if kind == "one":
        return np.broadcast_to(np.array(7, dtype), shape)
    if kind == "dense":
        return rng.integers(0, 99, shape).astype(dtype)
    # Axes in another order, every second element, backwards.
    made = rng.integers(0, 99, [2 * n for n in shape[::-1]]).astype(dtype)
    return made[(slice(None, None, -2),) * len(shape)].T


def test_the_text() -> None:
    assert UNROLL == 4
    assert body(AXPY) == AXPY_TEXT
    assert source(AXPY) == prelude(AXPY) + AXPY_TEXT
    assert "complex_exp" not in source(AXPY)


def test_no_division_without_strided_operands() -> None:
    for axes in (1, 3):
        text = body(sums(axes, False, ("dense", "one", "dense")))
        assert "%" not in text and "/" not in text and "u8" not in text
    assert "%" not in body(sums(1, False, ("strided",) * 3))
    assert "%" in body(sums(2, False, ("strided",) * 3))


@pytest.mark.parametrize("n", [1, 255, 1024, 2051])
def test_fused(kernels: Kernels, n: int) -> None:
    x, a = np.linspace(0, 1, n, dtype="f"), np.array([3], "f")
    out = np.full(n + 1, -1, "f")  # the last element shows a store beyond the end
    kernels.elementwise(AXPY, [x, np.broadcast_to(a, n), out[:n]], [np.float32(0.1)])
    np.testing.assert_array_equal(out[:n], x * a + np.float32(0.1))
    assert out[n] == -1


@pytest.mark.parametrize(("dtype", "given"), STEPS)
def test_elements_in_step(kernels: Kernels, dtype: str, given: int) -> None:
    """Four, two, or one of a thread's at once, by how much is alive."""
    spec, n = totals(dtype, given), 1500
    arrays = [operand(d, kind, (n,)) for d, kind in spec[4]]
    for number, array in enumerate(arrays[:given]):
        array[:] = np.arange(n) % (7 + number)
    kernels.elementwise(spec, arrays)
    np.testing.assert_array_equal(arrays[given], sum(arrays[: given // 2 + 1]))
    np.testing.assert_array_equal(arrays[given + 1], sum(arrays[:given]) + arrays[0])


@pytest.mark.parametrize(("axes", "wide", "kinds"), LAYOUTS)
def test_layouts(kernels: Kernels, axes: int, wide: bool, kinds: tuple[str, str, str]) -> None:
    shape = {1: (1300,), 2: (3, 400), 3: (5, 17, 16)}[axes]
    x, y, out = (operand(d, k, shape) for d, k in zip("fid", kinds, strict=True))
    kernels.elementwise(sums(axes, wide, kinds), [x, y, out])
    np.testing.assert_array_equal(out, x.astype("d") + y)


def test_no_axes(kernels: Kernels) -> None:
    x, y, out = np.array(2, "f"), np.array(3, "i"), np.array(0.0)
    kernels.elementwise(SCALAR, [x, y, out])
    assert out == 5


def test_loads_after_stores_see_them(kernels: Kernels) -> None:
    x, out = np.arange(1500.0), np.zeros(1500)
    kernels.elementwise(IN_PLACE, [x, x, out], [np.float64(3)])
    np.testing.assert_array_equal(x, np.arange(1500) * 3)
    np.testing.assert_array_equal(out, np.arange(1500) * 6)


@pytest.mark.parametrize("spec", FILLS, ids=lambda spec: spec[4][0][0])
def test_constants(kernels: Kernels, spec: Spec) -> None:
    dtype = np.dtype(spec[4][0][0])
    value = {"c": 1.5 - 2.5j, "f": -1.5, "u": 2**dtype.itemsize, "b": 1}.get(dtype.kind, -3)
    constant = np.array(value, dtype)[()]
    out, small = np.zeros(5, dtype), np.zeros(5, "b")
    kernels.elementwise(spec, [out, small], [np.int8(-5), constant])
    assert out.tolist() == [constant] * 5 and small.tolist() == [-5] * 5


@pytest.mark.parametrize("dtype", ["g", "G", "M", "O"])
def test_dtypes_without_kernels(dtype: str) -> None:
    statements = (("load", 0, 0), ("store", 0, 0))
    with pytest.raises(Unsupported, match=dtype):
        source((1, 0, "", False, ((dtype, "dense"),), "", statements))


def test_unknown_statements() -> None:
    with pytest.raises(Unsupported, match="loop"):
        source((1, 0, "", False, (("f", "dense"),), "", (("loop", 0, 0),)))
    reduce = ("reduce", "sum", "f", "f", 0, 0, False, bytes(4))
    with pytest.raises(Unsupported, match="reduced axes"):
        source((1, 0, "", False, (("f", "dense"),), "", (("load", 0, 0), reduce)))


def test_too_many_arguments() -> None:
    operands = (("f", "strided"),) * 51
    statements = tuple(("store", n, 0) for n in range(51))
    for axes, fits in ((8, True), (9, False)):
        spec = (axes, 0, "", False, operands, "f", (("const", 0, 0), *statements))
        if fits:
            assert source(spec)
        else:
            with pytest.raises(Unsupported, match="arguments"):
                source(spec)
