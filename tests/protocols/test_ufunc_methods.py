"""Ufuncs: their methods and rarer arguments, scalars and NumPy arrays among their operands."""

import operator

import numpy as np
import pytest

import lazyarray as la


@pytest.fixture(autouse=True)
def _both_ways(direct):
    """Each test runs at once, and recorded."""


H = np.arange(12.0).reshape(3, 4)
I = H.astype(np.int64)

# Functions of a float array, its integers, and the library; the results are compared.
CALLS = {
    # arguments
    "out": lambda x, i, xp: xp.add(x, 1, out=xp.zeros((3, 4))),
    "out in a tuple": lambda x, i, xp: xp.add(x, 1, out=(xp.zeros((3, 4)),)),
    "out by position": lambda x, i, xp: xp.add(x, x, x),
    "out None": lambda x, i, xp: xp.add(x, 1, None),
    "out too small": lambda x, i, xp: xp.add(x, 1, xp.zeros(4)),
    "out of integers": lambda x, i, xp: xp.add(x, 1, xp.zeros((3, 4), "i4")),
    "two outs": lambda x, i, xp: xp.divmod(x, 2, xp.zeros((3, 4)), xp.zeros((3, 4))),
    "one out of two": lambda x, i, xp: xp.frexp(x, xp.zeros((3, 4))),
    "where": lambda x, i, xp: xp.add(x, 1, xp.zeros((3, 4)), where=x > 2),
    "where of two": lambda x, i, xp: xp.modf(
        x / 2, where=x > 3, out=(xp.zeros((3, 4)), xp.ones((3, 4)))
    ),
    "where of two, of another shape": lambda x, i, xp: xp.divmod(x, 2, where=[True, False]),
    "where of two, larger": lambda x, i, xp: xp.modf(
        x[0], xp.zeros((3, 4)), xp.zeros((3, 4)), where=i > 2
    ),
    "where of two, of numbers": lambda x, i, xp: xp.frexp(x, where=x),
    "casting": lambda x, i, xp: xp.add(x, 1, xp.zeros((3, 4), "i4"), casting="unsafe"),
    "dtype": lambda x, i, xp: xp.add(x, 1, dtype="f4"),
    "dtype of two": lambda x, i, xp: xp.divmod(x, 2, dtype="f4"),
    "dtype that doesn't fit": lambda x, i, xp: xp.add(x, 1, dtype="i4"),
    "dtype, unsafe": lambda x, i, xp: xp.add(x, 1, dtype="i4", casting="unsafe"),
    "signature": lambda x, i, xp: xp.add(x, 1, signature="ff->f"),
    "sig": lambda x, i, xp: xp.add(i, 1, sig="dd->d"),
    "order": lambda x, i, xp: xp.add(x, 1, order="F"),
    "subok": lambda x, i, xp: xp.add(x, 1, subok=False),
    "no such argument": lambda x, i, xp: xp.add(x, 1, axis=0),
    "an operand lacks": lambda x, i, xp: xp.add(x),
    # reduce
    "add.reduce": lambda x, i, xp: xp.add.reduce(x),
    "all axes": lambda x, i, xp: xp.add.reduce(x, axis=None, keepdims=True),
    "initial": lambda x, i, xp: xp.add.reduce(x, where=x > 2, initial=5),
    "axes and dtype": lambda x, i, xp: xp.add.reduce(x, (0, 1), "f4"),
    "reduce out": lambda x, i, xp: xp.add.reduce(x, 1, None, xp.zeros(3)),
    "maximum.reduce": lambda x, i, xp: xp.maximum.reduce(x, initial=5),
    "small integers": lambda x, i, xp: xp.multiply.reduce(i.astype("i1"), 1),
    "hypot.reduce": lambda x, i, xp: xp.hypot.reduce(x, 1),
    "hypot, axes": lambda x, i, xp: xp.hypot.reduce(x, (0, 1), keepdims=True),
    "hypot, out": lambda x, i, xp: xp.hypot.reduce(x, 1, out=xp.zeros(3, "f4")),
    "hypot, where": lambda x, i, xp: xp.hypot.reduce(x, 1, where=x > 2),
    "subtract.reduce": lambda x, i, xp: xp.subtract.reduce(x, 1),
    "not reorderable": lambda x, i, xp: xp.subtract.reduce(x, (0, 1)),
    "no identity": lambda x, i, xp: xp.subtract.reduce(x[:0]),
    "logical_xor.reduce": lambda x, i, xp: xp.logical_xor.reduce(x, 1),
    "gcd.reduce": lambda x, i, xp: xp.gcd.reduce(i.astype("i2"), None),
    "comparison": lambda x, i, xp: xp.less.reduce(x),
    "unary": lambda x, i, xp: xp.sin.reduce(x),
    "bad axis": lambda x, i, xp: xp.hypot.reduce(x, 3),
    # accumulate
    "add.accumulate": lambda x, i, xp: xp.add.accumulate(x),
    "accumulate dtype": lambda x, i, xp: xp.add.accumulate(x, 1, "f4"),
    "accumulate out": lambda x, i, xp: xp.multiply.accumulate(x, -1, out=xp.zeros((3, 4), "f4")),
    "accumulate ints": lambda x, i, xp: xp.add.accumulate(i.astype("i1")),
    "accumulate 0-d": lambda x, i, xp: xp.add.accumulate(xp.array(3)),
    "accumulate axis": lambda x, i, xp: xp.maximum.accumulate(x, 3),
    # reduceat
    "reduceat": lambda x, i, xp: xp.add.reduceat(x, [0, 2, 1]),
    "reduceat, array": lambda x, i, xp: xp.add.reduceat(x, xp.array([0, 2, 1]), axis=1),
    "reduceat dtype": lambda x, i, xp: xp.add.reduceat(i.astype("i1"), [0, 1], dtype="f4"),
    "reduceat out": lambda x, i, xp: xp.add.reduceat(x, [0, 1], out=xp.zeros((2, 4))),
    "reduceat none": lambda x, i, xp: xp.add.reduceat(x, []),
    "reduceat bounds": lambda x, i, xp: xp.add.reduceat(x, [0, 5]),
    "reduceat negative": lambda x, i, xp: xp.add.reduceat(x, [0, -1]),
    "reduceat, late bounds": lambda x, i, xp: xp.add.reduceat(x, xp.array([0, 5])),
    # outer
    "outer": lambda x, i, xp: xp.multiply.outer(x[0], x),
    "outer, numbers": lambda x, i, xp: xp.multiply.outer(2, x[1].astype("f4")),
    "outer, out": lambda x, i, xp: xp.multiply.outer(x[0], x[1], out=xp.zeros((4, 4))),
    "outer, dtype": lambda x, i, xp: xp.multiply.outer(x[0], i[1], dtype="f4"),
    "outer of two": lambda x, i, xp: xp.divmod.outer(x[0], x[1] + 1),
    # at
    "at": lambda x, i, xp: (xp.add.at(x, [0, 0], 1), x)[1],
    "at, arrays": lambda x, i, xp: (
        xp.add.at(x, (xp.array([0, 0]), [1, 1]), xp.array([1.0, 2.0])), x
    )[1],
    "at, unary": lambda x, i, xp: (xp.negative.at(x, [0, 0]), x)[1],
    "at, bounds": lambda x, i, xp: (xp.add.at(x, [9], 1), x)[1],
    # reductions into an array of another dtype
    "sum of floats": lambda x, i, xp: xp.sum(x, out=xp.zeros((), "f4")),
    "sum into integers": lambda x, i, xp: xp.sum(x / 3, out=xp.zeros((), "i4")),
    "sum of singles": lambda x, i, xp: xp.sum((x / 7).astype("f4"), out=xp.zeros(())),
    "sum of small integers": lambda x, i, xp: xp.sum(i.astype("i1") * 9, out=xp.zeros((), "i1")),
    "prod into complex": lambda x, i, xp: xp.prod(x + 1, axis=0, out=xp.zeros(4, "c8")),
    "max into complex": lambda x, i, xp: xp.max(x, axis=0, out=xp.zeros(4, "c8")),
    "any into floats": lambda x, i, xp: xp.any(x, axis=0, out=xp.zeros(4)),
    # scalars and NumPy arrays among the operands
    "a NumPy scalar": lambda x, i, xp: np.float64(2) * x.astype("f4"),
    "a weak scalar": lambda x, i, xp: 2.0 * x.astype("f4"),
    "a small NumPy scalar": lambda x, i, xp: np.float32(2) + i.astype("i1"),
    "power": lambda x, i, xp: np.int64(2) ** i.astype("i1"),
    "bool": lambda x, i, xp: True + i.astype("i1"),
    "complex": lambda x, i, xp: np.complex64(1j) * x,
    "divmod": lambda x, i, xp: divmod(np.float64(7), x + 1),
    "array on the left": lambda x, i, xp: np.arange(4) // (x + 1),
    "array on the right": lambda x, i, xp: divmod(x, np.arange(1.0, 5)),
    "array @": lambda x, i, xp: np.arange(4) @ x.T,
    "@ array": lambda x, i, xp: x @ np.arange(4),
    "array <": lambda x, i, xp: np.arange(4) < x,
    "scalar ==": lambda x, i, xp: np.float64(3) == x,
    "list": lambda x, i, xp: [1, 2, 3, 4] - x,
    "ragged": lambda x, i, xp: [1, 2, 3] - x,
    "None": lambda x, i, xp: x * None,
    "a dict": lambda x, i, xp: x + {},
    "@ a number": lambda x, i, xp: x @ 3,
    "bits of floats": lambda x, i, xp: x & x,
    "out of range": lambda x, i, xp: i.astype("u1") + 300,
    # arrays as numbers
    "an index": lambda x, i, xp: x[xp.array(2)],
    "a NumPy index": lambda x, i, xp: x[np.array(1), np.int64(2)],
    "indices": lambda x, i, xp: x[xp.array([0, 2]), xp.array(1)],
    "a slice": lambda x, i, xp: x[xp.array(1) :],
    "of a list": lambda x, i, xp: [10, 20, 30][xp.array(1)],
    "of a NumPy array": lambda x, i, xp: np.arange(5)[xp.array(1)],
    "a float index": lambda x, i, xp: x[xp.array(1.0)],
    "operator.index": lambda x, i, xp: operator.index(i[0, 1]),
    "index of a float": lambda x, i, xp: operator.index(x[0, 1]),
    "float": lambda x, i, xp: float(x[1, 1]),
    "complex()": lambda x, i, xp: complex(i[1, 1]),
    "float of one axis": lambda x, i, xp: float(x[0, :1]),
    "int of many": lambda x, i, xp: int(x),
}  # fmt: skip


def outcome(function, *args):
    """The values, or the type of what is raised at the call or the wait."""
    with np.errstate(all="ignore"):
        try:
            result = function(*args)
            parts = result if isinstance(result, tuple) else (result,)
            return [p.asnumpy() if isinstance(p, la.NDArray) else np.asarray(p) for p in parts]
        except Exception as exc:  # whatever NumPy raises is what is wanted
            return exc


@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:'where' used without")
@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    want = outcome(CALLS[name], H.copy(), I.copy(), np)
    got = outcome(CALLS[name], la.array(H), la.array(I), la)
    if isinstance(want, Exception):
        assert isinstance(got, Exception) and isinstance(want, type(got)), repr(got)
        return
    assert not isinstance(got, Exception), repr(got)
    for g, w in zip(got, want, strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_array_equal(g, w)


def test_methods_do_not_wait():
    x = la.array(H)
    with la.no_sync():
        la.hypot.reduce(x, 1, out=la.zeros(3), where=x > 1)
        la.subtract.accumulate(x, 1)
        la.add.reduceat(x, la.array([0, 1]))
        la.add.outer(x, x)
        la.add.at(x, la.array([0, 1]), 1)


def test_what_a_row_tells_of_its_ufunc():
    for name in ("add", "sin", "maximum", "divmod", "matmul"):
        mine, theirs = getattr(la, name), getattr(np, name)
        for about in ("nargs", "ntypes", "types", "identity", "signature", "__name__"):
            assert getattr(mine, about) == getattr(theirs, about)
    assert (la.divmod.nin, la.divmod.nout) == (2, 2)
    assert la.add.resolve_dtypes((np.dtype("f4"), float, None))[2] == np.float32


def test_numpy_arrays_are_changed_at_once():
    x = la.array([1.0, 2.0, 3.0])
    h = np.ones(3)
    h += x
    h[1:] *= x[1:]
    assert type(h) is np.ndarray and h.tolist() == [2, 6, 12]
    h[:2] = x[1:]
    assert h.tolist() == [2, 3, 12]
    square = np.ones((2, 2))
    square @= la.array([[1.0, 2.0], [3.0, 4.0]])
    assert square.tolist() == [[4, 6], [4, 6]]
    with pytest.raises(TypeError, match="same_kind"):
        np.ones(3, int).__iadd__(x / 2)
    for change, want in (
        (lambda h: np.put(h, [0, 2], x), [1, 7, 2]),
        (lambda h: np.place(h, la.array([True, False, True]), x), [1, 7, 2]),
        (lambda h: np.putmask(h, h > 1, x), [1, 2, 3]),
        (lambda h: np.put_along_axis(h, la.array([1]), x[2:], 0), [7, 3, 7]),
        (lambda h: np.copyto(h, x, where=la.array([True, False, False])), [1, 7, 7]),
        (lambda h: np.cumsum(x, out=h), [1, 3, 6]),
        (lambda h: np.clip(x, 0, 2, h), [1, 2, 2]),
        (lambda h: np.concatenate([x[:1], x[:2]], out=h), [1, 1, 2]),
        (lambda h: np.add.reduce(la.stack([x, x]), out=h), [2, 4, 6]),
        (lambda h: np.hypot.accumulate(x * 0, out=h), [0, 0, 0]),
    ):
        h = np.full(3, 7.0)
        change(h)
        assert h.tolist() == want
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            change(np.full(3, 7.0))
    h = np.ones(3)
    la.put_along_axis(h, la.array([1]), 5, 0)
    assert h.tolist() == [1, 5, 1]


def test_ufuncs_with_a_signature_and_no_row():
    """Another library's: NumPy runs it at once, and its result is ours."""
    from numpy.linalg import _umath_linalg

    x = la.array([[[2.0, 1.0], [1.0, 3.0]]] * 2)
    want = _umath_linalg.det(x.asnumpy())
    got = _umath_linalg.det(x)
    assert type(got) is la.NDArray
    np.testing.assert_array_equal(got.asnumpy(), want)
    out = la.zeros(2)
    assert _umath_linalg.det(x, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), want)
    values, vectors = _umath_linalg.eigh_lo(x)
    assert type(values) is type(vectors) is la.NDArray
    np.testing.assert_array_equal(values.asnumpy(), _umath_linalg.eigh_lo(x.asnumpy())[0])
    with la.no_sync(), pytest.raises(RuntimeError):
        _umath_linalg.det(x + 1)
    x.attach_grad()
    with la.autograd.record(), pytest.raises(Exception, match="det"):
        _umath_linalg.det(x)
