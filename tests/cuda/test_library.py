"""CuPy's part of a device: the library's functions, given what captured instructions say.

The values are those of the host's loops. Where CuPy can be imported (``python -m tests.cuda.sim``,
a machine with a GPU) it is CuPy; else it is made of NumPy here, its kernels are compiled by g++.
"""

import types

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn
from lazyarray.lazy.captured import Instruction, Kind, Layout, View
from lazyarray.lazy.cuda import library
from lazyarray.lazy.cuda.library import Hosted, calls
from tests.cuda.recorded import RNG, Memory, Recorded, check, numbers, run

pytestmark = pytest.mark.usefixtures("cupy")


@pytest.mark.parametrize("dtype", list("?bHiqefdFD"))
@pytest.mark.parametrize(
    "a, b", [((3, 4), (4, 5)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2))]
)
def test_matmul(a, b, dtype):
    tolerance = {"e": 2e-2, "f": 1e-5, "F": 1e-5}.get(dtype, 1e-12)
    check(
        la.matmul,
        numbers(*a, dtype=dtype),
        numbers(*b, dtype=dtype),
        name="matmul",
        close=tolerance,
    )


def test_matmul_of_views():
    def product(x, y):
        return la.matmul(x[::2].T, y[:, 1:])

    check(product, numbers(6, 4), numbers(3, 5), close=1e-12)
    check(
        lambda x, y: la.matmul(la.broadcast_to(x, (3, 2, 4)), y),
        numbers(2, 4),
        numbers(3, 4, 2),
        close=1e-12,
    )
    check(
        lambda x: la.matmul(la.broadcast_to(x, (3, 4, 4)), la.broadcast_to(x, (3, 4, 4))),
        numbers(4, 4),
        close=1e-12,
    )


@pytest.mark.parametrize("dtype", list("bdD"))
def test_products_of_vectors(dtype):
    m, v, w = numbers(2, 3, 4, dtype=dtype), numbers(4, dtype=dtype), numbers(3, dtype=dtype)
    older = None if hasattr(np, "matvec") else "matmul"
    check(la.matvec, m, v, name=older or "matvec", close=1e-12)
    check(la.vecmat, w, m, name=older or "vecmat", close=1e-12)
    check(la.vecdot, m, v, name="vecdot", close=1e-12)
    check(la.vecdot, v, v, name="vecdot", close=1e-12)


@pytest.mark.parametrize("dtype", list("dD"))
def test_linalg(dtype):
    for shape in ((4, 4), (2, 3, 4, 4)):
        a = numbers(*shape, dtype=dtype)
        positive = a @ a.conj().swapaxes(-2, -1) + 4 * np.eye(4)
        check(la.linalg.inv, a, name="linalg.inv", close=1e-9)
        check(la.linalg.det, a, name="linalg.det", close=1e-9)
        check(la.linalg.solve, a, numbers(*shape[:-2], 4, 2, dtype=dtype), close=1e-9)
        check(la.linalg.solve, a, numbers(4, dtype=dtype), name="linalg.solve1", close=1e-9)
        check(la.linalg.cholesky, positive, name="linalg.cholesky_lo", close=1e-9)
        triangle = np.triu(positive)  # the other is not read
        check(
            lambda x: la.linalg.cholesky(x, upper=True),
            triangle,
            name="linalg.cholesky_up",
            close=1e-9,
        )


def test_singular():
    with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
        run(la.linalg.inv, np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
        run(la.linalg.solve, np.ones((2, 2)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match=r"^Matrix is not positive definite$"):
        run(la.linalg.cholesky, -np.eye(2))
    with pytest.raises(Hosted):
        run(la.linalg.cholesky, np.full((2, 2), np.nan))


# ---- indices and masks --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*list("?eFD"), "b", "d"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take(dtype, axis):
    x, i = numbers(3, 4, 5, dtype=dtype), np.array([[0, -1], [2, -3]])
    check(lambda a, b: la.take(a, b, axis), x, i, name="take")


@pytest.mark.parametrize("wrong", [3, -4, 2**62, -(2**63)])
def test_take_out_of_bounds(wrong):
    index = np.array([0, wrong, 7])
    with pytest.raises(IndexError) as error:
        run(lambda a, b: la.take(a, b, 1), numbers(2, 3), index)
    assert str(error.value) == f"index {wrong} is out of bounds for axis 1 with size 3"


@pytest.mark.parametrize("dtype", list("fdFD"))
@pytest.mark.parametrize("shape, axis", [((5,), 0), ((5, 3), 0), ((2, 5, 3), 1), ((2, 2, 5), 2)])
def test_scatter_adds_in_order(dtype, shape, axis):
    from lazyarray.ops._rows import scatter

    index = RNG.integers(-5, 5, 40)
    g = numbers(*shape[:axis], 40, *shape[axis + 1 :], dtype=dtype)
    check(lambda a, i: scatter(a, i, axis, shape), g, index, name="scatter")
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis"):
        run(lambda a, i: scatter(a, i, axis, shape), g, np.full(40, 5))


def test_masks(monkeypatch):
    x, mask = numbers(4, 5), RNG.random((4, 5)) < 0.4
    count = int(mask.sum())

    def stored(a, b, v):
        a[b] = v
        return a

    check(stored, x, mask, numbers(count), name="setitem")
    check(stored, x, mask, numbers(1), name="setitem")
    with pytest.raises(ValueError) as error:
        run(stored, x, mask, numbers(count + 1))
    assert str(error.value) == (
        f"NumPy boolean array indexing assignment cannot assign {count + 1} input values to the "
        f"{count} output values where the mask is true"
    )
    monkeypatch.setattr(calls, "MOST", count - 1)
    with pytest.raises(Hosted, match=f"{count} elements"):
        run(stored, x, mask, numbers(count))


def test_picking_by_a_mask(monkeypatch):
    """Which waits for the mask, so that no program captures it."""
    x, mask = numbers(20), RNG.random(20) < 0.4
    n = int(mask.sum())
    operands = [(x, 0), (mask, 1), (np.zeros(n), 2)]
    memory = {k: Memory(a.nbytes, a) for a, k in operands}
    parts = [
        View(k, Layout(a.dtype, 0, (), ()), a.nbytes, False, False, la.cpu(0)) for a, k in operands
    ]
    ins, outs = parts[:2], parts[2:]
    call = Recorded(
        Instruction(0, "getitem", Kind.GUFUNC, ins, outs, [True], (), (20, n), (), None, ""),
        memory,
    )
    library.gufunc(call)
    assert memory[2].array((n,), "d").tolist() == x[mask].tolist()
    monkeypatch.setattr(calls, "MOST", n - 1)
    with pytest.raises(Hosted, match=f"{n} elements"):
        library.gufunc(call)


# ---- lines --------------------------------------------------------------------------------------


def lines(dtype):
    x = numbers(5, 9, dtype=dtype)
    if x.dtype.kind in "fc":
        x[1, 3] = x[1, 6] = x[4, 0] = np.nan
        x[2, 4] = -np.nan
        x[3, 2], x[3, 5] = 0.0, -0.0
    return x


@pytest.mark.parametrize("dtype", list("?bBhHiIqQefdFD"))
def test_along_lines(dtype):
    x = lines(dtype)
    for name in ("argmax", "argmin"):
        check(lambda a: getattr(la, name)(a, 1), x, name=name)  # noqa: B023
        check(lambda a: getattr(la, name)(a[0:1], None), x, name=name)  # noqa: B023
    check(la.sort, x, name="sort")
    check(lambda a: la.argsort(a, stable=True), x, name="stable_argsort")
    check(lambda a: la.argsort(a[1], stable=True), x, name="stable_argsort")
    check(lambda a: la.sort(a, kind="stable"), x, name="stable_sort")


@pytest.mark.parametrize("dtype", list("bHifdD"))
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_running_sums(dtype, axis):
    x = numbers(2, 3, 4, dtype=dtype).astype(np.cumsum(np.zeros(1, dtype)).dtype)
    check(lambda a: la.cumsum(a, axis), x, name="add", close=1e-5)
    check(lambda a: la.cumprod(a, axis), x, name="multiply", close=1e-5)


def test_arange():
    check(lambda: la.arange(2, 30, 3), name="arange")
    check(lambda: la.arange(0.5, 30, 0.1), name="arange")
    check(lambda: la.arange(7), name="arange")


# ---- la.nn --------------------------------------------------------------------------------------


WINDOWS = [  # kernel, stride, padding, dilation
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 3), (2, 1), (0, 1), (1, 2)),
    ((3, 2), (2, 3), (2, 1), (2, 1)),
]


def geometry(kernel, stride, padding, dilation, plane=(7, 8)):
    shape = tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(plane, kernel, stride, padding, dilation, strict=True)
        ]
    )
    return types.SimpleNamespace(
        kernel=kernel, stride=stride, padding=padding, dilation=dilation, shape=shape
    )


@pytest.mark.parametrize("dtype", list("fd"))
@pytest.mark.parametrize("windows", WINDOWS)
def test_windows(windows, dtype):
    g = geometry(*windows)
    x = numbers(2, 3, 7, 8, dtype=dtype)
    many = g.shape[0] * g.shape[1]
    columns = numbers(3 * g.kernel[0] * g.kernel[1], 2 * many, dtype=dtype)
    check(lambda a: nn._native.unfold(a, g), x, name="unfold")
    check(
        lambda a: nn._native.unfold(a.transpose(1, 0, 2, 3)[:, :, ::2], geometry(*windows, (4, 8))),
        x,
    )
    for first in (False, True):
        check(lambda c: nn._native.fold(c, g, x.shape, first), columns, name="fold")  # noqa: B023
    planes = np.round(x.reshape(6, 7, 8))  # with equal elements
    planes[1, 2:5, 3:5] = np.nan
    check(lambda a: nn._native.maxima(a, g), planes, name="max_pool")


@pytest.mark.parametrize("dtype", list("fd"))
@pytest.mark.parametrize("index", ["i", "l"])
def test_choices(dtype, index):
    x = numbers(4, 5, dtype=dtype)
    i = RNG.integers(-1, 6, (4, 3)).astype(index)
    check(nn._native.pick, x, i, name="pick")
    check(lambda v, k: nn._native.spread(v, k, 6), numbers(4, 3, dtype=dtype), i, name="spread")
    rows = RNG.integers(-5, 6, 30)
    check(
        lambda v, k: nn._native.add_rows(v, k, 5),
        numbers(30, 3, dtype=dtype),
        rows,
        name="add_rows",
    )


@pytest.mark.parametrize("dtype", list("fd"))
def test_class_losses(dtype):
    x, target = numbers(5, 4, dtype=dtype), np.array([0, 3, -100, 2, 1])
    top, total = numbers(5, 1, dtype=dtype), numbers(5, 1, dtype=dtype)

    def losses(a, t, *more):
        return nn._native.class_losses(a, *(more or (0, 0)), t, -100)

    check(losses, x, target, name="cross_entropy")
    check(losses, x, target, top, total, name="cross_entropy")
    with pytest.raises(IndexError, match=r"^target 4 is out of bounds for 4 classes$"):
        run(losses, x, np.array([0, 3, 1, 4, -1]))
