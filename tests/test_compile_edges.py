"""la.compile where arrays are shared, written in place or changed between calls."""

import copy
import functools
import gc
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd, storage
from lazyarray.lazy._lazy import call_key


def leaf(*values):
    w = la.array(values)
    w.attach_grad()
    return w


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True)


def test_backward_twice_through_one_call():
    w = la.array([1.0, 2.0, 3.0])
    w.attach_grad("add")
    f = la.compile(lambda x: x * x)
    with autograd.record():
        y = f(w * 1).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    same(w.grad, 6 * w.asnumpy())


def test_calls_without_backward_are_given_back():
    w = la.ones(1000)
    w.attach_grad()
    f = la.compile(lambda x: (x * x, x))

    def used():
        for _ in range(20):
            with autograd.record():
                f(w * 1)
        la.waitall()
        gc.collect()
        return storage.pool_stats(la.current_context())["in_use"]

    assert used() == used()


def test_gradients_read_by_reference_are_those_of_the_last_backward():
    w = la.zeros(1000)
    w.attach_grad()

    @la.compile
    def step(rate):
        w[:] = w - rate * w.grad

    for i in range(4):
        with autograd.record():
            y = (w * i).sum()
        y.backward()
        step(1.0)
    same(w, np.full(1000, -6.0))


def test_attach_grad_after_the_first_call():
    w, x = la.array([1.0, 2.0]), leaf(3.0, 4.0)
    f = la.compile(lambda x: x * w)
    for _ in range(3):
        with autograd.record():
            y = f(x * 1).sum()
        y.backward()
        if w.grad is not None:
            same(w.grad, x.asnumpy())
        w.attach_grad()


OVERLAPPING = [
    lambda y: (y[:2], y),
    lambda y: (y, y[:2]),
    lambda y: (y[:3], y[1:]),
    lambda y: (y[::-1], y),
    lambda y: (la.broadcast_to(y, (3, 4)), y),
    lambda y: (la.broadcast_to(y[:1], (1, 2))[1:], y),
    lambda y: (la.lib.stride_tricks.sliding_window_view(y, 2), y[:1]),
]


@pytest.mark.parametrize("views", OVERLAPPING)
@pytest.mark.parametrize("kind", ["compiled", "Function"])
def test_results_that_share_memory(views, kind):
    def f(x):
        return views(x * 3)

    class Of(autograd.Function):
        def forward(self, x):
            return f(x)

        def backward(self, g, h):
            total = la.zeros(4)
            total.attach_grad()
            with autograd.record():
                a, b = f(total)
                s = sum((v * g).sum() for v, g in ((a, g), (b, h)) if g is not None)
            s.backward()
            return total.grad

    grads = []
    for g in (f, la.compile(f) if kind == "compiled" else lambda x: Of()(x)):
        w = leaf(0.0, 1.0, 2.0, 3.0)
        with autograd.record():
            a, b = g(w * 1)
            y = (a * a).sum() + (b * 5).sum()
        y.backward()
        grads.append(w.grad)
    same(*grads)


@pytest.mark.parametrize("f", [lambda w: w, lambda w: w[1:], lambda w: (w, w * 2)[0]])
def test_results_that_are_views_of_leaves(f):
    grads = []
    for g in (f, la.compile(f)):
        w = leaf(1.0, 2.0, 3.0)
        with autograd.record():
            y = (g(w) * 3).sum()
        y.backward()
        grads.append(w.grad)
    same(*grads)


def test_a_detached_argument_given_back_is_detached():
    w = leaf(1.0, 2.0)
    f = la.compile(lambda x: x)
    with autograd.record():
        z = w * 2
        y = (f(z.detach()) * z).sum()
    y.backward()
    same(w.grad, 4 * w.asnumpy())


def in_place_argument(v, x, s):
    x += v * 3
    return x


def in_place_partly(v, x, s):
    s[1:] = v[1:] * 3
    return v * 5 + s


def in_place_tracked(v, x, s):
    v *= 2
    return v * v


@pytest.mark.parametrize("f", [in_place_argument, in_place_partly, in_place_tracked])
def test_in_place_writes_that_gradients_pass_run_op_by_op(f):
    results = []
    for compiled in (False, True):
        w, s = leaf(1.0, 2.0), la.ones(2)

        def g(v, x, s=s):
            return f(v, x, s)

        if compiled:
            h = la.compile(g)
            with autograd.record(), pytest.warns(la.CompileWarning, match="written"):
                h(w * 1, la.ones(2))
        else:
            h = g
            with autograd.record():
                h(w * 1, la.ones(2))
        for _ in range(2):
            with autograd.record():
                s[:] = 1
                x = la.ones(2)
                y = (h(w * 1, x) + x * 2 + s).sum()
            y.backward()
        results.append((y, w.grad))
    for a, b in zip(*results, strict=True):
        same(a, b)


def test_a_capture_that_fails_leaves_the_tape_as_it_was():
    w, s = leaf(1.0, 2.0), la.zeros(2)

    @la.compile
    def f(v):
        s[:1] = v[:1] * 10
        raise KeyError("on purpose")

    with autograd.record():
        s[:] = w * 3
        with pytest.raises(KeyError):
            f(w * 1)
        y = s.sum()
    y.backward()
    same(w.grad, [3.0, 3.0])


@pytest.mark.parametrize("step", [2, -1])
def test_arguments_with_gaps_are_written_in_place(step):
    @la.compile
    def f(x):
        x += 1

    x = la.zeros(6)
    for _ in range(2):
        f(x[::step])
    want = np.zeros(6)
    want[::step] = 2
    same(x, want)


def test_read_only_arguments():
    @la.compile
    def f(x):
        x += 1

    f(la.ones(3))
    x = la.ones(3)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        f(x)
    same(x, np.ones(3))


def test_arrays_from_outside_that_are_resized():
    w = la.ones(4)
    f = la.compile(lambda x: x.sum() + w.sum())
    assert f(la.zeros(2)).item() == 4
    w.resize((8,))
    w[:] = 1
    assert f(la.zeros(2)).item() == 8


@pytest.mark.parametrize("draws", [False, True])
def test_second_orders_of_what_cannot_run_again_are_refused(draws):
    state, w = la.zeros(2), leaf(1.0, 2.0)

    @la.compile
    def f(x):
        if not draws:
            state[:] = state + 1
        return x * x * (la.random.uniform(size=2) if draws else 3)

    with autograd.record():
        y = f(w * 1)
        with pytest.raises(NotImplementedError, match="draws random numbers"):
            autograd.grad(y, w, create_graph=True)


def test_constants_of_one_value_but_other_bits():
    f = la.compile(lambda x, c: la.copysign(x, c))
    same(f(la.ones(2), 0.0), np.ones(2))
    same(f(la.ones(2), -0.0), -np.ones(2))
    f(la.ones(2), float("nan"))
    f(la.ones(2), float("nan"))
    assert len(f._replays) == 3


@pytest.mark.host
def test_errstate_is_the_callers():
    f = la.compile(lambda x: 1 / x)
    with np.errstate(all="ignore"):
        f(la.zeros(3)).asnumpy()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        f(la.zeros(3)).asnumpy()
    assert call_key(()) is not None


def test_callables_without_a_name():
    f = la.compile(functools.partial(la.multiply, 2))
    w = leaf(1.0, 2.0)
    with autograd.record():
        y = f(w).sum()
    y.backward()
    same(w.grad, [2.0, 2.0])


def test_methods_of_copies_and_by_other_names():
    captures = []

    class Model:
        def __init__(self, k):
            self.k = k

        def plain(self, x):
            captures.append(1)
            return x + self.k

        fast = la.compile(plain)

    a = Model(1)
    for _ in range(3):
        same(a.fast(la.ones(1)), [2.0])
    assert len(captures) == 1
    assert not isinstance(a.plain, type(a.fast))
    b = copy.copy(a)
    b.k = 10
    same(b.fast(la.ones(1)), [11.0])
    a.fast = lambda x: x * 7
    same(a.fast(la.ones(1)), [7.0])


def test_arguments_that_are_written_but_not_saved():
    @la.compile
    def f(x, count):
        count += 1
        return x * x

    w, count = leaf(1.0, 2.0), la.zeros(1)
    with autograd.record():
        y = (f(w * 1, count) + f(w * 2, count)).sum()
    y.backward()
    same(w.grad, 10 * w.asnumpy())
    same(count, [2.0])


def test_arguments_that_the_gradient_does_not_read_may_be_overwritten():
    f = la.compile(lambda x: la.tanh(x) + x)
    w = leaf(1.0, 2.0)
    with autograd.record():
        x = w * 1
        y = f(x)
        x += 1
    with pytest.raises(RuntimeError, match="overwritten later"):
        autograd.grad(y, w, create_graph=True)
    y.backward()
    np.testing.assert_allclose(w.grad, 2 - np.tanh(w.asnumpy()) ** 2, rtol=1e-14)


class Refusing(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, g):
        raise KeyError("no gradient")


def overwriting(x):
    y = la.exp(x)
    y *= 0.5
    return y


@pytest.mark.parametrize(
    ("function", "error"), [(overwriting, RuntimeError), (lambda x: Refusing()(x), KeyError)]
)
def test_a_gradient_that_fails_fails_in_backward(function, error):
    f, w = la.compile(function), leaf(0.0, 0.0)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.CompileWarning)
            with autograd.record():
                y = f(w)
        same(y, function(w))
        with pytest.raises(error, match=r"overwritten later|no gradient"):
            y.backward()


@pytest.mark.parametrize("n", [2, 100])
def test_constants_as_results_are_new_arrays_each_time(n):
    def f(x):
        c = la.array(np.arange(n))
        return c, c + x, c[1:]

    compiled = la.compile(f)
    for _ in range(3):
        results = compiled(la.ones(n))
        for a, b in zip(results, f(la.ones(n)), strict=True):
            same(a, b)
        results[0][...] = 7


def test_writing_a_view_does_not_heal_the_rest():
    @la.compile
    def f(x):
        x[...] = 1.0

    f(la.zeros(2))
    with pytest.raises(IndexError):  # at the call, if that waits
        poisoned = la.take(la.arange(6.0), la.array([0, 99, 1, 2]))
        f(poisoned[:2])
        poisoned[2:].asnumpy()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_while_another_thread_captures():
    """The child finds no lock that only that thread would let go of."""
    begun = threading.Event()

    @la.compile
    def slow(x):
        begun.set()
        time.sleep(0.3)
        return x * 2

    quick = la.compile(lambda x: x + 1)
    other = threading.Thread(target=lambda: slow(la.ones(1000)))
    other.start()
    begun.wait(10)
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        os._exit(0 if quick(la.ones(3)).tolist() == [2, 2, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0
    other.join()


def untouched(*values):
    """A leaf with sevens in its gradient: a backward that leaves it alone keeps them."""
    w = leaf(*values)
    w.grad[:] = 7
    return w


def paused(w, x):
    with autograd.pause():
        return (w * x).sum()


def backward_inside(w, x):
    with autograd.record():
        loss = (w * x).sum()
    loss.backward()
    return 1


@pytest.mark.parametrize(
    "made",
    [
        paused,
        backward_inside,
        lambda w, x: w.detach(),
        lambda w, x: w > 1,
        lambda w, x: la.floor(w) + w.detach(),
        lambda w, x: w * 0 + 1,
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_a_backward_writes_the_leaves_that_the_result_was_made_of(made, given):
    results = []
    for compiled in (lambda f: f, la.compile):
        w, u = untouched(1.0, 2.0), untouched(3.0, 4.0)
        f = compiled(lambda x, v=None, w=w, u=u: u * x * made(w if v is None else v, x))
        for _ in range(2):
            with autograd.record():
                y = f(la.array([5.0, 6.0]), *[w] * given).sum()
            y.backward()
        results.append((w.grad.asnumpy(), u.grad.asnumpy()))
    for a, b in zip(*results, strict=True):
        same(a, b)


@pytest.mark.parametrize("used", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_a_backward_from_some_results_leaves_what_others_were_made_of(used):
    results = []
    for compiled in (lambda f: f, la.compile):
        w = [untouched(1.0, 2.0) for _ in range(4)]

        def f(x, w=w):
            h = la.tanh(x * w[0])
            return h, h * w[1] * (w[2] > 1), h * (w[3] > 1)

        f = compiled(f)
        for _ in range(2):
            with autograd.record():
                got = f(la.array([5.0, 6.0]))
                y = sum((got[k] * got[k]).sum() for k in used)
            y.backward()
        results.append([x.grad.asnumpy() for x in w])
    for a, b in zip(*results, strict=True):
        same(a, b)


def test_second_order_of_one_of_two_results():
    def f(x):
        return x * w * w, x * u

    results = []
    for g in (f, la.compile(f)):
        w, u = untouched(1.0, 2.0), untouched(3.0, 4.0)
        with autograd.record():
            y, _ = g(la.array([5.0, 6.0]))
            (first,) = autograd.grad((y * y).sum(), [w], create_graph=True)
            total = (first * first).sum()
        total.backward()
        results.append((w.grad.asnumpy(), u.grad.asnumpy()))
    for a, b in zip(*results, strict=True):
        same(a, b)


def test_the_time_of_many_small_stages_grows_with_their_number():
    def seconds(n):
        xs = [la.ones(64, dtype="f4") for _ in range(n)]
        f = la.compile(lambda: [x * 2 + 1 for x in xs])
        best = []
        for _ in range(8):
            begin = time.perf_counter()
            f()
            la.waitall()
            best.append(time.perf_counter() - begin)
        return min(best)

    assert seconds(640) < 80 * seconds(40)  # of the square it was 256 times as much, and more


@pytest.mark.parametrize("seed", range(4))
def test_stages_that_share_memory_follow_each_other(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 40000, 30)
    xs = [la.array(rng.standard_normal(n)) for n in sizes]

    @la.compile
    def f(k):
        results = []
        for i, x in enumerate(xs):
            h = la.sort(x * k)
            h = la.cumsum(h) if i % 3 else h[::-1] * 2
            results.append((h + la.cumsum(x)).sum())
        return results

    def expected(k):
        for i, x in enumerate(map(np.asarray, xs)):
            h = np.sort(x * k)
            h = np.cumsum(h) if i % 3 else h[::-1] * 2
            yield (h + np.cumsum(x)).sum()

    f(la.array(1.0))
    memory = f.memory()[0]
    assert memory["planned"] < memory["unplanned"] / 4
    calls = {k: f(la.array(float(k))) for k in range(1, 13)}  # all under way at once
    for k, got in calls.items():
        for a, b in zip(got, expected(float(k)), strict=True):
            assert a.item() == b


def test_an_argument_and_what_it_was_made_of_are_two_variables():
    results = []
    for compiled in (lambda f: f, la.compile):
        w = leaf(1.0, 2.0)
        with autograd.record():
            y = compiled(lambda x, w=w: x * w)(w * 2)
            (g,) = autograd.grad(y.sum(), [w], create_graph=True)  # it ran twice through w * 2
            total = (g * g * w).sum()
        total.backward()
        with autograd.record():
            v = w * 3 * w
            z = compiled(lambda x, v=v, w=w: x * v * w)(la.ones(2)).sum()
        first = w.grad.asnumpy()
        z.backward()  # its graph was freed by the capture
        results.append((g.asnumpy(), first, w.grad.asnumpy()))
    for a, b in zip(*results, strict=True):
        same(a, b)
