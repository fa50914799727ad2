"""Draws that are made at once, and the module's functions as NumPy's: one stream, bit for bit."""

import contextlib
import copy
import inspect
import os
import pickle
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray.lazy._lazy import _set_policy, gil_ops

pytestmark = pytest.mark.host
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine records each op")


@contextlib.contextmanager
def draws(figure):
    """Another boundary between draws at once and ops; -1: all are ops."""
    old = _set_policy("draws", figure)
    try:
        yield
    finally:
        _set_policy("draws", old)


def same(got, want):
    if isinstance(want, (bytes, str, type(None))) or np.asarray(want).dtype.kind == "U":
        assert type(got) is type(want)
        np.testing.assert_equal(got, want)
        return
    assert isinstance(got, la.NDArray)
    assert isinstance(got, la.Scalar) == (not isinstance(want, np.ndarray))
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got.asnumpy(), want)


# ---- programs of draws --------------------------------------------------------------------------

SIZES = ["None", "0", "1", "3", "(2, 2)", "7", "8", "9", "(3, 3)", "(4, 2, 1)", "np.int64(4)"]
LARGE = ["40_000", "(300, 200)"]

# Of both kinds of streams; {} is a size.
EITHER = [
    "normal(size={})", "normal(s, 2.0, {})", "normal(v, 0.5)", "normal(loc=s, scale=w, size=None)",
    "uniform(0, 1, {})", "uniform(-1.0, s, size={})", "standard_normal({})", "random({})",
    "exponential(s, {})", "standard_exponential({})", "standard_gamma(2.0, {})", "gamma(v, 3.0)",
    "beta(2, 3, {})", "binomial(10, 0.3, {})", "poisson(4.0, {})", "poisson([1.0, 50.0])",
    "chisquare(3, {})", "geometric(0.3, {})", "hypergeometric(15, 10, i, {})", "zipf(2.5, {})",
    "laplace(0, 1, {})", "lognormal(0, 0.5, {})", "triangular(-1, 0, s, {})", "wald(3, 2, {})",
    "vonmises(0, 4, {})", "standard_t(5, {})", "negative_binomial(3, 0.5, {})",
    "standard_cauchy({})", "permutation(['a', 'b', 'c'])", "normal(size=[3])",
    "choice(5, {})", "choice(i, {})", "choice(v, {})", "choice([3, 1, 4], {})", "choice(10**6, {})",
    "choice(9, 4, False)", "choice(v, 2, replace=False)", "choice(3, {}, p=[0.2, 0.3, 0.5])",
    "choice(3, {}, True, w)", "choice(3, p=w)", "choice(3, {}, p=w[::-1])",
    "choice([3, 1, 4], p=w)",
    "choice(v[:3], {}, p=(0.5, 0.25, 0.25))", "choice(1, p=[1])",
    "choice(2, p=[0, 1.0], replace=True)",
    "choice(2, p=[0.5, 0.5 + 1e-8])", "choice(2, p=[0.5, 0.5 + 1e-7])", "choice(2, p=[1.5, -0.5])",
    "choice(2, p=w)", "choice(2, p=[float('nan'), 1])", "choice(600, {}, p=[1 / 600] * 600)",
    "choice(i, 2, False, [1 / 3] * 3)", "choice(0, p=[])", "choice(3, p=None)",
    "choice(['a', 'bc'], {})", "permutation(6)", "permutation(20)",
    "permutation(v)", "permutation(m)", "permutation(m.T)", "permutation([3, 1, 2])",
    "dirichlet([1.0, 2.0], {})", "multinomial(10, [0.2, 0.8], {})", "multinomial(i, w)",
    "uniform()", "uniform(-3, 2**62, {})", "uniform(low=s, high=i)", "uniform(5, 1e-320, [2, 3])",
    "normal(-1e308, 1e308, {})", "normal(float('nan'), 1)", "normal(scale=0, size={})", "normal(s)",
    "normal(2**70)", "exponential(size={})", "exponential(0)", "choice([0.5, 2], {})",
    "choice([1.5, -0.0, 2.5])", "choice([2**62, -1])", "choice(2**40, {})",
    "choice([])", "choice(0)", "choice(2.5)", "choice(v[:0])", "choice(m)", "choice(True)",
    "uniform(0, float('inf'))", "uniform(v, 9, (2, 3))", "normal(0, -1.0, {})", "normal(0, -0.0)",
    "exponential(-1)", "normal(1j)", "uniform('a')", "random(-1)", "normal(size=(2, -1))",
    "normal(0, 1, {}, size=3)", "uniform(no=1)", "normal(1, 2, 3, 4, 5, 6, 7, 8)",
    "normal(True, 2)", "normal(size=(1, 1, 1, 1, 2))", "uniform(size=())",
    "standard_normal(size=None)",
    "multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], {})", "bytes(5)", "bytes(30)",
    "shuffle(v)", "shuffle(big)", "shuffle(m)", "shuffle(m.T)", "shuffle(v[::-1])", "shuffle(h)",
    "shuffle(a)", "shuffle(m[:, 1])",
]  # fmt: skip
OLDER = [
    "rand()", "rand(3)", "rand(2, 5)", "rand(i)", "randn()", "randn(3)", "randn(9)", "randn(3, 3)",
    "randint(10)", "randint(i)", "randint(-5, 5, {})", "randint(0, 255, {}, 'u1')",
    "randint(2**40, size={})", "randint(0, 2, {}, bool)", "randint(v.astype(int) + 1)",
    "randint(0, 2**64 - 1, {}, np.uint64)", "randint(3, 9, {}, dtype='i2')",
    "randint(5, dtype='u4')", "random_sample({})", "rand(200, 200)", "randn(1)", "randint(0)",
    "randint(3, 4, {})", "randint(0, 2**32, {})", "randint(0, 2**32 - 1, {})",
    "randint(-(2**63), 5)", "randint(0, 2**63, {})", "randint(2**64)", "randint(5, 2)",
    "randint(2.5)", "randint(3, None)",
    "randint(low=-2, high=i, size={})", "randint(4, i, dtype=int)", "randn(i)", "rand(0, 3)",
    "rand(-1)", "uniform(3, -4, {})", "uniform(1e308, -1e308)",
]  # fmt: skip
NEWER = [
    "integers(10)", "integers(i, size={})", "integers(-3, 3, {}, endpoint=True)",
    "integers(3, 4)", "integers(0, 2**32, {})", "integers(0, 2**32 - 1, {})", "integers(4, 4)",
    "integers(-(2**63), 2**63 - 1, {})", "integers(0, 2**40, 3, np.int64, True)",
    "uniform(3, -4, {})", "integers(0, 5, {}, 'u1')", "random({}, dtype='f4')",
    "standard_normal({}, 'f4')",
    "choice(m, 2, axis=1)", "permuted(m, axis=1)", "permutation(m, axis=1)", "shuffle(m, axis=1)",
    "multivariate_hypergeometric([4, 6], 5, {})", "choice(9, 4, False, shuffle=False)",
    "standard_exponential({}, 'f4', 'inv')",
]  # fmt: skip


def calls(templates):
    sized = st.builds(str.format, st.sampled_from(templates), st.sampled_from(SIZES))
    large = st.builds(
        str.format, st.sampled_from([t for t in templates if "{}" in t]), st.sampled_from(LARGE)
    )
    return st.one_of(sized, sized, sized, large)


STEPS = st.one_of(
    calls(EITHER + OLDER).map(lambda c: "module." + c),
    calls(EITHER + OLDER + ["tomaxint({})"]).map(lambda c: "state." + c),
    calls(EITHER + NEWER).map(lambda c: "rng." + c),
    st.sampled_from(["module.seed(7)", "state.seed(9)", "module.seed([1, 2])", "KEEP", "BACK"]),
)


def operands(xp):
    v, m, big = xp.array([1.0, 2.5, 3.0]), xp.array(np.arange(12.0).reshape(3, 4)), xp.arange(30)
    w = xp.array([0.2, 0.3, 0.5])
    return {
        "s": v[1], "i": xp.array([4, 6])[1], "v": v, "w": w, "m": m, "big": big, "np": np,
        "h": np.arange(5.0), "a": list("abcdefghijkl"),
    }  # fmt: skip


def told(space, step, names, kept):
    """What one step gives; it may keep the module's state, or put it back."""
    if step == "KEEP":
        kept[:] = [space.get_state()]
    elif step == "BACK":
        if kept:
            space.set_state(kept[0])
    else:
        try:
            return eval(step, names)
        except Exception as exc:
            return f"{type(exc).__name__}"


@settings(max_examples=120, deadline=None)
@given(
    st.lists(STEPS, min_size=1, max_size=12),
    st.sampled_from([-1, 8, 1000]),
    st.integers(0, 2**32 - 1),
)
def test_programs_of_draws_equal_numpys(steps, figure, seed):
    la.random.seed(seed)
    np.random.seed(seed)
    mine, numpys = operands(la), operands(np)
    for names, space in ((mine, la.random), (numpys, np.random)):
        names["module"], names["state"] = space, space.RandomState(seed)
        names["rng"] = space.default_rng(seed)
    trail, kept, wanted = [], [], []
    with draws(figure):
        for step in steps:
            with np.errstate(all="ignore"):
                trail.append((step, told(la.random, step, mine, kept)))
                wanted.append(told(np.random, step, numpys, []) if step[0] in "msr" else None)
            if step == "KEEP":
                keep = np.random.get_state()
            elif step == "BACK" and kept:
                np.random.set_state(keep)
        for (step, got), want in zip(trail, wanted, strict=True):
            try:
                same(got, want)
            except BaseException as exc:
                exc.add_note(step)
                raise
        for name in ("v", "m", "big", "h", "a"):
            np.testing.assert_array_equal(np.asarray(mine[name]), numpys[name])
    np.testing.assert_equal(la.random.get_state(), np.random.get_state())
    np.testing.assert_equal(mine["state"].get_state(False), numpys["state"].get_state(False))
    assert mine["rng"].bit_generator.state == numpys["rng"].bit_generator.state


def test_states_go_to_numpy_and_back():
    la.random.seed(3)
    la.random.randn(5)  # half a pair is kept
    np.random.set_state(la.random.get_state())
    assert la.random.randn().item() == np.random.randn()
    np.random.seed(8)
    np.random.randn(3)
    la.random.set_state(np.random.get_state())
    assert la.random.randn(3).tolist() == np.random.randn(3).tolist()
    la.random.randn()
    np.random.set_state(la.random.get_state(legacy=False))
    la.random.set_state(np.random.get_state(legacy=False))
    assert la.random.normal().item() == np.random.normal()
    assert la.random.get_state()[0] == "MT19937"
    with pytest.raises(ValueError):
        la.random.set_state(("MT19937", [1, 2]))


def test_numpys_list_of_functions_is_covered():
    assert [n for n in np.random.__all__ if not hasattr(la.random, n)] == []
    for name in np.random.__all__:
        mine, theirs = getattr(la.random, name), getattr(np.random, name)
        if inspect.isclass(theirs) or name in ("default_rng", "ranf", "sample", "rand", "randn"):
            continue
        want = list(inspect.signature(theirs).parameters.values())
        got = list(inspect.signature(mine).parameters.values())
        assert [p.name for p in got[: len(want)]] == [p.name for p in want], name
        for g, w in zip(got, want, strict=False):
            assert g.default == w.default or name == "randint", name
    with pytest.warns(DeprecationWarning) as caught:
        la.random.random_integers(5)
        la.random.RandomState(0).random_integers(2, 5)
    assert {os.path.basename(w.filename) for w in caught} == {os.path.basename(__file__)}


@asynchronous
def test_singles_are_drawn_at_once():
    ours, numpys = la.random.default_rng(3), np.random.default_rng(3)
    before = gil_ops()
    for name in ("random", "standard_normal", "standard_exponential"):
        for size in (None, 3, (40, 5), 3000):
            for dtype in ("f4", np.float32, np.float64):
                want = getattr(numpys, name)(size, dtype=dtype)
                same(getattr(ours, name)(size, dtype=dtype), want)
                same(getattr(ours, name)(size, dtype), getattr(numpys, name)(size, dtype))
    same(ours.standard_gamma(2.5, 7, np.float32), numpys.standard_gamma(2.5, 7, np.float32))
    assert gil_ops() == before
    with pytest.raises(TypeError, match="Unsupported dtype"):
        ours.random(3, dtype="i4")


def test_other_dtypes_and_outputs_are_the_same_stream():
    la.random.seed(4)
    np.random.seed(4)
    same(la.random.rand(3, dtype="float32"), np.random.rand(3).astype("f4"))
    same(la.random.randn(2, dtype="float16"), np.random.randn(2).astype("f2"))
    same(la.random.normal(1, 2, 3, dtype="f4"), np.random.normal(1, 2, 3).astype("f4"))
    same(la.random.random(dtype="f4"), np.float32(np.random.random()))
    x = la.zeros((2, 3))
    assert la.random.standard_normal(out=x) is x
    same(x, np.random.standard_normal((2, 3)))
    y = la.zeros(3, "f4")
    la.random.standard_gamma(2.0, dtype="f4", out=y)
    same(y, np.random.standard_gamma(2.0, 3).astype("f4"))
    newer = np.random.Generator(np.random.mtrand._rand._bit_generator)
    same(la.random.integers(0, 9, 4), newer.integers(0, 9, 4))
    same(la.random.permuted(la.arange(5)), newer.permuted(np.arange(5)))
    same(la.random.choice(9, 3, shuffle=False), newer.choice(9, 3, shuffle=False))
    same(la.random.rand(), np.random.rand())
    with pytest.raises(TypeError):
        la.random.random(3, dtype="int64")


def test_words_that_numpy_draws_from_too():
    """Another thread is at the same words, without the GIL, while numbers are drawn here."""
    bits = np.random.PCG64(1)
    ours, numpys = la.random.Generator(bits), np.random.Generator(bits)
    own = la.random.default_rng(1)
    lent = np.random.Generator(own.bit_generator)  # known to others from here on
    for mine, theirs in ((ours, numpys), (own, lent)):
        thread = threading.Thread(target=lambda t=theirs: [t.random(50_000) for _ in range(40)])
        thread.start()
        drawn = 0
        while thread.is_alive() or not drawn:
            mine.random(), mine.uniform(2, 3, 10), mine.normal(mine.random())
            drawn += 1
        thread.join()
        again = np.random.Generator(np.random.PCG64(1))
        again.random(40 * 50_000)
        # Each word was drawn once, no matter by whom; a normal number takes hardly more than one.
        state = again.bit_generator.state["state"]["state"]
        words = 0
        end = mine.bit_generator.state["state"]["state"]
        while state != end and words < 20 * drawn:
            again.random()
            state = again.bit_generator.state["state"]["state"]
            words += 1
        assert 13 * drawn <= words < 14 * drawn + 20


def test_several_threads_draw_plain_numbers_from_one_stream():
    rng = la.random.default_rng(3)
    drawn = [[] for _ in range(4)]

    def draw(into):
        for n in range(300):
            into.append(rng.random(500 if n % 50 == 0 else None))

    threads = [threading.Thread(target=draw, args=(into,)) for into in drawn]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    got = np.sort(np.concatenate([np.ravel(x.asnumpy()) for into in drawn for x in into]))
    np.testing.assert_array_equal(got, np.sort(np.random.default_rng(3).random(got.size)))


# ---- what is made at once, and what is not ------------------------------------------------------


def made_at_once(draw):
    before = gil_ops()
    draw()
    return gil_ops() == before


@asynchronous
def test_small_draws_from_an_idle_stream_are_no_ops():
    rng, v, s = la.random.default_rng(0), la.ones(3), la.ones(3)[0]
    n = int(_set_policy("draws", 500))
    try:
        la.waitall()
        before = rng.var.version
        small = [
            lambda: rng.normal(), lambda: rng.random(3), lambda: rng.normal(s, 1.0),
            lambda: rng.normal(v, size=(4, 3)), lambda: rng.integers(9, dtype="i4"),
            lambda: rng.random(500), lambda: rng.random((50, 10)), lambda: rng.choice(v),
            lambda: rng.choice(10**9), lambda: rng.shuffle(v), lambda: rng.permutation(500),
        ]  # fmt: skip
        for k, draw in enumerate(small):
            assert made_at_once(draw), inspect.getsource(draw)
            assert rng.var.version == before + k + 1
        for draw in (
            lambda: rng.random(501), lambda: rng.random((51, 10)), lambda: rng.permutation(501),
            lambda: rng.choice(501, 3, False), lambda: rng.normal(la.ones(501)),
            lambda: rng.random(3, out=la.zeros(3)), lambda: rng.shuffle(la.arange(501)),
            lambda: rng.normal(v, size=(200, 3)), lambda: rng.normal(1, 2, 3, dtype="f4"),
        ):  # fmt: skip
            la.waitall()
            assert not made_at_once(draw), inspect.getsource(draw)
        la.waitall()
        with la.autograd.record():
            assert not made_at_once(lambda: rng.normal())
        la.waitall()
        assert made_at_once(lambda: rng.normal())
        large = rng.normal(size=2_000_000)  # pending: what comes after it is an op
        late = rng.random()
        assert large.shape == (2_000_000,) and late.shape == ()
    finally:
        _set_policy("draws", n)


def test_order_with_draws_on_workers():
    mine, numpys = la.random.default_rng(2), np.random.default_rng(2)
    got, want = [], []
    for n in (3, 300_000, None, 5, 200_000, 2, None):
        got.append(mine.normal(size=n))
        want.append(numpys.normal(size=n))
    for g, w in zip(got, want, strict=True):
        same(g, w)


@asynchronous
@pytest.mark.parametrize("make", ["default_rng", "RandomState"])
def test_vectors_of_arrays_are_drawn_at_once_where_nothing_can_be_wrong(make):
    mine, numpys = getattr(la.random, make)(3), getattr(np.random, make)(3)
    mean, cov = [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]
    m, c = la.array(mean), la.array(cov)
    for size in (None, 5, (2, 3)):
        before = gil_ops()
        got = mine.multivariate_normal(m, c, size=size)
        assert gil_ops() == before
        same(got, numpys.multivariate_normal(mean, cov, size=size))
    wrong = mine.multivariate_normal(m, c * np.nan)  # NumPy draws first, then it looks at it
    with pytest.raises(np.linalg.LinAlgError):
        numpys.multivariate_normal(mean, np.multiply(cov, np.nan))
    with pytest.raises(np.linalg.LinAlgError):
        wrong.asnumpy()
    wrong = mine.multivariate_normal(m, -c, check_valid="raise")
    with pytest.raises(ValueError, match="positive"):
        numpys.multivariate_normal(mean, np.negative(cov), check_valid="raise")
    with pytest.raises(ValueError, match="positive"):
        wrong.asnumpy()
    same(mine.standard_normal(3), numpys.standard_normal(3))


@asynchronous
def test_wrong_values_in_arrays_are_the_results_error():
    mine, numpys = la.random.default_rng(0), np.random.default_rng(0)
    minus = la.array([-1.0, 1.0])
    for bad in (lambda: mine.normal(0, minus[0]), lambda: mine.normal(0, minus)):
        x = bad()
        with pytest.raises(ValueError, match="scale < 0") as caught:
            x.asnumpy()
        assert "test_random_at_once.py" in caught.value.__notes__[0]
        assert caught.value.__context__ is None
    with pytest.raises(ValueError, match="scale < 0"):
        mine.normal(0, -1.0)
    assert mine.random().item() == numpys.random()


def test_scalars_as_numpys_and_syncs():
    mine, numpys = la.random.default_rng(0), np.random.default_rng(0)
    la.random.seed(1), np.random.seed(1)
    with la.set_scalars("numpy"):
        both = {"mine": mine, "numpys": numpys}
        for call in ("normal()", "integers(9)", "integers(9, dtype='u1')", "choice(5)"):
            for figure in (1000, -1):
                with draws(figure):
                    got, want = eval("mine." + call, both), eval("numpys." + call, both)
                    assert got == want and (naive or figure < 0 or type(got) is type(want))
        for call in ("rand()", "randint(9)", "randint(9, dtype='i4')", "normal(0.0, 1.0)"):
            got, want = eval("la.random." + call), eval("np.random." + call)
            assert got == want and (naive or type(got) is type(want))
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            mine.random()
    items = [1, 2, 3]
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        mine.shuffle(items)


def test_captured_draws():
    rng, numpys = la.random.default_rng(5), np.random.default_rng(5)
    la.random.seed(5), np.random.seed(5)
    f = la.compile(lambda x: x + rng.normal() + la.random.rand() + rng.random(3))
    for _ in range(4):
        got = f(la.ones(3)).asnumpy()
        np.testing.assert_array_equal(
            got, 1 + numpys.normal() + np.random.rand() + numpys.random(3)
        )
        same(rng.random(), numpys.random())  # at once, between the replays
        same(la.random.randn(), np.random.randn())


def test_a_captured_seed_starts_anew_each_time():
    @la.compile
    def f(x):
        la.random.seed(6)
        return x + la.random.rand(3)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = [f(la.zeros(3)).tolist() for _ in range(4)]
    assert got == [np.random.RandomState(6).rand(3).tolist()] * 4


def test_with_the_profiler_on(tmp_path):
    mine, numpys = la.random.default_rng(5), np.random.default_rng(5)
    same(mine.random(), numpys.random())
    with la.profiler.profile(str(tmp_path / "trace.json")):
        x = mine.random()
        la.waitall()
    same(x, numpys.random())
    same(mine.random(), numpys.random())
    assert "random" in (tmp_path / "trace.json").read_text()


# ---- threads and processes ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, 3])
def test_threads_share_the_modules_stream(size):
    la.random.seed(0)
    out, large = [], []

    def draw(k):
        for i in range(150):
            out.append(la.random.random(size))
            if i % 50 == k:
                large.append(la.random.random(3000))

    threads = [threading.Thread(target=draw, args=(k,), daemon=True) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    got = np.concatenate([x.asnumpy().ravel() for x in [*out, *large]])
    want = np.random.RandomState(0).random_sample(got.size)
    np.testing.assert_array_equal(np.sort(got), np.sort(want))
    # Each array is a run of the stream.
    where = {x: k for k, x in enumerate(want)}
    for x in large:
        first = where[x.asnumpy()[0]]
        np.testing.assert_array_equal(x.asnumpy(), want[first : first + 3000])


def test_threads_with_streams_of_their_own():
    found = {}

    def draw(seed):
        mine, numpys = la.random.RandomState(seed), np.random.RandomState(seed)
        found[seed] = all(
            np.array_equal(mine.normal(size=n).asnumpy(), numpys.normal(size=n))
            for n in [1, 700, 3, 1001, 2, 5000] * 20
        )

    threads = [threading.Thread(target=draw, args=(k,), daemon=True) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert found == dict.fromkeys(range(3), True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_goes_on_alike():
    la.random.seed(11)
    la.random.normal(size=50_000)
    la.random.rand()
    receive, send = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            drawn = [*la.random.rand(3).tolist(), *la.random.rand(2000).tolist()[-1:]]
            os.write(send, repr(drawn).encode())
        finally:
            os._exit(0)
    os.close(send)
    os.waitpid(child, 0)
    with os.fdopen(receive) as f:
        got = eval(f.read())
    assert got == [*la.random.rand(3).tolist(), *la.random.rand(2000).tolist()[-1:]]


# ---- the functions themselves -------------------------------------------------------------------


def test_functions_are_functions():
    assert pickle.loads(pickle.dumps(la.random.normal)) is la.random.normal
    assert copy.deepcopy(la.random.normal) is la.random.normal
    assert pickle.loads(pickle.dumps(la.random.Generator.normal)) is la.random.Generator.normal
    rng = la.random.default_rng(0)
    again = pickle.loads(pickle.dumps(rng.normal))
    assert again().item() == rng.normal().item()
    assert la.random.normal.__name__ == "normal" and "Normal numbers" in la.random.normal.__doc__
    assert la.random.normal.__module__ == "lazyarray.random"
    assert "rng.normal" not in repr(rng.normal) and "normal" in repr(rng.normal)
    assert la.random.Generator.normal(rng, size=2).shape == (2,)
    assert la.random.normal.__call__(size=2).shape == (2,)

    class Program:
        draw = la.random.rand  # as numpy's, it is bound to no object

    assert Program().draw(2).shape == (2,)

    class Mine(la.random.Generator):
        def normal(self, *args, **kwargs):
            return super().normal(*args, **kwargs) + 1

    want = np.random.default_rng(3)
    assert Mine(np.random.PCG64(3)).normal().item() == want.normal() + 1
    for wrong in (
        lambda: la.random.normal(0, 1, 2, 3, 4, 5, 6),
        lambda: la.random.normal(nothing=1),
        lambda: la.random.normal(0, loc=1),
        lambda: la.random.beta(1),
        lambda: la.random.rand(2, size=3),
        lambda: la.random.Generator.normal(),
    ):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("dtype", ["?", "i1", "f2", "i4", "f8", "i8", "c16", "g", "G"])
@pytest.mark.parametrize("kind", ["RandomState", "default_rng"])
def test_orders_of_vectors(kind, dtype):
    for n in (0, 1, 2, 3, 100, 9999, 10_000, 10_001):
        for view in (slice(None), slice(None, None, -1), slice(None, None, 2)):
            theirs, ours = (getattr(xp.random, kind)(n + 3) for xp in (np, la))
            x = (np.arange(n) % 251).astype(dtype)
            y = la.array(x)
            x, y = x[view], y[view]
            same(ours.permutation(y), theirs.permutation(x))
            assert theirs.shuffle(x) is ours.shuffle(y) is None
            same(y, x)
            same(ours.permutation(n), theirs.permutation(n))
            same(
                ours.uniform(),
                theirs.uniform() if kind == "default_rng" else np.float64(theirs.uniform()),
            )


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_choices_from_ranges(kind):
    ours, theirs = getattr(la.random, kind)(3), getattr(np.random, kind)(3)
    chances = [0.5, 0.25, 0.25]
    for x in (range(3), range(7, 1, -2), range(2000), range(60_000)):
        for more in ((), (4,), ((2, 3), True), (2, False)):
            same(ours.choice(x, *more), theirs.choice(x, *more))
        same(ours.permutation(x), theirs.permutation(x))
    same(ours.choice(range(3, 6), p=chances), theirs.choice(range(3, 6), p=chances))
    for empty in (range(0), range(3, 3)):
        with pytest.raises(ValueError, match="empty"):
            ours.choice(empty)
    same(ours.normal(size=3), theirs.normal(size=3))


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_choices_of_no_axes_are_arrays(kind):
    for population in ([1.5, 2.5], np.array([3, 1, 4]), 5):
        theirs, ours = getattr(np.random, kind)(3), getattr(la.random, kind)(3)
        given = la.array(population) if isinstance(population, np.ndarray) else population
        for more in ({}, {"replace": True}):
            want, got = theirs.choice(population, (), **more), ours.choice(given, (), **more)
            assert isinstance(want, np.ndarray) and not isinstance(got, la.Scalar)
            same(got, want)


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_counts(kind):
    theirs, ours = getattr(np.random, kind)(3), getattr(la.random, kind)(3)
    for size in (None, 7, (2, 3)):
        for n, p in ((1, 0.5), (10, 0.9), (100, 0.5), (1000, 1e-3), (10**6, 0.3), (0, 0.2), (5, 1)):
            same(ours.binomial(n, p, size), theirs.binomial(n, p, size))
            same(ours.binomial(la.array(n), p=p, size=size), theirs.binomial(n, p, size))
        for mean in (0, 0.5, 9.99, 10, 1e6):
            same(ours.poisson(mean, size), theirs.poisson(mean, size))
    for wrong in ((-1, 0.5), (3, 1.5), (3, -0.1), (3, np.nan)):
        with pytest.raises(ValueError):
            ours.binomial(*wrong)
    same(ours.random(), theirs.random())


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_a_scale_of_minus_zero_is_an_error(kind):
    ours = getattr(la.random, kind)(3)
    for size in (None, 3, 20_000):
        for draw in (ours.exponential, lambda scale, size: ours.normal(0.0, scale, size)):
            draw(0.0, size)
            with pytest.raises(ValueError, match="scale < 0"):
                draw(-0.0, size)


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_chances_of_float32_may_miss_1_by_more(kind):
    p = np.full(200, (1 + 1e-6) / 200, "f4")
    for size in (5, 60_000):
        for chances in (p, la.array(p), la.array(p) * 1):
            theirs, ours = (getattr(xp.random, kind)(3) for xp in (np, la))
            same(ours.choice(200, size, p=chances), theirs.choice(200, size, p=p))
    ours = getattr(la.random, kind)(3)
    with pytest.raises(ValueError, match="do not sum to 1"):
        ours.choice(200, 60_000, p=p.tolist())


def test_integers_of_another_byte_order_on_a_pending_stream():
    theirs, ours = (xp.random.RandomState(7) for xp in (np, la))
    for size in (3, 60_000):
        theirs.normal(size=200_000), ours.normal(size=200_000)
        want = theirs.randint(0, 300, size, dtype="i4")
        with pytest.warns(DeprecationWarning, match="byteorder"):
            got = ours.randint(0, 300, size, dtype=">i4")
        same(got, want)
