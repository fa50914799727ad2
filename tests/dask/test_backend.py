"""The backend: what creates arrays, random numbers, look-ups, sizes and tokens; bad input."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tomllib
import warnings

import numpy as np
import pytest

import lazyarray as la

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array")

from dask.array import dispatch  # noqa: E402
from dask.array.backends import ArrayBackendEntrypoint  # noqa: E402
from dask.array.chunk_types import is_valid_chunk_type  # noqa: E402
from dask.array.utils import meta_from_array  # noqa: E402
from dask.base import tokenize  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402
from dask.utils import Dispatch, is_arraylike  # noqa: E402

from lazyarray.dask import LazyarrayBackend  # noqa: E402

from .here import lazy  # noqa: E402

pytestmark = pytest.mark.host
PROJECT = pathlib.Path(__file__).parent.parent.parent / "pyproject.toml"


def test_the_entry_point_is_the_backend():
    """What pyproject.toml says, and what an installed distribution found."""
    if PROJECT.exists():
        named = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]
        assert named["dask.array.backends"] == {
            "lazyarray": "lazyarray.dask.backend:LazyarrayBackend"
        }
    found = [
        e
        for e in importlib.metadata.entry_points(group="dask.array.backends")
        if e.name == "lazyarray"
    ]
    if not found:
        pytest.skip("lazyarray-engine is imported from its sources, not installed")
    assert found[0].load() is LazyarrayBackend


CREATED = {
    "ones": "da.ones((5, 4), chunks=(2, 3))",
    "zeros": "da.zeros((5, 4), chunks=3, dtype='f4')",
    "full": "da.full((5,), 7, chunks=2)",
    "named": "da.ones(3, name='mine')",
    "arange": "da.arange(11, chunks=3)",
    "arange of floats": "da.arange(0.5, 4, 0.25, chunks=4)",
    "0-d": "da.ones(())",
    "like": "da.ones_like(da.zeros((4, 3), chunks=2))",
    "default_rng": "da.random.default_rng(3).normal(size=(6, 4), chunks=3)",
    "integers": "da.random.default_rng(3).integers(10, size=20, chunks=7)",
    "RandomState": "da.random.RandomState(3).uniform(size=(6, 4), chunks=3)",
    "choice": "da.random.default_rng(3).choice(10, size=20, chunks=5)",
    "permutation": "da.random.default_rng(3).permutation(da.arange(12, chunks=4))",
}


@pytest.mark.parametrize("name", CREATED)
def test_created_arrays(name):
    """Of lazyarray's type, and of NumPy's values: random ones, too."""
    with lazy():
        x = eval(CREATED[name])
        assert isinstance(x._meta, la.NDArray)
        got = x.compute()
    want = eval(CREATED[name]).compute()
    assert isinstance(got, la.NDArray) and got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_to_backend_and_back():
    values = np.arange(12.0).reshape(3, 4)
    with lazy():
        x = da.from_array(values, chunks=2).to_backend("lazyarray")
        assert isinstance(x._meta, la.NDArray) and x.to_backend("lazyarray") is x
        assert isinstance(x.compute(), la.NDArray)
        back = x.to_backend("numpy")
        assert type(back._meta) is np.ndarray and type(back.compute()) is np.ndarray
        np.testing.assert_array_equal(back.compute(), values)


CALLS = {
    "chain": "(x * 2 + y - x) / (y + 1.5)",
    "sum": "x.sum()",
    "mean": "x.mean(axis=0)",
    "std": "x.std(axis=1)",
    "argmax": "x.argmax(axis=0)",
    "cumsum": "x.cumsum(axis=0)",
    "matmul": "x @ y.T",
    "tensordot": "da.tensordot(x, y, axes=([0], [0]))",
    "einsum": "da.einsum('ij,kj->ik', x, y)",
    "concatenate": "da.concatenate([x, y], axis=1)",
    "stack": "da.stack([x, y])",
    "rechunk": "x.rechunk((5, 2))",
    "reshape": "x.reshape(-1)",
    "transpose": "x.T + 1",
    "take": "da.take(x, [3, 0, 5], axis=0)",
    "slices": "x[1:7:2, ::-1]",
    "fancy": "x[[5, 0, 3]]",
    "argmin": "x.argmin()",
    "argmax of a 0-d array": "da.argmax(x[0, 0])",
    "nanargmax": "da.nanargmax(y, axis=1)",
    "mask": "x[x > 10]",
    "where": "da.where(x > y, x, -y)",
    "nanmean": "da.nanmean(da.where(x > 3, x, np.nan), axis=0)",
    "qr": "abs(da.linalg.qr(x.rechunk((3, 5)))[1])",
    "svd": "da.linalg.svd(x.rechunk((3, 5)))[1]",
    "solve": "da.linalg.solve((x[:4, :4] + 30 * da.eye(4)).rechunk(2), y[:4, 0].rechunk(2))",
    "cholesky": "da.linalg.cholesky((x.T @ x + 900 * da.eye(5))[:4, :4].rechunk(2), lower=True)",
    "fft": "da.fft.fft(x.rechunk((3, 5)), axis=1)",
    "overlap": "da.map_overlap(lambda b: b[1:-1, 1:-1] + b[:-2, 1:-1], x, depth=1,"
    " boundary='reflect', trim=False)",
    "percentile": "da.percentile(x[:, 0], [10, 50, 90])",
    "histogram": "da.histogram(x, bins=5, range=(0, 40))[0]",
    "unique": "da.unique(x.astype(int) // 7)",
    "topk": "da.topk(x[:, 0], 3)",
    "gufunc": "da.apply_gufunc(lambda b: b.max(axis=-1), '(i)->()', x.rechunk((3, 5)))",
    "diag": "da.diag(x[:5, :5].rechunk(5))",
    "pad": "da.pad(x, 2, mode='constant')",
    "isin": "da.isin(x, [1.0, 7.0])",
    "setitem": "assigned(x)",
    "setitem by places": "assigned_by_places(x)",
    "setitem of a 0-d array": "assigned(x[0, 0])",
    "setitem of a mask": "assigned_mask(x)",
}


def assigned(x):
    x = x.copy()
    x[slice(2, 4) if x.ndim else ...] = -1
    return x


def assigned_mask(x):
    x = x.copy()
    x[x > 20] = 0
    return x


def assigned_by_places(x):
    """Places that are an array of Dask's: those of other blocks must be told apart."""
    x = x.copy()
    x[da.where(of(np.arange(3), 1) < 2)[0] + 4] = -34
    return x


def of(values, chunks):
    x = da.from_array(values, chunks=chunks)
    return x.to_backend("lazyarray") if dask.config.get("array.backend", None) == "lazyarray" else x


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    if name in ("solve", "cholesky"):  # Dask's own
        pytest.importorskip("scipy", reason="SciPy is not installed")

    def value():
        x = of(np.arange(40.0).reshape(8, 5), (3, 2))
        y = of(np.arange(40.0)[::-1].reshape(8, 5), (3, 2))
        return eval(CALLS[name], globals() | {"x": x, "y": y})

    want = value().compute()
    with lazy():
        got = value().compute()
    assert isinstance(got, la.NDArray), type(got)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_mixed_chunks():
    """Blocks of NumPy's beside ours: what is made of both is ours."""
    x = da.from_array(np.arange(12.0), chunks=4)
    with lazy():
        y = x.to_backend("lazyarray")
    for z in (x + y, y * x, da.concatenate([x, y]), da.where(x > 3, x, y), da.stack([y, x])):
        got = z.compute()
        assert isinstance(got, la.NDArray)
    np.testing.assert_array_equal((x + y).compute(), np.arange(12.0) * 2)


BOTH_KINDS = {
    "argmax": "da.argmax(x)",
    "argmin of an axis": "da.argmin(x, axis=0)",
    "nanargmax": "da.nanargmax(x, axis=1)",
    "nanargmin, split": "da.nanargmin(x, split_every=2)",
    "mean": "x.mean(axis=0)",
    "var": "da.nanvar(x)",
    "cumsum": "x.cumsum(axis=1)",
    "rechunk": "x.rechunk(4)",
    "matmul": "x @ x.T",
    "qr": "da.linalg.qr(x.rechunk((3, -1)))[1]",
    "overlap": "x.map_overlap(lambda b: b * 2, depth=1, boundary='reflect')",
    "mask": "x[x > 10]",
    "places": "x[[7, 0, 3]]",
    "percentile": "da.percentile(x.ravel(), [20, 70])",
    "histogram": "da.histogram(x, bins=4, range=(0, 40))[0]",
    "topk": "da.topk(x, 2, axis=0)",
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", BOTH_KINDS)
def test_blocks_of_both_kinds_in_one_array(name, known):
    """Whichever of them comes first, and whether or not Dask has been told of ours."""
    n = np.random.default_rng(2).permutation(np.arange(40.0)).reshape(8, 5)
    x = da.from_array(n, chunks=(3, 2))
    want = eval(BOTH_KINDS[name]).compute()

    def every_other(b, first, block_id=None):
        return la.array(b) if sum(block_id) % 2 == first else b

    for first in (0, 1):
        x = da.from_array(n, chunks=(3, 2))
        meta = la.empty((0, 0)) if known else np.empty((0, 0))
        x = x.map_blocks(every_other, first, dtype=float, meta=meta)
        got = eval(BOTH_KINDS[name]).compute()
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("dtype", ["i4", "u1", "?", "f4", None])
@pytest.mark.parametrize("name", ["mean", "nanmean", "std", "var", "nanstd", "nanvar"])
def test_moments_of_a_dtype(name, dtype):
    """They are divided, and cast then."""
    x = da.from_array(np.arange(10.0), chunks=3)
    with lazy():
        got = getattr(da, name)(x.to_backend("lazyarray"), dtype=dtype).compute()
    want = getattr(da, name)(x, dtype=dtype).compute()
    assert got == want and got.dtype == want.dtype


def test_metas_of_0_d_results():
    with lazy():
        x = da.ones((4, 4), chunks=2)
        assert isinstance(x.sum()._meta, la.NDArray) and x.sum()._meta.shape == ()
        assert isinstance((x.sum() + 1)._meta, la.NDArray)
    assert isinstance(meta_from_array(la.ones(3), ndim=0), la.NDArray)
    assert isinstance(meta_from_array(la.ones(3).sum()), la.NDArray)
    assert type(meta_from_array(np.ones(3), ndim=0)) is np.ndarray


REMEMBERED = {
    "fft": "da.fft.rfft(x.rechunk((4, 6)), axis=1)",
    "fft of NumPy's": "np.fft.fft2(x.rechunk(-1))",
    "mask": "x[x > 3]",
    "mask of rows": "x[(x > 3).any(axis=1)]",
    "mask with sizes": "x[x > 3].compute_chunk_sizes()",
    "sum of a mask": "x[x > 3].sum()",
    "extract": "da.extract(x > 3, x)",
    "coarsen": "da.coarsen(np.mean, x, {0: 2, 1: 3})",
    "histogram": "da.histogram(x, bins=4, range=(0, 24))[0]",
    "quantile": "da.quantile(x, 0.25, axis=0)",
    "nanpercentile": "da.nanpercentile(x, [25, 75], axis=1)",
    "gradient": "da.gradient(x, axis=1)",
    "cumsum": "da.cumsum(x, axis=0, method='blelloch')",
    "nancumprod": "da.nancumprod(x, axis=1, method='blelloch')",
    "along an axis": "da.apply_along_axis(lambda row: row[:2], 1, x)",
    "over axes": "da.apply_over_axes(da.sum, x, [0])",
    "places of blocks": "x.map_blocks(lambda b, block_info=None: b[:1], dtype=x.dtype,"
    " chunks=((1, 1), x.chunks[1]))",
}


@pytest.mark.parametrize("name", REMEMBERED)
def test_types_that_dask_is_not_told(name):
    """It takes the blocks of what it can't try on an empty array for NumPy's."""

    def value():
        return eval(REMEMBERED[name], globals() | {"x": of(np.arange(24.0).reshape(4, 6), (2, 3))})

    want = value()
    with lazy():
        got = value()
    assert isinstance(got._meta, la.NDArray) and isinstance(got.compute(), la.NDArray)
    assert got._meta.ndim == got.ndim and got._meta.dtype == want._meta.dtype == got.dtype
    np.testing.assert_allclose(got.compute(), want.compute(), rtol=1e-12)


def test_what_dask_looks_up():
    """All of its tables but that for CuPy have lazyarrays, and whatever is derived from them."""
    assert issubclass(LazyarrayBackend, ArrayBackendEntrypoint)
    tables = {name: t for name, t in vars(dispatch).items() if isinstance(t, Dispatch)}
    assert len(tables) >= 11
    for name in set(tables) - {"to_cupy_dispatch"}:
        known = [kind for kind in tables[name]._lookup if kind.__module__.startswith("lazyarray")]
        for x in (la.ones(3), la.ones(3).sum()):
            assert any(isinstance(x, kind) for kind in known), name
            assert tables[name].dispatch(type(x)) is tables[name].dispatch(la.NDArray), name
            assert is_arraylike(x) and is_valid_chunk_type(type(x))


def test_sizes():
    assert sizeof(la.ones((1000, 10))) == 80000
    assert sizeof(la.broadcast_to(la.ones(3), (1000, 3))) == 24
    assert sizeof(la.ones((1000, 10))[:, :5]) == 40000
    x = la.ones(1 << 20) * 2  # may be pending: its memory is coming
    assert sizeof(x) == 8 << 20


def test_tokens():
    x = la.arange(10.0)
    assert tokenize(x) == tokenize(la.arange(10.0)) != tokenize(x + 1)
    assert tokenize(x) != tokenize(x.astype("f4")) and tokenize(x) != tokenize(x.asnumpy())
    m = la.arange(16.0).reshape(4, 4)
    views = [m, m.T, m[::-1], m.T[::-1], m[:, ::-1], m.ravel()]
    assert len({tokenize(v) for v in views}) == len(views)
    assert tokenize(m.T) == tokenize(m.T.copy()) and tokenize(m[0, 0]) != tokenize(m[:1, 0])


def test_tokens_are_the_same_in_another_process():
    code = (
        "import dask, dask.array as da, lazyarray as la, lazyarray.dask\n"
        "from dask.base import tokenize; lazyarray.dask.register()\n"
        "dask.config.set({'tokenize.ensure-deterministic': True, 'array.backend': 'lazyarray'})\n"
        "x = da.random.default_rng(1).normal(size=9, chunks=2)\n"
        "arrays = la.arange(9.0)[::-2], la.ones(3).sum(), la.broadcast_to(la.ones(1), (4,))\n"
        "print(*map(tokenize, arrays), x.name, (x + la.ones(9)).name, x.map_blocks(la.sin).name)\n"
    )

    def told(seed):
        env = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", code], env=env, check=True, capture_output=True
        )

    assert told("1").stdout == told("2").stdout


def test_a_blocks_method_with_an_array_of_dasks():
    x, y = la.arange(6.0).reshape(2, 3), da.arange(12.0, chunks=5).reshape(3, 4)
    np.testing.assert_array_equal(np.asarray(x.dot(y)), x.asnumpy().dot(np.asarray(y)))


@pytest.mark.parametrize(
    "call",
    """np.concatenate([a,x]) np.stack([a,x]) np.vstack((a,x)) np.where(a>0,x,a) np.dot(a,x.T)
    np.tensordot(a,x.T,1) np.einsum('ij,ij->i',a,x) np.append(a,x) np.isclose(a,x) np.outer(a,x)
    np.isin(a,x) np.vdot(a,x) np.union1d(a,x) np.clip(a,x,x+1) np.matmul(a,x.T) np.add(a,x)
    la.matmul(a,x.T) la.matmul(x,a.T) la.concatenate([a,x]) la.add(a,x)""".split(),
)
def test_a_block_before_an_array_of_dasks(call):
    """It computed all of Dask's array, at the call."""
    n = np.arange(6.0).reshape(2, 3)
    x = da.from_array(n + 2, chunks=2).to_backend("lazyarray")
    got = eval(call, globals() | {"a": la.array(n), "x": x})
    assert isinstance(got, da.Array) and isinstance(got.compute(), la.NDArray)
    want = eval(call.replace("la.", "np."), {"np": np, "a": n, "x": n + 2})
    np.testing.assert_array_equal(got.compute(), want)


@pytest.mark.parametrize("dtype", [">f8", ">i4"])
def test_another_byte_order(dtype):
    """Blocks have this machine's, and the array says so."""
    x = da.arange(5, chunks=2, dtype=dtype).to_backend("lazyarray")
    assert isinstance(x._meta, la.NDArray) and x.dtype == x._meta.dtype == x.compute().dtype
    np.testing.assert_array_equal(x.compute(), np.arange(5))


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
def test_places_beside_blocks_of_nans(name):
    """A slice of NaNs in one block is no error where another block has a number."""
    n = np.array([[np.nan, np.nan, 1.0, 2.0], [3.0, np.nan, 0.0, 5.0]])
    x = da.from_array(la.array(n), chunks=(2, 2), asarray=False)
    want = getattr(np, name)(n, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(np.asarray(getattr(da, name)(x, axis=1)), want)
        with pytest.raises(ValueError, match="All NaN"):
            getattr(da, name)(x * np.nan, axis=1).compute()


@pytest.mark.parametrize(
    "code",
    [
        "da.ones(3, dtype=object)",
        "da.full(3, 'a', dtype='U1')",
        "da.from_array(np.array([None, 1]), chunks=1).to_backend('lazyarray')",
        "da.from_array(np.array(['2020-01-01'], 'M8[D]')).to_backend('lazyarray')",
        "da.from_array(np.ma.array([1.0, 2], mask=[0, 1])).to_backend('lazyarray')",
        "da.ma.masked_greater(da.arange(4, chunks=2), 1).to_backend('lazyarray')",
        "LazyarrayBackend.to_backend_dispatch()(np.ma.array([1.0, 2], mask=[0, 1]))",
    ],
)
def test_what_no_lazyarray_holds(code):
    with lazy(), pytest.raises(TypeError, match="no lazyarray holds"):
        eval(code)


MASKED = {
    "masked": "m",
    "data": "da.ma.getdata(m) + 1",
    "mask": "da.ma.getmaskarray(m)",
    "filled": "da.ma.filled(m, -1.0)",
    "sum": "m.sum(axis=0)",
    "with one of ours": "m + x",
    "concatenate": "da.concatenate([x, m])",
    "average": "da.ma.average(m, axis=1)",
}


@pytest.mark.parametrize("name", MASKED)
def test_masks_are_numpy_s(name):
    """Of our blocks ``da.ma`` makes NumPy's."""

    def value():
        x = of(np.arange(12.0).reshape(3, 4), 2)
        return eval(MASKED[name], globals() | {"x": x, "m": da.ma.masked_greater(x, 7)}).compute()

    want = value()
    with lazy():
        got = value()
    assert type(got) is type(want)
    np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want))
    np.testing.assert_array_equal(np.ma.filled(got, 0), np.ma.filled(want, 0))


def test_mixed_devices_are_an_error():
    x = da.ones(4, chunks=2)
    with lazy():
        y = x.to_backend("lazyarray", device="cpu:0") + x.to_backend("lazyarray", device="cpu:1")
        with pytest.raises(ValueError, match="device"):
            y.compute()


@pytest.mark.parametrize(
    "line", ["import lazyarray.dask", "from lazyarray.dask import EngineThreads"]
)
@pytest.mark.parametrize("missing", ["dask", "distributed"])
def test_without_the_extra(missing, line):
    """Importing what needs the extra says which; what needs only Dask works without the rest."""
    code = (
        "import importlib.util as u; find = u.find_spec\n"
        f"u.find_spec = lambda n, p=None: None if n == {missing!r} else find(n, p)\n{line}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if missing == "distributed" and line == "import lazyarray.dask":
        assert done.returncode == 0, done.stderr
    else:
        assert f"ImportError: lazyarray.dask needs {missing}" in done.stderr.replace("Dask", "dask")
        assert "[dask]" in done.stderr


@pytest.mark.parametrize("first", ["lazyarray", "dask.array"])
def test_either_may_be_imported_first(first):
    second = {"lazyarray": "dask.array", "dask.array": "lazyarray"}[first]
    code = (
        f"import {first}, {second}, dask.sizeof, lazyarray as la\n"
        "from dask.array.chunk_types import is_valid_chunk_type\n"
        "from dask.array.dispatch import take_lookup\n"
        "assert is_valid_chunk_type(la.NDArray) and take_lookup.dispatch(la.NDArray) is la.take\n"
        "assert dask.sizeof.sizeof(la.ones(1000)) == 8000\n"
        "assert dask.local.execute_task.__lazyarray__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lazyarray_alone_does_not_import_dask():
    code = "import lazyarray, sys; assert not any(m.startswith('dask') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, d: x.clip(d),
        lambda x, d: x.clip(0.5, d),
        lambda x, d: x.searchsorted(d),
        lambda x, d: x.compress(d > 1),
        lambda x, d: x.astype(int).choose([d] * 6),
    ],
)
def test_methods_of_blocks_with_arrays_of_dask(call):
    """Methods ask no other class, but `clip` is a ufunc, which that of Dask answers."""
    x = np.arange(6.0)
    d = da.from_array(x / 2, chunks=3)
    want, got = call(x, d), call(la.array(x), d)
    assert isinstance(got, la.NDArray if isinstance(want, np.ndarray) else da.Array)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
