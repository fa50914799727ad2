"""Printing: results of lazyarrays in lists, dicts and f-strings are written as NumPy's."""

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

CALLS = {
    "elements in a list": "[x[0], x[1], i[0], c[0], m[0], m[1]]",
    "list of an array": "list(x)",
    "nested": "[list(row) for row in z]",
    "a dict of results": "{'mean': x.mean(), 'best': xp.argmax(x), 'any': (x > 1).any()}",
    "a tuple": "(x.sum(), x.min(), x.max())",
    "other dtypes": "[x.sum(dtype='f4'), i.astype('u1')[0], x.astype('f2')[1], xp.longdouble(x[0])]",
    "not a number": "[x[0] / 0, -x[0] / 0, 0 * x[0] / 0]",
    "an array": "x",
    "no axes": "xp.array(5.0)",
    "arrays in a dict": "{'x': x, 'i': i}",
    "f-string": "f'{x[0]} {x[1]!r} {x[0]:.3f} {i[0]:05d}'",
    "percent": "'%s %.2f %d' % (x[0], x[1], i[0])",
    "str": "str(x[0]) + str(i[1]) + str(x.mean()) + str(c[0])",
    "unique": "dict(zip(*map(list, xp.unique(i, return_counts=True))))",
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_as_numpys(name):
    def text(xp):
        x = xp.array([1.5, -2.25])
        return repr(
            eval(
                CALLS[name],
                {
                    "xp": xp,
                    "x": x,
                    "i": xp.array([3, 3]),
                    "c": x * 1j,
                    "m": x > 0,
                    "z": xp.arange(6.0).reshape(2, 3),
                },
            )
        )

    assert text(la) == text(np)
    with np.printoptions(legacy="1.25"):
        assert text(la) == text(np)


def test_a_scalar_that_is_pending_is_waited_for():
    x = la.ones(1_000_000)
    assert repr((x * 2).sum()) == "np.float64(2000000.0)"
    with la.no_sync(), pytest.raises(RuntimeError, match="repr"):
        repr(x.sum())


def test_other_devices_are_named():
    x = la.ones(2, device=la.cpu(1))
    assert repr(x) == "array([1., 1.], device=cpu(1))"
    assert repr(x[0]) == "np.float64(1.0, device=cpu(1))"
    assert repr(x.any()) == "np.bool(True, device=cpu(1))"
    with la.cpu(1):  # the default one is the host's first, wherever arrays are made just now
        assert repr(la.zeros(1)) == "array([0.], device=cpu(1))"
        assert repr(la.zeros(1, device=la.cpu(0))) == "array([0.])"
