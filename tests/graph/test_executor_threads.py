"""Executors and compiled functions that several threads call: right, or an error that says why."""

import sys
import threading

import numpy as np
import pytest

import lazyarray as la

N = 500


def bound():
    y = la.sym.tanh(la.sym.var("x") * la.sym.var("w")).sum()
    half = la.full(N, 0.5)
    grads = {"x": la.zeros(N), "w": la.zeros(N)}
    return y.bind(la.current_context(), {"x": la.ones(N), "w": half}, grads)


def in_a_thread(f, *args):
    found = []

    def run():
        try:
            found.append(f(*args))
        except BaseException as exc:
            found.append(exc)

    t = threading.Thread(target=run)
    t.start()
    t.join()
    return found[0]


def test_another_thread_may_not_come_between_forward_and_backward():
    e = bound()
    e.forward(is_train=True)
    for call in (e.forward, e.backward):
        refused = in_a_thread(call)
        assert isinstance(refused, RuntimeError)
        assert "not to be shared by threads: 'MainThread' is between forward" in str(refused)
    e.backward()
    want = 0.5 * (1 - np.tanh(0.5) ** 2)
    np.testing.assert_allclose(e.grad_dict["x"].asnumpy(), want)
    assert not isinstance(in_a_thread(e.forward), BaseException)


def test_what_a_thread_left_that_ended_can_be_gone_on_with():
    e = bound()
    assert not isinstance(in_a_thread(e.forward, True), BaseException)
    e.backward()
    assert not isinstance(in_a_thread(e.forward, True), BaseException)
    e.forward()


def test_another_thread_may_not_call_it_inside_a_call():
    e, found = bound(), []
    e.set_monitor_callback(lambda name, x: found.append(in_a_thread(e.forward)))
    e.forward()
    assert found and all("inside a call" in str(error) for error in found)
    e.set_monitor_callback(lambda name, x: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        e.forward()
    e.set_monitor_callback(None)
    assert not isinstance(in_a_thread(e.forward), BaseException)


def test_executors_that_share_memory_are_one():
    e = bound()
    other = e.reshape(x=(N,))
    e.forward(is_train=True)
    assert "not to be shared" in str(in_a_thread(other.forward))


def test_with_a_lock_threads_share_an_executor():
    e, lock, wrong = bound(), threading.Lock(), []

    def work(number):
        a = np.full(N, number + 1.0)
        for _ in range(30):
            with lock:
                (y,) = e.forward(is_train=True, x=la.array(a))
                e.backward()
                got = y.item(), e.grad_dict["w"].asnumpy()
            t = np.tanh(a * 0.5)
            if not (np.isclose(got[0], t.sum()) and np.allclose(got[1], a * (1 - t * t))):
                wrong.append(number)

    run_all(work)
    assert not wrong


def run_all(work, threads=4):
    errors = []

    def run(number):
        try:
            work(number)
        except BaseException as exc:
            errors.append(exc)

    all = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for t in all:
        t.start()
    for t in all:
        t.join()
    if errors:
        raise errors[0]


def test_compiled_functions_are_right_in_all_threads():
    @la.compile
    def norm(x, y):
        z = x * y + la.sqrt(x)
        return z / (z.sum() + 1), z.max()

    @la.compile
    def loss(x, w):
        return la.tanh(x * w).sum()

    def work(number):
        a = np.full(N, number + 1.0)
        x, w = la.array(a), la.array(np.full(N, 0.5))
        w.attach_grad()
        for k in range(30):
            u, v = norm(x, x + k)
            z = a * (a + k) + np.sqrt(a)
            assert np.allclose(u.asnumpy(), z / (z.sum() + 1)) and v.item() == z.max()
            with la.autograd.record():
                y = loss(x, w)
            y.backward()
            assert np.allclose(w.grad.asnumpy(), a * (1 - np.tanh(a * 0.5) ** 2))

    run_all(work)


class Counter:
    def __init__(self):
        self.total, self.calls = la.zeros(N), 0

    @la.compile
    def add(self, x):
        self.total += x
        self.calls += 1
        return self.total * 1


@pytest.mark.parametrize("interval", [1e-6, 1e-4, 5e-3])
def test_state_of_a_compiled_function_loses_no_update(interval):
    usual = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        for _ in range(10):
            counter, ones = Counter(), la.ones(N)

            def work(number, counter=counter, ones=ones):
                for _ in range(50):
                    counter.add(ones)

            run_all(work)
            assert counter.calls == 200
            np.testing.assert_array_equal(counter.total.asnumpy(), 200)
    finally:
        sys.setswitchinterval(usual)
