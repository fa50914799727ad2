"""Modules of NumPy's own that ask whether something is one of NumPy's arrays."""

import operator

import numpy as np
import pytest
from numpy import testing
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

import lazyarray as la

X, C = np.array([0.5, 1.0, 2.0]), np.arange(6.0).reshape(2, 3)
SERIES = [
    (polynomial, "poly"),
    (chebyshev, "cheb"),
    (legendre, "leg"),
    (hermite, "herm"),
    (hermite_e, "herme"),
    (laguerre, "lag"),
]


@pytest.mark.parametrize("tensor", [True, False])
@pytest.mark.parametrize("c", [C, C[:, 0], np.arange(24.0).reshape(2, 3, 4)], ids=np.shape)
@pytest.mark.parametrize(("module", "name"), SERIES, ids=[name for _, name in SERIES])
def test_values_of_several_series(module, name, c, tensor):
    for what in ("val", "valfromroots") if name == "poly" else ("val",):
        function = getattr(module, name + what)
        try:
            want = function(X, c, tensor=tensor)
        except ValueError:
            with pytest.raises(ValueError):
                function(la.array(X), c, tensor=tensor)
            continue
        for given in (c, la.array(c), c.tolist()):
            got = function(la.array(X), given, tensor=tensor)
            assert isinstance(got, la.NDArray) and got.shape == want.shape
            np.testing.assert_allclose(got.asnumpy(), want)


@pytest.mark.parametrize(("module", "name"), SERIES, ids=[name for _, name in SERIES])
def test_values_over_planes(module, name):
    for what in ("val2d", "grid2d"):
        function = getattr(module, name + what)
        np.testing.assert_allclose(function(la.array(X), X, C).asnumpy(), function(X, X, C))


def test_assertions():
    x = la.array([1.0, 2.0])
    for same in (x + 0, [1.0, 2.0], np.array([1.0, 2.0])):
        testing.assert_equal(x, same)
        testing.assert_equal(same, x)
        testing.assert_almost_equal(x, same)
        testing.assert_array_max_ulp(x, np.asarray(same))
    testing.assert_equal({"a": [x, 1]}, {"a": [x + 0, 1]})
    testing.assert_equal({"a": {"b": x, "c": (x, 1)}}, {"a": {"b": [1.0, 2.0], "c": (x + 0, 1)}})
    with pytest.raises(AssertionError):
        testing.assert_equal(x, [1.0, 3.0])
    with pytest.raises(AssertionError):
        testing.assert_almost_equal(x, [1.0, 3.0])


@pytest.mark.parametrize("name", "add sub mul truediv matmul pow eq lt mod floordiv and_".split())
def test_operators_with_matrices(name):
    """NumPy's matrix answers with a matrix, on either side."""
    m, a = np.matrix([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    call = getattr(operator, name)

    def found(x, y):
        try:
            z = call(x, y)
        except (TypeError, ValueError, np.linalg.LinAlgError) as error:
            return type(error), str(error)
        return type(z), np.asarray(z).dtype, np.asarray(z).tolist()

    for pick in (lambda x: x, lambda x: x[0], lambda x: x[0, 1], lambda x: x.astype(int)):
        theirs, ours = pick(a), pick(la.array(a))
        assert found(ours, m) == found(theirs, m)
        assert found(m, ours) == found(m, theirs)
