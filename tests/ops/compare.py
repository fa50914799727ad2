"""How op tests meet NumPy: the same call on both, then values, dtype, memory order and errors."""

import contextlib
import os
import threading

import numpy as np
import pytest

import lazyarray as la

from ..numpys import OLDER, refuses

rng = np.random.default_rng(0)

# What fails or waits does so at the call where the engine runs everything at the call.
asynchronous = pytest.mark.skipif(
    os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine", reason="NaiveEngine runs at the call"
)


@contextlib.contextmanager
def pending(*arrays):
    """Within the block the arrays' values are not there yet."""
    gate = threading.Event()
    for x in arrays:
        la.engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[x.var])
    try:
        yield
    finally:
        gate.set()


def on_gpu():
    return la.current_context().device_type == "gpu"


def there(dtypes):
    """Those of the dtypes that arrays on the current device can have: a GPU lacks long doubles."""
    return [d for d in dtypes if not (on_gpu() and np.dtype(d).char in "gG")]


# A GPU's sorts are all stable, and to partition is to sort.
GPU_SORTS = {
    "sort": lambda a, axis=-1, *_, **__: np.sort(a, axis, kind="stable"),
    "argsort": lambda a, axis=-1, *_, **__: np.argsort(a, axis, kind="stable"),
    "partition": lambda a, kth, axis=-1: np.sort(a, axis, kind="stable"),
    "argpartition": lambda a, kth, axis=-1: np.argsort(a, axis, kind="stable"),
}


def to_la(value, known=None):
    """The same argument for lazyarray: arrays, and arrays in lists and tuples, become NDArrays.

    One array given twice stays one: a product with oneself has its own BLAS routine.
    """
    known = {} if known is None else known
    if isinstance(value, np.ndarray):
        if id(value) not in known:
            known[id(value)] = lay(value)
        return known[id(value)]
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(to_la(v, known) for v in value)
    return value


def lay(a):
    """An NDArray with the values and the very strides of a NumPy array."""
    base = a
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base.flags.c_contiguous:
        # Rebuild the view on a copy of its base.
        flat = la.array(base).reshape(-1)
        offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        if base.dtype == a.dtype:
            from lazyarray.ops._rows import strided

            return strided(flat, a.shape, a.strides, offset)
    return la.array(a)


def steps(x):
    """Strides of the axes that have more than one place to be."""
    return [s for s, n in zip(x.strides, x.shape, strict=True) if n > 1] if 0 not in x.shape else []


def same(got, want, strides=True):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, strides)
        return
    want = np.asarray(want)
    assert isinstance(got, la.NDArray)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    values = got.asnumpy()
    if values.tobytes() != want.tobytes():  # NumPy's comparison takes 50 us
        np.testing.assert_array_equal(values, want)
    if strides:
        assert steps(got) == steps(want)


def call(function, args, kwargs, arrays=(la.NDArray,)):
    """The result, or the exception that the call or the wait on its result raises."""
    try:
        result = function(*args, **kwargs)
        for r in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(r, arrays):
                r.wait_to_read()
        return result
    except Exception as exc:  # whatever NumPy raises is what is wanted
        return exc


def away(function, args, kwargs):
    """The call, made while the current device is another than that of its arrays.

    What it makes beside them, and its results, belong where they are.
    """
    given, named = to_la(args) if args else args, {k: to_la(v) for k, v in kwargs.items()}
    flat = [
        y for x in (*given, *named.values()) for y in (x if isinstance(x, (list, tuple)) else [x])
    ]
    here = la.current_context()
    if not any(isinstance(x, la.NDArray) for x in flat):
        return function(*given, **named)
    with la.cpu(1) if here == la.cpu(0) else la.cpu(0):
        result = function(*given, **named)
    for r in result if isinstance(result, (list, tuple)) else [result]:
        assert not isinstance(r, la.NDArray) or r.device == here, f"on {r.device!r}"
    return result


def check(name, *args, module=None, strides=True, **kwargs):
    """``la.name(*args)`` equals ``np.name(*args)``; if that raises, the type raised is equal."""
    theirs, ours = np, la
    for part in (module or "").split("."):
        if part:
            theirs, ours = getattr(theirs, part), getattr(ours, part)
    if OLDER and not hasattr(theirs, name):
        pytest.skip(f"NumPy {np.__version__} has no {name}")
    with np.errstate(all="ignore"):
        want = call(getattr(theirs, name), args, kwargs)
        got = call(lambda: away(getattr(ours, name), args, kwargs), (), {})
    what = f"{name}{tuple(getattr(a, 'shape', a) for a in args)} {kwargs}"
    if isinstance(got, TypeError) and "can't have dtype" in str(got):
        return want
    if isinstance(want, Exception):
        if refuses(want):
            return want
        assert isinstance(got, Exception), f"{what}: no {want!r}"
        assert isinstance(got, type(want)), f"{what}: {got!r}, not {want!r}"
        return want
    if on_gpu() and name in GPU_SORTS:
        want = GPU_SORTS[name](*args, **kwargs)
    if isinstance(got, Exception):
        raise AssertionError(f"{what}: {got!r}") from got
    try:
        same(got, want, strides)
    except AssertionError as exc:
        raise AssertionError(f"{what}: {exc}") from exc
    return want


LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: np.asfortranarray(a),
    "transposed": lambda a: a.T,
    "strided": lambda a: a[..., ::2],
    "reversed": lambda a: a[::-1],
    "swapped": lambda a: a.swapaxes(0, -1),
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}


def layouts(a):
    """The array in every layout that tells views, copies and orders apart."""
    return [f(a) for f in LAYOUTS.values()] if a.ndim else [a]
