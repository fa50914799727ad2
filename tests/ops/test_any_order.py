"""Operands in any order: joins, copies, sorts, running sums, moments; NumPy's bits and layout."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la

from .compare import asynchronous, layouts, pending, same, to_la

pytestmark = pytest.mark.host
rng = np.random.default_rng(5)
SHAPES = [(3, 4), (1, 5), (5, 1), (0, 3), (3, 0), (2, 3, 4), (2, 1, 3), (70, 90)]
JOINS = {
    "axis 0": lambda m, x: m.concatenate(x),
    "last axis": lambda m, x: m.concatenate(x, axis=-1),
    "axis 1, cast": lambda m, x: m.concatenate([x[0], x[1].astype("c8")], axis=1),
    "one": lambda m, x: m.concatenate(x[1:], 1),
    "with a list": lambda m, x: m.concatenate([*x, np.ones(x[0].shape).tolist() or x[0]]),
    "hstack": lambda m, x: m.hstack(x),
    "vstack": lambda m, x: m.vstack(x),
    "dstack": lambda m, x: m.dstack(x),
    "column_stack": lambda m, x: m.column_stack(x),
    "append": lambda m, x: m.append(*x, axis=1),
    "block": lambda m, x: m.block([[x[0], x[1]], [x[1], x[0]]]),
    "stack": lambda m, x: m.stack(x),
    "stack 1": lambda m, x: m.stack(x, axis=1),
    "stack last": lambda m, x: m.stack(x, -1),
    "stack one": lambda m, x: m.stack(x[1:], 1),
    "stack three": lambda m, x: m.stack([x[1], x[0], x[1]]),
    "array": lambda m, x: m.array(x),
}


def as_numpys(got, want):
    same(got, want)
    for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
        assert got.flags[flag] == want.flags[flag]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", JOINS)
def test_joins_lie_as_numpys(name, shape, direct):
    for dtype in ("f8", "f2", "i1", "c16"):
        base = rng.integers(-9, 9, shape).astype(dtype)
        for x, y in itertools.product(layouts(base), repeat=2):
            if x.shape != y.shape:
                continue
            ours = to_la([x, y])
            want = JOINS[name](np, [x, y])
            as_numpys(JOINS[name](la, ours), want)


@asynchronous
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", JOINS)
def test_joins_of_what_is_pending(name, shape, direct):
    base = rng.random(shape)
    for x, y in itertools.product(layouts(base), repeat=2):
        if x.shape == y.shape:
            ours = to_la([x, y])
            with pending() if name == "with a list" else pending(ours[1]):
                got = JOINS[name](la, ours)
            as_numpys(got, JOINS[name](np, [x, y]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "?", "c16", "g"])
def test_new_arrays_in_an_order(dtype, direct):
    for shape, order in itertools.product(
        [(), 3, (0, 3), (1, 4), (4, 5), (70, 80), (3, 2, 4)], "CF"
    ):
        for name, args in (
            ("zeros", (shape, dtype)),
            ("ones", (shape, dtype)),
            ("full", (shape, 3, dtype)),
            ("full", (shape, 3)),
            ("full", (shape, [3], dtype)),
        ):
            as_numpys(getattr(la, name)(*args, order=order), getattr(np, name)(*args, order=order))
        got, want = la.empty(shape, dtype, order=order), np.empty(shape, dtype, order)
        assert got.strides == want.strides or not want.size
    for make in (
        lambda m: m.zeros((2, 3), order="K"),
        lambda m: m.ones((2, 3), order="x"),
        lambda m: m.full((2, -3), 1, order="F"),
    ):
        with pytest.raises(ValueError) as theirs:
            make(np)
        with pytest.raises(type(theirs.value)):
            make(la)


@pytest.mark.parametrize("shape", [*SHAPES, (7,), (2, 3, 4, 5)], ids=str)
def test_copies_in_an_order(shape, direct):
    for dtype, order in itertools.product(("f8", "f4", "i2", "i1", "c16", "g"), "CFAK"):
        base = rng.integers(-9, 9, shape).astype(dtype)
        for x in [*layouts(base), base[..., ::-2], np.moveaxis(base, -1, 0)]:
            as_numpys(la.copy(to_la(x), order=order), np.copy(x, order=order))
            as_numpys(to_la(x).copy(order), x.copy(order))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_stores_in_any_order(shape, direct):
    base = rng.integers(-9, 9, shape).astype("f8")
    for values, turn in itertools.product(
        [*layouts(base), base[:, :1], 2.5], [lambda a: a, lambda a: a[::-1], lambda a: a[..., ::-1]]
    ):
        wide = np.zeros((*shape[:-1], 2 * shape[-1]))
        for to in (*layouts(np.zeros(shape)), *layouts(wide)):
            if not to.flags.writeable or np.shape(values) not in ((), to.shape, base[:, :1].shape):
                continue
            ours = to_la(to)
            try:
                turn(to)[...] = values
            except ValueError:  # turned round, it has another shape
                continue
            turn(ours)[...] = to_la(values)
            same(ours, to)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "?", "e", "c16", "g"])
def test_along_an_axis_in_any_order(dtype, direct):
    for shape in [*SHAPES, (30, 150), (7,)]:
        base = rng.integers(-9, 9, shape).astype(dtype)
        for x, axis in itertools.product(layouts(base), range(-len(shape), len(shape))):
            a = to_la(x)
            as_numpys(la.sort(a, axis), np.sort(x, axis))
            as_numpys(la.sort(a, axis=axis, kind="stable"), np.sort(x, axis=axis, kind="stable"))
            as_numpys(la.cumsum(a, axis), np.cumsum(x, axis))
            as_numpys(a.cumsum(axis=axis), x.cumsum(axis=axis))
            as_numpys(la.add.accumulate(a, axis), np.add.accumulate(x, axis))
            if x.size < 99 or dtype != "?":
                as_numpys(la.argsort(a, axis, stable=True), np.argsort(x, axis, stable=True))
            with np.errstate(all="ignore"):
                as_numpys(la.cumprod(a, axis=axis), np.cumprod(x, axis=axis))


@pytest.mark.parametrize("dtype", ["f8", "f4", "e", "c16"])
def test_sorts_of_zeros_and_what_is_no_number(dtype, direct):
    for shape in ((3, 40), (40, 3), (17, 19), (80, 90), (100, 200), (4, 5, 6)):
        values = np.array([0.0, -0.0, np.nan, -np.nan, 1, np.inf, -np.inf], dtype)
        base = rng.choice(values, shape)
        for x, axis in itertools.product(layouts(base), range(len(shape))):
            got, want = la.sort(to_la(x), axis).asnumpy(), np.sort(x, axis)
            assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["e", "F", "D", "g", "G", "f8"])
def test_moments_of_what_numpy_adds_up(dtype, direct):
    for shape in [(1,), (37,), (3, 4), (4, 1), (0, 3), (6000,), (70, 90), (60_000,)]:
        base = (rng.random(shape) * 9 - 4).astype(dtype)
        for x in layouts(base) if base.ndim > 1 else [base, base[::-1], base[::2]]:
            a = to_la(x)
            for name, args in itertools.product(
                ("mean", "var", "std"),
                [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": 1}, {"ddof": 1}],
            ):
                if name == "mean" and "ddof" in args:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if args.get("axis") == 1 and base.ndim == 1:
                        with pytest.raises(np.exceptions.AxisError):
                            getattr(la, name)(a, **args)
                        continue
                    want = getattr(np, name)(x, **args)
                    for got in (getattr(la, name)(a, **args), getattr(a, name)(**args)):
                        assert isinstance(got, la.Scalar) == isinstance(want, np.generic)
                        same(got, want)
