"""``la.set_scalars``: NumPy's scalars, read at once, for programs that ask for their types."""

import inspect
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray import _scalar_mode
from lazyarray.ops import _rows


def test_results_are_numpys_scalars():
    v, mean = la.array([1.0, 2.0]), la.mean
    with la.set_scalars("numpy"):
        found = [v.sum(), v[0], la.mean(v), np.sum(v), v @ v, -v[1], la.dot(v, v), v.max(), *v]
        found += [la.sin(v[0]), v.flat[0], la.random.normal(), la.random.rand(), la.array(2.0) * 3]
        found += [v.var(), la.linalg.norm(v), np.float64(2) * v[0], round(v.sum(), 1), +v[0]]
        found += [np.add.reduce(v), la.add.reduce(v), v.std(), abs(v[0]), divmod(v[0], 2)[0]]
        assert all(isinstance(x, float) for x in found)
        assert isinstance(v.argmax(), np.int64) and isinstance(v.any(), np.bool_)
        assert isinstance(la.random.default_rng(0).poisson(3), int)
        assert la.allclose(v, v) is True
        whole, rest = la.modf(v[1])
        assert (whole, rest) == (0, 2) and isinstance(whole, float)
        assert isinstance(la.linalg.slogdet(la.eye(2)).sign, float)
        assert type(la.array(5.0)) is la.NDArray and type(v[..., 0]) is la.NDArray
    assert isinstance(v.sum(), la.Scalar)
    assert isinstance(la.mean(v), la.Scalar) and isinstance(v.flat[0], la.Scalar)
    assert la.mean is mean  # nothing stays replaced


def test_nests_and_undoes():
    v = la.ones(2)
    with la.set_scalars("numpy"):
        with la.set_scalars("array"):
            assert isinstance(v.sum(), la.Scalar) and isinstance(la.mean(v), la.Scalar)
        assert isinstance(v.sum(), np.float64) and isinstance(la.mean(v), np.float64)
        with la.set_scalars("numpy"):
            pass
        assert isinstance(la.mean(v), np.float64)
        with pytest.raises(ZeroDivisionError), la.set_scalars("array"):
            raise ZeroDivisionError
        assert isinstance(la.mean(v), np.float64)
    setting = la.set_scalars("numpy")
    try:
        assert repr(setting) == "<scalars as 'numpy'; before: 'array'>"
        assert isinstance(v.sum(), np.float64)
    finally:
        la.set_scalars("array")
    assert isinstance(v.sum(), la.Scalar)


def test_a_block_is_short():
    """No docstring is made, and what stands for functions is made once."""
    called = []
    with la.set_scalars("numpy"):
        first = la.mean, la.linalg.slogdet, la.random.Generator.normal, la.random.normal
    _scalar_mode._reading.cache_clear()
    sys.setprofile(lambda frame, event, arg: called.append((event, frame.f_code.co_name)))
    try:
        with la.set_scalars("numpy"):
            once = la.mean, la.linalg.slogdet, la.random.Generator.normal, la.random.normal
        made = called.count(("call", "_reading"))
        with la.set_scalars("numpy"):
            assert la.mean is once[0] is not first[0]
    finally:
        sys.setprofile(None)
    assert ("call", "_put") in called and ("call", "completed") not in called
    assert made == called.count(("call", "_reading")) > 300
    with la.set_scalars("numpy"):
        again = la.mean, la.linalg.slogdet, la.random.Generator.normal, la.random.normal
    assert again == once


def test_what_stands_for_functions_looks_like_them():
    plain = [la.mean, la.sum, la.linalg.norm, la.random.normal, la.fft.fft, la.load]
    shown = [(repr(f), f.__doc__, inspect.signature(f), f.__name__, f.__module__) for f in plain]
    with la.set_scalars("numpy"):
        for f, want in zip(plain, shown, strict=True):
            g = pickle.loads(pickle.dumps(f_of(f)))
            assert g is f_of(f) and inspect.isroutine(g)
            found = (repr(g), g.__doc__, inspect.signature(g), g.__name__, g.__module__)
            assert found[1:] == want[1:]
            assert not isinstance(f, _rows.Public) or found[0] == want[0]


def f_of(f):
    """The function of that name, as it is now."""
    return getattr(sys.modules[f.__module__], f.__name__)


@pytest.mark.parametrize("kind", ["float", "", None, 3])
def test_other_kinds_are_errors(kind):
    with pytest.raises(ValueError, match="'array' or 'numpy'"):
        la.set_scalars(kind)
    assert isinstance(la.ones(2).sum(), la.Scalar)


def test_while_recording_and_capturing_results_stay_arrays():
    w = la.array([1.0, 2.0])
    w.attach_grad()
    with la.set_scalars("numpy"):
        with la.autograd.record():
            loss = la.mean(w * w)
            loss += w[0]
            assert isinstance(loss, la.Scalar)
        loss.backward()
        assert w.grad.tolist() == [2, 2]
        assert isinstance(loss * 2, np.float64)
        fast = la.compile(lambda x: (x.sum(), la.mean(x)))
        for _ in range(2):
            assert [float(y) for y in fast(w)] == [3, 1.5]


def test_reading_is_a_wait():
    v = la.ones(3)
    with la.set_scalars("numpy"):
        la.sync_report(reset=True)
        for _ in range(3):
            v.sum()
        (row,) = la.sync_report()
        assert row.count == 3 and row.file == __file__ and "scalar" in row.what
        la.mean(v)
        assert la.sync_report().total == 4
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            v.sum()
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            la.mean(v)
        with la.no_sync():
            v.sum(axis=0, keepdims=True)


def test_errors_are_raised_at_once():
    with la.set_scalars("numpy"), pytest.raises(IndexError):
        la.arange(3)[la.array(7)]


def test_it_holds_in_all_threads():
    found = []
    with la.set_scalars("numpy"):
        thread = threading.Thread(target=lambda: found.append(la.ones(2).sum()))
        thread.start()
        thread.join()
    assert isinstance(found[0], np.float64)


def test_lazyarrays_own_code_sees_arrays():
    x, y = la.ones((4, 3)), la.array([0, 1, 2, 0])
    with la.set_scalars("numpy"):
        assert isinstance(la.linalg.cond(la.eye(3)), np.float64)
        assert la.nanmean(x) == 1.0 and la.median(x) == 1.0
        assert isinstance(la.nn.cross_entropy(x, y), la.Scalar)
        assert "1." in repr(x)


@pytest.mark.parametrize(("value", "shown"), [
    ("numpy", "float64"), ("array", "RealScalar"), ("", "RealScalar"), ("float", "ValueError"),
])  # fmt: skip
def test_environment(value, shown):
    program = "import lazyarray as la; print(type(la.ones(2).sum()).__name__, la.mean([1.0]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "LAZYARRAY_SCALARS": value})  # fmt: skip
    assert shown in done.stdout + done.stderr
    if shown == "ValueError":
        assert "LAZYARRAY_SCALARS='float': 'array' or 'numpy' is wanted" in done.stderr
