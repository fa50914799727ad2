"""Reductions of lists of arrays along axis 0, which are chains of binary ops."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lazyarray as la

FUNCTIONS = {
    "sum": lambda xp, parts: xp.sum(parts, axis=0),
    "prod": lambda xp, parts: xp.prod(parts, 0),
    "mean": lambda xp, parts: xp.mean(parts, axis=0),
    "max": lambda xp, parts: xp.max(tuple(parts), axis=0),
    "min": lambda xp, parts: xp.min(parts, axis=0),
    "any": lambda xp, parts: xp.any(parts, axis=0),
    "add": lambda xp, parts: xp.add.reduce(parts),
    "fmax": lambda xp, parts: xp.fmax.reduce(parts),
    "logical_and": lambda xp, parts: xp.logical_and.reduce(parts),
    "keepdims": lambda xp, parts: xp.sum(parts, axis=0, keepdims=True),
    "last": lambda xp, parts: xp.max(parts, axis=-1),
}


def parts_of(shape: tuple[int, ...], dtype: str, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(len(shape) + n)
    parts = [rng.integers(-3, 4, shape).astype(dtype) for _ in range(n)]
    for part in parts if dtype in "efdgFD" else []:
        if part.size > 1:
            flat = part.reshape(-1)
            flat[0] = -0.0
            flat[rng.integers(1, part.size)] = np.nan
            if dtype in "FD":
                flat.imag[rng.integers(1, part.size)] = np.inf
    return parts


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (3, 1), (40, 50), (9000,), (0,)], ids=str)
def test_as_numpy(name: str, shape: tuple[int, ...]) -> None:
    function: Any = FUNCTIONS[name]
    for dtype in "?bHilefdgFD":
        for n in (1, 2, 3, 17):
            parts = parts_of(shape, dtype, n)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    expected = np.asarray(function(np, parts))
                except Exception as error:
                    with pytest.raises(type(error)):
                        function(la, [la.array(p) for p in parts])
                    continue
                found = np.asarray(function(la, [la.array(p) for p in parts]))
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_array_equal(found, expected, f"{dtype}, {n} parts")
            if expected.dtype.kind == "f":  # zeros' signs
                numbers = ~np.isnan(expected)
                np.testing.assert_array_equal(
                    np.signbit(found[numbers]), np.signbit(expected[numbers])
                )


def test_parts_that_differ() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(6, dtype=np.int32).reshape(2, 3)
    a, b = la.array(x), la.array(y)
    np.testing.assert_array_equal(la.sum([a, b], axis=0).asnumpy(), np.sum([x, y], axis=0))
    np.testing.assert_array_equal(la.sum([b, b], axis=0).asnumpy(), np.sum([y, y], axis=0))
    np.testing.assert_array_equal(la.max([a.T, a.T], axis=0).asnumpy(), np.max([x.T, x.T], axis=0))
    np.testing.assert_array_equal(la.mean([a, x], axis=0).asnumpy(), x)
    with pytest.raises(ValueError, match="inhomogeneous"):
        la.max([a, a[0]], axis=0)


def test_overflow_is_a_reductions() -> None:
    x = la.full(20, 1e308)
    match = "overflow encountered in reduce"
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match=match):
        la.sum([x, x], axis=0).wait_to_read()
    with pytest.warns(RuntimeWarning, match=match):
        la.mean([x, x], axis=0).wait_to_read()


def test_means_of_halves_do_not_overflow() -> None:
    x = np.full(20, 60000, np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = la.mean([la.array(x), la.array(x)], axis=0).asnumpy()
    np.testing.assert_array_equal(found, np.mean([x, x], axis=0))


def test_gradient() -> None:
    x, y = la.array([1.0, 5.0]), la.array([3.0, 4.0])
    x.attach_grad()
    y.attach_grad()
    with la.autograd.record():
        total = la.max([x, y], axis=0).sum() + la.mean([x, y], axis=0).sum()
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [0.5, 1.5])
    np.testing.assert_array_equal(y.grad.asnumpy(), [1.5, 0.5])
