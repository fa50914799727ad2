"""Derivatives, integrals, interpolation and phases against NumPy; zeros trimmed, complex sorts."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, layouts, pending, rng, same

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
F = rng.standard_normal((3, 4, 5))
ARRAYS = [
    *layouts(F),
    F.astype("f4"),
    F.astype("e"),
    rng.integers(-9, 9, (3, 4, 5)),
    rng.integers(0, 9, (3, 4, 5)).astype("u1"),
    F > 0,
    F + 1j,
    F[0, 0],
    np.array(2.0),
    np.zeros((0, 3)),
    F[:, :2],
]
EVEN, UNEVEN = [0, 1, 2], np.array([0.0, 0.5, 2])
SPACINGS = [(), (2.0,), (np.float64(0.5),), (1, 2.0, 3), (EVEN, 1, 2), (UNEVEN, 1.0, 2),
            (UNEVEN.astype("f4"), 1, np.arange(5)), (UNEVEN,), (1, 2), (EVEN, EVEN, EVEN),
            ([[1, 2, 3]], 1, 1), (np.array(2.0),)]  # fmt: skip


@pytest.mark.parametrize("spacing", SPACINGS, ids=str)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradient(spacing, order):
    for a in ARRAYS:
        if a.dtype == bool and order == 2:
            continue  # NumPy takes these, if the coordinates are not evenly spaced
        check("gradient", a, *spacing, edge_order=order)
        for axis in (0, -1, (1, 0), 4, (0, 0), ()):
            check("gradient", a, *spacing[:1], axis=axis, edge_order=order)
    # Coordinates that the test's helper makes no NDArrays of: known at the call.
    x = la.array(F)
    if len(spacing) == 3 and order < 3 and np.ndim(spacing[0]) < 2 and spacing[1] is not EVEN:
        same(la.gradient(x, *spacing, edge_order=order), np.gradient(F, *spacing, edge_order=order))


def test_trapezoid():
    for a in ARRAYS:
        for axis in (-1, 0, 1, 5):
            check("trapezoid", a, axis=axis)
            check("trapezoid", a, dx=0.5, axis=axis)
            check("trapezoid", a, np.arange(4.0), axis=axis)
            check("trapezoid", a, a[::-1] if a.ndim else a, axis=axis)
            check("trapezoid", a, dx=np.float64(2), axis=axis)
    check("trapezoid", F, [[1, 2], [3, 4]])


XP, FP = np.sort(rng.random(6)), rng.standard_normal(6)


@pytest.mark.parametrize("more", [{}, {"left": -1}, {"left": 0.5, "right": np.float32(2)},
                                  {"period": 0.7}, {"period": -0.3, "left": 1}, {"period": 0},
                                  {"left": 1j}, {"left": np.array(3.0)}], ids=str)  # fmt: skip
def test_interp(more):
    for x in (F, F.astype("f4"), F[0].T, 0.3, [1, 2], np.array(0.5), F[:0], F * 1j, np.nan):
        for fp in (FP, FP.astype("f4"), FP * 1j, np.arange(6)):
            check("interp", x, XP, fp, **more)
    check("interp", F, XP, FP[:4], **more)
    check("interp", F, [], [], **more)
    check("interp", F, XP[:1], FP[:1], **more)
    check("interp", F, XP[None], FP, **more)
    check("interp", F, 1.0, 2.0, **more)


@pytest.mark.parametrize("more", [{}, {"period": 4}, {"period": 3}, {"discont": 5},
                                  {"period": 2.5, "discont": 0.5}, {"period": np.float64(3)}],
                         ids=str)  # fmt: skip
def test_unwrap(more):
    for a in ARRAYS:
        b = a * 7 if a.dtype.kind not in "bu" else a
        for axis in (-1, 0, 1, 5):
            check("unwrap", b, axis=axis, **more)


def test_newer_arguments_of_older_functions():
    x = la.array(F)
    for name in ("sort", "argsort"):
        with pytest.raises(ValueError, match="order"):
            getattr(la, name)(x, -1, None, "f0")
        same(getattr(la, name)(x, -1, None, None), getattr(np, name)(F, -1, None, None))
    for name in ("partition", "argpartition"):
        with pytest.raises(ValueError, match="order"):
            getattr(la, name)(x, 1, -1, "introselect", "f0")
    same(la.median(x, 0, None, True, True), np.median(F, 0, None, False, True))
    with pytest.raises(TypeError, match="a_min"):
        la.clip(x, a_max=1)
    with pytest.raises(ValueError, match="forbidden"):
        la.clip(x, a_min=0, a_max=1, min=0)
    same(la.clip(x), F)
    for sorter in ([0, 1], [[0, 1, 2, 3, 4]], [0.0, 1, 2, 3, 4], [4, 3, 2, 1, 0]):
        check("searchsorted", F[0, 0], 0.5, sorter=sorter)
    for dtype in ("i4", "f8"):
        out = np.zeros((3, 4), dtype)
        try:
            np.argmax(F, 2, out)
        except TypeError:
            with pytest.raises(TypeError):
                la.argmax(x, 2, la.zeros((3, 4), dtype=dtype))
        else:
            same(la.argmax(x, 2, la.zeros((3, 4), dtype=dtype)), out)


@asynchronous
def test_what_waits():
    x, at = la.array(F), la.array(UNEVEN)
    with pending(x, at), la.no_sync():
        results = [
            *la.gradient(x, at, 1.0, la.array(2.0)),
            la.trapezoid(x, la.array(np.arange(5.0))),
            la.interp(x, at, at, left=la.array(1.5)),
            la.unwrap(x),
        ]
        with pytest.raises(ValueError, match="same length"):
            la.interp(x, at, x[0, 0])
        with pytest.raises(RuntimeError, match="no_sync"):
            la.trim_zeros(x)
    wanted = [
        *np.gradient(F, UNEVEN, 1.0, 2.0),
        np.trapezoid(F, np.arange(5.0)),
        np.interp(F, UNEVEN, UNEVEN, left=1.5),
        np.unwrap(F),
    ]
    same(results, wanted)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_at_coordinates_that_come_later(edge_order):
    places = np.array([1, 3, 4, 6, 7, 9.0])
    for dtype in "?ldfD"[edge_order == 1 :]:  # of bools NumPy takes no first differences
        for axis in (0, 1, -1):
            v = (np.arange(36).reshape(6, 6) % 5).astype(dtype)
            for host in (v, v.T):
                want = np.gradient(host, places, axis=axis, edge_order=edge_order)
                x, at = la.array(host), la.array(places)
                with pending(x, at):
                    got = la.gradient(x, at, axis=axis, edge_order=edge_order)
                assert got.dtype == want.dtype and got.strides == want.strides
                np.testing.assert_array_equal(got.asnumpy(), want)
