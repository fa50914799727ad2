"""NumPy's protocols: its ufuncs and functions called with lazyarrays."""

import io
import operator

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la


def test_numpy_reads_arrays():
    x = la.arange(3) * 2
    for got in (np.array(x), np.asarray(x), np.asarray([x, x])[1]):
        assert got.dtype == np.int64 and got.tolist() == [0, 2, 4]
    assert np.asarray(x, dtype="float32").dtype == np.float32
    host = np.asarray(x)
    host[:] = 0
    assert x.asnumpy().tolist() == [0, 2, 4]


def test_ufuncs_run_here():
    x, h = la.array([1.0, 4.0, 9.0]), np.array([1.0, 4.0, 9.0])
    for got, want in [
        (np.sqrt(x), np.sqrt(h)),
        (np.add(x, 1), h + 1),
        (np.add(h, x), h + h),
        (h + x, h + h),
        (h[0] * x, h[0] * h),
        (np.add(x, 1, dtype="float32"), np.add(h, 1, dtype="float32")),
        (np.divmod(x, 2)[1], np.divmod(h, 2)[1]),
        (np.matmul(x, h), np.matmul(h, h)),
        (h @ x, h @ h),
        (np.greater(h, x), h > h),
        (np.float64(3) - x, 3 - h),
    ]:
        assert isinstance(got, la.NDArray) and got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)
    with la.no_sync():
        np.exp(x) + np.arange(3)


def test_ufunc_out():
    x, h = la.arange(3.0), np.arange(3.0)
    out = la.zeros(3)
    assert np.add(x, 1, out=out) is out and out.asnumpy().tolist() == [1, 2, 3]
    host = np.zeros(3)
    assert np.multiply(x, 2, out=host) is host and host.tolist() == [0, 2, 4]
    h += x
    assert type(h) is np.ndarray and h.tolist() == [0, 2, 4]
    q, r = la.zeros(3), np.zeros(3)
    got = np.divmod(x, 2, out=(q, r))
    assert got[0] is q and got[1] is r and r.tolist() == [0, 1, 0]
    got = np.divmod(x, 2, out=(None, q))
    assert got[1] is q and got[0].asnumpy().tolist() == [0, 0, 1]
    masked = np.full(3, 7.0)
    np.add(x, 1, out=masked, where=la.array([True, False, True]))
    assert masked.tolist() == [1, 7, 3]
    with pytest.raises(TypeError, match="same_kind"):
        np.add(x, 1, out=np.zeros(3, int))
    with pytest.raises(TypeError, match="same_kind"):
        np.add(x, 1, out=la.zeros(3, int))
    with pytest.raises(ValueError, match="broadcast"):
        np.add(x, 1, out=np.zeros(2))
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        np.add(x, 1, out=np.zeros(3))


def test_ufunc_methods():
    h = np.arange(1.0, 7).reshape(2, 3)
    x = la.array(h)
    for ufunc in (
        np.add,
        np.multiply,
        np.maximum,
        np.minimum,
        np.subtract,
        np.logical_xor,
        np.hypot,
    ):
        for axis in (0, 1, -1):
            got, want = ufunc.reduce(x, axis), ufunc.reduce(h, axis)
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype
            got, want = ufunc.accumulate(x, axis), ufunc.accumulate(h, axis)
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype
    for kwargs in (
        {"keepdims": True},
        {"axis": None},
        {"axis": (0, 1)},
        {"dtype": "float32"},
        {"initial": 5},
        {"where": h > 2, "initial": 0},
    ):
        want = np.add.reduce(h, **kwargs)
        np.testing.assert_array_equal(np.add.reduce(x, **kwargs).asnumpy(), want)
    np.testing.assert_array_equal(
        np.add.outer(x, la.arange(2)).asnumpy(), np.add.outer(h, np.arange(2))
    )
    np.testing.assert_array_equal(
        np.multiply.outer([1, 2], x).asnumpy(), np.multiply.outer([1, 2], h)
    )
    out = la.zeros(3)
    assert np.add.reduce(x, 0, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), h.sum(0))
    host = np.zeros(3)
    assert np.add.reduce(x, 0, out=host) is host and host.tolist() == [5, 7, 9]
    with pytest.raises(ValueError, match="no identity"):
        np.subtract.reduce(la.zeros((0, 2)))
    with pytest.raises(np.exceptions.AxisError):
        np.add.reduce(x, 5)


def test_ufunc_at():
    h, x = np.zeros(4), la.zeros(4)
    np.add.at(h, [0, 1, 1, -1], [1, 2, 3, 4])
    np.add.at(x, [0, 1, 1, -1], [1, 2, 3, 4])
    np.testing.assert_array_equal(x.asnumpy(), h)
    np.add.at(x, la.array([2, 2]), la.array([1.0, 1.0]))
    assert x[2].item() == 2
    np.negative.at(x, slice(0, 2))
    assert x.asnumpy().tolist() == [-1, -5, 2, 4]
    grid = la.zeros((2, 2), "int64")
    np.add.at(grid, ([0, 0, 1], la.array([1, 1, 0])), 1)
    assert grid.asnumpy().tolist() == [[0, 2], [1, 0]]
    with pytest.raises(TypeError, match="bitwise_and"):
        np.bitwise_and.at(grid, [0], 1.5)
    np.add.at(h, la.array([0, 0]), la.array([1, 2]))  # a NumPy array: at once
    assert h.tolist() == [4, 5, 0, 4]


def test_ufuncs_of_other_libraries_run_as_ops():
    special = pytest.importorskip("scipy.special")
    h = np.array([[0.5, -1.0, 2.0]])
    x = la.array(h)
    with la.no_sync():
        pairs = [
            (special.expit(x), special.expit(h)),
            (special.xlogy(x, 2.5), special.xlogy(h, 2.5)),
            (special.xlogy(h.T, x), special.xlogy(h.T, h)),
            (special.sici(x)[1], special.sici(h)[1]),
            (special.expit(x.astype("float32")), special.expit(h.astype("float32"))),
            (special.xlogy.outer(x, x), special.xlogy.outer(h, h)),
            (special.expit(x, out=la.zeros((1, 3))), special.expit(h)),
        ]
    for got, want in pairs:
        assert isinstance(got, la.NDArray) and got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)
    kept = la.zeros((1, 3))
    special.expit(x, out=kept, where=x > 0)
    np.testing.assert_array_equal(kept.asnumpy() == 0, h <= 0)
    with pytest.raises(TypeError, match="expit"):
        special.expit(la.array([1j]))
    with pytest.raises(TypeError, match="order"):
        special.expit(x, order="F")
    assert np.add(la.ones((2, 3)), 1, order="F").flags["F_CONTIGUOUS"]


def test_other_types_get_their_turn():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, x):
            return "mine"

    class Eager:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "eager"

    assert la.ones(2) + Other() == "mine"
    assert np.add(la.ones(2), Eager()) == "eager"
    assert np.add(Eager(), la.ones(2)) == "eager"


def test_functions_run_here():
    x, h = la.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    for call in (
        lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.stack([a, a]),
        lambda a: np.sum(a, axis=0),
        lambda a: np.mean(a),
        lambda a: np.transpose(a),
        lambda a: np.reshape(a, (3, 2)),
        lambda a: np.where(a > 2, a, 0),
        lambda a: np.zeros_like(a),
        lambda a: np.full_like(a, 2),
        lambda a: np.linspace(a[0], a[1], 3),
        lambda a: np.triu(a),
        lambda a: np.copy(a),
        lambda a: np.real(a),
        lambda a: np.std(a, axis=1),
    ):
        got, want = call(x), call(h)
        assert isinstance(got, la.NDArray)
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert isinstance(np.array([1, 2], like=x), la.NDArray)
    assert isinstance(np.zeros(3, like=x), la.NDArray)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6 and np.size(x, 1) == 3
    assert np.result_type(x, 1) == np.float64
    assert np.shares_memory(x, x[0]) and not np.may_share_memory(x, la.ones(3))
    np.testing.assert_array_equal(np.meshgrid(x[0], x[1])[1].asnumpy(), np.meshgrid(h[0], h[1])[1])


@pytest.mark.skipif(not hasattr(la, "linalg"), reason="not built yet")
def test_functions_of_submodules_run_here():
    h = np.array([[2.0, 1.0], [1.0, 3.0]])
    got = np.linalg.inv(la.array(h))
    assert isinstance(got, la.NDArray)
    np.testing.assert_array_equal(got.asnumpy(), np.linalg.inv(h))


def test_numpys_copyto():
    x, host = la.arange(3.0), np.zeros(3)
    np.copyto(host, x)
    assert host.tolist() == [0, 1, 2]
    y = la.zeros(3)
    np.copyto(y, x)
    np.copyto(y, 9, where=np.array([True, False, False]))
    assert y.asnumpy().tolist() == [9, 1, 2]
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(la.zeros(3, int), x)


def test_unknown_functions_are_named():
    x = la.ones(3)
    file = io.BytesIO()
    np.save(file, x)  # as la.save's
    assert np.load(io.BytesIO(file.getvalue())).tolist() == [1, 1, 1]
    dispatched = np._core.overrides.array_function_dispatch(lambda a: (a,), module="numpy")
    with pytest.raises(TypeError, match=r"numpy\.of_tomorrow\(\) has no counterpart"):
        dispatched(of_tomorrow)(x)
    assert np.emath.sqrt(-x).tolist() == [1j, 1j, 1j]  # of its modules, too


def of_tomorrow(a):
    """A function that NumPy may have one day."""


def test_functions_of_numpys_own_arrays_alone():
    """Matrices and masked arrays: NumPy's function runs at once, as what it gives says."""
    m, masked = np.asmatrix("1 2; 3 4"), np.ma.array([1.0, 4.0, 9.0], mask=[0, 1, 0])
    for call in (np.exp, np.sqrt, np.transpose, np.linalg.inv, np.asanyarray):
        got = getattr(la.linalg if call is np.linalg.inv else la, call.__name__)(m)
        assert type(got) is np.matrix and np.array_equal(got, call(m))
    assert type(la.dot(m, m)) is type(la.add(m, 1)) is type(la.multiply(2.0, m)) is np.matrix
    assert la.sqrt(masked).mask.tolist() == [False, True, False]
    assert isinstance(la.array(m), la.NDArray) and isinstance(la.sum(m), la.Scalar)
    assert isinstance(la.mean(masked), la.Scalar) and la.mean(masked).item() == 5
    with pytest.raises(np.linalg.LinAlgError):
        la.linalg.inv(np.asmatrix("1 1; 1 1"))
    with pytest.raises(ValueError, match="align"):
        la.dot(m, np.asmatrix("1 2 3"))
    assert type(la.add(m, la.ones((2, 2)))) is np.matrix


def test_numpys_arrays_on_the_left():
    """NumPy asks our arrays first, whose operators take them as they take NumPy's on the right."""
    host, x = np.arange(4.0).reshape(2, 2), la.arange(4.0).reshape(2, 2)
    for f in (
        operator.matmul,
        operator.mul,
        operator.sub,
        operator.truediv,
        operator.lt,
        operator.eq,
    ):
        with np.errstate(all="ignore"):
            for a, b in ((host, x), (host[0], x), (host, x[0]), (host[0], x[0]), (x, host)):
                got, want = f(a, b), f(np.asarray(a), np.asarray(b))
                assert isinstance(got, la.NDArray) and got.dtype == want.dtype
                np.testing.assert_array_equal(got.asnumpy(), want)
    for odd in (np.array([["a", "b"]]), np.array([[None, 1]])):
        with pytest.raises((TypeError, ValueError)):
            operator.sub(odd, x)
    with pytest.raises(ValueError):
        np.asarray(np.ones((3, 3)) @ x)
    assert isinstance(np.exp(x), la.NDArray) and isinstance(np.dot(host, x), la.NDArray)
    out = np.zeros((2, 2))
    assert np.dot(host, x, out) is out and out[1, 1] == (host @ host)[1, 1]


LIKE = """array([1]) asarray(1) asanyarray(1) ascontiguousarray(1) asfortranarray(1) require(1) empty(3) full(3,1) ones(3)
zeros(3) arange(3) eye(2) identity(2) tri(2) frombuffer(b"12345678") fromstring("1",sep=",") loadtxt(["1"])
fromiter([1],int) fromfunction(abs,(2,))"""  # noqa: E501


@pytest.mark.parametrize("call", LIKE.split())
def test_like_is_asked_or_refused(call):
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__, types, args, kwargs

    named = f"{call[:-1]}, like=like)"
    for like in (1, [1.0], "x", 2.5):
        for xp in (np, la):
            with pytest.raises(TypeError, match="must be an array-like that implements"):
                eval(f"xp.{named}", {"xp": xp, "like": like})
    got, want = [eval(f"xp.{named}", {"xp": xp, "like": Other()}) for xp in (la, np)]
    assert got[:3] == want[:3]  # (NumPy tells of its defaults, too)
    for like in (None, np.ones(2), la.ones(2), la.ones(2)[0]):
        assert isinstance(eval(f"la.{named}", {"la": la, "like": like}), la.NDArray)
