"""Creation against NumPy: values, layouts, devices, errors."""

import inspect

import numpy as np
import pytest

import lazyarray as la

CALLS = [
    "array([[1, 2], [3, 4]])",
    "array([1, 2], dtype='float32')",
    "array(3)",
    "array(2.5)",
    "array([])",
    "array([True, False])",
    "array([1 + 2j])",
    "array([[1, 2], [3, 4]], order='F')",
    "array([1, 2], ndmin=3)",
    "array(np.arange(6).reshape(2, 3).T)",
    "array(np.arange(6).reshape(2, 3).T, order='C')",
    "array(range(4))",
    "array([[1], [1, 2]])",
    "array([1, 2], dtype='nope')",
    "array(1, order='Q')",
    "array([300], dtype='uint8')",
    "asarray([1, 2])",
    "asanyarray([1, 2])",
    "ascontiguousarray(np.arange(6).reshape(2, 3).T)",
    "ascontiguousarray(3)",
    "asfortranarray([[1, 2], [3, 4]])",
    "zeros(3)",
    "zeros((2, 3), 'int32')",
    "zeros((2, 3), order='F')",
    "zeros(())",
    "zeros((2, 0, 3))",
    "zeros(-1)",
    "zeros((2, -3))",
    "zeros(2.5)",
    "zeros('a')",
    "zeros(None)",
    "zeros((2**62, 2**10))",
    "zeros(2**70)",
    "zeros((1,) * 65)",
    "zeros(np.int32(3))",
    "zeros([2, np.int8(3)])",
    "ones(3)",
    "ones((2, 2), dtype=bool)",
    "ones(2, complex)",
    "full(3, 7)",
    "full((2, 2), 1.5)",
    "full((2, 2), [1, 2])",
    "full(2, [1, 2, 3])",
    "full(2, True)",
    "full(2, 1j)",
    "full(2, 300, dtype='uint8')",
    "full(2, -1, dtype='uint64')",
    "full(2, 2.7, dtype='int64')",
    "full((2, 2), np.float32(3))",
    "full((2, 3), 1, order='F')",
    "zeros_like([[1, 2], [3, 4]])",
    "ones_like(2.5)",
    "zeros_like([1, 2], dtype='float32')",
    "zeros_like([1, 2], shape=(3, 2))",
    "full_like([1, 2], 1.5)",
    "full_like([1.0, 2], 1.5)",
    "full_like([1.0, 2], [3, 4])",
    "eye(3)",
    "eye(2, 3, 1)",
    "eye(3, 2, k=-1, dtype='int8')",
    "eye(3, k=5)",
    "eye(3, order='F')",
    "eye(-1)",
    "eye(2.5)",
    "identity(3)",
    "identity(2, 'int64')",
    "identity(-2)",
    "diag([1, 2, 3])",
    "diag([1, 2], 1)",
    "diag([1, 2], k=-2)",
    "diag([[1, 2, 3], [4, 5, 6]])",
    "diag([[1, 2, 3], [4, 5, 6]], 1)",
    "diag(np.zeros((2, 2, 2)))",
    "diagflat([[1, 2], [3, 4]])",
    "diagflat([1, 2], -1)",
    "tri(3)",
    "tri(3, 4, 1)",
    "tri(3, 2, -1, dtype=int)",
    "tri(2, dtype=bool)",
    "tril(np.arange(12).reshape(3, 4))",
    "tril(np.arange(12).reshape(3, 4), -1)",
    "tril(np.arange(12.0).reshape(2, 3, 2), 1)",
    "triu(np.arange(12).reshape(3, 4))",
    "triu([1, 2, 3])",
    "triu(np.ones((3, 3), dtype=bool), 1)",
    "indices((2, 3))",
    "indices((2, 3), dtype='float32')",
    "arange(5)",
    "arange(2, 8)",
    "arange(2, 8, 3)",
    "arange(8, 2, -3)",
    "arange(5, 2)",
    "arange(0, 1, 0.1)",
    "arange(1.5)",
    "arange(3, dtype='float32')",
    "arange(np.int8(3))",
    "arange(np.float32(3))",
    "arange(20000)",
    "arange(1, 30000, 2, dtype='int16')",
    "arange(0, 10000, 0.5)",
    "arange(np.float32(0.1), 20000)",
    "arange(20000, 0, -1)",
    "arange(np.uint64(20000))",
    "arange(0, 2j, 1)",
    "arange(0, 1, 0)",
    "arange(20000, dtype=bool)",
    "arange(0, float('nan'))",
    "arange(0, float('inf'))",
    "arange()",
    "arange(None)",
    "arange('a')",
    "linspace(0, 1)",
    "linspace(0, 1, 7)",
    "linspace(0, 1, 7, endpoint=False)",
    "linspace(0, 1, 1)",
    "linspace(0, 1, 0)",
    "linspace(2, 3, 5, dtype='int32')",
    "linspace([0, 1], [2, 3], 4)",
    "linspace([0, 1], [2, 3], 4, axis=1)",
    "linspace(0, 1j, 3)",
    "linspace(np.float32(0), 1, 3)",
    "linspace(0, 1, 20000)",
    "linspace([0, 1], [2, 3], 9000, axis=-1)",
    "linspace(0, 1, -1)",
    "linspace(0, 1, 2.5)",
    "linspace([1, 2], [1, 2, 3])",
    "logspace(0, 2, 5)",
    "logspace(0, 2, 5, base=2)",
    "logspace(0, 2, 9000, endpoint=False)",
    "geomspace(1, 1000, 4)",
    "geomspace(-1, -8, 4)",
    "geomspace(0, 1)",
    "geomspace(1, 5, 9000)",
]


def outcome(space, call):
    try:
        with np.errstate(all="ignore"):
            r = eval(call, {"np": np, **{n: getattr(space, n) for n in (call.split("(")[0],)}})
    except Exception as exc:
        return exc
    return r


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_equals_numpy(call):
    want, got = outcome(np, call), outcome(la, call)
    if isinstance(want, Exception):
        assert type(got) is type(want), repr(got)
        return
    assert isinstance(got, la.NDArray), repr(got)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert got.ndim < 2 or got.strides == want.strides or 0 in got.shape
    np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize(
    "call",
    [
        "zeros(-1)",
        "zeros((2**62, 2**10))",
        "zeros(2**70)",
        "zeros(2.5)",
        "eye(2.5)",
        "arange(0, 1, 0)",
        "arange()",
        "linspace(0, 1, -1)",
        "geomspace(0, 1)",
        "full(2, 300, dtype='uint8')",
        "full(2, [1, 2, 3])",
        "diag(np.zeros((2, 2, 2)))",
        "array([[1], [1, 2]])",
    ],
)
def test_error_texts_are_numpys(call):
    assert str(outcome(la, call)) == str(outcome(np, call))


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
@pytest.mark.parametrize("function", ["zeros_like", "ones_like", "empty_like"])
def test_like_keeps_memory_order(function, order):
    host = np.arange(24.0).reshape(2, 3, 4)
    for take in (lambda a: a, lambda a: a.T, lambda a: a.transpose(1, 0, 2), lambda a: a[:, ::2]):
        want = getattr(np, function)(take(host), order=order)
        got = getattr(la, function)(take(la.array(host)), order=order)
        assert got.strides == want.strides and got.shape == want.shape
    assert la.zeros_like(la.ones((2, 3)), dtype="int8", shape=4).asnumpy().tolist() == [0] * 4


@pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", "i4,f4"])
@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
def test_other_dtypes_are_numpys(dtype):
    want = np.zeros(2, dtype)
    for got in (la.zeros(2, dtype), la.array(want), la.empty_like(want)):
        assert type(got) is np.ndarray and got.dtype == want.dtype and got.shape == (2,)


MAKERS = {
    "array": lambda **k: la.array([1, 2], **k),
    "asarray": lambda **k: la.asarray([1, 2], **k),
    "zeros": lambda **k: la.zeros(2, **k),
    "ones": lambda **k: la.ones(2, **k),
    "empty": lambda **k: la.empty(2, **k),
    "full": lambda **k: la.full(2, 3, **k),
    "zeros_like": lambda **k: la.zeros_like([1, 2], **k),
    "ones_like": lambda **k: la.ones_like([1, 2], **k),
    "empty_like": lambda **k: la.empty_like([1, 2], **k),
    "full_like": lambda **k: la.full_like([1, 2], 3, **k),
    "eye": lambda **k: la.eye(2, **k),
    "identity": lambda **k: la.identity(2, **k),
    "tri": lambda **k: la.tri(2, **k),
    "arange": lambda **k: la.arange(2, **k),
    "arange large": lambda **k: la.arange(20000, **k),
    "linspace": lambda **k: la.linspace(0, 1, 3, **k),
    "linspace large": lambda **k: la.linspace(0, 1, 20000, **k),
    "logspace": lambda **k: la.logspace(0, 1, 3, **k),
    "geomspace": lambda **k: la.geomspace(1, 2, 3, **k),
}


@pytest.mark.parametrize("name", MAKERS)
def test_devices(name):
    make = MAKERS[name]
    one = la.cpu(1)
    assert make().device == la.current_context()
    assert make(ctx=one).device == make(device=one).device == make(device="cpu:1").device == one
    assert make(ctx=one, device="cpu:1").device == one
    with one:
        assert make().device == one
        assert make(ctx=la.cpu(0)).device == la.cpu(0)
    with pytest.raises(ValueError, match=r"ctx=cpu\(1\) and device=cpu\(2\)"):
        make(ctx=one, device=la.cpu(2))
    with pytest.raises(RuntimeError, match=r"gpu\(9\)"):
        make(ctx="gpu:9")
    with pytest.raises(RuntimeError, match=r"gpu\(9\)"):
        make(device=la.Context("gpu", 9))
    with pytest.raises(TypeError, match="a device is a Context"):
        make(ctx=3)
    with pytest.raises(ValueError, match="unknown device type"):
        make(device="tpu")


def test_new_arrays_join_the_arrays_they_are_made_of():
    x = la.ones(3, ctx=la.cpu(1))
    for y in (
        la.zeros_like(x),
        la.full_like(x, 2),
        la.full(3, x[0]),
        la.diag(x),
        la.tril(la.ones((2, 2), ctx=la.cpu(1))),
        la.linspace(x, 2, 3),
        *la.meshgrid(x, [1, 2]),
    ):
        assert y.device == la.cpu(1)
    moved = la.array(x, "int8", ctx=la.cpu(0))
    assert moved.device == la.cpu(0) and moved.asnumpy().tolist() == x.asnumpy().tolist()
    assert la.asarray(x, device=x.device) is x
    with pytest.raises(ValueError, match=r"copy.*cpu\(1\).*cpu\(0\)"):
        la.asarray(x, copy=False, device=la.cpu(0))
    before = la.current_context()
    with pytest.raises(RuntimeError, match=r"gpu\(9\)"), la.Context("gpu", 9):
        pass
    assert la.current_context() == before


def test_fills_are_recorded_not_run():
    # Nothing is allocated for an array that nobody writes.
    before = la.storage.pool_stats(la.current_context())["in_use"]
    x = la.empty(1 << 28)
    assert la.storage.pool_stats(la.current_context())["in_use"] == before
    assert x.nbytes == 1 << 31


def test_signatures_take_dtype_and_ctx_in_this_order():
    for name in ("array", "zeros", "ones", "empty"):
        assert list(inspect.signature(getattr(la, name)).parameters)[1:3] == ["dtype", "ctx"]
