"""Sample calls of other libraries, which give for lazyarrays what they give for NumPy's arrays.

``CALLS`` of a test file names them; ``FAILS`` says which of them don't work, and why. docs/interop.md has the
figures (test_table.py).
"""

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
