"""Floating-point flags: np.errstate as it was when the op was recorded."""

import threading
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy

from .fusing import SMALL, figures

pytestmark = pytest.mark.host  # a GPU's kernels raise no flags


@pytest.fixture(params=["inline", "recorded"], autouse=True)
def tier(request):
    old = _set_policy("inline_ns", 4000 if request.param == "inline" else 0)
    yield
    try:
        la.waitall()
    except FloatingPointError:
        pass
    _set_policy("inline_ns", old)


def test_warns_once_at_the_wait_with_the_line():
    x = la.zeros(4)
    with la.no_sync(), warnings.catch_warnings(record=True) as now:
        y = 1.0 / x
        assert not now
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide") as seen:
            y.wait_to_read()
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.wait_to_read()


def test_raise_is_the_error_of_the_op():
    x = la.zeros(4)
    with np.errstate(divide="raise"):
        y = 1.0 / x
    z = y + 1
    for a in (y, z, y):
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide") as e:
            a.asnumpy()
    assert any(__file__ in note for note in e.value.__notes__)


def test_ignore_is_silent():
    with np.errstate(all="ignore"):
        y = la.log(la.zeros(3)) + la.sqrt(la.full(3, -1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.wait_to_read()


def test_flags_of_one_op_are_not_another_s():
    with np.errstate(invalid="raise", divide="ignore"):
        a = la.log(la.zeros(3))  # divide
        b = la.ones(3) + 1
        c = la.sqrt(la.full(3, -1.0))  # invalid
    a.wait_to_read()
    b.wait_to_read()
    with pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
        c.wait_to_read()


def test_a_loop_that_clears_flags_does_not_hide_earlier_ones():
    with np.errstate(divide="raise"):
        a = 1.0 / la.zeros(3)
        b = la.maximum(la.ones(3), 2.0)  # NumPy's loop clears the flags
    b.wait_to_read()
    with pytest.raises(FloatingPointError):
        a.wait_to_read()


def test_integer_division_by_zero():
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in floor_divide"):
        assert (la.ones(3, dtype="i8") // 0).asnumpy().tolist() == [0, 0, 0]


def test_out_of_range_casts_are_numpys():
    values = np.array([np.nan, 300.0, -1.0, 1e30, np.inf, 5.0])
    for dtype in ("i1", "u1", "i4", "u4", "i8", "u8"):
        with np.errstate(invalid="ignore"):
            want = values.astype(dtype)
            got = la.array(values).astype(dtype)
        np.testing.assert_array_equal(got.asnumpy(), want)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
        la.array(values).astype("i8").wait_to_read()


@pytest.mark.parametrize("n", [3, 100_000])
def test_handlers_of_flags_are_told(n, capfd):
    def told(m):
        calls, lines = [], []

        class Log:
            write = staticmethod(lines.append)

        old = np.seterrcall(lambda *given: calls.append(given))
        try:
            with np.errstate(all="call"):
                m.log(m.zeros(n)).tolist()
                (m.ones(n) * 1e300 * 1e300).tolist()
            with np.errstate(all="print"):
                m.log(m.zeros(n)).tolist()
            with np.errstate(all="log", call=Log()):
                m.sqrt(m.zeros(n) - 1).tolist()
        finally:
            np.seterrcall(old)
        return calls, lines

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        want = told(np)
        printed = capfd.readouterr().err
        assert told(la) == want
    assert capfd.readouterr().err == printed
    assert want[0] == [("divide by zero", 1), ("overflow", 2)]


@pytest.mark.parametrize("n", [3, 5000, 1_000_000])
def test_a_handler_of_flags_is_that_of_the_line(n):
    def told(m):
        calls, lines = [], []

        class Log:
            write = staticmethod(lines.append)

        with np.errstate(divide="call", call=lambda *given: calls.append(given)):
            x = m.ones(n) / m.zeros(n)
        with m.errstate(divide="log", call=Log()):
            y = m.log(m.zeros(n) * 1)
        with np.errstate(divide="call", call=lambda *given: calls.append(("other", *given))):
            z = m.ones(n) / m.zeros(n)
        for array in (x, y, z):
            np.asarray(array)
        return sorted(calls, key=len), lines  # two workers may end in either order

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert told(la) == told(np)


def test_a_handler_of_flags_is_that_of_the_call_of_a_compiled_function():
    @la.compile
    def f(x):
        return 1 / x + 1

    told = []
    for k in range(4):
        with np.errstate(divide="call", call=lambda name, flags, k=k: told.append((k, name))):
            y = f(la.zeros(3000))
        y.wait_to_read()
    assert told == [(k, "divide by zero") for k in range(4)]


def test_a_handler_of_flags_may_raise():
    def fail(name, flags):
        raise LookupError(name)

    old = np.seterrcall(fail)
    try:
        with np.errstate(all="call"), pytest.raises(LookupError, match="divide"):
            la.log(la.zeros(3)).tolist()
    finally:
        np.seterrcall(old)
    with np.errstate(all="call"), pytest.warns(RuntimeWarning, match="divide"):
        la.log(la.zeros(3)).tolist()  # nobody to be told


def test_a_resize_while_np_errstate_is_asked(monkeypatch):
    """That runs Python, so others may go on: an operand keeps its memory until the op has it."""
    x, kept, geterr = la.ones(1000) * 1, [], np.geterr

    def resizing():
        monkeypatch.setattr(np, "geterr", geterr)
        x.resize(2000, refcheck=False)
        kept.extend(la.full(1000, 7.0) for _ in range(4))  # on memory that was given away
        return geterr()

    x.wait_to_read()
    with np.errstate(divide="ignore"):
        monkeypatch.setattr(np, "geterr", resizing)
        y = x + 1.0
    assert kept and (y == 2).all()


def test_an_errstate_is_its_threads(monkeypatch):
    """One thread asks for its own while another has another one."""
    one, zero = la.ones(5), la.zeros(5)
    ready, go, over, raised = (threading.Event() for _ in range(4))

    def strict():
        with np.errstate(all="raise"):
            (one / one).wait_to_read()  # it is known now
            ready.set()
            go.wait(60)
            try:
                (one / zero).wait_to_read()
            except FloatingPointError:
                raised.set()
        over.set()

    geterrcall = np.geterrcall

    def asked():
        monkeypatch.setattr(np, "geterrcall", geterrcall)
        go.set()
        over.wait(60)
        return geterrcall()

    thread = threading.Thread(target=strict)
    thread.start()
    ready.wait(60)
    with np.errstate(all="call", call=lambda *_: None):
        monkeypatch.setattr(np, "geterrcall", asked)
        (one / one).wait_to_read()
    thread.join()
    assert over.is_set() and raised.is_set()


def test_a_flag_of_the_other_unit_is_its_ops_alone():
    """What fmod raises in the x87 unit was told of the next op that may raise flags there, too."""

    def told(xp, x):
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
            warnings.simplefilter("always")
            kept = xp.exp(x % 0.0)
            la.waitall()
            del kept
        return [str(w.message) for w in caught]

    x = np.full(5000, 2.0)
    with figures(**SMALL), engine.bulk(1 << 20):
        assert told(la, la.array(x)) == told(np, x) == ["invalid value encountered in remainder"]
