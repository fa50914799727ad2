"""One process, without MPI: the same programs run."""

import contextlib
import gc
import json
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray.distributed import control, ledger

D = la.distributed


@pytest.fixture(autouse=True)
def ranks():
    D.init("single")
    yield
    D.shutdown()


def test_collectives_of_one_rank_give_what_they_get():
    x = la.arange(6.0).reshape(1, 6)
    for got in (D.allreduce(x), D.allreduce(x, "mean"), D.reduce(x), D.broadcast(x), D.alltoall(x)):
        np.testing.assert_array_equal(got.asnumpy(), np.arange(6.0).reshape(1, 6))
    for got in (D.allgather(x[0]), D.gather(x[0])):
        np.testing.assert_array_equal(got.asnumpy(), np.arange(6.0).reshape(1, 6))
    for got in (D.scatter(x), D.reduce_scatter(x)):
        np.testing.assert_array_equal(got.asnumpy(), np.arange(6.0))
    y = x.T[::-1]
    assert D.allreduce(y, out=y) is y
    D.barrier()


def test_parts_of_one_array_are_written_once():
    x = la.ones((3, 2))
    before = x.var._issued
    parts = [x[:, 0], x[:, 1]]
    D.allreduce(parts, out=parts)
    x.wait_to_read()
    assert x.var._issued == x.var.version == before + 1


def test_what_is_wrong_is_said_at_the_call():
    with pytest.raises(ValueError, match="root is a rank of 1, not 1"):
        D.broadcast(la.ones(2), 1)
    with pytest.raises(TypeError, match="root is a rank"):
        D.broadcast(la.ones(2), 0.0)
    with pytest.raises(TypeError, match="out is an NDArray"):
        D.allreduce(la.ones(2), out=np.ones(2))
    with pytest.raises(ValueError, match="read-only"):
        D.allreduce(la.ones(2).sum(), out=la.ones(2).sum())
    for call in (lambda: D.save("f", {}, root=1), lambda: D.load("f", root=1)):
        with pytest.raises(ValueError, match="root is a rank of 1, not 1"):  # nobody would write it
            call()
    with pytest.raises(ValueError, match="tag"):
        D.send(la.ones(2), 0, tag=-1)
    with pytest.raises(TypeError, match="tag"):
        D.send(la.ones(2), 0, tag=0.5)
    with pytest.raises(TypeError, match="name"):
        D.allreduce(la.ones(2), name=3)
    with pytest.raises(ValueError, match="color"):
        D.world().split(1 << 31)
    with pytest.raises(TypeError, match="color"):
        D.world().split("red")
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError), match="lambda"):
        D.world().exchange(lambda: None)
    with pytest.raises(ValueError, match="backends"):
        D.init("nccl2")
    with pytest.raises(ValueError, match="timeout"):
        D.init(timeout=-1)


def test_a_second_init_does_nothing_or_says_that_it_differs():
    D.init()
    D.init("single", timeout=D.world()._process.timeout, ordered=False, gpu="host", check=False)
    for given in ({"timeout": 3.5}, {"ordered": True}, {"check": True}, {"backend": "mpi"}):
        with pytest.raises(RuntimeError, match=next(iter(given))):
            D.init(**given)
    assert not D.world()._process.ordered


def test_errors_reach_the_arrays_and_heal():
    def fail(run_ctx):
        raise ValueError("broken")

    x, y = la.ones(3), la.ones(3)
    if os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine":
        pytest.skip("errors come at the call")
    la.engine.get().push_sync(fail, la.cpu(0), (), [x.var])
    D.allreduce(x, out=y)
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            y.wait_to_read()
    assert D.allreduce(la.ones(2))[0].item() == 1  # the communicator is well
    D.broadcast(la.zeros(3), out=y)
    np.testing.assert_array_equal(y.asnumpy(), 0)
    x[...] = 1
    la.waitall()  # the error was handed on, and seen there


def test_many_that_end_at_once_do_not_recurse():
    """Who ends one begins the next, which here ends as it begins."""
    if os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine":
        pytest.skip("errors come at the call")
    gate, x = threading.Event(), la.ones(3)
    la.engine.get().push_sync(lambda run_ctx: gate.wait(), la.cpu(0), (), [x.var])
    outs = [la.empty(3) for _ in range(3000)]
    for out in outs:
        D.allreduce(x, out=out)
    D.world()._process.thread.abandon(D.RankError("all is over", 0))
    gate.set()
    for out in outs:
        with pytest.raises(D.RankError, match="all is over"):
            out.wait_to_read()
    with contextlib.suppress(D.RankError):
        la.waitall()


def test_a_part_of_an_array_does_not_heal_the_rest():
    def fail(run_ctx):
        raise ValueError("broken")

    if os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine":
        pytest.skip("errors come at the call")
    x = la.ones(4)
    la.engine.get().push_sync(fail, la.cpu(0), (), [x.var])
    D.broadcast(la.zeros(2), out=x[:2])
    with pytest.raises(ValueError, match="broken"):
        x.wait_to_read()
    la.waitall()


def test_after_shutdown_and_before_init():
    comm = D.world()
    D.shutdown()
    with pytest.raises(RuntimeError, match="init"):
        D.rank()
    with pytest.raises(RuntimeError, match="init"):
        comm.allreduce(la.ones(2))
    D.init("single")
    with pytest.raises(RuntimeError, match="shut down"):
        comm.allreduce(la.ones(2))


def test_without_mpi4py_it_is_said_what_to_install(monkeypatch):
    D.shutdown()
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    for given in ("mpi", None):
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
        with pytest.raises(ModuleNotFoundError, match=r"lazyarray-engine\[mpi\]"):
            D.init(given)
        assert not D.is_initialized()


def test_shares_of_the_sampler():
    shares = [[*D.DistributedSampler(11, 2, seed=5, rank=r, size=3)] for r in range(3)]
    assert [len(s) for s in shares] == [2, 2, 2]
    every = np.concatenate([i for s in shares for i in s])
    assert len(every) == 12 and set(every) == set(range(11))
    sampler = D.DistributedSampler(11, 2, seed=5, drop_last=True, rank=1, size=3)
    first, second = [*sampler], [*sampler]
    assert [len(b) for b in first] == [2] == [2] * len(sampler)
    assert not np.array_equal(first, second)  # another epoch
    sampler.set_epoch(0)
    np.testing.assert_array_equal([*sampler], first)
    with pytest.raises(ValueError, match="Sampler"):
        D.DistributedSampler(0)
    with pytest.raises(ValueError, match="less than"):
        D.DistributedSampler(3, 2, drop_last=True, rank=0, size=2)


def test_buckets_are_cut_by_dtype_and_size():
    params = [la.zeros(n, d) for n, d in ((10, "f4"), (2, "f8"), (30, "f4"), (1, "f4"), (9, "f8"))]
    for p in params:
        p.attach_grad()
    many = D.DataParallel(la.nn.SGD(params, lr=1.0), first=16, bucket=100)
    gradients = [p.grad for p in params]
    assert many._cut(gradients) == [[4], [3, 2], [1], [0]]
    many._order = [0, 1, 2, 3, 4]
    assert many._cut(gradients) == [[0], [2], [1, 4], [3]]
    with pytest.raises(TypeError, match="optimiser"):
        D.DataParallel(params)


def test_local_stores():
    for name in ("local", "device"):
        kv = la.kvstore.create(name)
        assert (kv.rank, kv.num_workers, kv.type) == (0, 1, name)
        kv.init([0, 1], [la.zeros(2), la.ones(3)])
        with pytest.raises(ValueError, match="already"):
            kv.init(0, la.zeros(2))
        kv.push(0, [la.ones(2), la.ones(2) * 2], priority=3)
        outs = [la.empty(2), la.empty(2)]
        kv.pull(0, out=outs)
        for out in outs:
            np.testing.assert_array_equal(out.asnumpy(), 3)
        kv.set_updater(lambda key, given, stored: stored.__iadd__(given * 2))
        kv.push([0, 1], [la.ones(2), la.ones(3)])
        kv.pull(1, out=(out := la.empty(3)))
        np.testing.assert_array_equal(out.asnumpy(), 3)
        with pytest.raises(ValueError, match="shape"):
            kv.push(0, la.ones(3))
        with pytest.raises(ValueError, match="init"):
            kv.pull("no", out=out)
        outs = [la.empty(2), la.empty(2)]
        kv.pushpull([0, 0], [la.ones(2), la.ones(2) * 5], outs)  # together, as in MXNet
        assert [o[0].item() for o in outs] == [17, 17]
        kv.push([0, 1, 0], [la.ones(2), la.ones(3), la.ones(2)])
        kv.pull([0, 1, 0], out=[outs[0], out, outs[1]])
        assert [o[0].item() for o in (*outs, out)] == [21, 21, 5]
        with pytest.raises(TypeError, match="priority"):
            kv.push(0, la.ones(2), priority="high")
    with pytest.raises(ValueError, match="server"):
        la.kvstore.create("dist_async")
    with pytest.raises(ValueError, match="dist_sync"):
        la.kvstore.create("dist_sink")


def test_a_store_keeps_what_one_call_cannot_take():
    kv = la.kvstore.create("local")
    with pytest.raises(ValueError, match="already"):
        kv.init(["a", "b", "a"], [la.zeros(1)] * 3)
    kv.init(["a", "b", "c"], [la.zeros(1)] * 3)  # none of them was there

    def update(key, total, value):
        value += total
        if key == "b":
            raise RuntimeError("no b")

    kv.set_updater(update)
    with pytest.raises(RuntimeError, match="no b"):
        kv.push(["a", "b", "c"], [la.ones(1)] * 3)
    outs = [la.empty(1) for _ in range(3)]
    kv.pull(["a", "b", "c"], out=outs)
    assert [o.item() for o in outs] == [1, 1, 1]


def test_a_message_that_cannot_come_is_an_error():
    with pytest.raises(D.MismatchError, match="tag 3"):
        D.recv(la.empty(2), 0, tag=3).wait_to_read()
    D.send(la.ones(2), 0, tag=3)
    assert D.recv(la.empty(2), 0, tag=3).tolist() == [1, 1]


def test_an_unused_parameter_counts_as_zeros():
    a, b = la.array([1.0]), la.array([1.0])
    for x in (a, b):
        x.attach_grad()
    trainer = D.DataParallel(la.nn.SGD([a, b], lr=0.25))
    for used in (True, False):
        with la.autograd.record():
            y = (a + b if used else a).sum()
        y.backward()
        trainer.average()
        trainer.step()
    assert (a.item(), b.item()) == (0.5, 0.75)


def test_a_checkpoint_is_an_archive(tmp_path):
    with pytest.raises(ValueError, match="npz"):
        D.save(tmp_path / "x.npy", {"w": la.ones(2)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [{"length": 5.5}, {"seed": None}, {"batch": 2.5}, {"rank": 1.0}])
def test_samplers_take_integers(given):
    with pytest.raises(TypeError):
        D.DistributedSampler(**{"length": 5, "size": 2, "rank": 0, **given})


@pytest.mark.parametrize("drops", [False, True])
def test_the_end_issues_what_a_store_holds(drops):
    """Also if it is gone here: on another rank it may not be, and that one would wait."""
    seen = []
    kv = la.kvstore.create("dist_sync")
    kv.init("w", la.zeros(2))
    kv.set_updater(lambda key, total, value: seen.append((key, total.asnumpy().tolist())))
    kv.push("w", la.ones(2))
    assert not seen
    kv.issue()
    assert seen == [("w", [1.0, 1.0])]
    kv.push("w", la.ones(2) * 2)
    if drops:
        del kv
        gc.collect()
    D.shutdown()
    assert seen[1:] == [("w", [2.0, 2.0])]
    D.init("single")


def told(*entries, current=None, state=ledger.WAITING):
    """What a rank tells: (number, text) of its collectives on the world."""
    every = [
        {"comm": "world", "number": n, "order": k, "text": t, "where": f"line {n}", "ranks": [0, 1],
         "state": "done", "seconds": 9.0}
        for k, (n, t) in enumerate(entries)
    ]  # fmt: skip
    now = None if current is None else every[current]
    if now is not None:
        now["state"] = state
    return {"current": now, "entries": every, "at": ""}


def test_where_ranks_differ_is_found():
    ahead = told((1, "a"), (2, "b"), (3, "c"), current=2)
    text, stuck = ledger.compare({0: ahead, 1: told((1, "a"), (2, "x"), current=1)}, set(), 5.0)
    assert "differ first at world #2: rank 0 b from line 2; rank 1 x from line 2" in text
    text, stuck = ledger.compare({0: told((1, "a"), current=0), 1: told()}, set(), 5.0)
    assert "rank 1 nothing so far" in text and stuck is None  # rank 1 may come
    late = told((1, "a"))
    late["entries"][0]["state"] = ledger.UNREADY
    text, stuck = ledger.compare({0: told((1, "a"), current=0), 1: late}, set(), 5.0)
    assert "rank 1 waits for no other rank, but for the arrays of a from line 1" in text
    assert stuck is None


def test_another_order_of_communicators_is_found():
    def rank(*order, current):
        state = told(*((1, text) for text in order), current=current)
        for k, e in enumerate(state["entries"]):
            e["comm"] = e["text"]
            if k > current:
                e["state"] = ledger.QUEUED
        return state

    states = {0: rank("a", "b", "c", current=1), 1: rank("a", "c", "b", current=1)}
    text, stuck = ledger.compare(states, set(), 5.0)
    assert "the ranks differ first at the order of b and c: rank 0 first b #1: b from" in text
    assert "rank 1 first c #1: c from" in text and stuck
    states[1] = rank("a", "c", current=1)
    text, _ = ledger.compare(states, set(), 5.0)
    assert "b #1: rank 0 b from line 1; rank 1 nothing so far, but waits in c #1" in text


def test_a_rank_that_has_run_far_ahead_tells_what_it_waits_for():
    book = ledger.Ledger()
    for k in range(100):
        entry = book.add("world", f"call {k}", 0, (0, 1), False)
        if k == 3:
            book.current = entry
            book.begun.append(entry)
    behind = ledger.Ledger()
    for k in range(3):
        behind.add("world", f"call {k}", 0, (0, 1), False)
    text, _ = ledger.compare({0: book.told(), 1: behind.told()}, set(), 5.0)
    assert "differ first at world #4: rank 0 call 3" in text, text


def test_the_line_to_rank_0_outlives_strangers_and_silence():
    heard, ended = [], threading.Event()

    def hears(message):
        heard.append(message)
        if "end" in message:
            ended.set()

    hub = control.Hub(1, "secret", False, 5.0)
    hub.start()
    for greeting in (b"GET / HTTP/1.1\r\n\r\n", b'{"token": 3}\n', b"[]\n", b"x" * 100_000):
        with socket.create_connection(("127.0.0.1", hub.port), timeout=60) as stranger:
            stranger.sendall(greeting)
            with contextlib.suppress(ConnectionResetError):
                assert stranger.recv(100) == b""  # it hung up
    member = control.Member(("127.0.0.1", hub.port), 0, "secret", hears)
    assert member._line.sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    member.start()
    member.send({"bye": True})
    member.send({"done": True})
    assert ended.wait(60)
    assert heard == [{"left": 0}, {"end": True}]
    hub.join(60)
    assert not hub.is_alive()


def test_a_rank_that_is_stuck_in_init_is_named():
    hub, reports = control.Hub(2, "secret", False, 0.1), queue.Queue()
    hub.start()
    member = control.Member(("127.0.0.1", hub.port), 0, "secret", reports.put)
    member.start()
    member.send({"overdue": True})
    assert reports.get(timeout=60) == {"tell": True}
    member.send({"told": told((1, "a"), current=0)})
    report = reports.get(timeout=60)["report"]
    assert "rank 0 waits for 9.0 s in world #1: a" in report
    assert "rank 1 has not come out of init() yet" in report
    member.send({"died": "ended"})  # and so the hub's thread ends, when the other one did, too
    with socket.create_connection(("127.0.0.1", hub.port), timeout=60) as other:
        other.sendall(b'{"token": "secret", "rank": 1}\n{"died": "ended"}\n')
    hub.join(60)
    assert not hub.is_alive()


def test_a_rank_that_is_greeted_late_is_told_who_has_gone_and_why():
    hub, heard = control.Hub(4, "secret", False, 5.0), queue.Queue()
    hub.start()
    first = control.Member(("127.0.0.1", hub.port), 0, "secret", heard.put)
    first.start()
    for rank, end in ((1, {"died": "ended with ValueError: no"}), (2, {"bye": True})):
        gone = control.Member(("127.0.0.1", hub.port), rank, "secret", print)
        gone.send(end)
        gone.send({"done": True})
        heard.get(timeout=60)  # so the hub knows of it
    late = queue.Queue()
    member = control.Member(("127.0.0.1", hub.port), 3, "secret", late.put)
    member.start()
    assert late.get(timeout=60) == {"lost": 1, "why": "ended with ValueError: no"}
    assert late.get(timeout=60) == {"left": 2}
    for each in (first, member):
        each.send({"bye": True})
        each.send({"done": True})
    hub.join(60)
    assert not hub.is_alive()


def test_only_ranks_that_can_not_go_on_are_stuck():
    first = told((1, "a"), current=0)
    text, stuck = ledger.compare({0: first}, {1}, 5.0)
    assert "rank 1 has ended" in text and stuck
    assert not ledger.compare({0: first}, {1}, 10.0)[1]  # not for long
    assert not ledger.compare({0: first, 1: first}, set(), 5.0)[1]  # they have met
    further = told((1, "a"), (2, "b"), current=1)
    # rank 0 was slow, and moves on now that it looks: it has been met
    assert not ledger.compare({0: first, 1: further}, set(), 5.0)[1]
    moving = told((1, "a"), current=0, state=ledger.UNDER_WAY)
    text, stuck = ledger.compare({0: moving, 1: further}, set(), 5.0)
    assert "rank 0 moves data" in text and not stuck
    # each in a group of its own, which the other does not come to
    other = told((1, "c"), current=0)
    other["entries"][0]["comm"] = "world.split1(0)"
    assert ledger.compare({0: first, 1: other}, set(), 5.0)[1]
    message = told((0, "recv from 0"), current=0)
    assert ledger.compare({0: first, 1: message}, set(), 5.0)[1]


def test_the_launcher_says_what_is_missing(tmp_path):
    env = {**os.environ, "PATH": str(tmp_path)}
    code = (
        "import sys; sys.executable = sys.prefix = '/nowhere'; from lazyarray import launch; "
        "sys.exit(launch.main(['-n', '2', 'x.py']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "lazyarray-engine[mpi]" in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "lazyarray.launch", "-n", "0", "x.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "at least 1" in done.stderr


@pytest.mark.skipif(not la.gpu_count(), reason="no GPU")
def test_arrays_on_a_gpu_go_through_the_host():
    x = la.arange(6.0, ctx=la.gpu(0)).reshape(1, 6)
    y = D.allreduce(x * 2)
    assert y.device == x.device
    np.testing.assert_array_equal(y.asnumpy(), np.arange(0, 12, 2.0).reshape(1, 6))
    to = la.zeros((6, 1), ctx=la.gpu(0)).T
    assert D.allreduce(x, out=to) is to
    np.testing.assert_array_equal(to.asnumpy(), np.arange(6.0).reshape(1, 6))
    with pytest.raises(ValueError, match="out has shape"):
        D.allreduce(x, out=to[:, :2])
    a, b = D.allreduce([x, x[0]], out=[x, x[0]])
    assert a is x and b.device == x.device
    D.send(x, 0)
    assert D.recv(x, 0).device == x.device
    params = [la.ones(3, ctx=la.gpu(0))]
    params[0].attach_grad()
    trainer = D.DataParallel(la.nn.SGD(params, lr=1.0))
    with la.autograd.record():
        loss = (params[0] * 2).sum()
    loss.backward()
    trainer.step()
    np.testing.assert_array_equal(params[0].asnumpy(), -1.0)


def test_nccl_is_asked_for_by_name(monkeypatch):
    D.shutdown()
    with pytest.raises(ValueError, match="'host' or 'nccl', not 'mpi'"):
        D.init(gpu="mpi")
    monkeypatch.setitem(sys.modules, "cupy.cuda", None)  # a machine without CuPy
    with pytest.raises(ImportError, match="need CuPy with NCCL"):
        D.init(gpu="nccl")
    assert not D.is_initialized()
    D.init()


def read_only(n):
    x = la.full(n, 7.0)
    x.flags.writeable = False
    return x


def test_a_kvstore_that_refuses_has_changed_nothing():
    kv = la.kvstore.create("local")
    kv.init(["a", "b", "i"], [la.ones(2), la.ones(2), la.array([1, 2])])
    kv.set_optimizer(la.nn.SGD, lr=0.5)
    first = la.full(2, 7.0)
    for out, error in ((read_only(2), ValueError), (la.ones(2, "i8"), TypeError)):
        with pytest.raises(error):
            kv.pushpull("a", la.ones(2), out=out)
        with pytest.raises(error):
            kv.pull(["a", "b"], out=[first, out])
        with pytest.raises(error):
            kv.broadcast("c", la.ones(2), out)
    for wrong in (la.ones(2) * 1j, la.ones(3)):
        for call in (kv.push, kv.pushpull):
            with pytest.raises((TypeError, ValueError)):
                call(["a", "b"], [la.ones(2), wrong])
    with pytest.raises(TypeError, match="float64 for the key 'i' of int64"):
        kv.push("i", la.ones(2) * 1.9)
    assert first.tolist() == [7, 7]
    out = [la.zeros(2), la.zeros(2), la.zeros(2)]
    kv.pull(["a", "b", "i"], out=out)
    assert [x.tolist() for x in out] == [[1, 1], [1, 1], [1, 2]]
    kv.broadcast("c", la.ones(2), first)
    assert first.tolist() == [1, 1]


def test_results_of_scalars_are_scalars_also_several():
    sums = [la.ones(3).sum(), la.arange(3.0).mean()]
    for found in (D.allreduce(sums), [D.allreduce(x) for x in sums], D.broadcast(sums)):
        assert [type(x) for x in found] == [type(x) for x in sums]
        assert json.dumps(found[0]) == "3.0"
    to = la.zeros(())
    first, second = D.allreduce([sums[0], la.array(2.0)], out=[to, None])
    assert first is to and to.item() == 3
    second += 1
    assert second.item() == 3


def test_a_kvstore_begun_with_a_scalar():
    kv = la.kvstore.create("local")
    kv.init("loss", la.ones(3).sum())
    kv.push("loss", la.ones(4).sum())
    kv.pull("loss", out=(out := la.zeros(())))
    assert out.item() == 4
    with pytest.raises(ValueError, match="or a scalar"):
        kv.pull("loss", out=la.ones(4).sum())
    kv.set_optimizer(la.nn.SGD, lr=0.5)
    kv.pushpull("loss", la.array(2.0), out=out)
    assert out.item() == 3
