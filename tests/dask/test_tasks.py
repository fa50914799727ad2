"""Tasks on threads and in processes: each ends as its result is there, or raises its error."""

import collections
import dataclasses
import functools
import threading
import time

import numpy as np
import pytest

import lazyarray as la

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array")

from lazyarray.dask.tasks import finished  # noqa: E402

from .here import lazy  # noqa: E402

pytestmark = pytest.mark.host


def complete(x):
    """Whether nothing is pending on x: it took a wait for its writers no time."""
    la.sync_report(reset=True)
    x.wait_to_read()
    return sum(row.seconds for row in la.sync_report()) < 5e-3


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_what_a_task_returns_is_there(scheduler):
    seen = []

    def last(x):
        seen.append(complete(x))
        return x

    def slow(x):
        for _ in range(20):
            x = la.sin(x) + 1
        return x

    a = dask.delayed(slow)(dask.delayed(la.ones)((1000, 1000)))
    b = dask.delayed(last)(a)
    b.compute(scheduler=scheduler)
    assert seen == [True]


LINE_OF_INVERT = 1 + next(
    i for i, line in enumerate(open(__file__, encoding="utf-8")) if line.endswith("# here\n")
)


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_an_error_is_its_task_s_with_its_line(scheduler):
    ran = []

    def invert(block):
        return la.linalg.inv(block)  # here

    def after(block):
        ran.append(1)
        return block

    with lazy():
        x = da.zeros((64, 64), chunks=64)
        y = x.map_blocks(invert, dtype=float, meta=x._meta)
        with dask.config.set({"optimization.fuse.active": False}):
            y = dask.delayed(after)(dask.delayed(lambda b: b)(y))
            with pytest.raises(np.linalg.LinAlgError, match="Singular") as caught:
                y.compute(scheduler=scheduler, optimize_graph=False)
    assert not ran
    notes = "".join(getattr(caught.value, "__notes__", [])) + str(caught.value)
    # What cloudpickle (3.1.3 and later) carries to a process has lost the name of its file.
    file = "<dynamic-code>" if scheduler == "processes" and "<dynamic-code>" in notes else __file__
    assert f"{file}:{LINE_OF_INVERT} in invert" in notes


@dataclasses.dataclass
class Box:
    inside: object


class Slots:
    __slots__ = ("inside",)

    def __init__(self, inside):
        self.inside = inside


class Own(dict):
    """A container with attributes."""

    def __init__(self, inside):
        self.inside = inside


def objects(inside):
    a = np.empty((2, 1), object)
    a[1, 0] = inside
    return a


def cycle(inside):
    a = [inside]
    a.append(a)
    return a


WRAPPED = {
    "containers": lambda x: {"good": [la.ones(3)], "bad": (x,)},
    "many of them": lambda x: functools.reduce(lambda a, _: [a], range(30), x),
    "a deque": lambda x: collections.deque([x]),
    "a dataclass": Box,
    "slots": Slots,
    "a subclass": Own,
    "objects": objects,
    "a cycle": cycle,
    "a view of objects": lambda x: Box([Slots(objects(Own(x)).T)]),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_errors_inside_of_results(name):
    ran = []

    def several():
        return WRAPPED[name](la.linalg.inv(la.zeros((50, 50))))

    with pytest.raises(np.linalg.LinAlgError):
        dask.delayed(ran.append)(dask.delayed(several)()).compute()
    assert not ran


def test_results_without_arrays():
    """What can't be pickled, or says how it is, is left alone."""

    class Refuses:
        def __getstate__(self):
            raise RuntimeError("not this one")

    for x in (Refuses(), Box(threading.Lock()), np, Box, iter([1]), "text", lambda: 1):
        assert finished(x) is x


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_random_numbers_depend_on_the_seed_alone(scheduler):
    """Nor on who draws, nor on whether they are NumPy's blocks."""

    def drawn(scheduler):
        x = da.random.default_rng(5).normal(size=(60, 40), chunks=(13, 17))
        return (x + da.random.RandomState(5).gamma(2.0, size=(60, 40), chunks=20)).compute(
            scheduler=scheduler, num_workers=2
        )

    want = drawn("sync")
    with lazy():
        got = drawn(scheduler)
    assert isinstance(got, la.NDArray)
    np.testing.assert_array_equal(got, want)


def test_a_graph_of_blockwise_tasks_is_one_pass_a_block():
    """With what a reduction does in a block; nothing between has memory of its own."""
    with lazy(), dask.config.set(scheduler="sync"), la.engine.bulk(64):
        a, b, c, d = (da.full(300_000, k + 0.5, chunks=100_000).persist() for k in range(4))
        y = ((a * b + c * d - a) / (b + 1.5)).sum()
        before = la.engine.get().stats()["recorded"]
        (y,) = dask.persist(y)
        assert la.engine.get().stats()["recorded"] - before == 3 * 7
        assert "7 instructions in 1 operator, 6 temporaries never materialised" in la.explain()
        np.testing.assert_allclose(float(y.compute()), 300_000 * (0.75 + 8.75 - 0.5) / 3)


def test_tasks_push_side_by_side():
    """Two tasks that need each other's start both run: neither holds what the other waits for."""
    both = threading.Barrier(2, timeout=30)

    def meet(x):
        y = x * 2
        both.wait()
        return y + 1

    with lazy():
        x = da.ones((4, 500_000), chunks=(2, 500_000))
        got = (
            x.map_blocks(meet, dtype=float, meta=x._meta)
            .sum()
            .compute(scheduler="threads", num_workers=2)
        )
    assert got == 4 * 500_000 * 3


def stored():
    return da.arange(48.0, chunks=12).reshape(8, 6).rechunk(4)


class Keeps:
    """A store of NumPy's arrays by their places, as Zarr's and others."""

    def __init__(self, shape):
        self.values, self.kinds = np.zeros(shape), set()

    def __setitem__(self, place, block):
        self.kinds.add(type(block))
        self.values[place] = np.asarray(block)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_store(tmp_path, scheduler):
    want = np.arange(48.0).reshape(8, 6)
    with lazy(), dask.config.set(scheduler=scheduler):
        array, keeps = np.zeros((8, 6)), Keeps((8, 6))
        stored().store(array, lock=False)
        da.store([stored(), stored() + 1], [keeps, array], lock=True)
        np.testing.assert_array_equal(keeps.values, want)
        assert keeps.kinds == {la.NDArray}
        np.testing.assert_array_equal(array, want + 1)
        file = np.memmap(tmp_path / "x", "f8", "w+", shape=(8, 6))
        kept = stored().store(file, return_stored=True)
        np.testing.assert_array_equal((kept * 2).compute(), want * 2)
        da.to_npy_stack(str(tmp_path / "stack"), stored())
        back = da.from_npy_stack(str(tmp_path / "stack")).to_backend("lazyarray")
        assert isinstance(back.compute(), la.NDArray)
        np.testing.assert_array_equal(back.compute(), want)


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    target = np.arange(48.0).reshape(8, 6)
    with lazy():
        x = stored()
        path = str(tmp_path / "x.zarr")
        x.to_zarr(path)
        np.testing.assert_array_equal(zarr.open(path)[:], target)
        back = da.from_zarr(path).to_backend("lazyarray")
        assert isinstance(back.compute(), la.NDArray)
        np.testing.assert_array_equal((back + 1).compute(), target + 1)


def test_a_task_costs_little_more_than_numpy_s():
    """A loose bound: milliseconds would be a wait that sleeps."""

    def seconds():
        x = da.ones(2000, chunks=10)
        y = (x + 1).sum()
        start = time.perf_counter()
        y.compute(scheduler="sync")
        return time.perf_counter() - start

    numpys = min(seconds() for _ in range(3))
    with lazy():
        assert any(seconds() < numpys + 400 * 1e-3 for _ in range(20))  # a busy machine may be late


def test_xarray():
    xr = pytest.importorskip("xarray", reason="xarray is not installed")

    def result(x):
        a = xr.DataArray(x, dims=("t", "y"), coords={"t": np.arange(8), "y": [10, 20, 30]})
        anomaly = a - a.mean("t")
        return (
            anomaly.rolling(t=3, min_periods=1).mean().where(anomaly > -3, 0).isel(t=slice(1, None))
        )

    values = np.arange(24.0).reshape(8, 3)
    want = result(values).values
    with lazy():
        lazily = result(da.from_array(values, chunks=(4, 3)).to_backend("lazyarray"))
        assert isinstance(lazily.data, da.Array)
        np.testing.assert_allclose(lazily.compute().values, want)
        grouped = xr.DataArray(da.ones((8, 3), chunks=4), dims=("t", "y")).groupby(
            xr.DataArray([0, 1] * 4, dims="t", name="k")
        )
        np.testing.assert_array_equal(grouped.sum().values, np.full((2, 3), 4.0))


XARRAY = {
    "anomalies": "d.a.groupby('time.season') - d.a.groupby('time.season').mean()",
    "groupby": "d.groupby('k').std()",
    "groupby_bins": "d.a.groupby_bins('lat', [-60, 0, 60]).max()",
    "resample": "d.resample(time='QS').sum()",
    "rolling": "d.a.rolling(time=5, center=True, min_periods=2).mean()",
    "windows": "d.a.rolling(lat=3, lon=2).construct(lat='u', lon='v').sum(('u', 'v'))",
    "coarsen": "d.coarsen(time=5, lat=2, boundary='trim').max()",
    "interp": "d.a.interp(lat=[-10.0, 3.0], method='linear')",
    "interp of points": "d.a.interp(lat=xr.DataArray([0.0, 5], dims='p'),"
    " lon=xr.DataArray([3.0, 7], dims='p'))",
    "interpolate_na": "d.a.chunk(time=-1).interpolate_na('time')",
    "quantile": "d.a.chunk(time=-1).quantile([0.2, 0.5], 'time')",
    "median": "d.a.chunk(time=-1).median('time')",
    "idxmax": "d.a.idxmax('lat')",
    "apply_ufunc": "xr.apply_ufunc(lambda a, b: a - b, d.a, d.b, dask='parallelized',"
    " output_dtypes=[float])",
    "vectorize": "xr.apply_ufunc(lambda row: row.sum(), d.a.chunk(time=-1),"
    " input_core_dims=[['time']], vectorize=True, dask='parallelized', output_dtypes=[float])",
    "map_blocks": "xr.map_blocks(lambda a: a * 2, d.a, template=d.a)",
    "concat": "xr.concat([d.isel(lat=slice(4)), d.isel(lat=slice(2, 6))], 'time', join='outer')",
    "merge": "xr.merge([d[['a']].isel(time=slice(5)), d[['b']].isel(time=slice(3, 9))])",
    "combine_first": "d.a.isel(time=slice(9)).combine_first(d.a.isel(time=slice(5, 20)))",
    "where": "d.a.where(d.a > 3, d.b)",
    "weighted": "d.a.weighted(np.cos(np.deg2rad(d.lat))).mean(('lat', 'lon'))",
    "dot": "xr.dot(d.a.fillna(0), d.b, dim='time')",
    "corr": "xr.corr(d.a, d.a * 2 + d.b, dim='time')",
    "differentiate": "d.a.differentiate('lat')",
    "polyfit": "d.a.fillna(1.0).chunk(time=-1).polyfit('time', 1)",
    "shift": "d.shift(time=2)",
    "reindex": "d.reindex(lat=[-50, 0, 50, 70])",
    "stack": "d.a.stack(z=('lat', 'lon')).unstack('z')",
    "places": "d.a.isel(lat=xr.DataArray([0, 1], dims='p'), lon=xr.DataArray([2, 3], dims='p'))",
    "zarr": "there_and_back(d, path)",
}


@pytest.mark.parametrize("name", XARRAY)
@pytest.mark.filterwarnings("ignore")
def test_calls_of_xarray_s(name, tmp_path):
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    if "interp" in name:
        pytest.importorskip("scipy", reason="SciPy is not installed")
    if name == "zarr":
        pytest.importorskip("zarr", reason="zarr is not installed")

    def there_and_back(d, path):
        d.to_zarr(path)
        return xr.open_zarr(path).mean("lat")

    def value(backend):
        rng = np.random.default_rng(3)
        a, b = rng.random((24, 6, 5)) * 10, rng.integers(0, 9, (24, 6))
        a[2, 1, 3] = a[5:8, 0, 0] = np.nan
        a, b = (
            da.from_array(x, chunks=chunks).to_backend(backend)
            for x, chunks in ((a, (14, 3, 5)), (b, (14, 3)))
        )
        coords = {
            "time": np.datetime64("2020-01-01", "ns") + np.arange(24) * np.timedelta64(15, "D"),
            "lat": np.linspace(-50, 50, 6),
            "lon": np.arange(5) * 10.0,
            "k": ("time", np.arange(24) % 3),
        }
        d = xr.Dataset({"a": (("time", "lat", "lon"), a), "b": (("time", "lat"), b)}, coords=coords)
        given = {"d": d, "xr": xr, "np": np, "path": tmp_path / backend}
        return eval(XARRAY[name], given | {"there_and_back": there_and_back}).compute().as_numpy()

    want = value("numpy")
    with lazy():
        xr.testing.assert_allclose(value("lazyarray"), want, rtol=1e-9)
