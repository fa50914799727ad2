"""What goes wrong between threads, tiers and lifetimes: races, cycles, dangling views."""

import os
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy


@pytest.fixture(params=["inline", "recorded"])
def tier(request):
    old = _set_policy("inline_ns", 4000 if request.param == "inline" else 0)
    yield
    engine.get().wait_for_all()
    _set_policy("inline_ns", old)


def counts():
    s = engine.get().stats()
    return s["recorded"], s["inlined"]


def test_an_overlapping_value_with_leading_axes_is_kept_alive():
    code = """
import lazyarray as la
for n in range(3, 40):
    x = la.arange(float(n))
    x[1:] = x[None, :-1]  # the copy of the right-hand side was freed while its layout was read
    assert x.asnumpy().tolist() == [0.0, *range(n - 1)], n
"""
    env = {**os.environ, "PYTHONMALLOC": "debug"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_var_made_by_hand_is_an_error():
    with pytest.raises(TypeError, match="new_variable"):
        type(la.ones(3).var)()


def test_an_op_on_a_deleted_variable_is_an_error_and_spares_its_neighbours(tier):
    x, a = la.ones(5), la.ones(5)
    engine.get().delete_variable(None, la.cpu(0), x.var)
    b = a + 1
    with pytest.raises(ValueError, match="deleted"):
        x + b
    c = b * 2
    np.testing.assert_array_equal(c.asnumpy(), 4.0)


def test_what_a_stopped_engine_refuses_is_an_error_of_its_array():
    e = engine.get()
    made, over = [], threading.Event()

    def record():
        while not over.is_set():
            try:
                made.append(la.full(5, 7.0) + 1)
            except RuntimeError:
                pass

    inline, interval = _set_policy("inline_ns", 0), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=record)
    thread.start()
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        time.sleep(0.002)
        e.stop()
        e.start()
    over.set()
    thread.join()
    sys.setswitchinterval(interval)
    _set_policy("inline_ns", inline)
    lost = 0
    for x in made:
        try:
            lost += int((x.asnumpy() != 8).any())
        except RuntimeError:
            pass
    assert lost == 0


# ---- floating-point flags -----------------------------------------------------------------------


@pytest.mark.host  # a GPU's kernels give no warnings
def test_each_warning_of_an_op_has_its_line(tier):
    y = la.array([1.0, 0.0]) / la.zeros(2)
    with pytest.warns(RuntimeWarning) as seen:
        y.wait_to_read()
    assert [str(w.message)[:6] for w in seen] == ["divide", "invali"]
    assert [w.filename for w in seen] == [__file__] * 2


@pytest.mark.host  # a GPU's kernels give no warnings
def test_an_error_after_a_warning_has_its_line(tier):
    with np.errstate(divide="warn", invalid="raise"):
        y = la.array([1.0, 0.0]) / la.zeros(2)
    with pytest.raises(FloatingPointError) as caught:
        y.wait_to_read()
    assert __file__ in caught.value.__notes__[0]


@pytest.mark.host  # a GPU's kernels give no warnings
def test_warnings_that_nobody_waits_for_do_not_pile_up():
    z = la.zeros(3)
    for _ in range(5000):
        1.0 / z
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        z.wait_to_read()
    assert 1 <= len(seen) < 1000


# ---- other threads while NumPy runs without the GIL ---------------------------------------------


def test_a_cast_that_needs_numpy_is_not_run_inline():
    x = la.full(100, 1e30)
    la.waitall()
    r0, i0 = counts()
    with np.errstate(invalid="ignore"):
        y = x.astype("u4")
    r1, i1 = counts()
    assert (r1 - r0, i1 - i0) == (1, 0)
    assert y.var.version <= 1
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(y.asnumpy(), np.full(100, 1e30).astype("u4"))
    assert y.var.version == 1


def reads_of_one_version(read, size):
    """How many reads saw a mixture while another thread wrote ``x += 1``."""
    x = la.zeros(size)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for _ in range(50):
                x.__iadd__(1)
            x.wait_to_read()

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=write)
    thread.start()
    torn = 0
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        a = read(x)
        torn += int(a.min() != a.max())
    stop.set()
    thread.join()
    sys.setswitchinterval(old)
    return torn


def test_a_strided_read_sees_one_version():
    assert reads_of_one_version(lambda x: x[::2].asnumpy(), 6000) == 0


def test_a_read_sees_one_version():
    assert reads_of_one_version(lambda x: x.asnumpy(), 100_000) == 0


def test_a_large_strided_read_keeps_numpys_layout():
    a = np.arange(6000.0).reshape(20, 30, 10)
    x = la.array(a)
    for view in (lambda v: v.T, lambda v: v[::2, ::-1], lambda v: v.transpose(1, 0, 2)):
        got, want = view(x).asnumpy(), view(a).copy(order="K")
        np.testing.assert_array_equal(got, want)
        assert got.strides == want.strides and got.flags.owndata


def test_an_op_reads_what_it_declared_although_a_later_write_waits():
    x, y = la.ones(3000), la.ones(3)
    gate, got = threading.Event(), []

    def read(ctx):
        gate.wait(20)
        got.append((x.asnumpy()[0], x[::2].asnumpy()[0]))

    engine.get().push_sync(read, la.cpu(0), [x.var], [y.var])
    x += 1
    gate.set()
    y.wait_to_read()
    assert got == [(1.0, 1.0)]


# ---- failures are not kept ----------------------------------------------------------------------


def fails_natively():
    with np.errstate(all="raise"):
        return 1.0 / la.zeros(3)


def fails_with_the_gil():
    return la.take(la.ones(3), la.array([9]))


def fails_in_an_op():
    def fail(ctx):
        raise ValueError

    a = la.ones(3)
    engine.get().push_sync(fail, la.cpu(0), (), [a.var])
    return a


@pytest.mark.parametrize(
    "failing",
    [pytest.param(fails_natively, marks=pytest.mark.host), fails_with_the_gil, fails_in_an_op],
)
def test_an_array_whose_failure_was_raised_goes_away(tier, failing):
    def use():
        y = failing()
        for _ in range(2):
            with pytest.raises((FloatingPointError, IndexError, ValueError)):
                y.asnumpy()
        return weakref.ref(y)

    gone = use()
    la.waitall()
    assert gone() is None


@pytest.mark.host  # a GPU's kernels raise no flags
def test_failures_of_inline_ops_are_let_go():
    z = la.zeros(3)

    def fail():
        with np.errstate(all="raise"):
            y = 1.0 / z
        with pytest.raises(FloatingPointError):
            y.wait_to_read()

    fail()
    before = sys.getrefcount(fail.__code__)
    for _ in range(200):
        fail()
    assert sys.getrefcount(fail.__code__) < before + 100


def test_failures_that_nobody_waits_for_do_not_fill_memory():
    bad = la.astype(la.ones(3), "i8")
    for _ in range(5000):
        bad ** (bad * -1)
    with pytest.raises(ValueError, match="negative integer powers"):
        la.waitall()
    la.waitall()


@pytest.mark.host  # NumPy's array on our memory
def test_an_unaligned_view_is_numpys():
    x = la.zeros(17, dtype="i1")
    assert isinstance(x[8:16].view("f8"), la.NDArray)
    assert isinstance(x[1:17].view("f8"), np.ndarray)
