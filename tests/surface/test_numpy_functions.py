"""NumPy's own functions, called with lazyarrays: each sample call with ``xp`` NumPy itself."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.protocols import dispatch

from ..ops.compare import on_gpu
from . import samples

CALLS, _ = samples.load()
# NumPy's generators draw anew, `empty` is anything, and a class is NumPy's own.
APART = ("random", "empty", "ndarray")
NAMES = [n for n in CALLS if not n.startswith(APART) and samples.look(np, n, None)]


@pytest.fixture
def dispatched(monkeypatch):
    """The results of the calls that NumPy handed to lazyarray."""
    results = []
    for protocol in ("function", "ufunc"):
        inner = getattr(dispatch, protocol)

        def outer(*args, inner=inner):
            results.append(inner(*args))
            return results[-1]

        monkeypatch.setattr(dispatch, protocol, outer)
    return results


def leaves(value):
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def near(got, want, err_msg):
    if on_gpu():
        np.testing.assert_array_equal(got, want, err_msg)  # as near as a GPU's floats are
    else:
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12, err_msg=err_msg)


def evaluated(expression, lib):
    given = samples.arrays(lib)
    scope = {"xp": np, "np": np, "io": samples.io, "math": samples.math}
    scope |= {"operator": samples.operator, **given}
    with samples.tempfile.TemporaryDirectory() as tmp, np.errstate(all="ignore"):
        return eval(expression, {**scope, "tmp": samples.pathlib.Path(tmp)})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_numpys_function(name, dispatched):
    for expression in CALLS[name]:
        want = evaluated(expression, np)
        dispatched.clear()
        got = evaluated(expression, la)
        for g, w in zip(leaves(got), leaves(want), strict=True):
            if isinstance(w, (np.ndarray, np.generic)):
                g = np.asarray(g)
                assert g.dtype == w.dtype, expression
                near(g, w, err_msg=expression)
        if not any(part in expression for part in ("out=", "xp.empty(", "xp.zeros(")):
            arrays = [r for r in leaves(dispatched) if isinstance(r, np.ndarray)]
            assert arrays == [], expression  # what NumPy hands over stays here
