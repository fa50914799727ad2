"""Ufuncs of other libraries, SciPy's say: NumPy runs them on small complete operands at once."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import lazyarray as la

sc = pytest.importorskip("scipy.special", reason="SciPy is not installed")


def bits(x):
    x = x.asnumpy() if isinstance(x, la.NDArray) else np.asarray(x)
    return x.dtype, x.shape, x.tobytes()


@pytest.mark.parametrize("n", [None, 0, 1, 3, 1000, 4096, 4097, 50_000])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values_and_types(n, dtype):
    rng = np.random.default_rng(n)
    a, b = (rng.normal(size=n or 1).astype(dtype) for _ in range(2))
    if n is None:
        a, b = a[0], b[0]
    elif not n:
        a, b = a[:0], b[:0]
    x, y = (la.array([v])[0] if n is None else la.array(v) for v in (a, b))
    for name in ("expit", "gamma", "erf", "j0"):
        f = getattr(sc, name)
        got = f(x)
        assert bits(got) == bits(f(a)), name
        assert isinstance(got, la.Scalar if n is None else la.NDArray)
    for name in ("xlogy", "hypot" if not hasattr(sc, "beta") else "beta"):
        f = getattr(sc, name)
        assert bits(f(x, y)) == bits(f(a, b)) and bits(f(x, 2.0)) == bits(f(a, 2.0))
        assert bits(f(2.0, y)) == bits(f(2.0, b)) and bits(f(x, y.asnumpy())) == bits(f(a, b))


def test_views_and_several_results():
    a = np.arange(24.0).reshape(4, 6) / 10
    x = la.array(a)
    for key in (np.s_[::2], np.s_[:, ::-1], np.s_[1], np.s_[:, 2]):
        assert bits(sc.expit(x[key])) == bits(sc.expit(a[key]))
    assert [bits(r) for r in sc.sici(x)] == [bits(r) for r in sc.sici(a)]
    assert bits(sc.expit(x.T)) == bits(sc.expit(a.T))


def test_out_and_where_and_pending_operands():
    a = np.linspace(-2, 2, 7)
    x, out = la.array(a), la.zeros(7)
    assert sc.expit(x, out=out) is out and bits(out) == bits(sc.expit(a))
    y = la.array(np.linspace(-2, 2, 200_000)) * 2 + 1
    np.testing.assert_array_equal(sc.expit(y[:5]).asnumpy(), sc.expit(y.asnumpy()[:5]))


def test_functions_of_objects_run_once():
    calls = []
    f = np.frompyfunc(lambda v: calls.append(v) or v * 2, 1, 1)
    assert f(la.arange(3)).tolist() == [0, 2, 4] and len(calls) == 3


def test_what_is_recorded_is_not_lost():
    x = la.array([0.5, 1.0])
    x.attach_grad()
    with la.autograd.record(), pytest.raises(NotImplementedError, match="no gradient rule"):
        sc.expit(x)


def test_what_a_ufunc_of_a_function_holds_is_let_go_of():
    class Held:
        pass

    def alive(library):
        held = Held()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library.frompyfunc(lambda x, held=held: x, 1, 1)(la.arange(3.0))
        return weakref.ref(held)

    found = [alive(library) for library in (np, la) for _ in range(20)]
    gc.collect()
    assert not any(held() for held in found)
