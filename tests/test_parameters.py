"""NumPy's functions take their arguments by the names, and in the order, that they have here."""

import inspect
import warnings

import numpy as np
import pytest

import lazyarray as la

from .ops.compare import same

PLACES = ["", "linalg", "fft", "lib.stride_tricks"]
# Taken by all ufuncs, without a place in the signature; einsum's own; those of NumPy's gufuncs
# that refuse them themselves.
LEFT_OUT = {"order", "subok", "signature", "einsum_call"}
REFUSED = {name: {"axis", "keepdims"} for name in ("matmul", "matvec", "vecmat")}
# A context may be given where NumPy has the order, which is taken as well; other names of two.
PLACED = {"order": "ctx", "a_min": "min", "a_max": "max"}


def functions():
    for place in PLACES:
        theirs, ours = np, la
        for name in filter(None, place.split(".")):
            theirs, ours = getattr(theirs, name), getattr(ours, name)
        for name in dir(theirs):
            f, g = getattr(theirs, name), getattr(ours, name, None)
            if name[0] != "_" and callable(f) and g not in (None, f) and not inspect.isclass(f):
                yield pytest.param(f, g, id=f"{place}.{name}".lstrip("."))


def parameters(f):
    try:
        return inspect.signature(f).parameters
    except ValueError:
        return {}


def placed(of):
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [name for name, p in of.items() if p.kind in kinds]


@pytest.mark.parametrize(("theirs", "ours"), functions())
def test_parameters(theirs, ours):
    want, got = parameters(theirs), parameters(ours)
    if any(p.kind == p.VAR_KEYWORD for p in got.values()):
        return
    named = {n for n, p in want.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    assert named - LEFT_OUT - REFUSED.get(theirs.__name__, set()) <= set(got)
    places, mine = placed(want), placed(got)
    if places and places[0] in mine:  # else inspect doesn't know the first ones
        assert all(a in (b, PLACED.get(b)) for a, b in zip(mine, places, strict=False))


def test_arguments_by_name():
    x = np.arange(6.0).reshape(2, 3)
    for call in (
        lambda xp, x: xp.sum(a=x, axis=0),
        lambda xp, x: xp.max(a=x),
        lambda xp, x: xp.all(a=x, axis=1, keepdims=True),
        lambda xp, x: xp.prod(axis=0, a=x, dtype="f4"),
        lambda xp, x: xp.array(object=x, ndmin=3, subok=True),
        lambda xp, x: xp.asarray(a=x, dtype="f4", order="F"),
        lambda xp, x: xp.asarray(x, None, "F"),
        lambda xp, x: xp.asarray(x, int, "C"),
        lambda xp, x: xp.asanyarray(x, "f4", "F", copy=True),
        lambda xp, x: xp.ascontiguousarray(a=x.T),
        lambda xp, x: xp.asfortranarray(a=x, dtype="i4"),
        lambda xp, x: xp.zeros_like(x, int, "F", True, (3, 2)),
        lambda xp, x: xp.full_like(x, 7, int, "C", False, 4),
    ):
        same(call(la, la.array(x)), call(np, x))


@pytest.mark.host  # the devices are the CPU's
def test_like_says_where(tmp_path):
    x = la.ones(2, device=la.cpu(1))
    for made in (
        la.array([1, 2], like=x),
        la.asarray([1, 2], like=x),
        la.asanyarray([1, 2], like=x),
        la.ascontiguousarray([1, 2], like=x),
        la.asfortranarray([1, 2], like=x),
        la.zeros(2, like=x),
        la.ones(2, like=x),
        la.empty(2, like=x),
        la.full(2, 7, like=x),
        la.full(2, 7, "f4", like=x),
        la.arange(2, like=x),
        la.arange(2.0, dtype=float, like=x),
        la.eye(2, like=x),
        np.zeros(2, like=x),
        np.array([1, 2], like=x),
        np.arange(2, like=x),
        np.eye(2, like=x),
        np.full(2, 1, like=x),
    ):
        assert made.device == la.cpu(1) and len(made) == 2
    assert la.zeros(2, like=x, device=la.cpu(0)).device == la.cpu(0)
    assert la.zeros(2, like=np.ones(1)).tolist() == [0, 0]
    la.save(tmp_path / "a", arr=x)
    assert la.load(tmp_path / "a.npy").tolist() == [1, 1]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="ndmax came with it")
def test_ndmax_makes_objects():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.HostArrayWarning)
        x = la.array([[1, 2], [3, 4]], dtype=object, ndmax=1)
    assert x.dtype == object and x.shape == (2,)
    for xp in (np, la):
        with pytest.raises(ValueError, match="maximum number of dimension"):
            xp.array([[1, 2], [3, 4]], ndmax=1)
