"""Draws on a device: of the right distribution, by the seed, or left to the host."""

from types import SimpleNamespace

import numpy as np
import pytest

from lazyarray.lazy.cuda import draws
from tests.cuda.cupy_of_numpy import CUPY, real

pytestmark = pytest.mark.usefixtures("cupy")
N = 20_000


def drawn(name, *args, shape=(N,), dtype="d", seed=3, **kwargs):
    out = CUPY.zeros(shape, dtype)
    assert draws.draw(name, np.random.PCG64(seed), out, args, kwargs)
    return CUPY.asnumpy(out) if real else np.asarray(out)


def distance(a, b):
    """Kolmogorov and Smirnov's, of two samples."""
    every = np.concatenate([a, b])
    shares = [np.searchsorted(np.sort(x), every, "right") / len(x) for x in (a, b)]
    return np.abs(shares[0] - shares[1]).max()


CASES = [
    ("random", ()),
    ("standard_normal", ()),
    ("standard_exponential", ()),
    ("standard_gamma", (2.5,)),
    ("uniform", (-2.0, 3)),
    ("normal", (1.0, 2)),
    ("lognormal", (0.5, 0.75)),
    ("exponential", (2.0,)),
    ("gamma", (0.5, 3.0)),
    ("laplace", (1.0, 2.0)),
    ("logistic", (1.0, 2.0)),
    ("gumbel", (1.0, 2.0)),
    ("rayleigh", (2.0,)),
    ("pareto", (3.0,)),
    ("weibull", (1.5,)),
    ("standard_cauchy", ()),
    ("beta", (2.0, 3.0)),
    ("chisquare", (3,)),
    ("f", (3.0, 8.0)),
    ("power", (5.0,)),
    ("geometric", (0.3,)),
    ("binomial", (10, 0.4)),
]


@pytest.mark.parametrize("name, args", CASES)
def test_distributions(name, args):
    found = drawn(name, *args)
    right = getattr(np.random.default_rng(11), name)(*args, N)
    assert distance(found, right) < 1.95 * np.sqrt(2 / N)  # one in a thousand is farther


def test_the_cases_are_all_that_there_are():
    assert {name for name, _ in CASES} == {*draws._TABLE, *draws._STANDARD, "standard_gamma"}


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_precision(name, dtype):
    out = CUPY.zeros((N,), dtype)
    assert draws.draw(name, np.random.PCG64(0), out, (), {"dtype": np.dtype(dtype)})
    assert len(set(out.tolist())) > 0.99 * N


@pytest.mark.parametrize("low, high, endpoint", [(-3, 4, False), (0, 1, False), (-3, 4, True)])
def test_integers(low, high, endpoint):
    out = CUPY.zeros((50, 400), "l")
    kwargs = {"dtype": np.dtype("l"), "endpoint": endpoint, "size": (50, 400)}
    assert draws.draw("integers", np.random.PCG64(1), out, (low, high), kwargs)
    found = np.asarray(out.get() if real else out)
    assert sorted(set(found.ravel().tolist())) == list(range(low, high + endpoint))


def test_a_seed_tells_the_numbers():
    first, again, other = (drawn("normal", 0.0, 1.0, seed=s) for s in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).mean() > 0.99


def test_parameters_on_the_device():
    scale = CUPY.asarray(np.array([[1.0], [100.0]]))
    found = drawn("normal", 0.0, scale, shape=(2, N))
    assert found.std(1) == pytest.approx([1, 100], rel=0.05)
    found = drawn("binomial", CUPY.asarray(np.array([1, 5])), 1.0, shape=(3, 2))
    assert found.tolist() == [[1, 5]] * 3


@pytest.mark.parametrize(
    "name, args, text",
    [
        ("normal", (0.0, [1.0, -1.0]), "scale < 0"),
        ("exponential", ([-0.0, 1.0],), "scale < 0"),
        ("beta", (1.0, [0.0, 1.0]), "b <= 0"),
        ("geometric", ([0.0, 1.0],), "p <= 0, p > 1 or p contains NaNs"),
        ("binomial", (3, [np.nan, 1.0]), "p < 0, p > 1 or p contains NaNs"),
        ("uniform", ([1.0, 2.0], 1.5), "high - low < 0"),
        ("uniform", (0.0, [1.0, np.inf]), "Range exceeds valid bounds"),
        ("uniform", (np.array(0.0), np.array(np.nan)), "high - low range exceeds valid bounds"),
        ("exponential", (np.array(-1.0),), "scale < 0"),
    ],
)
def test_wrong_parameters_on_the_device(name, args, text):
    with pytest.raises((ValueError, OverflowError)) as right:
        getattr(np.random.default_rng(0), name)(*args)
    given = [CUPY.asarray(np.array(a)) if np.ndim(a) or hasattr(a, "shape") else a for a in args]
    bits = np.random.PCG64(0)
    with pytest.raises(right.type) as error:
        draws.draw(name, bits, CUPY.zeros(2), tuple(given), {})
    assert str(error.value) == str(right.value) == text
    assert bits.state == np.random.PCG64(0).state


@pytest.mark.parametrize("name", ["chisquare", "pareto", "rayleigh"])
def test_no_number_makes_no_number(name):
    found = drawn(name, CUPY.asarray(np.array([np.nan, 1.0])), shape=(2,))
    assert np.isnan(found).tolist() == [True, False]


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.float16, np.longdouble, bool])
def test_parameters_of_every_kind(kind):
    found = drawn("normal", np.array([0, 100], kind), np.array(1, kind), shape=(N, 2))
    assert found.mean(0) == pytest.approx([0, float(kind(100))], abs=0.05)
    if kind != np.longdouble:  # which CuPy has not
        found = drawn("exponential", CUPY.asarray(np.array([1, 1], kind)), shape=(N, 2))
        assert found.mean(0) == pytest.approx([1, 1], abs=0.05)


@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("choice", (5, 3), {}),
        ("permutation", (5,), {}),
        ("vonmises", (0.0, 1.0), {}),
        ("zipf", (2.0,), {}),
        ("hypergeometric", (5, 5, 3), {}),
        ("multivariate_normal", ([0.0], [[1.0]]), {}),
        ("integers", (0, 2), {"dtype": np.dtype("?")}),
        ("integers", (np.zeros(2, int), 5), {}),
        ("random_sample", (), {}),
        ("normal", (np.zeros(2, complex), 1.0), {}),
        ("binomial", (np.ones(2), 0.5), {}),
    ],
)
def test_what_the_host_draws(name, args, kwargs):
    out = CUPY.zeros(2)
    bits = np.random.PCG64(0)
    given = [CUPY.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    assert not draws.draw(name, bits, out, tuple(given), kwargs)
    assert not out.any()
    assert bits.state == np.random.PCG64(0).state


def test_a_draw_takes_two_words_of_the_stream():
    for name, args in CASES:
        bits, right = np.random.PCG64(3), np.random.PCG64(3)
        assert draws.draw(name, bits, CUPY.zeros((0, 3)), args, {})
        assert bits.state == right.state
        assert draws.draw(name, bits, CUPY.zeros(1000), args, {})
        right.random_raw(2)
        assert bits.state == right.state


@pytest.mark.parametrize("n", [1, 2047, 2048, 1 << 21, 1 << 40])
def test_states_are_whole_blocks(n, monkeypatch):
    made = []
    random = SimpleNamespace(
        Generator=lambda bits: bits, Philox4x3210=lambda seed, size: made.append((seed, size))
    )
    monkeypatch.setattr(draws, "cupy", lambda: SimpleNamespace(random=random))
    draws.generator(np.random.PCG64(0), n)
    ((seed, size),) = made
    assert size % 256 == 0 and min(n / 8, 1 << 18) <= size <= max(n / 8 + 256, 256)
    assert isinstance(seed, np.random.SeedSequence)
    # What CuPy makes a seed of.
    assert int(seed.generate_state(1, np.uint32)[0]).bit_length() > 32
