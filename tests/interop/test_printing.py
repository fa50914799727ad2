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


DRAWS = {
    "Generator": "random normal uniform exponential standard_normal gamma poisson binomial integers".split(),
    "RandomState": "rand randn random uniform normal randint poisson random_integers tomaxint".split(),
}
ARGUMENTS = {"gamma": (2,), "binomial": (5, 0.5), "integers": (9,), "randint": (9,)}
ARGUMENTS["random_integers"] = (9,)


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in DRAWS.items() for n in names])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_draws_are_python_numbers_where_numpys_are(kind, name, late):
    def drawn(xp):
        rng = xp.random.default_rng(3) if kind == "Generator" else xp.random.RandomState(3)
        rng.random(300_000 if late else 3)  # pending, where it is large
        found = getattr(rng, name)(*ARGUMENTS.get(name, ()))
        return repr([found, {"x": found}]), str(found), f"{found} {found!r}", repr(xp.sqrt(found))

    assert drawn(la) == drawn(np)


def test_draws_of_other_kinds():
    def drawn(xp):
        rng = xp.random.default_rng(0)
        return repr([
            rng.choice(5), rng.choice([1.5, 2.5]), rng.random(dtype="f4"), rng.integers(5, dtype="i4"),
            rng.normal(xp.array(3.0)), rng.integers(0, 2, dtype=int), rng.random(1)[0],
        ])  # fmt: skip

    assert drawn(la) == drawn(np)
    x = la.random.default_rng(0, device=la.cpu(1)).random()
    assert repr(x) == "np.float64(0.6369616873214543, device=cpu(1))"


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
