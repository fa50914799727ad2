"""Workers in processes of their own: what travels, what is spilled, who dies, whose cores."""

import dataclasses
import pickle
import time

import numpy as np
import pytest

import lazyarray as la

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array")

import dask  # noqa: E402
from distributed import Client, LocalCluster, WorkerPlugin, wait  # noqa: E402
from distributed.protocol import deserialize, serialize  # noqa: E402
from distributed.protocol.serialize import dask_deserialize  # noqa: E402

from lazyarray.dask import EngineThreads, wire  # noqa: E402

from .here import lazy  # noqa: E402

pytestmark = pytest.mark.host

QUIET = {
    "distributed.worker.memory.target": 0.5,
    "distributed.worker.memory.spill": False,  # of the process's memory: not ours to tell
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.limit": "60s",
}


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="64 MiB"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


ARRAYS = {
    "rows": lambda: la.ones((300, 400)) * 2,
    "columns": lambda: (la.ones((300, 400)) * 2).T,
    "steps": lambda: la.arange(100_000)[::2],
    "backwards": lambda: la.arange(100_000)[::-1],
    "scalar": lambda: la.ones(3).sum(),
    "0-d": lambda: la.full((), 3.5),
    "empty": lambda: la.zeros((0, 3)),
    "broadcast": lambda: la.broadcast_to(la.arange(3), (1000, 3)),
    "an empty broadcast": lambda: la.broadcast_to(la.zeros((0, 1)), (0, 3)),
    "long double": lambda: la.ones(40, dtype="g") / 3,
    "bools": lambda: la.arange(70_000) > 5,
    "complex": lambda: la.ones((9, 9)) * 1j,
    "another device": lambda: la.ones(4, ctx=la.cpu(1)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_what_travels(name):
    x = ARRAYS[name]()
    header, frames = serialize(x)
    assert header["serializer"] == "dask"
    assert sum(memoryview(f).nbytes for f in frames) <= max(x.nbytes, 1)
    for kind in (bytes, bytearray):  # memory that can't be written is copied
        y = deserialize(pickle.loads(pickle.dumps(header)), [kind(f) for f in frames])
        assert type(y) is type(x) and y.dtype == x.dtype and y.device == x.device
        np.testing.assert_array_equal(y, x)
    if y.ndim and "broadcast" not in name:
        y[...] = 0
        assert not y.any()


def test_an_array_of_a_gpu_that_the_receiver_has_not():
    """It ended the process."""
    header, frames = wire._dumps(la.ones(3))
    with pytest.raises(RuntimeError, match=r"gpu\(63\)"):
        wire._loads(header | {"device": ("gpu", 63)}, frames)


def test_nothing_is_copied_on_the_way():
    """What is sent is the array's memory; what was received becomes an array's."""
    x = la.ones((512, 512)) * 3
    header, (apart, frame) = serialize(x)
    assert np.shares_memory(np.frombuffer(frame, np.uint8), np.asarray(x, copy=False))
    received = bytearray(frame)
    y = deserialize(header, [apart, received])
    np.frombuffer(received, np.float64)[0] = 7
    assert y[0, 0] == 7
    z = y * 2  # an array like any other: what is recorded may run later, with the rest
    del received
    assert (z + y)[0, 0] == 21 and z[1, 1] == 6


def test_gradients_travel():
    x = la.ones((300, 400))
    x.attach_grad()
    with la.autograd.record():
        (x * 3).sum().backward()
    y = deserialize(*serialize(x))
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(y.grad, x.grad)


@dataclasses.dataclass
class Box:
    inside: object


def test_nothing_is_copied_of_an_array_inside_of_an_object():
    x = la.ones((512, 512)) * 3
    header, (pickled, frame) = serialize(Box(x))
    assert header["serializer"] == "pickle" and len(pickled) < 500
    assert np.shares_memory(np.frombuffer(frame, np.uint8), np.asarray(x, copy=False))
    received = bytearray(frame)
    y = deserialize(header, [pickled, received]).inside
    assert np.shares_memory(np.frombuffer(received, np.uint8), np.asarray(y, copy=False))
    y += 1
    assert (y == 4).all() and (x == 3).all()


class Reports(WorkerPlugin):
    """Notes of what arrives whether it became an array's memory: (bytes, whether)."""

    name = "reports"

    def setup(self, worker):
        def loads(header, frames):
            x = wire._loads(header, frames)
            bits = np.frombuffer(frames[-1], np.uint8)
            worker.received.append((x.nbytes, np.shares_memory(np.asarray(x, copy=False), bits)))
            return x

        worker.received = []
        dask_deserialize.register(la.NDArray, loads)

    def teardown(self, worker):
        dask_deserialize.register(la.NDArray, wire._loads)


def test_what_comes_over_the_wire_is_not_copied(client):
    """Each array has its memory, of all sizes that are not sent in one piece with others."""
    a, b = client.scheduler_info()["workers"]
    client.register_plugin(Reports())
    try:
        sizes = [1 << 17, 131_073, 1_000_001, 3_333_333, 8 << 20]

        def send(made, look):
            made = client.submit(made, workers=[a], pure=False)
            assert client.submit(look, made, workers=[b], pure=False).result(timeout=60)

        for n in sizes:
            send(lambda n=n: la.ones(n, dtype="i1") * 2, lambda x: x.max() == 2)
            send(lambda n=n: la.ones(n // 8) * 2, lambda x: x.max() == 2)
        send(
            lambda: [la.ones(n // 8) * 2 for n in sizes] + ["x" * 3001],
            lambda several: min(x.max() for x in several[:-1]) == 2,
        )
        received = client.run(lambda dask_worker: dask_worker.received)[b]
    finally:
        client.unregister_worker_plugin(Reports.name)
    assert len(received) == 3 * len(sizes)
    assert [n for n, shared in received if not shared] == []


def test_pickled_graphs():
    with lazy():
        x = (da.random.default_rng(1).random((6, 6), chunks=3) + 1).sum(axis=0)
    y = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(y.compute(), x.compute())
    assert isinstance(y.compute(), la.NDArray) and isinstance(y._meta, la.NDArray)


def test_two_workers(client):
    with lazy():
        x = da.random.default_rng(3).normal(size=(900, 300), chunks=(100, 300))
        y = (x - x.mean(axis=0)) / x.std(axis=0)
        got = (y.T @ y).compute()
    x = da.random.default_rng(3).normal(size=(900, 300), chunks=(100, 300)).compute()
    y = (x - x.mean(axis=0)) / x.std(axis=0)
    assert isinstance(got, la.NDArray)
    np.testing.assert_allclose(got, y.T @ y, rtol=1e-8, atol=1e-8)


def test_sizes_are_true(client):
    future = client.submit(lambda: la.ones((256, 1024)) * 2 + 1)
    wait(future)
    (size,) = client.run_on_scheduler(
        lambda dask_scheduler, key: [dask_scheduler.tasks[key].nbytes], key=future.key
    )
    assert size == 256 * 1024 * 8


def test_a_failing_block_names_its_line(client):
    def invert(block, block_id=None):
        return la.linalg.inv(block + la.eye(len(block)) * (block_id != (1, 0)))

    with lazy():
        x = da.zeros((128, 64), chunks=64)
        with pytest.raises(np.linalg.LinAlgError) as caught:
            x.map_blocks(invert, dtype=float, meta=x._meta).sum().compute()
    assert "in invert" in "".join(getattr(caught.value, "__notes__", [])) + str(caught.value)


class Hides:
    """An object that says itself how it is pickled: nobody looks into it at its task's end."""

    def __init__(self, inside):
        self.inside = inside

    def __reduce__(self):
        return Hides, (self.inside,)


def singular():
    return la.linalg.inv(la.zeros((50, 50)))


async def singular_later():
    return singular()


@pytest.mark.parametrize(
    "task", [lambda: [objects(singular())], singular_later], ids=["objects", "async"]
)
def test_an_error_is_its_task_s(client, task):
    future = client.submit(task, pure=False)
    wait(future, timeout=60)
    assert future.status == "error"
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        future.result(timeout=60)


def objects(inside):
    a = np.empty(1, object)
    a[0] = inside
    return a


def test_an_async_task_is_done_at_its_end(client):
    async def later():
        return la.ones((256, 1024)) * 2 + 1

    future = client.submit(later, pure=False)
    assert future.result(timeout=60).sum() == 256 * 1024 * 3


class Acts:
    held = None

    def method(self):
        return singular()

    async def later(self):
        return [singular()]

    def keeps(self, make):
        self.held = make()

    async def sums(self):
        return {"sum": (la.ones((256, 1024)) * 2 + 1).sum()}


@pytest.mark.parametrize("method", ["method", "later"])
def test_an_actor_s_error_comes_to_its_caller(client, method):
    """Also from a worker that ran before lazyarray was imported there."""
    actor = client.submit(Acts, actor=True, pure=False).result(timeout=60)
    with pytest.raises(np.linalg.LinAlgError, match="Singular") as caught:
        getattr(actor, method)().result(timeout=60)
    assert "in singular" in "".join(caught.value.__notes__)
    assert actor.sums().result(timeout=60)["sum"] == 256 * 1024 * 3


def test_an_actor_s_attribute_that_failed(client):
    actor = client.submit(Acts, actor=True, pure=False).result(timeout=60)
    actor.keeps(lambda: la.ones((256, 1024)) * 2).result(timeout=60)
    assert actor.held.sum() == 256 * 1024 * 2
    actor.keeps(singular).result(timeout=60)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        _ = actor.held


def test_an_array_that_failed_travels(client):
    """It could not be sent, and whoever waited for it waited for ever."""
    a, b = client.scheduler_info()["workers"]
    hidden = client.submit(lambda: Hides(singular()), workers=[a], pure=False)
    there = client.submit(lambda o: o.inside + 1, hidden, workers=[b], pure=False)
    with pytest.raises(np.linalg.LinAlgError, match="Singular") as caught:
        there.result(timeout=60)
    assert "in singular" in "".join(caught.value.__notes__)
    with pytest.raises(np.linalg.LinAlgError):
        (hidden.result(timeout=60).inside * 2).wait_to_read()


@pytest.mark.parametrize("error", [ValueError("no"), type("Odd", (Exception,), {})("odd")])
def test_what_an_array_that_failed_is_received_as(error):
    class Locked(type(error)):
        def __reduce__(self):
            raise TypeError("not to be pickled")

    for e, kind in ((error, type(error)), (Locked(*error.args), RuntimeError)):
        for x in (la.ones((3, 0)), la.ones((2, 3)).T, la.ones(3, ctx=la.cpu(1)).sum()):
            header, frames = wire._failed(x, e)
            y = wire._loads(pickle.loads(pickle.dumps(header)), frames)
            assert type(y) is type(x) and y.shape == x.shape and y.dtype == x.dtype
            assert y.device == x.device
            with pytest.raises(kind, match=str(error)):
                y.wait_to_read()


def test_spilling(client):
    """Blocks of more than the workers' memory go to disk, and come back whole."""
    with lazy():
        x = da.random.default_rng(0).random((24, 1 << 20), chunks=(1, 1 << 20)).persist()
        wait(x)
        spilled = client.run(lambda dask_worker: len(dask_worker.data.slow))
        assert sum(spilled.values()) > 4, spilled
        got = (x * 2).sum().compute()
    want = (da.random.default_rng(0).random((24, 1 << 20), chunks=(1, 1 << 20)) * 2).sum()
    np.testing.assert_allclose(float(got), want.compute(scheduler="threads"), rtol=1e-12)


def test_workers_keep_little_of_what_is_gone(client):
    """What a pool keeps counts as the process's memory, for which Dask stops workers."""

    def busy(k):
        others = sum(la.ones((1 << 20) + 999 * n).max() for n in range(9))
        return float((la.ones(1 << 20) * k).sum() + others)

    assert client.gather(client.map(busy, range(8)))[2] == (2 << 20) + 9
    client.gather(client.map(abs, range(-8, 8)))
    kept = client.run(lambda: la.storage.pool_stats()["cached"])
    assert max(kept.values()) <= (64 << 20) // 16, kept


def test_memory_that_is_free_is_given_back_before_it_is_counted(client):
    """A worker that is stopped for its memory runs no task at whose end that could happen."""

    def count(dask_worker):
        for _ in range(20):  # the worker itself asks for its memory now and then
            x = la.ones(1 << 20)
            x.wait_to_read()
            del x
            before = la.storage.pool_stats()["cached"]
            if before >= 8 << 20:
                break
        dask_worker.monitor.get_process_memory()
        return before, la.storage.pool_stats()["cached"]

    for before, after in client.run(count).values():
        assert before >= 8 << 20 and after == 0


def cores(client):
    return set(client.run(lambda: la.engine.get().cores).values())


def test_cores_are_shared(client):
    before = client.run(lambda: la.engine.get().cores)
    client.register_plugin(EngineThreads(3))
    assert cores(client) == {3}
    client.unregister_worker_plugin(EngineThreads.name)
    assert client.run(lambda: la.engine.get().cores) == before
    client.register_plugin(EngineThreads())
    assert cores(client) == {1}  # they have a thread each
    assert (client.submit(lambda: (la.ones(1 << 20) * 2).sum()).result()) == 2 << 20


def test_workers_that_come_and_go_have_their_cores():
    with (
        dask.config.set(QUIET),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(EngineThreads())
        assert cores(client) == {1}
        cluster.scale(3)
        client.wait_for_workers(3, timeout=60)
        assert cores(client) == {1}
        with lazy():
            x = da.random.default_rng(3).normal(size=(800, 100), chunks=(100, 100))
            got = (x.T @ x).compute()
            assert len(client.run(lambda: None)) == 3
        cluster.scale(1)
        while len(client.scheduler_info()["workers"]) > 1:
            time.sleep(0.05)
        assert cores(client) == {1}
    x = da.random.default_rng(3).normal(size=(800, 100), chunks=(100, 100)).compute()
    np.testing.assert_allclose(got, x.T @ x, rtol=1e-8, atol=1e-8)


def test_workers_in_one_process_share_its_engine():
    engine = la.engine.get()
    before = engine.cores
    try:
        engine.cores = 4
        options = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
            client.register_plugin(EngineThreads())
            assert engine.cores == 2
            client.register_plugin(EngineThreads(3))  # each: no more than there are together
            assert engine.cores == 4
            client.unregister_worker_plugin(EngineThreads.name)
            assert engine.cores == 4
            client.register_plugin(EngineThreads(1))
            assert engine.cores == 2
        assert engine.cores == 4  # the workers are gone
    finally:
        engine.cores = before


def test_a_worker_that_dies(client):
    """What it held is made again."""

    def die_once(block, path):
        import os

        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block + 1
        time.sleep(0.2)
        os._exit(1)

    import tempfile

    with tempfile.TemporaryDirectory() as folder, lazy():
        x = da.random.default_rng(2).random((8, 50_000), chunks=(1, 50_000))
        y = x.map_blocks(die_once, f"{folder}/died", dtype=float, meta=x._meta)
        got = y.sum(axis=0).compute()
    want = (da.random.default_rng(2).random((8, 50_000), chunks=(1, 50_000)) + 1).sum(axis=0)
    np.testing.assert_allclose(got, want.compute(scheduler="threads"))


@pytest.mark.parametrize("cores", [0, -1, 1.5, True, "2"])
def test_bad_cores(cores):
    kind = ValueError if type(cores) is int else TypeError
    with pytest.raises(kind, match="cores is"):
        EngineThreads(cores)
    with pytest.raises(kind, match="cores is"):
        la.engine.get().cores = cores
