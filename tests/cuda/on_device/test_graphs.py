"""CUDA graphs: what operators launch again and again is kept, and given to the device at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy import _lazy

pytestmark = pytest.mark.usefixtures("whole")


def step(np, x, w, b):
    h = np.maximum(x @ w + b, 0)
    e = np.exp(h - h.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return p, (p * p).sum() / 3, (x.T @ p).sum(axis=0)


def arrays(seed, m=33, n=20, k=7):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)), rng.standard_normal((n, k)), rng.standard_normal(k)


def same(got, want):
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g.asnumpy(), w, rtol=1e-12, atol=1e-12)


@pytest.fixture
def graphs():
    """How many graphs were launched in the test so far."""
    before = _lazy.graphs_launched()
    return lambda: _lazy.graphs_launched() - before


def test_a_program_that_is_called_again_is_a_graph(gpu, graphs):
    f = la.compile(lambda *a: step(la, *a))
    given = arrays(0)
    mine = [la.array(a) for a in given]
    for _ in range(10):
        same(f(*mine), step(np, *given))
    assert graphs() >= 4


@pytest.mark.parametrize("call", ["waitall", "lent", "released"])
def test_others_wait_while_a_stream_is_captured(gpu, graphs, call):
    """Events on the stream, and waits for the device, come before the capture or after it."""
    lent = la.ones(4)
    theirs = lent.ascupy() if call == "lent" else None
    done = threading.Event()

    def calls():
        while not done.is_set():
            if call == "waitall":
                la.waitall()
            elif call == "lent":
                lent + 1
            else:
                la.compile(lambda x: (x * 2 + 1).sum())(la.ones(9)).wait_to_read()

    thread = threading.Thread(target=calls)
    thread.start()
    try:
        f = la.compile(lambda *a: step(la, *a))
        for m in range(3, 23):
            given = arrays(m, m)
            mine = [la.array(a) for a in given]
            for _ in range(4):
                got = f(*mine)
            same(got, step(np, *given))
    finally:
        done.set()
        thread.join()
    del theirs
    assert graphs() >= 4


def test_arguments_and_results_lie_elsewhere_each_time(gpu, graphs):
    f = la.compile(lambda *a: step(la, *a))
    results = []
    for seed in range(12):
        given = arrays(seed)
        results.append((f(*[la.array(a) for a in given]), step(np, *given)))
    for got, want in results:
        same(got, want)
    given = [(arrays(seed), [la.array(a) for a in arrays(seed)]) for seed in range(3)]
    for _ in range(5):
        for theirs, mine in given:
            same(f(*mine), step(np, *theirs))
    assert graphs() >= 3


def test_more_places_than_graphs_are_kept_for(gpu):
    f = la.compile(lambda *a: step(la, *a))
    given = [(arrays(seed), [la.array(a) for a in arrays(seed)]) for seed in range(20)]
    kept = []
    for _ in range(4):
        for theirs, mine in given:
            kept.append(f(*mine))  # so that results lie elsewhere, too
            same(kept[-1], step(np, *theirs))


def test_arrays_changed_in_place(gpu, graphs):
    w, x = np.ones((5, 4)), np.arange(20.0).reshape(4, 5) / 10
    mine, theirs = la.array(w), la.array(x)

    @la.compile
    def train(x):
        nonlocal mine
        y = x @ mine
        loss = (y * y).sum()
        mine -= 0.01 * (x.T @ y)
        return loss

    for _ in range(12):
        y = x @ w
        np.testing.assert_allclose(float(train(theirs)), (y * y).sum(), rtol=1e-12)
        w = w - 0.01 * (x.T @ y)
    np.testing.assert_allclose(mine.asnumpy(), w, rtol=1e-12)
    assert graphs() >= 3


def test_a_sum_in_pieces_has_its_workspace(gpu, graphs):
    x = np.random.default_rng(0).random(300_000)
    mine = la.array(x)
    f = la.compile(lambda x: (((x + 1) * 2).sum(), (x * x).sum() + x.max(), x - x.mean()))
    for _ in range(6):
        same(f(mine), ((x * 2 + 2).sum(), (x * x).sum() + x.max(), x - x.mean()))
    assert graphs() >= 1


def test_what_is_no_launch_is_done_in_its_turn(gpu):
    """Sorts are CuPy's, an integer power by an array is the host's."""
    x = np.random.default_rng(0).random((20, 30))
    n = np.arange(20) % 4

    def f(np, x, n):
        y = np.sort(x * 2 + 1, axis=1) @ x.T
        z = (n + 2) ** (n + 1)
        return y + 1, y.sum(axis=1) * z, z * 2

    compiled = la.compile(lambda *a: f(la, *a))
    mine = la.array(x), la.array(n)
    for _ in range(5):
        same(compiled(*mine), f(np, x, n))


def test_a_failed_argument_fails_the_results_of_that_call(gpu):
    f = la.compile(lambda *a: step(la, *a))
    given = arrays(0)
    mine = [la.array(a) for a in given]
    for _ in range(4):
        same(f(*mine), step(np, *given))
    bad = mine[0][la.array([*range(32), 99])]
    with pytest.raises(IndexError):
        f(bad, *mine[1:])[0].asnumpy()
    for _ in range(3):
        same(f(*mine), step(np, *given))


def test_a_program_that_goes_while_it_runs(gpu):
    given = arrays(0)
    mine = [la.array(a) for a in given]
    for _ in range(4):
        f = la.compile(lambda *a: step(la, *a))
        results = [f(*mine) for _ in range(5)]
        del f
        for got in results:
            same(got, step(np, *given))


def test_threads_share_a_program(gpu):
    f = la.compile(lambda *a: step(la, *a))

    def run(seed):
        with la.gpu(0):
            given = arrays(seed)
            mine = [la.array(a) for a in given]
            for _ in range(15):
                same(f(*mine), step(np, *given))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, range(3)))  # raises what one of them raises


# ---- of operators that are no program's ----------------------------------------------------------


def descent(np, x, w, rate):
    """A step in place."""
    e = x @ w - 1
    w -= rate * (x.T @ e)
    return (e * e).sum()


def check_descent(seed, rounds):
    """The steps of a loop, and NumPy's, which end with the same numbers."""
    x, w, _ = arrays(seed)
    mine, theirs = la.array(x), la.array(w)
    for _ in range(rounds):
        loss = descent(la, mine, theirs, 0.001)
    for _ in range(rounds):
        want = descent(np, x, w, 0.001)
    np.testing.assert_allclose(theirs.asnumpy(), w, rtol=1e-12)
    np.testing.assert_allclose(loss.item(), want, rtol=1e-12)


def test_a_loop_is_a_graph_a_round(gpu, graphs):
    """Its arrays lie where they lay in the round before."""
    check_descent(0, 300)
    assert graphs() >= 10


def test_a_waited_for_loop_is_a_graph_a_round(gpu, graphs):
    x, w, _ = arrays(0)
    mine, theirs = la.array(x), la.array(w)
    for _ in range(20):
        loss = descent(la, mine, theirs, 0.001).item()
        np.testing.assert_allclose(loss, descent(np, x, w, 0.001), rtol=1e-12)
    assert graphs() >= 15


def test_what_changes_each_round_is_no_graph(gpu, graphs):
    x, w, _ = arrays(0)
    mine, theirs = la.array(x), la.array(w)
    for k in range(100):
        loss = descent(la, mine, theirs, 0.001 / (k + 1)).item()
        np.testing.assert_allclose(loss, descent(np, x, w, 0.001 / (k + 1)), rtol=1e-12)
    assert graphs() <= 3  # some rates were another test's


def test_more_kinds_of_launches_than_are_kept(gpu, graphs):
    x = np.random.default_rng(0).random((90, 90))
    mine = la.array(x)
    for _ in range(4):
        for n in range(5, 90):
            got = (mine[:n, :n] @ mine[:n, :n]) @ (mine[:n, :n] @ mine[:n, :3])
            np.testing.assert_allclose(
                got.asnumpy(), (x[:n, :n] @ x[:n, :n]) @ (x[:n, :n] @ x[:n, :3]), rtol=1e-12
            )
    before = graphs()
    for _ in range(9):
        got = (mine @ mine) @ (mine @ mine)
        np.testing.assert_allclose(got.asnumpy(), (x @ x) @ (x @ x), rtol=1e-12)
    assert graphs() > before


def test_threads_run_the_same_loop(gpu):
    def run(seed):
        with la.gpu(0):
            check_descent(seed, 40)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(8)))


@pytest.mark.skipif(la.gpu_count() < 2, reason="one GPU")
@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_collected_for_another_device(gpu, compiled):
    """The launches before something that is none are given to their own device, too."""

    def f(np, x, n):
        y = np.sort(x * 2 + 1, axis=1) @ x.T
        z = (n * 2 + 2) ** (n + 1)
        return y + 1, y.sum(axis=1) * z, np.sort(z * 2)

    x = np.random.default_rng(0).random((20, 30))
    n = np.arange(20) % 4
    program = la.compile(lambda *a: f(la, *a)) if compiled else lambda *a: f(la, *a)
    with la.gpu(1):
        mine = la.array(x), la.array(n)
        for _ in range(5):
            same(program(*mine), f(np, x, n))
