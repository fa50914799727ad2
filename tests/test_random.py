"""Random numbers: NumPy's streams value for value, in push order, on each device."""

import copy
import inspect
import pathlib
import pickle
import sys
import threading

import numpy as np
import pytest

import lazyarray as la

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
    mine, numpys = la.random.default_rng(3), np.random.default_rng(3)
    for _ in range(3):
        got, want = run(mine, call), np.asarray(run(numpys, call))
        assert isinstance(got, la.NDArray)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert mine.random().item() == numpys.random()  # both have drawn as much


@pytest.mark.parametrize("call", BAD)
def test_bad_parameters_raise_at_the_call(call):
    generator = la.random.default_rng(0)
    with pytest.raises(Exception) as want:
        run(np.random.default_rng(0), call)
    with pytest.raises(type(want.value)):
        run(generator, call)
    # Nothing was drawn.
    assert generator.random().item() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    "call", ["normal(0, -1)", "integers(3, 3)", "random(3, dtype='int64')", "beta(0, 1)",
             "normal([1, 2], 1, size=3)", "choice(3, 5, replace=False)", "uniform(5, 2)",
             "multivariate_normal([0, 1, 2], np.eye(2))", "multinomial(5, [])", "zipf(1)",
             "multivariate_normal([0, 1], np.eye(2), method='a')", "standard_gamma(-1)",
             "multivariate_hypergeometric([3, 4.5], 1)", "standard_exponential(3, 'i4')"]
)  # fmt: skip
def test_error_texts_are_numpys(call):
    with pytest.raises(Exception) as want:
        run(np.random.default_rng(0), call)
    with pytest.raises(Exception) as got:
        run(la.random.default_rng(0), call)
    assert str(got.value) == str(want.value)


def test_module_functions_are_one_stream():
    la.random.seed(11)
    rng = np.random.default_rng(11)
    x = la.array(np.arange(10))
    y = np.arange(10)
    draws = [
        (la.random.uniform(size=3), rng.uniform(size=3)),
        (la.random.normal(1, 2, (2, 2)), rng.normal(1, 2, (2, 2))),
        (la.random.standard_normal(3), rng.standard_normal(3)),
        (la.random.random((2, 2)), rng.random((2, 2))),
        (la.random.rand(2, 3), rng.random((2, 3))),
        (la.random.rand(), rng.random()),
        (la.random.randn(4), rng.standard_normal(4)),
        (la.random.integers(3, 9, 5), rng.integers(3, 9, 5)),
        (la.random.randint(7, size=(2, 2)), rng.integers(7, size=(2, 2))),
        (la.random.randint(0, 5, 3, "int8"), rng.integers(0, 5, 3, "int8")),
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
    rng = np.random.default_rng(1)
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
    assert y.item() == np.random.default_rng(2).random()


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
            np.random.default_rng(4).shuffle(take(host), axis)
            np.testing.assert_array_equal(x.asnumpy(), host)
    with pytest.raises(TypeError):
        la.random.shuffle(la.array(1))
    with pytest.raises(np.exceptions.AxisError):
        la.random.shuffle(la.ones(3), axis=1)


def test_array_parameters_are_asynchronous_inputs():
    rng, mine = np.random.default_rng(8), la.random.default_rng(8)
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
    np.testing.assert_array_equal(w.asnumpy(), rng.integers(7, size=3))
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
    np.testing.assert_array_equal(x.asnumpy(), np.random.default_rng(1).normal(size=100000))


@asynchronous
def test_a_failed_draw_poisons_its_own_result_only():
    mine, rng = la.random.default_rng(0), np.random.default_rng(0)
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
    np.testing.assert_array_equal(fine.asnumpy(), np.random.default_rng(5).random(3))
    for x in (dead, large):
        with pytest.raises(ValueError, match="scale < 0"):
            x.asnumpy()
    la.random.seed(6)
    assert la.random.random().item() == np.random.default_rng(6).random()
    with pytest.raises(ValueError, match="scale < 0"):
        la.random.shuffle(poisoned)
        poisoned.asnumpy()
    assert la.random.random() is not None


def test_devices_have_streams_of_their_own():
    la.random.seed(3)
    a = la.random.random(4).asnumpy()
    b = la.random.random(4, ctx=la.cpu(1)).asnumpy()
    c = la.random.random(4, device="cpu:2").asnumpy()
    np.testing.assert_array_equal(a, np.random.default_rng(3).random(4))
    assert not np.array_equal(a, b) and not np.array_equal(b, c)
    la.random.seed(3)
    np.testing.assert_array_equal(la.random.random(4, ctx=la.cpu(1)).asnumpy(), b)
    with la.cpu(1):
        assert la.random.random().device == la.cpu(1)
    la.random.seed(9, ctx=la.cpu(1))
    np.testing.assert_array_equal(
        la.random.random(4, ctx=la.cpu(1)).asnumpy(), np.random.default_rng(9).random(4)
    )
    # Device 0 went on meanwhile.
    assert la.random.random().item() == np.random.default_rng(3).random()
    x = la.ones(3, ctx=la.cpu(1))
    assert la.random.normal(x).device == la.random.permutation(x).device == la.cpu(1)
    la.random.shuffle(x)
    with pytest.raises(ValueError, match=r"cpu\(1\).*cpu\(0\)"):
        la.random.normal(x, ctx=la.cpu(0))
    with pytest.raises(ValueError, match=r"cpu\(1\).*cpu\(0\)|cpu\(0\).*cpu\(1\)"):
        la.random.default_rng(0).shuffle(x)
    with pytest.raises(ValueError, match="name different devices"):
        la.random.random(2, ctx=la.cpu(0), device=la.cpu(1))
    assert la.random.default_rng(0, device=la.cpu(1)).random(2).device == la.cpu(1)


def test_dtype_casts_what_is_drawn():
    got = la.random.default_rng(2).normal(1, 2, 5, dtype="float32")
    want = np.random.default_rng(2).normal(1, 2, 5).astype("float32")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got.asnumpy(), want)
    assert la.random.uniform(size=2, dtype="float16").dtype == np.float16
    with pytest.raises(TypeError, match="Unsupported dtype"):
        la.random.normal(size=2, dtype="int32")


def test_seeds():
    for seed in (0, 2**100, [1, 2, 3], np.arange(3), np.random.SeedSequence(4)):
        la.random.seed(seed)
        assert la.random.random().item() == np.random.default_rng(seed).random()
        assert la.random.default_rng(seed).random().item() == np.random.default_rng(seed).random()
    la.random.seed()
    a = la.random.random().item()
    la.random.seed()
    assert la.random.random().item() != a
    for bad in (-1, "a", 1.5):
        with pytest.raises((ValueError, TypeError)):
            la.random.seed(bad)
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
    assert "PCG64" in repr(rng) and "cpu(0)" in repr(rng)


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
    want = sorted(np.random.default_rng(0).random((200, 300))[:, 0])
    assert got == want


# ---- what the table makes -----------------------------------------------------------------------

# The methods that draw, by arguments that suit them.
SUITABLE = {
    "binomial": (9, 0.5, 3), "negative_binomial": (9, 0.5, 3), "hypergeometric": (9, 9, 3, 3),
    "triangular": (0, 1, 3, 3), "geometric": (0.5, 3), "logseries": (0.5, 3), "zipf": (2.5, 3),
    "integers": (3, 9, 5), "choice": (9, 3), "permutation": (9,), "permuted": ([3, 4, 5],),
    "dirichlet": ([1, 2], 3), "multinomial": (9, [0.5, 0.5], 3), "standard_gamma": (2, 3),
    "multivariate_hypergeometric": ([9, 9], 3, 3), "random": (3,), "standard_normal": (3,),
    "multivariate_normal": ([0, 1], [[2, 0], [0, 1]], 3), "standard_exponential": (3,),
}  # fmt: skip


def drawn(space, name, numbers=None):
    """What a function or method draws with arguments that suit it."""
    method = getattr(space, name)
    if name in SUITABLE:
        return method(*SUITABLE[name])
    count = len(next(row for row in la.random.TABLE if row.name == name).neutral)
    return method(*[2.0 + i for i in range(count)], size=3)


ALL = [n for n in la.random.FUNCTIONS if n not in ("bytes", "shuffle")]


@pytest.mark.parametrize("name", ALL)
def test_each_function_draws_from_the_one_stream(name):
    la.random.seed(4)
    got = drawn(la.random, name)
    np.testing.assert_array_equal(got.asnumpy(), drawn(np.random.default_rng(4), name))
    assert drawn(la.random.default_rng(4, device="cpu:1"), name).device == la.cpu(1)
    with la.cpu(2):
        assert drawn(la.random, name).device == la.cpu(2)
    given = inspect.signature(getattr(la.random, name)).parameters
    assert list(given)[-1] == "device" and "ctx" in given


def test_every_drawing_method_of_numpys_is_here_with_its_signature():
    for mine, theirs in (
        (la.random.Generator, np.random.Generator),
        (la.random.RandomState, np.random.RandomState),
    ):
        for name in dir(theirs):
            method = getattr(theirs, name)
            if name.startswith("_") or name in ("random_integers", "poisson_lam_max"):
                continue
            assert hasattr(mine, name), name
            if not callable(method):
                continue
            try:
                want = list(inspect.signature(method).parameters.values())
            except ValueError:
                continue  # an older NumPy
            got = list(inspect.signature(getattr(mine, name)).parameters.values())
            assert [p.name for p in got[: len(want)]] == [p.name for p in want], name
            for g, w in zip(got, want, strict=False):
                assert g.kind == w.kind, name
                assert g.default == w.default or name in ("randint",), name
            assert [p.name for p in got[len(want) :]] in ([], ["dtype"]), name


def test_the_stubs_are_up_to_date():
    tools = pathlib.Path(__file__).parent.parent / "tools"
    sys.path.insert(0, str(tools))
    try:
        import make_stubs
    finally:
        sys.path.pop(0)
    for path, text in make_stubs.STUBS.items():
        assert path.read_text() == text(), "run: python tools/make_stubs.py"


@pytest.mark.parametrize("row", la.random.TABLE, ids=lambda row: row.name)
def test_parameters_that_are_arrays(row):
    rng, mine = np.random.default_rng(8), la.random.default_rng(8)
    numbers = SUITABLE.get(row.name, [2.0 + i for i in range(len(row.neutral))])[: len(row.neutral)]
    for late in range(len(numbers)):
        given = [[v, v] if i == late else v for i, v in enumerate(numbers)]
        lazily = [la.array(v) if i == late else v for i, v in enumerate(given)]
        with la.no_sync():
            a = getattr(mine, row.name)(*lazily)
            b = getattr(mine, row.name)(*lazily, size=(3, 2), dtype="float32"
                                        if a.dtype == "f8" else None)  # fmt: skip
        np.testing.assert_array_equal(a.asnumpy(), getattr(rng, row.name)(*given))
        want = getattr(rng, row.name)(*given, size=(3, 2)).astype(b.dtype)
        np.testing.assert_array_equal(b.asnumpy(), want)
        with pytest.raises(ValueError, match=r"not compatible|mismatch"):
            getattr(mine, row.name)(*lazily, size=3)


def test_vectors_of_array_parameters():
    rng, mine = np.random.default_rng(8), la.random.default_rng(8)
    p, cov = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[2.0, 0.3], [0.3, 1.0]])
    with la.no_sync():
        got = [
            mine.multinomial(la.array([3, 9]), p),
            mine.multinomial(9, la.array(p), (3, 2)),
            mine.dirichlet(la.array([1.0, 2.0]), 3),
            mine.multivariate_hypergeometric(la.array([3, 4]), 5, 2),
            mine.multivariate_hypergeometric([3, 4], la.array(5)),
            mine.multivariate_normal(la.zeros(2), cov, 2),
            mine.multivariate_normal([1, 2], la.array(cov)),
            mine.standard_gamma(la.array([1.0, 2.0]), (2, 2), "f4"),
            mine.permuted(la.arange(9).reshape(3, 3), axis=0),
        ]
    want = [
        rng.multinomial([3, 9], p),
        rng.multinomial(9, p, (3, 2)),
        rng.dirichlet([1.0, 2.0], 3),
        rng.multivariate_hypergeometric([3, 4], 5, 2),
        rng.multivariate_hypergeometric([3, 4], 5),
        rng.multivariate_normal(np.zeros(2), cov, 2),
        rng.multivariate_normal([1, 2], cov),
        rng.standard_gamma([1.0, 2.0], (2, 2), "f4"),
        rng.permuted(np.arange(9).reshape(3, 3), axis=0),
    ]
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_array_equal(g.asnumpy(), w)
    for wrong in (
        lambda: mine.multivariate_normal(la.zeros(3), cov),
        lambda: mine.multivariate_normal(la.zeros((3, 3)), cov),
        lambda: mine.multinomial(la.array([3, 9]), p, 3),
        lambda: mine.multivariate_hypergeometric(la.zeros(3), 5),
        lambda: mine.dirichlet(la.ones((2, 2))),
        lambda: mine.dirichlet(la.ones(2, device="cpu:1")),
    ):
        with pytest.raises(ValueError):
            wrong()
    assert mine.random().item() == rng.random()


@asynchronous
def test_bad_values_in_arrays_show_at_the_wait():
    mine, rng = la.random.default_rng(8), np.random.default_rng(8)
    cov = [[1.0, 2.0], [2.0, 1.0]]
    poor = [
        (lambda g, a: g.multivariate_normal([0, 0], a(cov), check_valid="raise"), "semidefinite"),
        (lambda g, a: g.triangular(a(5.0), 2, 1), "left > mode"),
        (lambda g, a: g.hypergeometric(a(1), 1, 5), "nsample"),
        (lambda g, a: g.dirichlet(a([-1.0, 2])), "alpha < 0"),
        (lambda g, a: g.multinomial(a(-1), [0.5, 0.5]), "n < 0"),
        (lambda g, a: g.uniform(a([9.0]), 1.0), "high - low < 0"),
        (lambda g, a: g.zipf(a([2.0, 0.5])), "a <= 1"),
    ]
    for draw, text in poor:
        x = draw(mine, la.array)
        with pytest.raises(ValueError, match=text):
            x.asnumpy()
        with pytest.raises(ValueError, match=text):
            draw(rng, np.array)
        assert mine.random().item() == rng.random()  # where it failed, NumPy's had drawn as much


def test_draws_into_an_array():
    mine, rng = la.random.default_rng(1), np.random.default_rng(1)
    for shape, take in (((4,), lambda a: a), ((2, 3), lambda a: a.T), ((6, 2), lambda a: a[2:4])):
        for draw in (
            lambda g, o: g.random(out=o),
            lambda g, o: g.standard_normal(o.shape, out=o),
            lambda g, o: g.standard_exponential(None, "f8", "inv", o),
        ):
            x, host = la.zeros(shape), np.zeros(shape)
            out = take(x)
            assert draw(mine, out) is out
            draw(rng, take(host))
            np.testing.assert_array_equal(x.asnumpy(), host)
    x, host = la.zeros((3, 2), "f4"), np.zeros((3, 2), "f4")
    mine.standard_gamma([1, 2], dtype="f4", out=x)
    rng.standard_gamma([1, 2], dtype="f4", out=host)
    np.testing.assert_array_equal(x.asnumpy(), host)
    for wrong, error in (
        (lambda g, xp: g.random(3, out=xp.zeros(4)), ValueError),
        (lambda g, xp: g.random(out=xp.zeros((4, 4))[:, ::2]), ValueError),
        (lambda g, xp: g.random(out=xp.zeros(4, "f4")), TypeError),
        (lambda g, xp: g.random(dtype="i4", out=xp.zeros(4, "i4")), TypeError),
        (lambda g, xp: g.random(out=[1]), ValueError),
        (lambda g, xp: g.standard_gamma([1, 2], out=xp.zeros(3)), ValueError),
        (lambda g, xp: g.permuted([1.0, 2], out=xp.zeros(3)), ValueError),
        (lambda g, xp: g.permuted([1.0, 2], out=xp.zeros(2, int)), TypeError),
    ):
        texts = []
        for generator, xp in ((rng, np), (mine, la)):
            with pytest.raises(error) as caught:
                wrong(generator, xp)
            texts.append(str(caught.value))
        assert texts[0] == texts[1] or "shape" in texts[0]
    x, host = la.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    assert mine.permuted(x, axis=1, out=x) is x
    rng.permuted(host, axis=1, out=host)
    np.testing.assert_array_equal(x.asnumpy(), host)
    # Into another device's memory: an error.
    with pytest.raises(ValueError, match="device"):
        mine.random(out=la.zeros(3, device="cpu:1"))


def test_lists_and_numpy_arrays_are_shuffled_too():
    mine, rng = la.random.default_rng(1), np.random.default_rng(1)
    a, b = list("abcdefgh"), list("abcdefgh")
    x, y = np.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    mine.shuffle(a)
    rng.shuffle(b)
    mine.shuffle(x, 1)
    rng.shuffle(y, 1)
    assert a == b
    np.testing.assert_array_equal(x, y)
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        mine.shuffle(a)
    assert mine.bytes(5) == (rng.shuffle(b), rng.bytes(5))[1]  # it was drawn all the same
    with pytest.raises(ValueError):
        mine.bytes(-1)
    with la.no_sync(), pytest.raises(RuntimeError, match=r"bytes\(\) waits"):
        mine.bytes(2)


# ---- states -------------------------------------------------------------------------------------


def test_the_bit_generator_is_the_generators_own():
    mine, rng = la.random.default_rng(3), np.random.default_rng(3)
    mine.normal(size=100000)
    rng.normal(size=100000)
    assert mine.bit_generator.state == rng.bit_generator.state
    mine.bit_generator.state = np.random.PCG64(9).state
    assert mine.random().item() == np.random.default_rng(9).random()
    with la.no_sync(), pytest.raises(RuntimeError, match="bit_generator waits"):
        mine.bit_generator


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_bit_generators(kind):
    make = getattr(la.random, kind)
    assert make is getattr(np.random, kind)
    want = np.random.Generator(make(5)).random(3)
    for g in (la.random.Generator(make(5)), la.random.default_rng(make(5))):
        assert kind in repr(g)
        np.testing.assert_array_equal(g.random(3).asnumpy(), want)
    older = la.random.RandomState(make(5))
    np.testing.assert_array_equal(older.rand(3).asnumpy(), np.random.RandomState(make(5)).rand(3))
    la.random.set_state(make(5).state)
    np.testing.assert_array_equal(la.random.random(3).asnumpy(), want)
    again = pickle.loads(pickle.dumps(older))
    np.testing.assert_array_equal(again.rand(3).asnumpy(), older.rand(3).asnumpy())
    with pytest.raises(Exception, match=r"capsule|BitGenerator"):
        la.random.Generator(5)
    assert la.random.Generator(make(5), device="cpu:1").device == la.cpu(1)


def test_spawned_generators():
    mine, rng = la.random.default_rng(3, device="cpu:1"), np.random.default_rng(3)
    with la.no_sync():
        children = [*mine.spawn(2), *mine.spawn(1)]
    want = [*rng.spawn(2), *rng.spawn(1)]
    for g, w in zip(children, want, strict=True):
        assert (g.random().item(), g.device) == (w.random(), la.cpu(1))


@pytest.mark.parametrize("n", [3, 50000])
def test_states_are_kept_and_put_back_in_order(n):
    la.random.seed(1)
    state = la.random.get_state()
    assert state == np.random.default_rng(1).bit_generator.state
    a = la.random.normal(size=n)
    la.random.set_state(state)
    b = la.random.normal(size=n)
    assert bool((a == b).all())
    other = la.random.get_state(device="cpu:3")
    c = la.random.random(n, device="cpu:3")
    la.random.set_state(other, device="cpu:3")
    assert bool((c == la.random.random(n, device="cpu:3")).all())
    la.random.set_state(np.random.RandomState(7).get_state())
    want = np.random.Generator(np.random.MT19937())
    want.bit_generator.state = np.random.RandomState(7).get_state()
    assert la.random.random().item() == want.random()
    for bad in (None, {}, (), {"bit_generator": "os"}, {"bit_generator": "PCG64"}):
        with pytest.raises((ValueError, TypeError, KeyError)):
            la.random.set_state(bad)
    with la.no_sync(), pytest.raises(RuntimeError, match="get_state"):
        la.random.get_state()


# ---- RandomState --------------------------------------------------------------------------------

OLDER = [
    *[d for d in DRAWS if d.split("(")[0] in {row.name for row in la.random.TABLE}],
    "rand()",
    "rand(2, 3)",
    "randn()",
    "randn(3)",
    "random_sample((2, 2))",
    "random(3)",
    "standard_normal(3)",
    "standard_exponential((2, 2))",
    "standard_gamma([1, 2], (3, 2))",
    "randint(5)",
    "randint(-3, 3, (2, 2))",
    "randint(0, [5, 9], dtype='i4')",
    "tomaxint(3)",
    "choice(5, 3)",
    "choice([3, 1, 4], 2, False)",
    "choice(3, 4, p=[0.2, 0.3, 0.5])",
    "permutation(6)",
    "permutation([[1, 2], [3, 4], [5, 6]])",
    "dirichlet([1, 2], 3)",
    "multinomial(10, [0.2, 0.8], (2, 2))",
    "multivariate_normal([0, 1], [[2, 0.5], [0.5, 1]], 3)",
]


@pytest.mark.parametrize("call", OLDER)
def test_random_state_equals_numpys(call):
    mine, numpys = la.random.RandomState(3), np.random.RandomState(3)
    for _ in range(2):
        got, want = run(mine, call), np.asarray(run(numpys, call))
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert mine.rand().item() == numpys.rand()


def test_random_state_has_numpys_state():
    mine, rng = la.random.RandomState(3), np.random.RandomState(3)
    for seed in (5, [1, 2, 3], np.random.MT19937(4)):
        again = la.random.RandomState(seed)
        np.testing.assert_array_equal(
            again.randn(3).asnumpy(), np.random.RandomState(copy.deepcopy(seed)).randn(3)
        ) if not hasattr(seed, "state") else None
    x, y = la.arange(10), np.arange(10)
    mine.shuffle(x)
    rng.shuffle(y)
    np.testing.assert_array_equal(x.asnumpy(), y)
    assert mine.bytes(3) == rng.bytes(3)
    mine.randn(3)  # an odd number: half a pair is kept
    rng.randn(3)
    got, want = mine.get_state(), rng.get_state()
    assert got[0] == want[0] and got[2:] == want[2:] and (got[1] == want[1]).all()
    assert mine.get_state(legacy=False)["gauss"] == rng.get_state(legacy=False)["gauss"]
    a = mine.randn(5)
    mine.set_state(want)
    assert bool((mine.randn(5) == a).all())
    mine.seed(11)
    assert mine.rand().item() == np.random.RandomState(11).rand()
    for bad in ("randint(0)", "rand(2.5)", "choice(3, 5, False)", "randint(5, dtype='f4')",
                "normal(0, -1)", "choice([[1, 2]])", "seed(-1)"):  # fmt: skip
        with pytest.raises(Exception) as wrong:
            run(np.random.RandomState(0), bad)
        with pytest.raises(type(wrong.value)):
            run(mine, bad)
    with pytest.raises(ValueError, match="device"):
        mine.shuffle(la.arange(3, device="cpu:1"))
    assert la.random.RandomState(3, device="cpu:1").rand(2).device == la.cpu(1)


def test_older_names():
    assert la.random.ranf is la.random.sample is la.random.random_sample is la.random.random
    la.random.seed(2)
    assert la.random.random_sample((2, 2)).shape == (2, 2)
