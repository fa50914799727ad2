"""What programs ask of a value to know its kind: attributes, the classes of collections.abc."""

import collections.abc
import typing

import numpy as np
import pytest

import lazyarray as la

DUNDERS = """__len__ __iter__ __contains__ __getitem__ __setitem__ __delitem__ __index__ __iadd__
    __ipow__ __hash__ __call__ __next__ __float__ __int__ __array__ __bool__ __abs__ __reversed__
    __enter__ __getstate__ __matmul__ __imatmul__""".split()
MORE = {"__matmul__"}  # which is an error all the same
ABCS = sorted(set(collections.abc.__all__) - {"Awaitable"})


def pairs():
    for dtype in ("f8", "f4", "f2", "i8", "u1", "?", "c16", "c8"):
        x = np.array([0, 1]).astype(dtype)
        y = la.array(x)
        yield x[1], y[1]
        yield x.max(), y.max()
        yield x, y
        yield x[0, ...], la.array(x[0])
        yield x.reshape(2, 1), y.reshape(2, 1)


@pytest.mark.parametrize("name", DUNDERS)
def test_attributes(name):
    for want, got in pairs():
        if name not in MORE or want.ndim:
            assert hasattr(got, name) == hasattr(want, name), (name, type(got), got.dtype)


@pytest.mark.parametrize("name", ABCS)
def test_collections(name):
    kind = getattr(collections.abc, name)
    for want, got in pairs():
        assert isinstance(got, kind) == isinstance(want, kind), (name, type(got), got.dtype)


def test_protocols_of_typing():
    for name in ("SupportsIndex", "SupportsInt", "SupportsFloat", "SupportsAbs"):
        kind = getattr(typing, name)
        for want, got in pairs():
            assert isinstance(got, kind) == isinstance(want, kind), (name, type(got), got.dtype)


@pytest.mark.parametrize(
    "use",
    [
        len,
        iter,
        list,
        lambda s: 1 in s,
        lambda s: [*s],
        lambda s: s.__setitem__(0, 1),
        lambda s: s.__delitem__(0),
    ],
)
def test_scalars_are_no_sequences(use):
    for x in (la.arange(3)[1], la.arange(3.0).sum(), la.ones(100_000).max(), (la.ones(2) > 0)[0]):
        with pytest.raises((TypeError, AttributeError)):
            use(x)


def test_only_whole_numbers_are_indices():
    assert [10, 20, 30][la.arange(3)[1]] == 20
    assert range(la.arange(4).max()) == range(3)
    for x in (la.arange(3.0)[1], (la.ones(2) > 0)[0], (la.ones(2) * 1j)[0]):
        with pytest.raises(TypeError, match="list indices must be integers"):
            [10, 20, 30][x]
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            range(x)


def test_scalars_in_place_make_new_ones():
    for dtype in ("f8", "i8", "c16"):
        s = kept = la.arange(4).astype(dtype).sum()
        s += 1
        s *= 2
        s -= 3
        s **= 2
        assert s == 121 and kept == 6


def test_arrays_without_axes_have_no_hash():
    for x in (la.array(5), la.array(2.5)):
        with pytest.raises(TypeError, match="unhashable type: 'NDArray'"):
            hash(x)
    assert la.NDArray.__hash__ is None
    assert {la.arange(3)[2]: 1}[2] == 1


def test_numpys_arrays_are_arrays_to_numpys_programs():
    # NumPy's array holds what lazyarray doesn't, and other libraries give such arrays.
    for x in (np.ones(2), np.array(["a"]), np.zeros(2, "M8[D]"), np.ma.ones(2)):
        assert isinstance(x, la.ndarray) and isinstance(x, (str, la.ndarray))
        assert is_array_type(type(x)) and not is_ours(x)
    for x in (np.float64(1), [1], "a"):
        assert not isinstance(x, la.ndarray) and not is_array_type(type(x))

    class Mine(la.ndarray):
        pass

    assert not isinstance(np.ones(2), Mine) and not issubclass(np.ndarray, Mine)


def is_ours(x):
    return isinstance(x, la.NDArray) or issubclass(type(x), la.NDArray)


def is_array_type(kind):
    """As NumPy's programs ask: by NumPy's name."""
    return issubclass(kind, la.ndarray)


def test_derived_classes():
    class Mine(la.NDArray):
        pass

    x = Mine((3,))
    x[...] = 2
    x += 1
    assert len(x) == 3 and [float(v) for v in x] == [3, 3, 3] and 3 in x
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert issubclass(Mine, la.NDArray) and not is_array_type(type(x[0]))
