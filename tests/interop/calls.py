"""Sample calls of other libraries, which give for lazyarrays what they give for NumPy's arrays.

``CALLS`` of a test file has them; ``FAILS`` says which of them don't work, and why. docs/interop.md has the
figures (test_table.py).
"""

import warnings

import numpy as np
import pytest

import lazyarray as la


def cases(calls, fails):
    """The names of the calls, as a test's parameters."""
    assert set(fails) <= set(calls)
    return [
        pytest.param(name, marks=pytest.mark.xfail(reason=fails[name], strict=True))
        if name in fails
        else name
        for name in calls
    ]


def plain(o):
    """Arrays, also in tuples, lists and dicts, as NumPy's; all else as it is."""
    if isinstance(o, la.NDArray):
        return o.asnumpy()[()]
    if isinstance(o, dict):
        return {plain(key): plain(value) for key, value in o.items()}
    if type(o) in (tuple, list):
        return type(o)([plain(x) for x in o])
    return o


def same(got, want, close=False):
    """Asserts that two results are equal, dtypes too; ``close``: but for their last bits."""
    got, want = plain(got), plain(want)
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b, close)
    elif isinstance(want, (np.ndarray, np.generic)):
        assert np.asarray(got).dtype == want.dtype
        if close:
            np.testing.assert_allclose(got, want, rtol=1e-12)
        else:
            np.testing.assert_array_equal(got, want)
    else:
        assert got is want or got == want


def inputs(xp):
    """Arrays by short names, which the calls in texts use."""
    rng = np.random.default_rng(0)
    edges = rng.random((6, 6)) * (rng.random((6, 6)) > 0.4)
    made = {
        "A": edges + edges.T,
        "E": rng.integers(0, 5, (6, 2)),
        "F": rng.random((16, 16)),
        "G": rng.integers(0, 255, (16, 16)).astype("u1"),
        "I": rng.integers(0, 255, (16, 16, 3)).astype("u1"),
        "K": np.ones((3, 3), "f4"),
        "M": rng.random((6, 6)),
        "P": rng.random((4, 2)),
        "S": np.array([[1.0, 0, 1], [0, 1, 2]]),
        "X": rng.normal(size=(32, 2)),
        "idx": np.arange(5),
        "idx6": np.arange(6),
        "pts": rng.integers(0, 9, (5, 1, 2)).astype("i4"),
        "v": rng.normal(size=32),
        "w": rng.normal(size=32),
    }
    return {name: xp.asarray(value) for name, value in made.items()}


def agree(setup, call, folder):
    """Asserts that a call, of arrays by their names, gives the same; numbers but for their last bits."""

    def value(xp):
        names = {"T": str(folder), "np": np, "xp": xp, **inputs(xp)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(setup, names)
            return known(eval(call, names))

    alike(value(la), value(np))


def known(o):
    """As ``plain``; also in what libraries keep arrays in."""
    if hasattr(o, "dims") and hasattr(o, "values"):
        o = o.values if not callable(o.values) else {k: v.values for k, v in o.items()}
    o = plain(o)
    if type(o) in (list, tuple):
        return [known(x) for x in o]
    return o


def alike(got, want):
    """The same structure, dtypes and, but for the last bits, numbers."""
    if isinstance(want, (list, dict)):
        assert type(got) is type(want) and len(got) == len(want)
        if isinstance(want, dict):
            assert list(got) == list(want)
            got, want = list(got.values()), list(want.values())
        for a, b in zip(got, want, strict=True):
            alike(a, b)
    elif isinstance(want, (np.ndarray, np.generic, float)):
        got, want = np.asarray(got), np.asarray(want)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
        else:
            assert (got == want).all()
    elif type(got) is type(want) and type(want).__eq__ is not object.__eq__:
        assert got == want
    else:
        assert str(got) == str(want)
