"""Random numbers: what the table of distributions makes, states of generators, RandomState."""

import copy
import inspect
import pathlib
import pickle
import sys

import numpy as np
import pytest

import lazyarray as la
from tests.streams import default_rng, of_bits, seeded

asynchronous = pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="the naive engine raises at the call"
)


def run(generator, call):
    return eval("g." + call, {"g": generator, "np": np})


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
    np.testing.assert_array_equal(got.asnumpy(), drawn(seeded(4), name))
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
    rng, mine = default_rng(8), la.random.default_rng(8)
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
    rng, mine = default_rng(8), la.random.default_rng(8)
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
    mine, rng = la.random.default_rng(8), default_rng(8)
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
    mine, rng = la.random.default_rng(1), default_rng(1)
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
    mine, rng = la.random.default_rng(1), default_rng(1)
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


def test_what_is_equal_but_no_shape_is_refused_every_time():
    mine = la.random.default_rng(0)
    mine.normal(size=(3,)), mine.normal(0, 1, 3)
    for size in ((3.0,), 3.0, ("3",), "3", [2, True], (np.True_,), True):
        with pytest.raises(TypeError):
            mine.normal(size=size)
        with pytest.raises(TypeError):
            mine.normal(0, 1, size)
    assert mine.normal(size=(np.int8(2), 1)).shape == (2, 1)


# ---- states -------------------------------------------------------------------------------------


def test_the_bit_generator_is_the_generators_own():
    mine, rng = la.random.default_rng(3), default_rng(3)
    mine.normal(size=100000)
    rng.normal(size=100000)
    assert mine.bit_generator.state == rng.bit_generator.state
    mine.bit_generator.state = np.random.PCG64(9).state
    assert mine.random().item() == default_rng(9).random()
    with la.no_sync(), pytest.raises(RuntimeError, match="bit_generator waits"):
        mine.bit_generator


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_bit_generators(kind):
    make = getattr(la.random, kind)
    assert issubclass(make, getattr(np.random, kind))
    want = of_bits(make(5)).random(3)
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
    np.testing.assert_equal(state, seeded(1).get_state())
    a = la.random.normal(size=n)
    la.random.set_state(state)
    b = la.random.normal(size=n)
    assert bool((a == b).all())
    other = la.random.get_state(device="cpu:3")
    c = la.random.random(n, device="cpu:3")
    la.random.set_state(other, device="cpu:3")
    assert bool((c == la.random.random(n, device="cpu:3")).all())
    la.random.set_state(np.random.RandomState(7).get_state())
    want = of_bits(np.random.MT19937())
    want.bit_generator.state = np.random.RandomState(7).get_state()
    assert la.random.random().item() == want.random()
    for bad in (None, {}, (), {"bit_generator": "os"}, {"bit_generator": "PCG64"}):
        with pytest.raises((ValueError, TypeError, KeyError)):
            la.random.set_state(bad)
    with la.no_sync(), pytest.raises(RuntimeError, match="get_state"):
        la.random.get_state()


# ---- RandomState --------------------------------------------------------------------------------

OLDER = [
    *[f"{row.name}({row.example})" for row in la.random.TABLE],
    "uniform(5, 2, 3)",
    "normal([0, 100], 0.5, size=(3, 2))",
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


@pytest.mark.host  # a GPU's own stream isn't the legacy one
def test_a_legacy_state_may_be_a_list():
    mine, rng = la.random.RandomState(3), np.random.RandomState(3)
    mine.rand(5), rng.rand(5)
    state = list(rng.get_state())
    for to in (la.random, mine, la.random.RandomState(9)):
        to.set_state(state)
        assert to.rand(3).tolist() == np.random.RandomState(3).rand(8)[5:].tolist()
    with pytest.raises(TypeError, match="dict or a tuple"):
        mine.set_state("MT19937")


@pytest.mark.host
def test_a_choice_among_objects_is_one_of_them():
    things = [object(), len, None, {}]
    for mine in (la.random.default_rng(0), la.random.RandomState(0), la.random):
        picked = mine.choice(things)
        assert any(picked is thing for thing in things)
    with pytest.warns(la.HostArrayWarning):
        assert la.random.default_rng(0).choice(things, 2).dtype == object
