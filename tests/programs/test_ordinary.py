"""The programs of tests/programs/ordinary give NumPy's results, to within rounding."""

import warnings

import numpy as np
import pytest

import lazyarray as la

from .ordinary import load

# Simulations turn a last bit into other numbers, and loops over elements are nothing for a GPU.
pytestmark = pytest.mark.host

PROGRAMS = load()


def agree(got, want, at="result"):
    if isinstance(want, dict):
        agree([*got], [*want], f"the keys of {at}")
        agree([*got.values()], [*want.values()], at)
    elif isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want), at
        for i, (g, w) in enumerate(zip(got, want)):
            agree(g, w, f"{at}[{i}]")
    elif isinstance(want, str) or want is None:
        assert got == want, at
    else:
        if isinstance(want, np.ndarray):
            assert isinstance(got, la.NDArray), f"{at}: {type(got).__name__}"
        one, other = np.asarray(got), np.asarray(want)
        assert (one.shape, one.dtype) == (other.shape, other.dtype), at
        if one.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=at)
        else:
            np.testing.assert_array_equal(one, other, at)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_numpys(name):
    program = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = program(np), program(la)
    agree(got, want)
