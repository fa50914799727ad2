"""The native ways of plain calls against NumPy and the long way, and what they leave to it."""

import contextlib
import sys
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import figures
from ..numpys import NEWER
from .compare import check, same

pytestmark = pytest.mark.host
rng = np.random.default_rng(7)
BASES = [
    rng.random(3),
    rng.random((3, 4)),
    rng.random((2, 3, 4)),
    rng.random((2, 3, 4)).T,
    rng.random((6, 8))[::2, ::-1],
    rng.integers(0, 9, (5, 5)),
    rng.random((4, 4)) > 0.5,
    rng.random((3, 3)).astype("e"),
    rng.random((40, 50)),
    rng.random(5000),
    np.array([2.0, np.nan, -np.inf, np.nan]),
    np.zeros((3, 0)),
    np.array(4.0),
]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_extrema_along_an_axis(name, direct):
    for a in BASES:
        for axis in (0, 1, -1, 2, -3, np.int64(0), None):
            check(name, a, axis)
            check(name, a, axis=axis)
            check(name, a, axis=axis, keepdims=True)
            same_or_raises(lambda x, axis=axis: getattr(x, name)(axis=axis), a)
            same_or_raises(lambda x, axis=axis: getattr(x, name)(axis), a)


def same_or_raises(call, a):
    try:
        want = call(a)
    except Exception as error:
        with pytest.raises(type(error)):
            call(la.array(a)).wait_to_read()
        return
    got = call(la.array(a))
    if np.ndim(want) == 0:
        assert isinstance(got, la.Scalar) == isinstance(want, np.generic)
    same(got, np.asarray(want))


def test_extrema_of_lists(direct):
    for items in ([3, 1.5, 2], [2, 1], [[3, 1], [0, 2]], [1, True], ["b", "a"], [], [1 + 2j, 0]):
        for name in ("argmax", "argmin"):
            check(name, items)
    scalars = list(la.array([0.5, 0.25, 4.0]))
    assert la.argmin(scalars).item() == 1 and la.argmax([*scalars, 5]).item() == 3
    assert la.argmin([scalars[0], la.array(0)]).item() == 1


MORE = [
    np.array([3, -4]), np.array([2**62, 2**62, 1]), np.array([3.0, 4.0], "f4"), np.full(3, 1e200),
    np.array([1 + 2j, 3]), np.array([1, 2], "u1"), rng.random((64, 65)), rng.random(1)[0],
    np.zeros(0), np.full(70_000, 0.5), np.asfortranarray(rng.random((3, 4))), rng.random(9)[::2],
]  # fmt: skip


def test_norms(direct):
    for a in BASES + MORE:
        same_or_raises(lambda x: (la if isinstance(x, la.NDArray) else np).linalg.norm(x), a)
    for items in ([3.0, 4.0], [3, 4], [[3, 4.0], [1, 2]], [1, 2j], [True], [3, la.array(4.0)]):
        got = la.linalg.norm(items)
        assert isinstance(got, la.Scalar)
        assert got.item() == np.linalg.norm([[float(x) for x in i] if isinstance(i, list) else
                                             complex(i) for i in items])  # fmt: skip
    x = la.array([3.0, 4.0])
    assert la.linalg.norm(x).item() == 5 and x.tolist() == [3, 4]
    with la.autograd.record():
        x.attach_grad()
        la.linalg.norm(x).backward()
    assert np.allclose(x.grad.asnumpy(), [0.6, 0.8], 1e-15)


@pytest.mark.parametrize("name", ["stack", "vstack", "column_stack", "hstack", "dstack"])
def test_stacks(name, direct):
    pool = [*BASES, np.arange(3.0), np.arange(3.0)[::-1], np.arange(3), np.arange(3, dtype="u1")]
    pool += [np.array([1j, 2, 3]), np.array([True, False, True]), np.ones(1), np.zeros(0)]
    for a in pool:
        for b in pool:
            for seq in (lambda *x: list(x), lambda *x: tuple(x)):
                ours = la.array(a), la.array(b)
                for arrays, theirs in (
                    (ours, (a, b)),
                    (ours[:1], (a,)),
                    ((*ours, ours[0]), (a, b, a)),
                ):
                    try:
                        want = getattr(np, name)(seq(*theirs))
                    except ValueError:
                        with pytest.raises(ValueError):
                            getattr(la, name)(seq(*arrays))
                        continue
                    got = getattr(la, name)(seq(*arrays))
                    assert got.dtype == want.dtype and got.shape == want.shape
                    np.testing.assert_array_equal(got.asnumpy(), want)
    x = la.arange(3.0)
    made = la.column_stack([x, x])
    made[0, 0] = 9
    assert x[0].item() == 0


@pytest.mark.parametrize("dtype", ["f8", "i8", "f4", "u1", "?"])
def test_where_a_number_belongs(dtype, direct):
    numbers = (0, 3, 7.0, 2.5, -1, np.nan, np.inf, -np.inf, True, 2**53 + 1, 2**62, -(2**63), 1e300)
    for n in (0, 1, 2, 5, 100, 30_000):
        a = np.sort(rng.integers(0, 9, n).astype(dtype))
        vectors = [a, a[1::2], np.repeat(a, 2)[::2]]
        if not NEWER:  # which searches otherwise what isn't sorted
            vectors += [a[::-1], rng.permutation(a)]
        if dtype == "f8" and n > 2:
            vectors += [np.append(a, [np.inf, np.nan, np.nan])]
        for x in vectors:
            ours = la.array(x) if x.flags.c_contiguous else la.array(np.repeat(x, 2))[::2]
            for v in numbers:
                for side in ("left", "right"):
                    want = np.searchsorted(x, v, side)
                    for w in (v, la.array(v)[()], la.array([v])[0], np.array([v])[0]):
                        given = [la.searchsorted(ours, w, side), ours.searchsorted(w, side=side)]
                        given += [ours.searchsorted(w)] if side == "left" else []
                        for got in given:
                            assert isinstance(got, la.Scalar) and got.dtype == want.dtype
                            assert got.item() == want, (n, v, type(w))
    for xp in (np, la):
        with pytest.raises(ValueError, match="too deep"):
            np.asarray(xp.searchsorted(xp.ones((2, 2)), 1.0))
        for side in ("middle", None, 1):
            with pytest.raises((ValueError, TypeError)):
                xp.searchsorted(xp.ones(2), 1.0, side)


def test_counts_of_integers(direct):
    for a in (np.array([0, 3, 1, 3]), np.array([7]), np.zeros(0, int), np.array([1, -1]),
              np.array([20_000]), np.array([1, 2], "u1"), np.array([[1]]), np.array([1.5]),
              np.arange(9)[::2], np.arange(70_000) % 7):  # fmt: skip
        check("bincount", a)
        check("bincount", a, minlength=5)


def test_copies(direct):
    for a in BASES + MORE:
        for copy in (la.copy, la.array, la.NDArray.copy, la.NDArray.flatten):
            x = la.array(a)
            got = copy(x)
            want = getattr(np if copy in (la.copy, la.array) else np.ndarray, copy.__name__)(
                np.asarray(a)
            )
            same(got, np.asarray(want))
            assert not la.shares_memory(got, x)
            if got.size:
                got[...] = 1
                same(x, np.asarray(a), strides=False)
    x = la.ones((2, 2), "i4")
    with la.autograd.record():
        y = la.ones(3)
        y.attach_grad()
        y.copy().sum().backward()
    assert y.grad.tolist() == [1, 1, 1] and x.copy().dtype == "i4"


def test_sorting(direct):
    for a in BASES:
        for name in ("sort", "argsort"):
            check(name, a)
        same_or_raises(lambda x: x.argsort(), a)
        x = la.array(a)
        host = a.copy()
        if a.ndim:
            assert x.sort() is None and host.sort() is None
            same(x, host, strides=False)


def test_views(direct):
    for a in BASES:
        check("atleast_3d", a)
        check("diagonal", a)
        for axis in (0, 1, -1, 3, "x"):
            check("rollaxis", a, axis)
            for to in (0, 1, -1, -2, 5):
                check("moveaxis", a, axis, to)
    x = la.zeros((2, 3, 4))
    for view in (la.moveaxis(x, 0, 2), la.rollaxis(x, 2), la.atleast_3d(x[0]), la.diagonal(x)):
        assert la.shares_memory(view, x)
        assert view.flags.writeable == (view.shape != (4, 2))
    la.moveaxis(x, 0, 2)[1] = 5
    assert x[:, 1].asnumpy().all() and x.sum() == 40


@pytest.mark.parametrize("value", [2.0, 3, True, 2j, 2**63, 2**64, -(2**63), np.float32(2), np.nan])
def test_arrays_of_a_number(value, direct):
    for name in ("array", "asarray", "asanyarray"):
        want = getattr(np, name)(value)
        if want.dtype == object:
            continue
        got = getattr(la, name)(value)
        same(got, want)
        assert not isinstance(got, la.Scalar)
        got += got
        assert getattr(la, name)(value) == want or want != want


@pytest.mark.parametrize("n", [1, 2, 3, 4, 100, 8191, 8192, 8193, 70_000])
def test_runs_that_move_within_an_array(n, direct):
    """Forwards, backwards, over themselves; bytes, not values: NaNs keep their bits."""
    for dtype in ("f8", "i1", "c16", "?", "e"):
        host = rng.integers(0, 2**7, n * np.dtype(dtype).itemsize).astype("i1").view(dtype)
        if dtype == "?":
            host = host.view("i1").astype(bool)
        x = la.array(host)
        for to, at in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)),
                       (slice(n // 2, None), slice(None, n - n // 2)), (slice(0, 0), slice(1, 1)),
                       (slice(None, None, -1), slice(None))):  # fmt: skip
            x[to] = x[at]
            host[to] = host[at]
            assert x.asnumpy().tobytes() == host.tobytes()
        rows, columns = la.array(host[: n // 4 * 4]).reshape(-1, 4), None
        want = host[: n // 4 * 4].reshape(-1, 4).copy()
        rows[1:] = rows[:-1]
        want[1:] = want[:-1]
        rows[:, 1:] = rows[:, :-1]
        want[:, 1:] = want[:, :-1]
        assert columns is None and rows.asnumpy().tobytes() == want.tobytes()


def test_moving_in_a_loop_and_in_gradients():
    x, host = la.arange(5000.0), np.arange(5000.0)
    for k in range(60):
        x[1:] = x[:-1]
        x[0] = k
        x[:-1] += x[1:] * 0.5
        host[1:] = host[:-1]
        host[0] = k
        host[:-1] += host[1:] * 0.5
    same(x, host)
    a = la.arange(4.0)
    a.attach_grad()
    with la.autograd.record():
        b = a * 2
        b[1:] = b[:-1]
        loss = (b * la.array([1.0, 10, 100, 1000])).sum()
    loss.backward()
    same(a.grad, np.array([22.0, 200, 2000, 0]))
    f = la.compile(lambda v: shifted(v))
    for start in (0.0, 3.0):
        same(f(la.arange(start, start + 9)), np.r_[start, np.arange(start, start + 8)])


def shifted(v):
    v = v + 0
    v[1:] = v[:-1]
    return v


def test_flags_and_flat(direct):
    for a in BASES:
        x = la.asarray(a)
        flags, want = x.flags, np.empty_like(a, subok=False).flags
        for name in ("c_contiguous", "f_contiguous", "contiguous", "fortran", "forc", "fnc"):
            assert getattr(x.flags, name) == getattr(x.asnumpy().flags, name), (name, a.strides)
        for key in ("C_CONTIGUOUS", "F_CONTIGUOUS", "C", "F", "WRITEABLE", "OWNDATA", "A"):
            assert flags[key] == want[key] or key in "CF" or "CONTIGUOUS" in key
        with pytest.raises(KeyError):
            flags["Z"]
        for key in (0, 2, -1, 10**9, slice(1), [0], "a"):
            try:
                item = a.flat[key]
            except Exception as error:
                with pytest.raises(type(error)):
                    x.flat[key]
            else:
                got = x.flat[key]
                assert isinstance(got, la.Scalar) == isinstance(item, np.generic)
                np.testing.assert_array_equal(got.asnumpy(), item)
    with la.set_scalars("numpy"):
        assert type(la.ones(3).flat[1]) is np.float64
        assert type(la.ones((3, 2)).flat[1]) is np.float64


NUMBERS = [0.0, -0.0, 1.0, -3.0, 1.5, 0.1, 1 / 3, 2 / 3, 0.1 + 0.2, 123456.5, 12345678.0,
           99999999.0, 99999999.5, 1e8, 123.123456789, 0.000123, 0.0001, 9.99e-5,
           1e300, np.inf, np.nan, 1e-300,
           0.12345678, 0.123456785, 5e-324, 1234567.125]  # fmt: skip


def test_numbers_as_text():
    for value in NUMBERS:
        for dtype in ("f8", "f4", "i4", "?", "c16"):
            with np.errstate(all="ignore"):
                a = np.array(value if dtype in "f8f4c16" or abs(value) < 1e9 else 7, dtype)
            x = la.array(a)
            assert repr(x) == repr(a)
            assert repr(la.array([a])[0]) == repr(a[()])
            if a.dtype.kind == "f":
                assert la.format_float_positional(x) == np.format_float_positional(a[()])
                assert la.format_float_scientific(x) == np.format_float_scientific(a[()])
    with np.printoptions(precision=2):
        assert repr(la.array(1.2345)) == "array(1.23)"
    assert repr(la.array(1.2345)) == "array(1.2345)"
    with la.cpu(1):
        assert repr(la.array(1.5)) == "array(1.5, device=cpu(1))"


def test_checking_for_finite(direct):
    for a in BASES:
        check("asarray_chkfinite", a)
        check("asarray_chkfinite", a.tolist())
    x = la.ones(3)
    assert la.asarray_chkfinite(x) is x


@pytest.mark.parametrize("n", [0, 1, 3, 80, 5000])
@pytest.mark.parametrize("source", "?bBhHiIlLqQefdgFDG")
def test_casts_of_a_few_elements(source, n, direct):
    values = np.array([3, 0, 250, -7, 1.5, -0.0, 1e4] * (n // 7 + 1))[:n]
    with np.errstate(all="ignore"):
        a = values.astype(source)
    for target in "?bBhHiIlLqQefdgFDG":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = a.astype(target)
            got = la.array(a).astype(target).asnumpy()
        assert (got.dtype == want.dtype and got.tobytes() == want.tobytes()) or target in "gG"
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -1e30, 2.0**63, -(2.0**63)])
def test_casts_of_what_the_dtype_does_not_hold(value, direct):
    a = np.array([1.0, value, 2.0])
    for target in "bhilBHIL":
        x = la.array(a)
        with pytest.warns(RuntimeWarning, match="invalid value") if warns(a, target) else ignored():
            got = x.astype(target).asnumpy()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, a.astype(target))


def warns(a, target):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        a.astype(target)
    return bool(given)


@contextlib.contextmanager
def ignored():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


KEYS = [
    np.s_[:],
    np.s_[...],
    np.s_[1],
    np.s_[:, 1],
    np.s_[1:, ::-1],
    np.s_[::2, None],
    np.s_[0:0],
    np.s_[None, :, :1],
]


@pytest.mark.parametrize("dtype", "?bHilefdgFDG")
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_stores_into_views(key, dtype, direct):
    a = np.arange(12).reshape(3, 4).astype(dtype)
    values = [5, 2.5, True, np.float32(3), np.array([7, 8, 9, 10]), np.arange(3)[:, None], 300, -1]
    values += [
        np.array(4),
        np.ones((1, 1, 4)),
        np.ones(2),
        [1, 2, 3, 4],
        np.arange(12.0).reshape(3, 4),
    ]
    for value in values:

        def store(x, value=value):
            y = x.copy()
            v = value
            if isinstance(x, la.NDArray) and isinstance(v, np.ndarray):
                v = la.array(v)
            y[key] = v
            return y

        same_or_raises(store, a)
        same_or_raises(store, np.asfortranarray(a))


@pytest.mark.parametrize("value", [np.array([1.5]), np.array([[2]]), np.array([1.0, 2.0]), [1.5]])
def test_an_element_is_no_sequence(value, direct):
    for dtype in "dlgD?":
        ours, numpys = la.zeros((2, 2), dtype), np.zeros((2, 2), dtype)
        try:
            numpys[1, 0] = value
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                ours[1, 0] = la.array(value) if isinstance(value, np.ndarray) else value
        else:
            ours[1, 0] = la.array(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(ours.asnumpy(), numpys)


def test_sorts_in_place(direct):
    for a in BASES:

        def sort(x):
            y = x.copy()
            y.sort()
            return y

        same_or_raises(sort, a)
    x = la.array([3.0, 1.0, 2.0])
    part, version = x[1:], x.var.version
    part.sort()
    assert x.tolist() == [3.0, 1.0, 2.0]
    x.sort()
    assert part.tolist() == [2.0, 3.0] and x.var.version > version
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(la.array([2.0, 1.0]), (2, 2)).sort()


@pytest.mark.parametrize("shape", [(6, 7), (1,), (3, 1, 5), (2**31, 2**31)])
def test_unravelled(shape, direct):
    size = int(np.prod(shape, dtype=object))
    for i in (0, 5, size - 1, size, -1, True):
        try:
            want = np.unravel_index(i, shape)
        except Exception as error:
            with pytest.raises(type(error)):
                la.unravel_index(i, shape)
        else:
            got = la.unravel_index(i, shape)
            assert type(got) is tuple and [int(g) for g in got] == [int(w) for w in want]


def test_diagonals(direct):
    for a in BASES:
        if a.ndim == 2:
            for k in (0, 1, -2, 50):
                same_or_raises(
                    lambda x, k=k: (la if isinstance(x, la.NDArray) else np).diag(x, k), a.copy()
                )
                assert la.diag(la.array(a), k).flags.writeable == np.diag(a, k).flags.writeable


def test_results_are_where_the_operands_are(direct):
    with la.cpu(1):
        x, m = la.array([[3.0, 1.0], [2.0, 5.0]]), la.array([True, False])
        k, z = la.array([2, 1]), la.array([2, 1])[0]
    v = x[0]
    for found in (
        la.argmax(x, 1),
        x.argmin(-1),
        x.argmax(),
        la.where(m, v, v),
        la.where(m, v, 1.0),
        la.append(v, 1.0),
        la.linalg.norm(k),
        la.linalg.norm(v),
        v[m],
        v[k - 1],
        la.sort(x),
        la.diag(v),
        x.astype(int),
        v.copy(),
        la.repeat(k, 2),
        la.bincount(k),
        la.nonzero(k)[0],
        la.count_nonzero(k) + z * 0,
    ):
        assert found.ctx == la.cpu(1)
    with pytest.raises(ValueError, match="different devices"):
        (la.array([2])[0] > 1) & (z > 1)
    with pytest.raises(ValueError, match="different devices"):
        la.sin(la.array([2.0]), out=v[:1])


@pytest.mark.parametrize("dtype", "FD")
def test_complex_numbers_in_place(dtype, direct):
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = (rng.normal(size=2) + 1j * rng.normal(size=2)).astype(dtype)
        x, y = np.array(a), np.array(b)
        ours, other = la.array(x), la.array(y)
        x *= y
        ours *= other
        assert ours.asnumpy().tobytes() == x.tobytes()
        np.square(x, out=x)
        la.square(ours, out=ours)
        assert ours.asnumpy().tobytes() == x.tobytes()


def test_tables_of_points(direct):
    for n in (0, 1, 37, 3000, 6000, 40_000):
        x, y, w = rng.random((3, n))
        ours = la.array(x), la.array(y), la.array(w)
        for args in ({}, {"bins": 8}, {"bins": [3, 70]}, {"bins": 9, "range": [[0, 2], [0, 1]]}):
            for more in ({}, {"density": True}, {"weights": 2}):
                if n == 0 and "density" in more:
                    continue
                theirs = {**more, **({"weights": w} if "weights" in more else {})}
                named = {**more, **({"weights": ours[2]} if "weights" in more else {})}
                want = np.histogram2d(x, y, **args, **theirs)
                got = la.histogram2d(*ours[:2], **args, **named)
                for g, v in zip(got, want, strict=True):
                    np.testing.assert_array_equal(g.asnumpy(), v, strict=True)
        for bins in ("sturges", "sqrt", "rice"):
            np.testing.assert_array_equal(
                la.histogram_bin_edges(ours[0], bins).asnumpy(), np.histogram_bin_edges(x, bins)
            )


@pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="it takes no call at once"
)
def test_numbers_that_were_computed_are_lengths_and_shifts_as_pythons_are(direct):
    h = np.arange(24.0).reshape(4, 6)
    x, found = la.array(h), {}
    for value in (-1, 2, 3, 24, -7, 100):
        number = la.array([value, 0])[0]
        found[value] = seen = []
        sys.setprofile(lambda frame, event, _, seen=seen: seen.append(frame.f_code.co_name))
        try:
            rolled = la.roll(x, number), la.roll(x, number, axis=1)
            shaped = x.reshape(number, 24 // value) if value in (2, 3, 24) else None
            flat = x.reshape(number) if value in (-1, 24) else None
        finally:
            sys.setprofile(None)
        assert "normalize_axis_tuple" not in seen and "reshape" not in seen
        for got, axis in zip(rolled, (None, 1), strict=True):
            assert got.tolist() == np.roll(h, value, axis).tolist()
        if shaped is not None:
            assert shaped.tolist() == h.reshape(value, 24 // value).tolist()
        if flat is not None:
            assert flat.tolist() == h.reshape(value).tolist()
    for wrong in (la.array([2.0])[0], la.ones(2)):
        with pytest.raises(TypeError):
            x.reshape(wrong, 12)


UNDERFLOWING = {
    "cumprod": lambda m, x: m.cumprod(x),
    "var": lambda m, x: m.var(x),
    "trapezoid": lambda m, x: m.trapezoid(x, dx=1e-200),
    "accumulate": lambda m, x: m.divide.accumulate(x),
    "a number": lambda m, x: x[1] * x[2],
}


@pytest.mark.parametrize("name", UNDERFLOWING)
def test_an_underflow_is_told_of_where_it_is_asked_for(name):
    with figures(direct_bytes=32768):
        call, a = UNDERFLOWING[name], np.linspace(1e-200, 2e-200, 50)
        if name == "accumulate":
            a = 1 / a
        x = la.array(a)
        la.waitall()
        with np.errstate(under="ignore"):
            same(la.asarray(call(la, x)), np.asarray(call(np, a)))
        for mode, error in (("raise", FloatingPointError), ("warn", RuntimeWarning)):
            with np.errstate(under=mode), warnings.catch_warnings():
                warnings.simplefilter("error")
                for m, value in ((np, a), (la, x)):
                    with pytest.raises(error, match="underflow"):
                        np.asarray(call(m, value))


@pytest.mark.parametrize("dtype", "?bhfdDgG")
def test_elements_by_a_mask(dtype, direct):
    for n in (1, 7, 8, 9, 31, 33, 200, 1000):
        x = (rng.random(n) * 9).astype(dtype)
        a = la.array(x)
        masks = [rng.random(n) < share for share in (0.05, 0.5, 0.95)]
        masks += [
            np.arange(n) // 40 % 2 == 0,
            np.zeros(n, bool),
            np.ones(n, bool),
            np.arange(n) == n - 1,
        ]
        for mask in masks:
            same(a[la.array(mask)], x[mask])
            same(a[mask], x[mask])
            same(a[::-1][la.array(mask)], x[::-1][mask])


@pytest.mark.parametrize("dtype", "?bhifdDgG")
@pytest.mark.parametrize("step", [1, -1, 2])
def test_elements_stored_by_a_mask(step, dtype, direct):
    for n in (1, 7, 8, 9, 33, 200, 1000):
        mask = rng.random(n) < 0.5
        count = mask.sum()
        for many in (count, 1, 0, count + 2):
            x, values = np.zeros(n * abs(step), dtype)[::step], np.arange(many).astype(dtype)
            a = la.array(x.base if step != 1 else x)[::step]
            try:
                x[mask] = values
            except ValueError:
                with pytest.raises(ValueError):
                    a[la.array(mask)] = la.array(values)
                    a.wait_to_read()
            else:
                version = a.var.version
                a[la.array(mask)] = la.array(values)
                same(a, x)
                assert a.var.version == version + 1


@pytest.mark.parametrize("dtype", "?bhifdFD")
def test_elements_of_all_sizes_are_filled_and_repeated(dtype, direct):
    for shape in ((0,), (1,), (7,), (3000,), (40, 3), (3, 40), (5, 4, 3)):
        x = (np.arange(np.prod(shape)) % 5).astype(dtype).reshape(shape)
        check("full_like", x, 1)
        check("ones_like", x)
        same(la.ones(shape, dtype), np.ones(shape, dtype))
        for times in (0, 1, 2, 5, 33):
            for axis in (None, 0, -1, 2):
                check("repeat", x, times, axis)
                same_or_raises(lambda a, times=times, axis=axis: a.repeat(times, axis), x)
            check("tile", x, times)
            check("tile", x, (2, times))
        if len(shape) == 1 and x.size:
            k = np.arange(50) * 7 % x.size
            check("take", x, k)
            y, ours = x.copy(), la.array(x)
            y[k], ours[la.array(k)] = np.arange(50).astype(dtype), la.arange(50).astype(dtype)
            same(ours, y)


@pytest.mark.parametrize("dtype", "?bHieflLqFDdg")
def test_where_of_arrays_of_one_dtype_and_numbers(dtype, direct):
    mask = rng.random((5, 7)) > 0.5
    a, b = rng.integers(0, 3, (2, 5, 7)).astype(dtype)
    numbers = [
        0,
        3,
        -1,
        2**40,
        2**70,
        True,
        0.5,
        1e300,
        np.nan,
        -0.0,
        1j,
        np.float64(2),
        np.int8(1),
    ]
    for x, y in [(a, b), *[(a, n) for n in numbers], *[(n, b) for n in numbers]]:
        same_or_raises(lambda m, x=x, y=y: picked_by(m, x, y), mask)
        same_or_raises(lambda m, x=x, y=y: picked_by(m[0], x, y), mask)
    same(la.where(la.array(mask), la.array(a), la.array(b)[0, 0]), np.where(mask, a, b[0, 0]))
    for x, y in [(1, 2.5), (2, True), (0.5, -0.0), (3, 4), (2**70, 1)]:
        same_or_raises(lambda m, x=x, y=y: picked_by(m, x, y), mask)


def picked_by(mask, *values):
    if not isinstance(mask, la.NDArray):
        return np.where(mask, *values)
    return la.where(mask, *[la.array(v) if isinstance(v, np.ndarray) else v for v in values])


@pytest.mark.parametrize("dtype", "?bHieflLqFDd")
def test_places_of_what_is_not_zero(dtype, direct):
    for shape in (1, 9, (3, 5), (2, 3, 4), 0, (0, 3), (4, 0), 3000, (50, 70)):
        a = rng.integers(0, 2, shape).astype(dtype)
        if a.dtype.kind == "f" and a.size > 8:
            a.flat[3], a.flat[5] = np.nan, -0.0
        for view in (a, a.T, a[::2, ::-1]) if a.ndim == 2 else (a,):
            for call in ("flatnonzero", "count_nonzero", "argwhere"):
                check(call, view)
            for got, want in zip(la.nonzero(la.array(view)), np.nonzero(view), strict=True):
                same(got, want.copy())


def test_rows_and_columns_of_small_matrices(direct):
    for a in (
        rng.random((6, 8)),
        rng.random((6, 8)).T,
        rng.integers(0, 9, (9, 9))[::2, ::-1],
        MANY_BITS,
    ):
        for k in ([1, 0, -1, 1], [], [2, 40], [-40]):
            at = np.array(k, int)
            for pick in (
                lambda x, k: x[:, k], lambda x, k: x[k], lambda x, k: x[::-1][k],
                lambda x, k: x.take(k, axis=0), lambda x, k: x.take(k, axis=-2),
                lambda x, k: x.take(k, 1),
            ):  # fmt: skip
                same_or_raises(lambda x, pick=pick, at=at: pick(x, at_of(x, at)), a)


MANY_BITS = rng.random((5, 5)).astype("g")


def at_of(x, indices):
    return la.array(indices) if isinstance(x, la.NDArray) else indices


def test_lists_of_values_at_places(direct):
    for dtype in "bief?D":
        for values in (
            [1, 2],
            [1.5, 2],
            [1, 2, 3],
            [300, 1],
            [True, 0],
            [],
            [1, "2"],
            [1j, 2],
            [[1, 2]],
        ):
            for k in ([0, 1], [2, 2], [-1, 0]):

                def put(x, k=k, values=values):
                    y = x.copy()
                    y[k] = values
                    return y

                same_or_raises(put, np.zeros(4, dtype))
                same_or_raises(put, np.zeros(40_000, dtype))
            same_or_raises(lambda x, v=values: (x.put([0, 1], v), x)[1], np.zeros(40_000, dtype))


VIEWS = [
    lambda x: x[::2], lambda x: x[:, 1:], lambda x: x.T[:, ::-2], lambda x: x[..., 0],
    lambda x: x[0, ::-1].T, lambda x: x[:, :1, ::2], lambda x: x.transpose(1, 0, 2)[::2],
    lambda x: x[0, 0, ::2], lambda x: x[::2, 0, 0][::-1], lambda x: x[:1, :, ::2],
    lambda x: (la if isinstance(x, la.NDArray) else np).broadcast_to(x[0, 0], (3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_new_arrays_lie_as_views_do(view, direct):
    wide = rng.random((6, 8, 4))
    for name in ("empty_like", "zeros_like", "ones_like", "full_like"):
        more = (7,) if name == "full_like" else ()
        got = getattr(la, name)(view(la.array(wide)), *more)
        want = getattr(np, name)(view(wide), *more)
        assert (got.strides, got.dtype, got.shape) == (want.strides, want.dtype, want.shape)
        if name != "empty_like":
            same(got, want)


def test_imaginary_parts_of_real_arrays_cannot_be_written(direct):
    for a in BASES:
        got, want = la.array(a).imag, np.asarray(a.imag)
        same(got, want)
        if a.ndim:
            assert not got.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                got[...] = 1


def test_reductions_that_start_somewhere_of_larger_arrays(direct):
    for a in (
        rng.random(20_000),
        rng.random((150, 90)).astype("f4"),
        rng.integers(0, 99, (70, 300)),
    ):
        for name in ("sum", "max", "min", "prod"):
            for axis in (None, 0, -1):
                for more in ({"initial": 2}, {"initial": 2, "where": a > 0.5}, {"where": a > 0.5}):
                    if name in ("max", "min") and "initial" not in more:
                        continue
                    check(name, a, axis=axis, **more)
    a, out = rng.random((4, 5)), np.zeros(4)
    ours = la.zeros(4)
    assert la.add.reduce(la.array(a), axis=1, out=ours) is ours
    same(ours, np.add.reduce(a, axis=1, out=out))
    for wrong in (la.zeros(5), la.zeros((4, 1))):
        with pytest.raises(ValueError, match="wrong shape"):
            la.add.reduce(la.array(a), 1, None, wrong)
    ours.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        la.add.reduce(la.array(a), 1, out=ours)


def test_bytes_the_other_way_round(direct):
    for a in [*BASES, *MORE, np.array(3, "i2"), np.array([1j, 2], "F"), np.arange(9, dtype="u2")]:
        for x in (a, a.T, a[::2] if a.ndim else a):
            got = la.array(x).byteswap()
            assert got.dtype == x.dtype and got.asnumpy().tobytes() == x.byteswap().tobytes()
    x = la.arange(3)
    assert x[1].byteswap().item() == 1 << 56 and x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [3, (3,), (2, 3), (5, 5, 2), (1000,), (), 0, (2, 0), -1, (2, -1)])
def test_elements_over_and_over(shape, direct):
    for a in [*BASES, *MORE]:
        try:
            want = np.resize(a, shape)
        except ValueError:
            with pytest.raises(ValueError):
                la.resize(la.array(a), shape)
            continue
        same(la.resize(la.array(a), shape), want)


@pytest.mark.parametrize("name", ["putmask", "place"])
def test_values_by_a_mask(name, direct):
    values = [
        0,
        1.5,
        2j,
        True,
        300,
        [1, 2, 3],
        [2.5],
        [],
        [1, 2.5],
        [True],
        np.arange(3),
        np.ones(2),
    ]
    for dtype in "?bhldfDe":
        for shape in [(), (1,), (7,), (3, 4), (5000,)]:
            a = np.array(rng.random(shape) * 9, dtype)
            mask = np.array(rng.random(shape) > 0.5)
            for v in values:
                want, got = a.copy(), la.array(a)
                try:
                    getattr(np, name)(want, mask, v)
                except Exception as error:
                    with pytest.raises(type(error)):
                        getattr(la, name)(got, la.array(mask), v)
                else:
                    getattr(la, name)(got, la.array(mask), v)
                same(got, want)
    x = la.arange(6.0)
    getattr(la, name)(x[::2], x[::2] > 1, x[1:4])  # one memory
    want = np.arange(6.0)
    getattr(np, name)(want[::2], want[::2] > 1, want[1:4].copy())
    same(x, want)
    with pytest.raises(ValueError):
        getattr(la, name)(la.frombuffer(b"\0" * 8), la.array([True]), [1.0])


def test_numbers_on_the_diagonal(direct):
    for dtype in "?bldfD":
        for shape in [(1, 1), (3, 3), (3, 5), (7, 2), (2, 0), (64, 65)]:
            for value in (0, 1.5, 2j, True, 300, [1, 2]):
                want, got = np.ones(shape, dtype), la.ones(shape, dtype)
                try:
                    np.fill_diagonal(want, value)
                except Exception as error:
                    with pytest.raises(type(error)):
                        la.fill_diagonal(got, value)
                else:
                    la.fill_diagonal(got, value)
                same(got, want)
    want, got = np.ones((4, 4)), la.ones((4, 4))
    np.fill_diagonal(want.T[::-1], 5)
    la.fill_diagonal(got.T[::-1], 5)
    same(got, want)


def test_several_of_at_least_so_many_axes(direct):
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for others in ((2,), (2.5, [1, 2]), (la.ones((2, 3)),)):
            for a in map(np.array, BASES):
                want = getattr(np, name)(a, *map(np.asarray, others))
                got = getattr(la, name)(la.array(a), *others)
                assert type(got) is tuple and len(got) == len(want)
                for x, y in zip(got, want, strict=True):
                    same(x, y)


def test_diagonals_of_the_last_axes(direct):
    for a in map(np.array, BASES):
        for offset in (None, 1, -2):
            given = {} if offset is None else {"offset": offset}
            same_or_raises(
                lambda x, g=given: (la if isinstance(x, la.NDArray) else np).linalg.diagonal(
                    x, **g
                ),
                a,
            )


def test_compressed_vectors(direct):
    for a in [*BASES, *MORE]:
        if a.ndim != 1:
            continue
        for n in (len(a), max(len(a) - 1, 0)):
            mask = rng.random(n) > 0.5
            for got in (
                la.compress(la.array(mask), la.array(a)),
                la.array(a).compress(la.array(mask)),
            ):
                same(got, np.compress(mask, a))
        same(la.compress(la.array(mask), la.array(a), axis=0), np.compress(mask, a, axis=0))


def test_common_types():
    for one in "bhlefdFD":
        for other in "BLefdFD":
            want = np.common_type(np.zeros(1, one), np.zeros(2, other))
            assert la.common_type(la.zeros(1, one), la.zeros(2, other)) is want
            assert la.common_type(la.zeros(1, one), np.zeros(2, other)) is want
    with pytest.raises(TypeError):
        la.common_type(la.ones(2, bool))
    with pytest.raises(AttributeError):
        la.common_type([1])
