"""``la.set_scalars("numpy")``: what NumPy returns as a scalar is one, in all sample calls."""

import collections.abc

import numpy as np
import pytest

import lazyarray as la

from . import samples

CALLS, _ = samples.load()
NAMES = sorted(name for name in CALLS if samples.look(np, name, None) is not None)
SCALARS = (np.generic, bool, int, float, complex)
APART = {"linalg.matrix_rank"}  # of a vector NumPy's is an int


def leaves(value):
    """What nested containers hold."""
    if isinstance(value, collections.abc.Iterator):
        value = list(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


@pytest.fixture
def numpys():
    with la.set_scalars("numpy"):
        yield


@pytest.mark.parametrize("name", NAMES)
def test_scalars_are_numpys(name, numpys):
    for expression in CALLS[name]:
        wanted = list(leaves(samples.run(expression, np)[0]))
        if name in APART or not any(isinstance(want, SCALARS) for want in wanted):
            continue
        found = list(leaves(samples.run(expression, la)[0]))
        for got, want in zip(found, wanted, strict=True):
            if isinstance(want, SCALARS):
                assert isinstance(got, type(want)), f"{expression}: {type(got)}, not {type(want)}"
            else:
                assert not isinstance(got, la.Scalar), expression


@pytest.mark.parametrize("call", [
    "xp.real(s)", "xp.imag(s)", "xp.astype(s, 'f4')", "xp.astype(s, s.dtype, copy=False)",
    "xp.squeeze(s)", "xp.reshape(s, ())", "xp.transpose(s)", "xp.moveaxis(s, (), ())",
])  # fmt: skip
@pytest.mark.parametrize("scalar", [np.float32(2.5), np.complex64(1j), np.int8(3)], ids=repr)
def test_functions_of_numpys_scalars(call, scalar):
    want = eval(call, {"xp": np, "s": scalar})
    for s in (scalar, la.array([scalar])[0]):
        got = eval(call, {"xp": la, "s": s})
        assert isinstance(got, la.Scalar) and got.dtype == want.dtype and got.item() == want
        with la.set_scalars("numpy"):
            got = eval(call, {"xp": la, "s": s})
        assert type(got) is type(want) and got == want
