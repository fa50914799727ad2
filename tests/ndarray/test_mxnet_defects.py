"""What MXNet's arrays got wrong, one test each; the engine's are in tests/engine."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from tests.lazy.fusing import figures
from tests.streams import seeded

from .agree import memory


class Boom(Exception):
    pass


def fail(x, ctx=None):
    """Poisons x by an op that raises when it runs."""

    def boom(run_ctx):
        raise Boom("boom")

    engine.get().push_sync(boom, ctx or la.cpu(0), mutable_vars=[x.var], name="boom")


@pytest.fixture(autouse=True)
def clean():
    yield
    try:
        la.waitall()
    except Boom:
        pass


def test_deletion_of_poisoned_arrays_frees_them():
    la.waitall()
    before = la.storage.pool_stats(la.current_context())["in_use"]
    for _ in range(200):
        x = la.zeros(100_000)
        fail(x)
        y = x + 1
        del x, y
    with pytest.raises(Boom):
        la.waitall()
    assert la.storage.pool_stats(la.current_context())["in_use"] <= before + 1_000_000


def test_every_dependent_raises_at_every_wait():
    x = la.ones(10)
    fail(x)
    y, z = x + 1, x * 2
    w = y + z
    for _ in range(2):
        for a in (x, y, z, w):
            with pytest.raises(Boom):
                a.asnumpy()


def test_a_failure_in_a_bulk_poisons_only_its_dependents():
    with engine.bulk(100):
        gate = threading.Event()
        p = la.ones(10)
        engine.get().push_sync(lambda ctx: gate.wait(10), la.cpu(0), mutable_vars=[p.var])
        bad = la.astype(p, "i8") ** (la.astype(p, "i8") * -1)  # fails when it runs
        good = p + 1
        child = bad + 1
        gate.set()
        np.testing.assert_array_equal(good.asnumpy(), 2.0)
        for a in (bad, child):
            with pytest.raises(ValueError, match="negative integer powers"):
                a.asnumpy()
    with pytest.raises(ValueError, match="negative integer powers"):
        bad.wait_to_read()


def test_overwriting_a_poisoned_array_heals_it():
    x = la.ones(10)
    fail(x)
    with pytest.raises(Boom):
        x.wait_to_read()
    x[:] = 3
    np.testing.assert_array_equal(x.asnumpy(), 3.0)
    fail(x)
    x[2:] = 1  # in part: not healed
    with pytest.raises(Boom):
        x.wait_to_read()
    la.add(la.ones(10), 1, out=x)
    np.testing.assert_array_equal(x.asnumpy(), 2.0)


def test_a_failed_random_op_leaves_later_draws_alone():
    la.random.seed(3)
    want = seeded(3)
    first = la.random.normal(size=4)
    with pytest.raises(Boom):
        bad = la.ones(4)
        fail(bad)
        la.random.normal(bad, 1.0, size=4).asnumpy()
    assert first.asnumpy().tolist() == want.normal(size=4).tolist()
    la.random.normal(size=4).asnumpy()  # does not raise
    la.random.seed(4)
    assert la.random.normal(size=4).asnumpy().tolist() == seeded(4).normal(size=4).tolist()


def test_an_open_bulk_is_seen_by_other_threads():
    with engine.bulk(1000):
        gate = threading.Event()
        x = la.zeros(10)
        engine.get().push_sync(lambda ctx: gate.wait(10), la.cpu(0), mutable_vars=[x.var])
        x += 5  # recorded, in the open segment
        seen = []
        t = threading.Thread(target=lambda: seen.append(x.asnumpy()))
        t.start()
        gate.set()
        t.join(10)
        np.testing.assert_array_equal(seen[0], 5.0)


def test_overlapping_assignment_and_views():
    a = np.arange(10.0)
    x = la.array(a)
    a[1:6] = a[0:5]
    x[1:6] = x[0:5]
    np.testing.assert_array_equal(x.asnumpy(), a)
    m, y = np.arange(9.0).reshape(3, 3), la.arange(9.0).reshape(3, 3)
    m += m.T
    y += y.T
    np.testing.assert_array_equal(y.asnumpy(), m)
    view = y.T[::2]
    view[...] = -1
    m.T[::2] = -1
    np.testing.assert_array_equal(y.asnumpy(), m)
    assert view.var == y.var


def test_np_array_gives_the_values():
    x = la.arange(6, dtype="f4").reshape(2, 3)
    a = np.array(x)
    assert a.dtype == np.float32
    np.testing.assert_array_equal(a, [[0, 1, 2], [3, 4, 5]])


def test_a_wait_on_another_device_does_not_queue_behind_this_one():
    gate = threading.Event()
    blockers = [la.zeros(1) for _ in range(25)]
    for b in blockers:
        engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[b.var])
    with la.cpu(1):
        y = la.ones(300_000) * 2
    start = time.monotonic()
    assert y.asnumpy()[0] == 2
    assert time.monotonic() - start < 5
    gate.set()


def test_pushes_do_not_run_ahead_of_memory():
    from lazyarray.lazy._lazy import _set_policy

    la.waitall()
    old = _set_policy("max_pending_bytes", 40_000_000)
    try:
        x = la.ones(1_000_000)
        peak = 0
        for _ in range(50):
            y = x * 2.0  # noqa: F841
            peak = max(peak, engine.get().stats()["pending_bytes"])
        assert peak <= 48_000_000
    finally:
        _set_policy("max_pending_bytes", old)


def test_what_pending_ops_alone_still_read_counts_as_pending():
    pending = lambda: engine.get().stats()["pending_bytes"]  # noqa: E731
    la.waitall()
    before, gate = pending(), threading.Event()
    total = la.zeros(1)
    engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[total.var])
    with figures(age_ns=1e15):  # no idle worker takes the sums meanwhile
        for _ in range(5):
            chunk = la.array(np.ones(100_000))
            total += chunk.sum()
            kept = chunk[:10]  # a view holds it as well
            del chunk
            held = pending() - before
            del kept
            assert pending() - before >= held + 800_000
        gate.set()
    assert total.item() == 500_000
    la.waitall()
    assert pending() == before


def test_a_loop_over_fresh_chunks_does_not_run_ahead_of_memory():
    from lazyarray.lazy._lazy import _set_policy

    host = np.random.rand(250_000)
    la.waitall()
    old = _set_policy("max_pending_bytes", 20_000_000), _set_policy("ahead_bytes", 20_000_000)
    try:
        start, most, total = la.storage.pool_stats()["in_use"], 0, 0.0
        for k in range(100):
            chunk = la.array(host)
            total = total + la.log(la.sin(chunk) ** 2 + la.cos(chunk * k) ** 2 + 1).sum()
            most = max(most, la.storage.pool_stats()["in_use"] - start)
        assert most <= 40_000_000  # 200 MB are pushed
        total.item()
    finally:
        _set_policy("max_pending_bytes", old[0])
        _set_policy("ahead_bytes", old[1])


def test_a_limit_of_memory_waits_for_what_is_pending():
    program = """
import lazyarray as la, numpy as np
host = np.ones(500_000)
total = la.zeros(1)
for _ in range(60):
    total += la.exp(la.array(host) * 0).sum()
print(total.item())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LAZYARRAY_MEM_LIMIT": "13000000"},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.stdout == "30000000.0\n", done.stderr


def test_a_wait_inside_an_op_on_arrays():
    """A worker that waits is replaced, so more waits inside ops than workers still end."""
    results = [la.zeros(1) for _ in range(12)]
    sources = [la.ones(50_000) for _ in range(12)]
    for r, s in zip(results, sources, strict=True):
        t = s * 2.0

        def op(ctx, r=r, t=t):
            memory(ctx, r)[0] = float(t.sum())

        engine.get().push_sync(op, la.current_context(), mutable_vars=[r.var])
    assert [r.item() for r in results] == [100_000.0] * 12


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=250,
        env=dict(os.environ, **env),
    )


def test_queued_work_is_finished_at_exit():
    done = run(
        """
        import lazyarray as la, time
        x = la.zeros(3)
        def late(ctx):
            time.sleep(0.3)
            print("written", flush=True)
        la.engine.get().push_sync(late, la.cpu(0), mutable_vars=[x.var])
        y = x + 1
        """
    )
    assert done.returncode == 0, done.stderr
    assert "written" in done.stdout


def test_an_unseen_error_is_printed_at_exit():
    done = run(
        """
        import lazyarray as la
        a = la.arange(200000)
        b = la.take(a, la.array([10**9]))
        """
    )
    assert "IndexError" in done.stderr
    assert "take" in done.stderr
    assert ".pxi" not in done.stderr


def test_fork_with_a_pending_error():
    done = run(
        """
        import os
        import lazyarray as la
        x = la.zeros(3)
        def boom(ctx):
            raise ValueError("boom")
        la.engine.get().push_sync(boom, la.cpu(0), mutable_vars=[x.var])
        y = la.ones(300000) * 2
        pid = os.fork()
        if pid == 0:
            ok = float((y * 3).sum()) == 1800000.0
            os._exit(0 if ok else 1)
        assert os.waitpid(pid, 0)[1] == 0
        try:
            x.asnumpy()
        except ValueError:
            print("raised", float(y.sum()))
        """
    )
    assert "raised 600000.0" in done.stdout, done.stderr
