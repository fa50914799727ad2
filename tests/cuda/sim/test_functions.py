"""The stand-in for CuPy: NumPy's functions with CuPy's parameters and habits."""

import importlib

import numpy as np
import pytest

from .private import same

CALLS = [
    ("sort", lambda m, a: m.sort(a[::-1], axis=0)),
    ("argsort", lambda m, a: m.argsort(a, axis=-1)),
    ("matmul", lambda m, a: m.matmul(a, a.T)),
    ("einsum", lambda m, a: m.einsum("ij,kj->ik", a, a)),
    ("cumsum", lambda m, a: m.cumsum(a, axis=1)),
    ("where", lambda m, a: m.where(a > 3, a, 0.0)),
    ("concatenate", lambda m, a: m.concatenate([a, a], axis=1)),
    ("stack", lambda m, a: m.stack((a, a))),
    ("max", lambda m, a: m.max(a, axis=0, keepdims=True)),
    ("mean", lambda m, a: m.mean(a)),
    ("clip", lambda m, a: m.clip(a, 2, 5)),
    ("fft", lambda m, a: m.fft.fft(a)),
    ("norm", lambda m, a: m.linalg.norm(a)),
    ("solve", lambda m, a: m.linalg.solve(a[:, :3] + m.eye(3), a)),
    ("searchsorted", lambda m, a: m.searchsorted(a[0], a[1])),
    ("full_like", lambda m, a: m.full_like(a, 3)),
    ("arange", lambda m, a: m.arange(1, 7, 2)),
    ("pad", lambda m, a: m.pad(a, 1)),
    ("array_equal", lambda m, a: m.array_equal(a, a)),
    ("reshape", lambda m, a: m.reshape(a, (4, 3))),
    ("add", lambda m, a: m.add(a, 1.5)),
    ("sqrt", lambda m, a: m.sqrt(a)),
    ("power", lambda m, a: 2 ** (a - 1) / 3),
    ("compare", lambda m, a: (a > 2) & ~(a == 4)),
    ("reduce", lambda m, a: m.add.reduce(a, axis=1)),
    ("sum", lambda m, a: a.sum(axis=0)),
    ("take", lambda m, a: a.take(m.asarray([0, 2]), axis=1)),
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_functions(cp, stream, name, call):
    host = np.arange(12.0).reshape(3, 4)
    assert same(call(cp, cp.asarray(host)), call(np, host))


def test_functions_that_give_several(cp, stream):
    host = np.array([3.0, 1.0, 3.0])
    for found, expected in zip(
        cp.unique(cp.asarray(host), return_counts=True),
        np.unique(host, return_counts=True),
        strict=True,
    ):
        assert same(found, expected)
    q, r = cp.linalg.qr(cp.asarray(np.eye(3)))
    assert same(cp.abs(q @ r), np.eye(3))


def test_numpy_s_functions_come_here(cp, stream):
    host = np.array([3.0, 1.0, 2.0])
    made = cp.asarray(host)
    assert same(np.sort(made), np.sort(host))
    assert same(np.add(made, made), host + host)
    assert same(np.linalg.norm(made), np.linalg.norm(host))
    assert same(np.add.reduce(made), host.sum())
    out = cp.asarray(np.zeros(3))
    assert np.multiply(made, 2.0, out=out) is out
    assert same(out, host * 2)
    np.copyto(out, made)
    assert same(out, host)
    np.add.at(out, cp.asarray([0, 0]), 1.0)
    assert same(out, [5.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.sort(a, stable=True),
        lambda a: np.sum(a, initial=3),
        lambda a: np.max(a, where=True),
        lambda a: np.take(a, [0], mode="clip"),
        lambda a: np.vecdot(a, a),
        lambda a: np.spacing(a),
        lambda a: np.insert(a, 0, 0),
        lambda a: np.add(a, a, order="K"),
        lambda a: np.fft.fft(a, out=a),
        lambda a: np.linalg.svdvals(a),
        lambda a: np.lib.stride_tricks.as_strided(a, (2,), (8,)),
    ],
)
def test_what_cupy_lacks_is_refused(cp, stream, call):
    with pytest.raises(TypeError):
        call(cp.asarray(np.arange(4.0)))


@pytest.mark.parametrize("method", ["reduce", "accumulate", "at"])
def test_methods_that_ufuncs_of_cupy_lack(cp, stream, method):
    made = cp.asarray(np.arange(4.0))
    with pytest.raises(NotImplementedError, match=f"`cupy_hypot.{method}` is not supported yet"):
        getattr(cp.hypot, method)(made, *([0, 1.0] if method == "at" else []))


def test_indices_out_of_bounds_go_round(cp, stream):
    made = cp.asarray(np.arange(4.0))
    assert same(made[cp.asarray([5, -5])], [1.0, 3.0])
    assert same(cp.take(made, cp.asarray([4, 7])), [0.0, 3.0])
    made[cp.asarray([6])] = 9
    assert same(made, [0.0, 1.0, 9.0, 3.0])
    with pytest.raises(IndexError):
        made[4]


def test_solvers_report_nothing_unless_asked(cp, stream):
    cupyx = importlib.import_module("cupyx")
    singular = cp.asarray(np.zeros((2, 2)))
    assert np.isnan(cp.linalg.inv(singular).get()).all()
    assert np.isnan(cp.linalg.solve(singular, singular).get()).all()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(singular)
    with pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(cp.asarray(np.zeros((2, 3))))


def test_random_numbers(cp, stream):
    for bits in (cp.random.XORWOW, cp.random.Philox4x3210):
        first, second = (cp.random.Generator(bits(5)) for _ in range(2))
        drawn = first.random((3, 4), dtype=np.float32)
        assert same(drawn, second.random((3, 4), dtype=np.float32).get())
        assert drawn.dtype == np.float32
        out = cp.ndarray((7,), "f8")
        assert first.standard_normal(out=out) is out
        assert same(out, second.standard_normal(7).get())
        whole = first.integers(2, 5, size=100).get()
        assert set(whole.tolist()) == {2, 3, 4}
