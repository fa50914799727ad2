"""Random numbers on GPUs: drawn there or on the host; streams, seeds, parameters, errors.

The tests run on the devices that there are; elsewhere a session on simulated ones runs them, and
tests/test_random*.py with them.
"""

import hashlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy.cuda import draws
from tests import streams
from tests.cuda import sim

GPUS = la.gpu_count()
on_a_gpu = pytest.mark.skipif(not GPUS, reason="no GPU: run by test_on_simulated_devices")
asynchronous = pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="the naive engine raises at the call"
)

SETTINGS = [
    {"LAZYARRAY_SIM": "lazy", "LAZYARRAY_SIM_HAZARDS": "1"},
    {"LAZYARRAY_SIM": "random:5", "LAZYARRAY_GPU_WORKER_NTHREADS": "4"},
    {"LAZYARRAY_SIM": "eager", "LAZYARRAY_ENGINE_TYPE": "NaiveEngine"},
    {"LAZYARRAY_SIM": "random:7", "LAZYARRAY_ENGINE_TYPE": "ThreadedEnginePooled"},
]
ids = [setting["LAZYARRAY_SIM"] for setting in SETTINGS]


@pytest.mark.skipif(GPUS > 0, reason="the tests themselves run")
@pytest.mark.parametrize("setting", SETTINGS, ids=ids)
def test_on_simulated_devices(setting):
    files = [__file__, "tests/test_random.py", "tests/test_random_table.py"]
    command = [sys.executable, "-m", "tests.cuda.sim", "-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--device", "gpu:0", *files],
        env={**os.environ, **setting},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


MIXED = """
import hashlib
import lazyarray as la
la.random.seed(5)
drawn = []
for i in range(40):
    place = la.gpu(i % 2)
    drawn.append(la.random.normal(i, size=1 + 997 * i, ctx=place))
    drawn.append(la.random.choice(50, 1 + i, ctx=place))
    drawn.append(la.random.gamma(la.ones(3 + i, ctx=place) * i))
    drawn.append(la.random.permutation(drawn[-1]))
    if i % 7 == 3:
        la.random.seed(i, ctx=place)
    if i % 3:
        drawn.pop()
print(hashlib.sha256(b"".join(x.asnumpy().tobytes() for x in reversed(drawn))).hexdigest())
"""


@pytest.mark.skipif(GPUS > 0, reason="the settings are of simulated devices")
def test_the_numbers_depend_on_nothing_but_seeds_and_order():
    found = {
        subprocess.run(
            [sys.executable, "-c", MIXED],
            env={**os.environ, **sim.environment(), **setting},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for setting in SETTINGS
    }
    assert len(found) == 1
    assert len(found.pop().strip()) == 2 * hashlib.sha256().digest_size


# ---- on a device --------------------------------------------------------------------------------


def counted(draw):
    """How many instructions the host ran for a draw, and the result."""
    la.waitall()
    before = sum(la.context.hosted_ops().values())
    x = draw()
    la.waitall()
    return sum(la.context.hosted_ops().values()) - before, x


@on_a_gpu
@pytest.mark.parametrize("name", [*draws._TABLE, "random", "standard_normal", "integers"])
def test_drawn_on_the_device(name):
    generator = la.random.default_rng(0, ctx=la.gpu(0))
    parameters = {"integers": (3, 9), "binomial": (9, 0.5), "geometric": (0.5,)}.get(name)
    if parameters is None:
        rows = {row.name: row.neutral for row in la.random.TABLE}
        parameters = rows.get(name, ())
    hosted, x = counted(lambda: getattr(generator, name)(*parameters, size=(3, 5)))
    assert hosted == 0
    assert x.device == la.gpu(0) and x.shape == (3, 5)
    want = getattr(np.random.default_rng(0), name)(*parameters, size=(3, 5))
    assert x.dtype == want.dtype
    assert not np.array_equal(x.asnumpy(), want)


@on_a_gpu
@pytest.mark.parametrize(
    "call",
    ["choice(9, 4)", "permutation(9)", "poisson(4, 5)", "standard_t(3, 4)", "vonmises(0, 1, 3)",
     "multivariate_normal([0, 1], [[2, 0], [0, 1]], 3)", "integers([1, 5], 9)",
     "integers(0, 2, 9, dtype=bool)", "dirichlet([1, 2], 3)"],
)  # fmt: skip
def test_drawn_by_the_host_are_numpys(call):
    mine, numpys = la.random.default_rng(3, ctx=la.gpu(0)), np.random.default_rng(3)
    hosted, x = counted(lambda: eval(f"mine.{call}", {"mine": mine}))
    assert hosted == 1 and x.device == la.gpu(0)
    np.testing.assert_array_equal(x.asnumpy(), eval(f"numpys.{call}", {"numpys": numpys}))
    assert mine.bit_generator.state == numpys.bit_generator.state


@on_a_gpu
def test_a_draw_moves_the_stream_by_two_words_whatever_its_size():
    for size in ((), 1, (300, 1000)):
        mine, numpys = la.random.default_rng(3, ctx=la.gpu(0)), np.random.default_rng(3)
        mine.normal(size=size)
        numpys.bit_generator.random_raw(2)
        assert mine.bit_generator.state == numpys.bit_generator.state
    mine.normal(size=0)
    assert mine.bit_generator.state == numpys.bit_generator.state


@on_a_gpu
@pytest.mark.parametrize("call", ["normal(size=5)", "choice(1000, 5)"])
def test_devices_have_streams_of_their_own(call):
    places = [la.cpu(0), la.cpu(1), la.cpu_pinned(0), *map(la.gpu, range(GPUS))]

    def all_of_them():
        drawn = []
        for place in places:
            with place:
                drawn.append(eval(f"la.random.{call}"))
        assert [x.device for x in drawn] == places
        return [tuple(x.tolist()) for x in drawn]

    la.random.seed(3)
    first, second = all_of_them(), all_of_them()
    assert len({*first, *second}) == 2 * len(places)
    la.random.seed(3)
    assert all_of_them() == first
    la.random.seed(8, ctx=la.gpu(0))
    again = all_of_them()
    assert [a == b for a, b in zip(again, second, strict=True)] == [p != la.gpu(0) for p in places]
    with la.gpu(0):
        one = eval(f"la.random.default_rng(8).{call}")
    assert tuple(one.tolist()) == again[places.index(la.gpu(0))]


@on_a_gpu
@pytest.mark.parametrize("n", [5, 70_000])
def test_draws_happen_in_push_order(n):
    la.random.seed(1)
    want = streams.seeded(1, la.gpu(0))
    place, got, expected = la.gpu(0), [], []
    for i in range(6):
        la.random.random(n, ctx=place)  # dead at once, and drawn all the same
        want.random(n)
        got.append(la.random.normal(got[-1] if got else 0.0, size=n, ctx=place) + 1)
        expected.append(want.normal(expected[-1] if got[1:] else 0.0, size=n) + 1)
        got.append(la.random.choice(n, 3, ctx=place))
        expected.append(want.choice(n, 3))
        got.append(la.random.exponential(2, n, ctx=place))
        expected.append(want.exponential(2, n))
        if i == 3:
            la.random.seed(2, ctx=place)
            want = streams.of_bits(np.random.PCG64(2), place)
    for x, y in reversed([*zip(got, expected, strict=True)]):
        np.testing.assert_allclose(x.asnumpy(), y, rtol=1e-12)


@on_a_gpu
def test_states():
    with la.gpu(0):
        la.random.seed(4)
        la.random.normal(size=1000)
        state = la.random.get_state()
        first = la.random.gamma(2, size=1000)
        la.random.set_state(state)
        assert (la.random.gamma(2, size=1000) == first).all()
        rng = la.random.default_rng(5)
        rng.normal(size=9)
        again = pickle.loads(pickle.dumps(rng))
        assert again.device == la.gpu(0)
        assert (again.normal(size=9) == rng.normal(size=9)).all()
        rng.bit_generator.state = np.random.PCG64(6).state
        assert (rng.random(9) == la.random.default_rng(6).random(9)).all()
        a, b = la.random.default_rng(7).spawn(2)
        assert a.device == la.gpu(0) and not (a.random(9) == b.random(9)).any()
        bits = la.random.PCG64(8).jumped()
        assert (la.random.Generator(bits).random(9) != la.random.default_rng(8).random(9)).all()


@on_a_gpu
def test_parameters_that_are_arrays():
    with la.gpu(0):
        loc, scale = la.arange(3.0) * 1000, la.array([[1.0], [10.0]])
        x = la.random.normal(loc, scale, (20_000, 2, 3))
        assert x.device == la.gpu(0)
        np.testing.assert_allclose(x.mean(0).asnumpy(), [[0, 1000, 2000]] * 2, atol=0.5)
        np.testing.assert_allclose(x.std(0).asnumpy(), [[1] * 3, [10] * 3], rtol=0.03)
        y = la.random.uniform(la.array(5.0), [6.0, 7.0], (20_000, 2))
        np.testing.assert_allclose(y.mean(0).asnumpy(), [5.5, 6], atol=0.05)
        z = la.random.binomial(la.array([3, 70]), np.float32(0.5), (20_000, 2))
        np.testing.assert_allclose(z.mean(0).asnumpy(), [1.5, 35], atol=0.2)
    with pytest.raises(ValueError, match=r"gpu\(0\).*cpu\(0\)"):
        la.random.normal(loc, 1, ctx=la.cpu(0))
    with pytest.raises(ValueError, match=r"cpu\(0\).*gpu\(0\)"):
        la.random.normal(la.ones(3, device="cpu"), ctx=la.gpu(0))


@on_a_gpu
@asynchronous
@pytest.mark.parametrize(
    "draw, kind, text",
    [
        (lambda a: la.random.normal(0, a([1, -1])), ValueError, "scale < 0"),
        (lambda a: la.random.uniform(a([3.0]), 1), ValueError, "high - low < 0"),
        (lambda a: la.random.uniform(a(0.0), np.inf), OverflowError, "range exceeds valid bounds"),
        (lambda a: la.random.binomial(a([1.5]), 0.5), TypeError, "Cannot cast array data"),
        (lambda a: la.random.poisson(a([-1.0])), ValueError, "lam < 0"),
        (lambda a: la.random.choice(a([1, 2]), 2, p=a([0.5, 0.6])), ValueError, "sum to 1"),
        (lambda a: la.random.normal(a([1j])), TypeError, "Cannot cast array data"),
    ],
)
def test_what_is_wrong_shows_at_the_wait_and_poisons_its_result_only(draw, kind, text):
    with la.gpu(0):
        la.random.seed(9)
        with pytest.raises(kind, match=text):
            draw(la.array).asnumpy()
        found = la.random.random(5)
    want = streams.seeded(9, la.gpu(0))
    assert (found.asnumpy() == want.random(5)).all()


@on_a_gpu
def test_into_arrays():
    with la.gpu(0):
        whole = la.zeros((6, 4), "f4")
        part = whole[2:4]
        assert la.random.standard_normal(out=part, dtype="f4") is part
        assert (whole.asnumpy() != 0).all(1).tolist() == [False, False, True, True, False, False]
        turned = la.zeros((4, 3)).T
        la.random.random(out=turned)
        assert ((turned > 0) & (turned < 1)).all()
        assert la.random.normal(size=9, dtype="f2").dtype == np.float16
        assert la.random.integers(0, 5, 9, "i1").dtype == np.int8
        with pytest.raises(ValueError, match="device"):
            la.random.default_rng().random(out=la.zeros(4, device="cpu"))
        assert la.random.random(out=la.zeros(4, device="cpu")).device == la.cpu(0)


@on_a_gpu
def test_random_states_numbers_are_numpys():
    with la.gpu(0):
        mine, numpys = la.random.RandomState(3), np.random.RandomState(3)
        for draw in (
            lambda g: g.normal(size=5),
            lambda g: g.randint(9, size=4),
            lambda g: g.rand(),
        ):
            np.testing.assert_array_equal(draw(mine).asnumpy(), draw(numpys))


@on_a_gpu
def test_nothing_drawn_is_waited_for_all_the_same():
    with la.gpu(0):
        items = list(range(50))
        la.random.shuffle(items)
        assert items != sorted(items) == list(range(50))
        with pytest.raises(ValueError, match="sum to 1"):
            la.random.choice(la.ones((3, 0)), 2, p=la.array([0.5, 0.6, 1.0])).asnumpy()
        la.random.seed(0)
        assert la.random.random() is not None


@on_a_gpu
def test_a_compiled_function_draws_anew():
    with la.gpu(0):

        @la.compile
        def noisy(x):
            return x + la.random.normal(size=x.shape) + la.random.choice(9, 3)

        la.random.seed(3)
        found = [noisy(la.zeros(3)).asnumpy() for _ in range(5)]
    want = streams.seeded(3, la.gpu(0))
    for x in found:
        np.testing.assert_allclose(x, want.normal(size=3) + want.choice(9, 3), rtol=1e-12)
