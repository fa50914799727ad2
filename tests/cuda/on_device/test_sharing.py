"""Memory shared with CuPy, callables on a worker's stream, gradients, programs, transfers."""

import numpy as np
import pytest

import lazyarray as la

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")


def test_ascupy_shares(gpu):
    x = la.arange(6.0).reshape(2, 3)
    c = x.T.ascupy()
    assert isinstance(c, cupy.ndarray)
    assert (c.shape, c.strides) == ((3, 2), (8, 24))
    c += 1  # on CuPy's own stream: the next op waits for it
    x *= 2  # and is over when its call returns
    np.testing.assert_array_equal(cupy.asnumpy(c), (np.arange(6.0).reshape(2, 3).T + 1) * 2)


def test_imports_share(gpu):
    c = cupy.asarray(np.arange(5.0))
    x = la.from_dlpack(c)
    assert x.ctx == la.gpu(0)
    x[1:] += 10
    np.testing.assert_array_equal(cupy.asnumpy(c), [0, 11, 12, 13, 14])
    y = la.from_dlpack(c[2:])
    assert y.var == x.var
    assert la.from_dlpack(c, copy=True).var != x.var
    with pytest.raises(ValueError, match=r"gpu\(0\)"):
        la.from_dlpack(c, device="cpu:0", copy=False)
    np.testing.assert_array_equal(la.from_dlpack(c, device="cpu:0").asnumpy(), cupy.asnumpy(c))


class Other:
    """Another library's array on a part of one of CuPy's."""

    def __init__(self, memory, first, shape, strides=None, readonly=False):
        self.memory = memory
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": memory.dtype.str,
            "data": (memory.data.ptr + first * memory.itemsize, readonly),
            "strides": strides,
            "version": 3,
        }


def test_neighbours_are_not_of_one_memory(gpu):
    m = cupy.arange(128.0)
    x, y = la.from_dlpack(Other(m, 0, (64,))), la.from_dlpack(Other(m, 64, (64,)))
    assert x.var != y.var
    x += 1
    np.testing.assert_array_equal(y.asnumpy(), np.arange(64.0, 128))
    assert la.from_dlpack(Other(m, 64, (0,))).size == 0


def test_a_part_that_comes_before_the_whole(gpu):
    m = cupy.arange(4096.0)
    part, whole = la.from_dlpack(Other(m, 0, (4,))), la.from_dlpack(Other(m, 0, (4096,)))
    np.testing.assert_array_equal(la.percentile(whole, [10, 90]).asnumpy(), [409.5, 3685.5])
    whole **= 2
    part += 1
    np.testing.assert_array_equal(whole.asnumpy()[:6], [1, 2, 5, 10, 16, 25])


@pytest.mark.parametrize(
    "first, shape, steps",
    [(0, (30, 5), (8, 8)), (99, (100,), (-8,)), (7, (6,), (0,)), (50, (5, 5), (-80, 16))],
)
def test_memory_whose_length_the_interface_does_not_tell(gpu, first, shape, steps):
    m = np.sqrt(np.arange(200.0))
    want = np.lib.stride_tricks.as_strided(m[first:], shape, steps)
    x = la.from_dlpack(Other(cupy.asarray(m), first, shape, steps))
    np.testing.assert_array_equal(x.asnumpy(), want)
    np.testing.assert_allclose(la.percentile(x, [10, 90]).asnumpy(), np.percentile(want, [10, 90]))


def test_what_is_read_only_stays_so(gpu):
    m = cupy.arange(4.0)
    x = la.from_dlpack(Other(m, 0, (4,), readonly=True))
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    seen = la.broadcast_to(la.ones(1), (3,)).__cuda_array_interface__
    assert seen["data"][1]
    s = la.ones(3).sum()
    theirs = s.ascupy()
    theirs *= 2
    assert s.item() == 3


def test_memory_that_is_not_aligned_is_refused(gpu):
    m = cupy.arange(64, dtype="u1")
    odd = Other(m, 1, (4,))
    odd.__cuda_array_interface__["typestr"] = "<f8"
    with pytest.raises(ValueError, match="not aligned"):
        la.from_dlpack(odd)


def test_complex_numbers_at_the_place_of_any_float(gpu):
    """cuBLAS and CuPy want them at multiples of their own size."""
    b = np.arange(2 * 9 + 1.0)
    z, want = la.array(b)[1:].view("complex128"), b[1:].view("complex128")
    np.testing.assert_allclose((z.reshape(3, 3) @ z.reshape(3, 3)).asnumpy(),
                               want.reshape(3, 3) @ want.reshape(3, 3))  # fmt: skip
    np.testing.assert_array_equal(la.sort(z[::-1]).asnumpy(), want)


def test_copies_of_cupys_arrays(gpu):
    c = cupy.asarray(np.arange(3))
    x = la.array(c)
    c += 1
    assert (x.tolist(), x.ctx, x.dtype) == ([0, 1, 2], la.gpu(0), np.dtype("int64"))
    assert (la.ones(3) * c).tolist() == [1, 2, 3]


def test_cuda_array_interface(gpu):
    x = la.arange(4.0)[1:]
    seen = x.__cuda_array_interface__
    assert (seen["shape"], seen["typestr"], seen["version"]) == ((3,), "<f8", 3)
    c = cupy.asarray(x)
    x += 1
    assert c.data.ptr == seen["data"][0]
    np.testing.assert_array_equal(cupy.asnumpy(c), [2, 3, 4])
    assert la.from_dlpack(c).var == x.var  # one memory, one variable
    with la.cpu():
        assert not hasattr(la.ones(2), "__cuda_array_interface__")
        with pytest.raises(TypeError, match=r"cpu\(0\)"):
            la.ones(2).ascupy()


def test_the_hosts_ways_in_say_what_to_do(gpu):
    x = la.ones(3)
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(x, copy=False)
    with pytest.raises(TypeError, match="float128"):
        la.ones(3, dtype="g")
    assert np.asarray(x).tolist() == [1, 1, 1]
    assert x.__dlpack_device__() == (2, 0)


def test_a_callable_on_the_workers_stream(gpu):
    x, y = la.arange(4.0), la.zeros(4)
    z = x * 2

    def work(run_ctx):
        run_ctx.cupy(y)[...] = run_ctx.cupy(z) + 1

    la.engine.get().push_sync(work, gpu, const_vars=[z.var], mutable_vars=[y.var])
    np.testing.assert_array_equal((y * 10).asnumpy(), [10, 30, 50, 70])
    errors = []

    def wrong(run_ctx):
        for method in (run_ctx.numpy, run_ctx.cupy):
            try:
                method(x)
            except (TypeError, ValueError) as exc:
                errors.append(type(exc))

    la.engine.get().push_sync(wrong, gpu, mutable_vars=[y.var])
    y.wait_to_read()
    assert errors == [ValueError, ValueError]  # x was not declared


def test_operands_on_two_devices(gpu):
    with pytest.raises(ValueError, match=r"cpu\(0\) and gpu\(0\)"):
        la.ones(3, ctx=la.cpu()) + la.ones(3)
    x = la.ones((2, 2), ctx=la.cpu())
    y = la.zeros((2, 2))
    x.T.copyto(y[:, ::-1])
    assert y.tolist() == [[1, 1], [1, 1]]
    assert (x.as_in_context(gpu) + y).as_in_context(la.cpu()).ctx == la.cpu()


def test_gradients_cross_devices(gpu):
    with la.cpu():
        w = la.arange(3.0)
        w.attach_grad()
        with la.autograd.record():
            loss = (w.to_device(gpu) ** 2).sum().as_in_context(la.cpu()) * 3
        loss.backward()
    assert (w.grad.tolist(), w.grad.ctx) == ([0, 6, 12], la.cpu())


def test_programs(gpu):
    @la.compile
    def step(x, w):
        z = la.tanh(x @ w)
        e = la.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    w = rng.normal(size=(30, 10))
    results = []
    for _ in range(4):  # pending together: they share what lies between
        x = rng.normal(size=(20, 30))
        results.append((x, step(la.array(x), la.array(w))))
    for x, y in results:
        e = np.exp(np.tanh(x @ w))
        np.testing.assert_allclose(y.asnumpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-12)


def test_training_by_a_program(gpu):
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(32, 5)), rng.normal(size=(32, 1))
    w = la.array(rng.normal(size=(5, 1)))
    w.attach_grad()

    @la.compile
    def step(x, t):
        with la.autograd.record():
            loss = ((x @ w - t) ** 2).mean()
        loss.backward()
        w[...] = w - 0.1 * w.grad
        return loss

    v = w.asnumpy()
    for _ in range(5):
        loss = step(la.array(x), la.array(t))
        r = x @ v - t
        np.testing.assert_allclose(float(loss), (r**2).mean(), rtol=1e-10)
        v = v - 0.1 * (2 / 32) * (x.T @ r)
    np.testing.assert_allclose(w.asnumpy(), v, rtol=1e-10)


def test_pinned_memory_in_turn(gpu):
    """The device reads and writes it by itself, so what the host does next has to wait for that."""
    p = la.zeros(5000, ctx=la.cpu_pinned())
    got = []
    for _ in range(6):
        p += 1
        got.append(p.copyto(gpu) * 1.0)
    q = la.empty(5000, ctx=la.cpu_pinned())
    (got[-1] * 2).copyto(q)
    q += 1
    assert [float(g.max()) for g in got] == [1, 2, 3, 4, 5, 6]
    assert [float(g.min()) for g in got] == [1, 2, 3, 4, 5, 6]
    assert q.asnumpy().tolist() == [13.0] * 5000


@pytest.mark.skipif(la.gpu_count() < 2, reason="one GPU")
def test_from_gpu_to_gpu(gpu):
    x = la.arange(100.0)
    y = (x * 2).copyto(la.gpu(1))
    x[...] = 0
    assert float((y + 1).sum()) == 2 * 4950 + 100
    with pytest.raises(ValueError, match=r"gpu\(0\) and gpu\(1\)"):
        x + y
    y[:50].copyto(x[50:])
    assert x.to_device("cpu:0").tolist() == [0] * 50 + [2.0 * i for i in range(50)]


def test_cupys_functions_get_what_our_pool_keeps(gpu):
    pool = cupy.get_default_memory_pool()
    la.storage.trim(gpu)
    x = la.ones(1 << 20)
    x.wait_to_read()
    before = pool.get_limit()
    pool.set_limit(pool.total_bytes() + (48 << 20))
    try:
        kept = [la.ones(1 << 18) + i for i in range(22)]
        la.waitall()
        del kept
        np.testing.assert_array_equal(la.sort(x).asnumpy(), 1)
    finally:
        pool.set_limit(before)


def test_draws_with_a_parameter_of_zero(gpu):
    drawn = la.random.default_rng(3).weibull(la.array([0.0, 1.0, 0.0]), (50, 3)).asnumpy()
    assert not drawn[:, ::2].any() and (drawn[:, 1] > 0).all()


@pytest.mark.parametrize("name", ["cholesky", "eigvalsh", "svdvals", "matrix_rank"])
@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_matrices_that_are_not_finite_are_the_hosts(gpu, name, odd):
    a = np.array([[odd, 1.0], [1.0, 2.0]])
    found = []
    for device in (la.cpu(0), gpu):
        try:
            found.append(getattr(la.linalg, name)(la.array(a, device=device)).tolist())
        except np.linalg.LinAlgError as error:
            found.append(str(error))
    assert str(found[0]) == str(found[1])
