"""Classes of other packages that are like arrays, and what packages do with NumPy's functions."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import lazyarray as la


class Metres:
    """A quantity, as packages of units have them: it says itself what NumPy's functions are."""

    def __init__(self, value):
        self.value = value

    def __array_function__(self, func, types, args, kwargs):
        if func is np.put:
            return NotImplemented
        return Metres(func(*plain(args), **{k: plain(v) for k, v in kwargs.items()}))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        kwargs.pop("out", None)
        return Metres(getattr(ufunc, method)(*plain(inputs), **kwargs))


def plain(o):
    if isinstance(o, Metres):
        return o.value
    return type(o)(map(plain, o)) if type(o) in (list, tuple) else o


CALLS = {
    "append": lambda xp, x, q: xp.append(x, q),
    "concatenate": lambda xp, x, q: xp.concatenate([x, x, q]),
    "stack": lambda xp, x, q: xp.stack((q, x)),
    "block": lambda xp, x, q: xp.block([[x, q], [q, x]]),
    "where": lambda xp, x, q: xp.where(x > 1, q, x),
    "cross": lambda xp, x, q: xp.cross(q, x),
    "dot": lambda xp, x, q: xp.dot(x, q),
    "diff": lambda xp, x, q: xp.diff(q, prepend=q),
    "mean": lambda xp, x, q: xp.mean(q),
    "sum": lambda xp, x, q: xp.sum(q),
    "interp": lambda xp, x, q: xp.interp(2.5, x, q),
    "norm": lambda xp, x, q: xp.linalg.norm(q),
    "fft": lambda xp, x, q: xp.fft.fft(q),
    "reduce": lambda xp, x, q: xp.add.reduce(q),
    "reduce all": lambda xp, x, q: xp.maximum.reduce(q, axis=None),
    "accumulate": lambda xp, x, q: xp.add.accumulate(q, dtype="f4"),
    "outer": lambda xp, x, q: xp.multiply.outer(x, q),
    "transpose": lambda xp, x, q: xp.transpose(q),
    "by name": lambda xp, x, q: xp.append(x, values=q),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("inner", [np.array, la.array])
def test_functions_ask_the_classes_of_their_arguments(name, inner):
    x = np.array([1.0, 2.0, 3.0])
    expected = CALLS[name](np, x, Metres(x * 2))
    found = CALLS[name](la, la.array(x), Metres(inner(x * 2)))
    assert type(expected) is type(found) is Metres
    np.testing.assert_array_equal(np.asarray(found.value), expected.value)


class AsNumbers(Metres):
    """One that is an array to those who know no better: its unit would be lost."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.value, dtype)


@pytest.mark.parametrize("kind", [Metres, AsNumbers])
@pytest.mark.parametrize("name", CALLS)
def test_numpys_functions_ask_them_too(name, kind):
    x = np.array([1.0, 2.0, 3.0])
    expected = CALLS[name](np, x, Metres(x * 2))
    found = CALLS[name](np, la.array(x), kind(la.array(x * 2)))
    assert type(found) is Metres
    np.testing.assert_array_equal(np.asarray(found.value), expected.value)


@pytest.mark.parametrize("kind", [Metres, AsNumbers])
def test_products_ask_them_too(kind):
    x = np.arange(4.0).reshape(2, 2)
    for xp in (np, la):
        for a, b in ((la.array(x), kind(x)), (kind(x), la.array(x))):
            for found in (xp.matmul(a, b), xp.matmul(a, b, dtype="f4")):
                assert type(found) is Metres
                np.testing.assert_array_equal(np.asarray(found.value), x @ x)


def test_a_class_may_not_know_a_function():
    with pytest.raises(TypeError, match=r"no implementation found for 'numpy\.put'"):
        la.put(la.zeros(3), [0], Metres(1.0))


def test_in_place_operators_ask_them():
    for xp in (np, la):
        x = same = xp.ones(2)
        x += Metres(xp.ones(2))
        assert type(x) is Metres and np.asarray(x.value).tolist() == [2, 2]
        assert same.tolist() == [1, 1]


# NumPy's own example of a container, as a program has it that imports either library as np.
DIAGONAL = """
import numbers
HANDLED = {}

class Diagonal:
    def __init__(self, n, value):
        self.n, self.value = n, value

    def __array__(self, dtype=None, copy=None):
        return self.value * np.eye(self.n, dtype=dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or ufunc is np.hypot:
            return NotImplemented
        numbers_ = [o.value if isinstance(o, Diagonal) else o for o in inputs]
        return Diagonal(self.n, ufunc(*numbers_, **kwargs))

    def __array_function__(self, func, types, args, kwargs):
        if func not in HANDLED or not all(issubclass(t, Diagonal) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **kwargs)

def implements(function):
    return lambda own: HANDLED.setdefault(function, own)

@implements(np.sum)
def sum(a):
    return a.value * a.n

@implements(np.mean)
def mean(a):
    return a.value / a.n

@implements(np.concatenate)
def concatenate(parts):
    return [part.n for part in parts]
"""


@pytest.mark.parametrize("xp", [np, la])
def test_a_container_written_with_either(xp):
    module = {"np": xp, "__name__": "container"}
    exec(DIAGONAL, module)
    d = module["Diagonal"](5, 2.0)
    assert xp.sum(d) == 10 and xp.mean(d) == 0.4 and xp.concatenate([d, d]) == [5, 5]
    for made in (xp.sin(d), xp.multiply(d, 2), d.__class__(5, 3)):
        assert type(made) is type(d)
    with pytest.raises(TypeError, match="no implementation found for"):
        xp.median(d)
    with pytest.raises(TypeError):
        xp.hypot(d, d)
    for call in (xp.add.reduce, xp.add.accumulate, lambda d: xp.add.outer(d, 2)):
        with pytest.raises(TypeError, match="all returned NotImplemented"):
            call(d)
    np.testing.assert_array_equal(np.asarray(xp.asarray(d)), 2 * np.eye(5))


class Answering:
    """A class that is no operand of ufuncs, but answers functions."""

    def __array__(self, dtype=None, copy=None):
        return np.eye(2)

    def __array_function__(self, func, types, args, kwargs):
        return func.__name__


@pytest.mark.parametrize("name", ["sum", "max", "any", "mean", "ravel", "sort"])
def test_a_class_that_answers_functions(name):
    assert getattr(la, name)(Answering()) == getattr(np, name)(Answering()) == name


class Wrapper:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        found = self.array if dtype is None else self.array.astype(dtype, copy=False)
        return found.copy() if copy else found


def test_an_objects_array_is_the_array():
    for xp in (np, la):
        own = xp.zeros(3)
        o = Wrapper(own)
        assert xp.asarray(o) is own and xp.asarray(o, float) is own
        xp.asarray(o)[0] = 5
        xp.array(o)[1] = 6
        xp.asarray(o, int)[2] = 7
        xp.array(o, copy=False)[1:] += 1
        assert own.tolist() == [5, 1, 1]
        assert xp.array(o, ndmin=2).shape == (1, 3) and xp.asarray(o, order="F").tolist()[0] == 5
    np.testing.assert_array_equal(o, [5, 1, 1])
    np.testing.assert_allclose([5, 1, 1], o)


def test_arguments_that_are_not_given():
    x, none = np.arange(6.0).reshape(2, 3), np._NoValue
    assert la._NoValue is none
    for name in ("sum", "max", "mean", "std", "any", "nansum", "nanmax", "nanmean", "ptp"):
        given = {"keepdims": none} | ({} if name == "ptp" else {"where": none})
        given |= {"initial": none} if name in ("sum", "max", "nansum", "nanmax") else {}
        found, expected = getattr(la, name)(la.array(x), axis=0, **given), getattr(np, name)(x, 0)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.asnumpy(), expected)
    assert la.argmax(la.array(x), keepdims=none).ndim == 0


def test_orders_in_the_third_place():
    for xp in (np, la):
        for made in (
            xp.zeros((2, 2), float, "F"),
            xp.ones((2, 2), float, "F"),
            xp.empty((2, 2), float, "F"),
            xp.full((2, 2), 1, float, "F"),
            xp.full((2, 2), [1, 2], float, "F"),
            xp.asarray([[1, 2], [3, 4]], float, "F"),
        ):
            assert made.flags.f_contiguous


def test_functions_take_attributes():
    """As functions do: packages name them again."""
    for function in (la.max, la.mean, la.sin):
        assert function.__name__ in dir(np)
        name = function.__name__
        function.__name__, function.mine = "other", 1
        assert function.__name__ == "other" and function.mine == 1
        function.__name__ = name
        del function.mine
    assert la.max(la.arange(3)) == 2
    assert la.ones(2).var.__name__ == "var"


def test_signatures_that_packages_ask_for():
    assert "names" in inspect.signature(la.genfromtxt).parameters
    attributes = dir(la.ndarray)
    assert "sum" in attributes and all(hasattr(la.ndarray, name) for name in attributes)


def test_arrays_of_records_by_the_class():
    records = np.dtype([("a", "<i4"), ("b", "<f4")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.HostArrayWarning)
        found = la.ndarray(shape=(), dtype=records, buffer=b"\1\0\0\0\0\0\0\0")
        assert type(found) is np.ndarray and found["a"] == 1
    assert type(la.ndarray((2,), "f4")) is la.NDArray
    with pytest.raises(TypeError):
        la.ndarray((2,), "none")


def test_versions():
    assert la.lib.NumpyVersion(la.__version__) == np.__version__
    assert la.lib.NumpyVersion("1.2.3") < "2.0.0"
    # What programs ask themselves: the interface is NumPy 2.4's, with whichever NumPy.
    assert la.__version__[0] == "2" and la.__version__.startswith("2.4.")


def test_shuffle_of_what_is_like_a_list():
    class Items:
        def __init__(self):
            self.items = [*range(20)]

        def __len__(self):
            return 20

        def __getitem__(self, i):
            return self.items[i]

        def __setitem__(self, i, value):
            self.items[i] = value

    shuffled = []
    for xp in (np, la):
        items = Items()
        with pytest.warns(UserWarning, match="not guaranteed"):
            xp.random.default_rng(3).shuffle(items)
        shuffled.append(items.items)
    assert shuffled[0] == shuffled[1] != [*range(20)]
    with pytest.raises(TypeError):
        la.random.default_rng(3).shuffle((1, 2))


def test_records_of_rows_by_numpys_function():
    from numpy.lib import recfunctions

    found = recfunctions.unstructured_to_structured(la.ones((2, 2)))
    assert type(found) is np.ndarray and found["f0"].tolist() == [1, 1]


def test_numpys_copy_modes():
    x = la.arange(4)
    modes = np._CopyMode
    assert la.array(x, copy=modes.IF_NEEDED) is x is la.array(x, copy=modes.NEVER)
    assert la.array(x, copy=modes.ALWAYS) is not x
    assert la.array([1.5], copy=modes.IF_NEEDED, order="F").tolist() == [1.5]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        la.array([1.5], copy=modes.NEVER)


def test_parts_of_series_by_the_namespace():
    assert la.polynomial.polyutils.mapdomain(la.array([1, 2, 3]), [0, 4], [0, 1])[1] == 0.5
