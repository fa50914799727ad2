"""Random numbers: NumPy's streams value for value, in push order, on each device."""

import copy
import pickle
import re
import threading
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import lazyarray as la
from tests.streams import default_rng, seeded

asynchronous = pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="the naive engine raises at the call"
)

DRAWS = [
    "random()",
    "random(3)",
    "random((2, 3), dtype='float32')",
    "random((0, 3))",
    "standard_normal()",
    "standard_normal((2, 2), dtype='float32')",
    "standard_normal(5000)",
    "uniform()",
    "uniform(2, 5, 4)",
    "uniform([0, 10], [1, 20])",
    "uniform([[0], [10]], 30, size=(2, 3))",
    "normal()",
    "normal(1, 2, (3, 2))",
    "normal([0, 100], 0.5, size=(3, 2))",
    "normal(size=20000)",
    "integers(10)",
    "integers(10, size=5)",
    "integers(-3, 3, (2, 4))",
    "integers(0, 3, 5, dtype='int8', endpoint=True)",
    "integers(0, 2, 9, dtype=bool)",
    "integers([1, 10], [5, 1000], size=(4, 2))",
    "integers(2**64 - 5, 2**64, 3, dtype='uint64')",
    "exponential(2, 3)",
    "gamma(2.0, size=3)",
    "gamma([1, 2], 3)",
    "beta(2, 3, 4)",
    "poisson(4, 3)",
    "binomial(10, 0.3, 4)",
    "choice(5)",
    "choice(5, 3)",
    "choice(5, (2, 2), replace=False)",
    "choice(5, 3, p=[0.1, 0.2, 0.3, 0.4, 0.0])",
    "choice([3, 1, 4, 1], 2)",
    "choice(np.arange(12).reshape(3, 4), 2, axis=1)",
    "choice(np.arange(12).reshape(3, 4))",
    "choice(6, 4, replace=False, shuffle=False)",
    "choice(5, 0)",
    "permutation(6)",
    "permutation(-2)",
    "permutation([3, 1, 2])",
    "permutation(np.arange(12).reshape(3, 4), axis=1)",
    "chisquare(3.0, 2)",
    "f(2.0, [3.0, 8.0])",
    "geometric(0.3, 3)",
    "gumbel(1, 2, 2)",
    "gumbel(size=(2, 2))",
    "hypergeometric(15, 10, 5, 3)",
    "hypergeometric([15, 3], 10, [[5], [2]])",
    "laplace(1, 2, 2)",
    "logistic(size=3)",
    "lognormal(0, [0.5, 1])",
    "logseries(0.6, 3)",
    "negative_binomial(3, 0.5, 3)",
    "noncentral_chisquare(3, 2, 2)",
    "noncentral_f(3, 8, 2, size=(1, 2))",
    "pareto(3, 2)",
    "power([5, 2])",
    "rayleigh(2)",
    "standard_cauchy()",
    "standard_cauchy((2, 3))",
    "standard_t(5, 3)",
    "triangular(-5, [-4, -3.5], -3)",
    "vonmises(0, [1, 4])",
    "wald(3, 2, 2)",
    "weibull(5, (2, 0))",
    "zipf(2.5, 9)",
    "standard_exponential(3)",
    "standard_exponential((2, 2), 'float32', 'inv')",
    "standard_gamma(2)",
    "standard_gamma([1, 2], (3, 2), dtype='f4')",
    "standard_gamma(2, dtype='f4')",
    "standard_gamma(2, 3, 'f4')",
    "standard_gamma([[1], [2]])",
    "dirichlet([1, 2, 3])",
    "dirichlet([1.0, 2], (2, 3))",
    "multinomial(10, [0.2, 0.3, 0.5])",
    "multinomial(10, [0.2, 0.3, 0.5], 4)",
    "multinomial([5, 6], [[0.5, 0.5], [0.2, 0.8]])",
    "multinomial([5, 6], [0.5, 0.5], size=(3, 2))",
    "multinomial(5, [0.5, 0.5], size=0)",
    "multivariate_hypergeometric([4, 6, 2], 5)",
    "multivariate_hypergeometric([4, 6], 5, (2, 2), 'count')",
    "multivariate_normal([0, 1], [[2, 0.5], [0.5, 1]])",
    "multivariate_normal([0, 1], [[2, 0.5], [0.5, 1]], (2, 2), method='cholesky')",
    "multivariate_normal([0, 1], np.eye(2), 5, 'raise', 1e-6, method='eigh')",
    "permuted([[1, 2, 3], [4, 5, 6]])",
    "permuted([[1, 2, 3], [4, 5, 6]], axis=1)",
    "permuted(np.arange(6.0).reshape(3, 2).T, axis=-2)",
]

BAD = [
    "random(-1)",
    "random(3, dtype='int64')",
    "random(2.5)",
    "uniform(0, float('inf'), 2)",
    "uniform(0, [1, float('nan')])",
    "normal(0, -1)",
    "normal(0, [1, -1])",
    "normal([1, 2], 1, size=3)",
    "normal('a')",
    "integers(0)",
    "integers(3, 3)",
    "integers([1, 2], [0, 5])",
    "integers(0, 300, dtype='uint8')",
    "integers(0, 3, dtype='float64')",
    "exponential(-1)",
    "poisson(-1)",
    "binomial(-1, 0.5)",
    "binomial(3, 1.5)",
    "gamma(-1)",
    "beta(0, 1)",
    "choice(0)",
    "choice(-1)",
    "choice([])",
    "choice(3, 5, replace=False)",
    "choice(3, p=[0.5, 0.5])",
    "choice(2, p=[0.5, 0.6])",
    "choice(2, p=[-0.5, 1.5])",
    "choice(3, 2, replace=False, p=[1.0, 0, 0])",
    "choice(np.zeros((2, 2)), axis=2)",
    "permutation(np.zeros((2, 2)), axis=5)",
    "uniform(5, 2)",
    "chisquare(0)",
    "f(0, 1)",
    "geometric(0)",
    "gumbel(0, -1)",
    "hypergeometric(1, 1, 5)",
    "laplace(0, -1)",
    "logistic(0, [1, -1])",
    "lognormal(0, -1)",
    "logseries(2)",
    "negative_binomial(0, 0.5)",
    "noncentral_chisquare(0, 1)",
    "noncentral_f(1, 1, -1)",
    "pareto(0)",
    "power(0)",
    "rayleigh(-1)",
    "standard_t(0)",
    "triangular(5, 2, 1)",
    "triangular(0, 0, 0)",
    "vonmises(0, -1)",
    "wald(0, 1)",
    "weibull(-1)",
    "zipf(1)",
    "beta(1)",
    "standard_exponential(3, 'i4')",
    "standard_gamma(-1)",
    "standard_gamma(1, dtype='f2')",
    "dirichlet([1, -2])",
    "dirichlet([[1, 2], [3, 4]])",
    "multinomial(5, 0.5)",
    "multinomial(5, [])",
    "multinomial(-5, [0.5, 0.5])",
    "multinomial(5, [0.9, 0.9, 0.1])",
    "multinomial([5, 6], [0.5, 0.5], size=3)",
    "multivariate_hypergeometric([3, 4], 10)",
    "multivariate_hypergeometric([3, 4], -1)",
    "multivariate_hypergeometric([[3, 4]], 1)",
    "multivariate_hypergeometric([3, 4.5], 1)",
    "multivariate_hypergeometric([3, 4], 1, method='k')",
    "multivariate_normal([[0, 1]], np.eye(2))",
    "multivariate_normal([0, 1], [1, 0])",
    "multivariate_normal([0, 1], [[1, 0]])",
    "multivariate_normal([0, 1, 2], np.eye(2))",
    "multivariate_normal([0, 1], np.eye(2), check_valid='a')",
    "multivariate_normal([0, 1], np.eye(2), method='a')",
    "multivariate_normal([0, 1], np.eye(2) * 1j)",
    "permuted(5)",
    "permuted([1, 2], axis=1)",
    "shuffle((1, 2))",
    "spawn(-1)",
]


def run(generator, call):
    return eval("g." + call, {"g": generator, "np": np})


@pytest.mark.parametrize("call", DRAWS)
def test_equals_numpys_stream(call):
    mine, numpys = la.random.default_rng(3), default_rng(3)
    for _ in range(3):
        got, want = run(mine, call), np.asarray(run(numpys, call))
        assert isinstance(got, la.NDArray)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert mine.random().item() == numpys.random()  # both have drawn as much


@pytest.mark.parametrize("call", BAD)
def test_bad_parameters_raise_at_the_call(call):
    generator, numpys = la.random.default_rng(0), default_rng(0)
    with pytest.raises(Exception) as want:
        run(numpys, call)
    with pytest.raises(type(want.value)):
        run(generator, call)
    # Nothing was drawn, but by multivariate_normal, which looks at some parameters late.
    late = "multivariate_normal([0, 1], np.eye(2)" in call
    assert late or generator.random().item() == default_rng(0).random()


@pytest.mark.parametrize(
    "call", ["normal(0, -1)", "integers(3, 3)", "random(3, dtype='int64')", "beta(0, 1)",
             "normal([1, 2], 1, size=3)", "choice(3, 5, replace=False)", "uniform(5, 2)",
             "multivariate_normal([0, 1, 2], np.eye(2))", "multinomial(5, [])", "zipf(1)",
             "multivariate_normal([0, 1], np.eye(2), method='a')", "standard_gamma(-1)",
             "multivariate_hypergeometric([3, 4.5], 1)", "standard_exponential(3, 'i4')"]
)  # fmt: skip
def test_error_texts_are_numpys(call):
    with pytest.raises(Exception) as want:
        run(default_rng(0), call)
    with pytest.raises(Exception) as got:
        run(la.random.default_rng(0), call)
    assert str(got.value) == str(want.value)


def test_module_functions_are_one_stream():
    la.random.seed(11)
    rng = seeded(11)
    x = la.array(np.arange(10))
    y = np.arange(10)
    draws = [
        (la.random.uniform(size=3), rng.uniform(size=3)),
        (la.random.normal(1, 2, (2, 2)), rng.normal(1, 2, (2, 2))),
        (la.random.standard_normal(3), rng.standard_normal(3)),
        (la.random.random((2, 2)), rng.random((2, 2))),
        (la.random.rand(2, 3), rng.rand(2, 3)),
        (la.random.rand(), rng.rand()),
        (la.random.randn(4), rng.randn(4)),
        (la.random.integers(3, 9, 5), rng.integers(3, 9, 5)),
        (la.random.randint(7, size=(2, 2)), rng.randint(7, size=(2, 2))),
        (la.random.randint(0, 5, 3, "int8"), rng.randint(0, 5, 3, "int8")),
        (la.random.exponential(2, 3), rng.exponential(2, 3)),
        (la.random.gamma(2, 1, 3), rng.gamma(2, 1, 3)),
        (la.random.beta(2, 1, 3), rng.beta(2, 1, 3)),
        (la.random.poisson(3, 3), rng.poisson(3, 3)),
        (la.random.binomial(9, 0.5, 3), rng.binomial(9, 0.5, 3)),
        (la.random.choice(10, 3), rng.choice(10, 3)),
        (la.random.permutation(5), rng.permutation(5)),
    ]
    la.random.shuffle(x)
    rng.shuffle(y)
    draws.append((x, y))
    draws.append((la.random.uniform(), rng.uniform()))
    for got, want in draws:
        np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("n", [5, 50000])
def test_draws_happen_in_push_order_though_results_die_unread(n):
    la.random.seed(1)
    rng = seeded(1)
    for _ in range(5):
        la.random.normal(size=n)  # dead at once, and drawn all the same
        rng.normal(size=n)
    a, b = la.random.random(3), la.random.random(3)
    want_a, want_b = rng.random(3), rng.random(3)
    np.testing.assert_array_equal(b.asnumpy(), want_b)  # read in the other order
    np.testing.assert_array_equal(a.asnumpy(), want_a)
    # A seed takes its turn as well.
    x = la.random.normal(size=n)
    la.random.seed(2)
    y = la.random.random()
    np.testing.assert_array_equal(x.asnumpy(), rng.normal(size=n))
    assert y.item() == seeded(2).random()


def test_every_draw_writes_the_resource():
    rng = la.random.default_rng(0)
    x = la.arange(4)
    for i, draw in enumerate(
        [
            lambda: rng.random(2),
            lambda: rng.normal(size=(300, 300)),
            lambda: rng.shuffle(x),
            lambda: rng.permutation(4),
            lambda: rng.choice(4, 2),
            lambda: rng.integers(3),
        ]
    ):
        draw()
        la.waitall()
        assert rng.var.version == i + 1


@pytest.mark.parametrize("shape", [(10,), (6, 4), (3, 4, 5)])
def test_shuffle_in_place_also_through_views(shape):
    for take in (lambda a: a, lambda a: a.T, lambda a: a[::2], lambda a: a[..., ::-1]):
        for axis in range(len(shape)):
            host = np.arange(float(np.prod(shape))).reshape(shape)
            x = la.array(host)
            la.random.default_rng(4).shuffle(take(x), axis)
            default_rng(4).shuffle(take(host), axis)
            np.testing.assert_array_equal(x.asnumpy(), host)
    with pytest.raises(TypeError):
        la.random.shuffle(la.array(1))
    with pytest.raises(np.exceptions.AxisError):
        la.random.shuffle(la.ones(3), axis=1)


def test_array_parameters_are_asynchronous_inputs():
    rng, mine = default_rng(8), la.random.default_rng(8)
    loc = la.arange(200000.0)
    loc *= 2
    scale = la.array(0.5)
    with la.no_sync():
        x = mine.normal(loc, scale)
        y = mine.normal(la.array([[1.0], [2.0]]), [1, 2, 3], size=(2, 3))
        z = mine.integers(la.array([1, 2]), 10)
        w = mine.integers(la.array(7), size=3)
        p = mine.choice(la.array([5, 6, 7]), 4, p=la.array([0.2, 0.3, 0.5]))
        q = mine.permutation(loc[:5])
    np.testing.assert_array_equal(x.asnumpy(), rng.normal(np.arange(200000.0) * 2, 0.5))
    np.testing.assert_array_equal(y.asnumpy(), rng.normal([[1.0], [2]], [1, 2, 3], (2, 3)))
    np.testing.assert_array_equal(z.asnumpy(), rng.integers([1, 2], 10))
    np.testing.assert_array_equal(w.asnumpy(), rng.integers(np.array(7), size=3))
    np.testing.assert_array_equal(p.asnumpy(), rng.choice([5, 6, 7], 4, p=[0.2, 0.3, 0.5]))
    np.testing.assert_array_equal(q.asnumpy(), rng.permutation(np.arange(5.0) * 2))
    with pytest.raises(ValueError, match="shape mismatch"):
        mine.normal(loc, size=3)
    with pytest.raises(ValueError, match="not compatible with broadcast"):
        mine.normal(loc, size=1)
    with pytest.raises(ValueError, match="scale < 0"):
        mine.normal(loc, -1)


def test_parameters_are_copied_at_the_call():
    loc = np.zeros(100000)
    x = la.random.default_rng(1).normal(loc, 1)
    loc[:] = 1e9
    np.testing.assert_array_equal(x.asnumpy(), default_rng(1).normal(size=100000))


@asynchronous
def test_a_failed_draw_poisons_its_own_result_only():
    mine, rng = la.random.default_rng(0), default_rng(0)
    bad = mine.normal(la.zeros(3), la.array([1.0, -1.0, 1.0]))  # seen only when it runs
    after = mine.random(4)
    np.testing.assert_array_equal(after.asnumpy(), rng.random(4))
    for _ in range(2):
        with pytest.raises(ValueError, match="scale < 0") as caught:
            bad.asnumpy()
        assert "test_random.py" in caught.value.__notes__[0]  # this file, not the package's
    mine._resource.wait_to_read()
    with pytest.raises(ValueError, match="scale < 0"):
        (bad + after.sum()).asnumpy()


@asynchronous
def test_a_poisoned_parameter_poisons_the_result_only():
    la.random.seed(5)
    poisoned = la.random.normal(0, la.array([-1.0]))
    dead = la.random.uniform(poisoned, 1)
    large = la.random.uniform(poisoned, 1, 100000)
    fine = la.random.random(3)
    np.testing.assert_array_equal(fine.asnumpy(), seeded(5).random(3))
    for x in (dead, large):
        with pytest.raises(ValueError, match="scale < 0"):
            x.asnumpy()
    la.random.seed(6)
    assert la.random.random().item() == seeded(6).random()
    with pytest.raises(ValueError, match="scale < 0"):
        la.random.shuffle(poisoned)
        poisoned.asnumpy()
    assert la.random.random() is not None


def test_devices_have_streams_of_their_own():
    la.random.seed(3)
    a = la.random.random(4).asnumpy()
    b = la.random.random(4, ctx=la.cpu(1)).asnumpy()
    c = la.random.random(4, device="cpu:2").asnumpy()
    np.testing.assert_array_equal(a, seeded(3).random(4))
    assert not np.array_equal(a, b) and not np.array_equal(b, c)
    la.random.seed(3)
    np.testing.assert_array_equal(la.random.random(4, ctx=la.cpu(1)).asnumpy(), b)
    la.random.seed(3)
    with la.cpu(1):  # the same stream, however the device is named
        d = [la.random.random(), la.random.normal(la.zeros(())), la.random.random(ctx=la.cpu(1))]
    want = seeded(3, la.cpu(1))
    assert [x.device for x in d] == [la.cpu(1)] * 3
    assert [x.item() for x in d] == [want.random(), want.normal(), want.random()]
    la.random.seed(9, ctx=la.cpu(1))
    np.testing.assert_array_equal(
        la.random.random(4, ctx=la.cpu(1)).asnumpy(), np.random.RandomState(9).random(4)
    )
    # Device 0 went on meanwhile.
    assert la.random.random().item() == seeded(3).random()
    x = la.ones(3, ctx=la.cpu(1))
    assert la.random.normal(x).device == la.random.permutation(x).device == la.cpu(1)
    la.random.shuffle(x)
    with pytest.raises(ValueError, match=r"cpu\(1\).*cpu\(0\)"):
        la.random.normal(x, ctx=la.cpu(0))
    with pytest.raises(ValueError, match=r"cpu\(1\).*cpu\(0\)|cpu\(0\).*cpu\(1\)"):
        la.random.default_rng(0, device="cpu:0").shuffle(x)
    with pytest.raises(ValueError, match="name different devices"):
        la.random.random(2, ctx=la.cpu(0), device=la.cpu(1))
    assert la.random.default_rng(0, device=la.cpu(1)).random(2).device == la.cpu(1)


def test_dtype_casts_what_is_drawn():
    got = la.random.default_rng(2).normal(1, 2, 5, dtype="float32")
    want = default_rng(2).normal(1, 2, 5).astype("float32")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got.asnumpy(), want)
    assert la.random.uniform(size=2, dtype="float16").dtype == np.float16
    with pytest.raises(TypeError, match="Unsupported dtype"):
        la.random.normal(size=2, dtype="int32")


def test_seeds():
    for seed in (0, 2**32 - 1, [1, 2, 3], np.arange(3), np.random.SeedSequence(4)):
        la.random.seed(seed)
        assert la.random.random().item() == seeded(seed).random()
        assert la.random.default_rng(seed).random().item() == default_rng(seed).random()
    assert la.random.default_rng(2**100).random().item() == default_rng(2**100).random()
    la.random.seed()
    a = la.random.random().item()
    la.random.seed()
    assert la.random.random().item() != a
    for bad in (-1, "a", 1.5, [], [[1]]):
        with pytest.raises((ValueError, TypeError)) as want:
            np.random.RandomState(bad)
        with pytest.raises(type(want.value)):
            la.random.seed(bad)
    for bad in (-1, "a", 1.5):
        with pytest.raises((ValueError, TypeError)):
            la.random.default_rng(bad)
    rng = la.random.default_rng(1)
    assert la.random.default_rng(rng) is rng
    assert la.random.default_rng(np.random.default_rng(1)).random().item() == rng.random().item()


def test_pickled_and_copied_generators_go_on_alike():
    rng = la.random.default_rng(1)
    rng.normal(size=100000)
    again = pickle.loads(pickle.dumps(rng))
    other = copy.deepcopy(rng)
    want = rng.random(3).asnumpy()
    np.testing.assert_array_equal(again.random(3).asnumpy(), want)
    np.testing.assert_array_equal(other.random(3).asnumpy(), want)
    assert "PCG64" in repr(rng) and repr(la.current_context()) in repr(rng)


def test_threads_share_a_generator():
    rng = la.random.default_rng(0)
    out = []

    def draw():
        for _ in range(50):
            out.append(rng.random(300))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    got = sorted(x.asnumpy()[0] for x in out)
    rng = default_rng(0)
    want = sorted(rng.random(300)[0] for _ in range(200))
    assert got == want


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("random", ()),
        ("standard_normal", ()),
        ("standard_exponential", ()),
        ("standard_gamma", (2.0,)),
    ],
)
def test_numpys_array_is_an_out(name, given, dtype):
    """It is written when the call returns, and returned; the stream goes on as NumPy's."""
    ours, numpys = la.random.default_rng(3), np.random.default_rng(3)
    got, want = np.zeros((50, 3), dtype), np.zeros((50, 3), dtype)
    assert getattr(ours, name)(*given, out=got, dtype=dtype) is got
    getattr(numpys, name)(*given, out=want, dtype=dtype)
    np.testing.assert_array_equal(got, want)
    assert float(ours.random()) == numpys.random()
    if dtype == "f8":
        la.random.seed(3)
        np.random.seed(3)
        assert getattr(la.random, name)(*given, out=got) is got
        np.testing.assert_array_equal(got, getattr(np.random, name)(*given, size=(50, 3)))


@pytest.mark.host
def test_gammas_are_drawn_into_rows_only():
    for xp, out in [(np, np.zeros((3, 4)).T), (la, np.zeros((3, 4)).T), (la, la.zeros((3, 4)).T)]:
        with pytest.raises(ValueError, match="must be C-contiguous"):
            xp.random.default_rng(0).standard_gamma(2.0, out=out)


@pytest.mark.host
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", ["O", "U3", "M8[D]"])
@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
def test_permuted_takes_what_numpy_holds(axis, dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    want, got = [xp.random.default_rng(3).permuted(x, axis=axis) for xp in (np, la)]
    assert got.dtype == want.dtype and got.tolist() == want.tolist() != x.tolist()
    assert la.random.default_rng(3).permuted(x, axis=axis, out=x) is x
    assert x.tolist() == want.tolist()
    for other in (x.tolist(), np.matrix(x)):
        want, got = [xp.random.default_rng(3).permuted(other, axis=axis) for xp in (np, la)]
        assert got.shape == want.shape and got.tolist() == want.tolist()


@pytest.mark.parametrize("stream", ["default_rng", "RandomState"])
def test_a_number_of_bytes_may_be_a_float(stream):
    want, got = [getattr(xp.random, stream)(3).bytes(2.0) for xp in (np, la)]
    assert got == want


def test_numpys_array_is_an_out_of_permuted():
    got, want = np.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    assert la.random.default_rng(3).permuted(got, axis=1, out=got) is got
    np.random.default_rng(3).permuted(want, axis=1, out=want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.host
@pytest.mark.parametrize(
    "out",
    [np.zeros(6)[::2], np.zeros(3, ">f8"), np.zeros(3, "f4"), [0.0], np.broadcast_to(1.0, 3)],
)
def test_numpys_array_that_is_no_out(out):
    with pytest.raises((TypeError, ValueError)) as want:
        np.random.default_rng(0).random(out=out)
    with pytest.raises(want.type, match=str(want.value)[:40]):
        la.random.default_rng(0).random(out=out)
    with pytest.raises(ValueError, match="size must match"):
        la.random.default_rng(0).random(2, out=np.zeros(3))


@pytest.mark.host
def test_a_seed_is_numpys_streams_too():
    drawn = []
    for _ in range(2):
        la.random.seed(7)
        drawn.append((float(la.random.rand()), np.random.rand()))
    assert drawn[0] == drawn[1] and drawn[0][0] == drawn[0][1]
    la.random.seed(8, la.cpu(0))
    assert np.random.rand() == np.random.RandomState(7).random(2)[1]


@pytest.mark.host
def test_a_seed_may_be_an_array():
    for seed in ([1, 2, 3], [7]):
        want = np.random.default_rng(seed).random(3)
        assert la.random.default_rng(la.array(seed)).random(3).tolist() == want.tolist()


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["?", "i4", "u8", "f8", "c16"])
def test_a_seed_that_is_a_scalar_is_judged_by_its_dtype(dtype):
    ones = np.ones(1, dtype)
    for make in (
        lambda random, x: random.default_rng(x),
        lambda random, x: random.default_rng([x]),
        lambda random, x: random.seed(x) or random.RandomState(x),
        lambda random, x: random.SeedSequence([3, x]),
    ):
        if dtype in ("i4", "u8"):
            make(np.random, ones[0]), make(la.random, la.array(ones)[0])
            continue
        with pytest.raises((TypeError, ValueError)) as want:
            make(np.random, ones[0])
        with pytest.raises(want.type, match=re.escape(str(want.value))):
            make(la.random, la.array(ones)[0])


def test_no_colors():
    assert la.random.default_rng(0).multivariate_hypergeometric([], 0, 3).shape == (3, 0)


@pytest.mark.host
@pytest.mark.parametrize("name", "PCG64 PCG64DXSM MT19937 Philox SFC64 SeedSequence".split())
def test_seeds_may_be_lazyarrays(name):
    ours, numpys = getattr(la.random, name), getattr(np.random, name)
    seeds = la.array([1, 2, 3])
    for seed in (seeds, seeds[1], seeds.sum()):
        got, want = ours(seed), numpys(np.asarray(seed)[()])
        if name == "SeedSequence":
            assert (got.generate_state(3) == want.generate_state(3)).all()
            assert isinstance(got.spawn(1)[0], ours)
            continue
        assert (got.random_raw(3) == want.random_raw(3)).all()
        again = pickle.loads(pickle.dumps(got))
        assert type(again) is ours and again.random_raw() == want.random_raw()
        assert type(got.spawn(1)[0]) is ours and isinstance(got, numpys)
        assert np.random.Generator(ours(seed)).random() == la.random.Generator(ours(seed)).random()
    assert isinstance(numpys(5), ours) and not isinstance(5, ours)
    assert issubclass(ours, numpys) and issubclass(numpys, ours)
    assert numpys.__doc__[:200] in ours.__doc__ and "Waits for a seed" in ours.__doc__
    with pytest.raises((TypeError, ValueError)):
        ours(la.array([1.5]))


@pytest.mark.parametrize("axis", [(0, 1), (), [0], (0, 5), 2.0])
def test_the_axis_of_an_order_is_one(axis):
    for name in ("permuted", "permutation", "shuffle"):
        with pytest.raises(TypeError):
            getattr(np.random.default_rng(1), name)(np.eye(3), axis=axis)
        with pytest.raises(TypeError):
            getattr(la.random.default_rng(1), name)(la.eye(3), axis=axis)
    with pytest.raises(TypeError):
        la.random.default_rng(1).permutation(la.eye(3), axis=None)


class Half:
    def __float__(self):
        return 0.5


class Four:
    def __index__(self):
        return 4


@pytest.mark.host
@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
@pytest.mark.parametrize(
    "call",
    [
        "normal(Fraction(1, 2), Decimal('0.5'))",
        "normal([Fraction(1, 2), Decimal(2)], Half(), (3, 2))",
        "uniform(Fraction(1, 2), [Decimal(1), 3])",
        "exponential(Half(), 3)",
        "binomial(Fraction(9, 2), Half())",
        "binomial(Four(), 0.5)",
        "normal(Fraction(1, 2), -1)",
        "normal(object())",
        "normal(numpy.array([Fraction(1, 2)]))",
        "dirichlet([Half(), Fraction(1, 3)])",
        "multinomial(4, [Fraction(1, 4), Fraction(3, 4)])",
        "choice(Four(), 3)",
        "choice(Four())",
    ],
)
def test_any_numbers_may_be_parameters(kind, call):
    names = {"Half": Half, "Four": Four, "Fraction": Fraction, "Decimal": Decimal, "numpy": np}

    def drawn(random):
        try:
            return eval(f"rng.{call}", {"rng": getattr(random, kind)(1), **names})
        except Exception as exc:
            return exc

    got, want = drawn(la.random), drawn(np.random)
    if isinstance(want, Exception):
        assert type(got) is type(want)
    else:
        np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.host
def test_the_array_that_numpy_fills_is_the_result():
    """It is not copied to another: NumPy's memory lives as long as the result."""
    n = 200_000
    for draw in (la.random.default_rng(0).normal, la.random.normal):
        tracemalloc.start()
        try:
            x = draw(size=n)
            x.wait_to_read()
            assert tracemalloc.get_traced_memory()[0] > x.nbytes
        finally:
            tracemalloc.stop()


def test_seeds_that_are_in_themselves():
    """NumPy ends the process."""
    itself, deep = [], 1
    itself.append(itself)
    for _ in range(100_000):
        deep = [deep]
    for seed in (itself, [1, itself], deep):
        with pytest.raises(ValueError, match="at most 64"):
            la.random.default_rng(seed)
    got = la.random.default_rng(np.matrix([[1, 2]])).random()  # whose rows are matrices
    assert got == default_rng([1, 2]).random()
    assert la.random.default_rng([1, [2, [3]]]).random() == default_rng([1, [2, [3]]]).random()
