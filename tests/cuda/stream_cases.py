"""What streams and events have to do, case by case, on the simulated devices; run by test_streams.py.

``python stream_cases.py name ...`` runs cases in this process and prints for each a line of JSON: its
name and what went wrong, or null. One worker of a kind, segments of one instruction: which stream an
op goes to is then known.
"""

import contextlib
import faulthandler
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback

import numpy as np

N = 1000
NOT_READY, OUT_OF_MEMORY = 600, 2


class Bench:
    """The devices, and what is known of their log."""

    def __init__(self):
        import cupy
        from cupy import _sim

        import lazyarray as la

        self.la, self.cupy, self.sim = la, cupy, _sim
        self.gpu = la.gpu(0)
        self.engine = la.engine.get()
        self.Prop = la.engine.FnProperty

    def array(self, value=1.0, n=N, ctx=None):
        """An array on the GPU, all of whose work is over."""
        x = self.la.full(n, value, ctx=ctx or self.gpu)
        x.wait_to_read()
        self.la.waitall()
        return x

    def launched(self):
        """Waits until all that was pushed is launched, and for nothing that was launched."""
        end = time.monotonic() + 10
        while (stats := self.engine.stats())["pushed"] > stats["completed"]:
            assert time.monotonic() < end, "ops don't complete"
            time.sleep(0.001)

    def log(self):
        return self.sim.log(clear=False)

    @contextlib.contextmanager
    def noted(self):
        """A list that has at the end what was called meanwhile, all of it launched."""
        self.launched()
        self.sim.log()
        calls = []
        yield calls
        self.launched()
        calls += self.log()

    def ran(self, what):
        return sum(line.startswith(f"run {what}") for line in self.log())

    def priority(self, fn, reads=(), writes=()):
        """Pushes an op to the priority pool, whose stream is another."""
        self.engine.push_sync(
            fn, self.gpu, [x.var for x in reads], [x.var for x in writes],
            prop=self.Prop.GPU_PRIORITIZED,
        )  # fmt: skip

    def copied(self, to, source):
        """Pushes a copy of an array on the stream of the priority pool."""

        def copy(run_ctx):
            self.cupy.copyto(run_ctx.cupy(to), run_ctx.cupy(source))

        self.priority(copy, [source], [to])


def calls(log, name):
    return [line for line in log if line.startswith(name)]


def stream_of(line):
    return int(line.split("stream=")[1].split()[0])


def streams(log, name):
    return [stream_of(line) for line in calls(log, name)]


def raises(kind, words, fn):
    try:
        fn()
    except kind as exc:
        for word in [words] if isinstance(words, str) else words:
            assert word in str(exc), f"{word!r} is not in {exc}"
        return exc
    raise AssertionError(f"no {kind.__name__}")


# ---- who waits for what ---------------------------------------------------------------------------


def same_stream_needs_no_event(b):
    x = b.array()
    with b.noted() as log:
        y = x + 1
        y *= 3
        z = y + x
    assert len(set(streams(log, "cuLaunchKernel"))) == 1
    assert not calls(log, "cuStreamWaitEvent")
    assert z.asnumpy().tolist() == [7.0] * N


def another_stream_waits_once_for_each_other(b):
    x, out = b.array(), b.array(0.0)
    with b.noted() as log:
        y = x + 1
        y += 1  # a later event of the same stream covers the one before
        z = y + 1

        def add(run_ctx):
            b.cupy.add(run_ctx.cupy(y), run_ctx.cupy(z), out=run_ctx.cupy(out))

        b.priority(add, [y, z], [out])
    kernels = set(streams(log, "cuLaunchKernel"))
    waits = calls(log, "cuStreamWaitEvent")
    assert len(waits) == 1 if mode == "lazy" else len(waits) <= 1
    assert not waits or stream_of(waits[0]) not in kernels
    assert out.asnumpy().tolist() == [7.0] * N


def a_writer_waits_for_readers_on_two_streams(b):
    x, out = b.array(2.0), b.array(0.0)
    new = np.full(N, 5.0)
    with b.noted() as log:
        y = x + 1
        b.copied(out, x)
        b.la.array(new, ctx=b.la.cpu()).copyto(x)
    (stream,) = set(streams(log, "cuMemcpyHtoDAsync"))
    waits = [w for w in calls(log, "cuStreamWaitEvent") if stream_of(w) == stream]
    assert len(waits) == 2 if mode == "lazy" else len(waits) <= 2
    assert y.asnumpy().tolist() == [3.0] * N
    assert out.asnumpy().tolist() == [2.0] * N
    assert x.asnumpy().tolist() == [5.0] * N


def readers_on_two_streams_do_not_wait_for_each_other(b):
    x, out = b.array(2.0), b.array(0.0)
    with b.noted() as log:
        y = x + 1
        b.copied(out, x)
    assert not calls(log, "cuStreamWaitEvent")
    assert (y + out).asnumpy().tolist() == [5.0] * N


def a_cpu_op_waits_on_the_host(b):
    x, v, seen = b.array(), b.engine.new_variable(), []
    out = b.array(0.0)
    b.engine.push_sync(
        lambda run_ctx: b.cupy.copyto(run_ctx.cupy(out), run_ctx.cupy(x)), b.gpu, [x.var],
        [v, out.var],
    )  # fmt: skip
    b.engine.push_sync(lambda run_ctx: seen.append(b.sim.pending()), b.la.cpu(), [v], [])
    b.engine.wait_for_var(v)
    b.la.waitall()
    assert seen == [0]


def its_pusher_does_not(b):
    """An op that is run by its pusher if it is ready isn't where that would wait for a device."""
    v, go = b.engine.new_variable(), threading.Event()
    b.engine.push_sync(lambda run_ctx: None, b.gpu, [], [v])
    b.launched()
    for _ in range(1000):
        b.sim.fail_next("cuEventQuery", NOT_READY)
    b.engine.delete_variable(lambda run_ctx: go.set(), b.la.cpu(), v)
    assert not go.is_set()
    b.la.waitall()
    assert go.is_set()


def a_wait_is_for_the_work_not_for_its_launch(b):
    x = b.array()
    y = x + 1
    b.launched()
    b.sim.log()
    y.wait_to_read()
    assert b.sim.pending() == 0
    v = b.engine.new_variable()
    out = b.array(0.0)
    b.engine.push_sync(
        lambda run_ctx: b.cupy.copyto(run_ctx.cupy(out), run_ctx.cupy(x)), b.gpu, [x.var],
        [v, out.var],
    )  # fmt: skip
    b.launched()
    b.engine.wait_for_var(v)
    assert b.sim.pending() == 0


def a_wait_for_a_value_is_not_for_its_readers(b):
    if mode != "lazy":
        return
    x, out = b.array(), b.array(0.0)
    b.copied(out, x)
    b.launched()
    pending = b.sim.pending()
    x.wait_to_read()
    assert b.sim.pending() == pending > 0
    x.wait_to_write()
    assert b.sim.pending() == 0


def waitall_is_for_the_work(b):
    y = b.array() + 1
    b.launched()
    b.la.waitall()
    assert b.sim.pending() == 0
    assert y.shape == (N,)


def ctrl_c_ends_a_wait_for_a_device(b):
    y = b.array() + 1
    b.launched()
    for _ in range(100_000):
        b.sim.fail_next("cuEventQuery", NOT_READY)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    start = time.monotonic()
    try:
        raises(KeyboardInterrupt, "", y.wait_to_read)
        assert time.monotonic() - start < 5
    finally:
        signal.signal(signal.SIGALRM, before)
        b.sim.fail_no_more()
    y.wait_to_read()
    assert y.asnumpy()[0] == 2


# ---- asynchronous ops, ops of users ----------------------------------------------------------------


def an_asynchronous_op_ends_with_what_it_launched(b):
    x, out, copy = b.array(3.0), b.array(0.0), b.array(0.0)

    def later(run_ctx, on_complete):
        b.cupy.copyto(run_ctx.cupy(out), run_ctx.cupy(x))
        threading.Timer(0.01, on_complete).start()

    for _ in range(3):
        b.engine.push_async(later, b.gpu, [x.var], [out.var])
    b.copied(copy, out)
    b.launched()
    copy.wait_to_read()
    assert copy.asnumpy().tolist() == [3.0] * N
    out.wait_to_read()
    x[...] = 4.0  # after its readers
    assert out.asnumpy().tolist() == [3.0] * N
    raises(
        ValueError,
        "no",
        lambda: (b.engine.push_async(failing, b.gpu, [], [out.var]), out.asnumpy()),
    )


def failing(run_ctx, on_complete):
    raise ValueError("no")


def an_op_of_the_user_may_wait_and_push(b):
    x, y, got = b.array(1.0), b.array(2.0), []

    def op(run_ctx):
        got.append(float(y.asnumpy()[0]))
        got.append(float((y + 1).asnumpy()[0]))
        run_ctx.cupy(x)[...] = 7.0

    b.engine.push_sync(op, b.gpu, [y.var], [x.var])
    assert x.asnumpy().tolist() == [7.0] * N
    assert got == [2.0, 3.0]


def a_device_that_is_not_open_is_an_error(b):
    v = b.engine.new_variable()
    b.engine.push_sync(lambda run_ctx: None, b.la.engine.Device("gpu", 1), [], [v])
    raises(RuntimeError, "la.gpu(1) opens it", lambda: b.engine.wait_for_var(v))


def another_engine_keeps_the_same_order(b):
    e = b.la.engine.ThreadedEnginePerDevice()
    x, out = b.cupy.full(N, 2.0), b.cupy.zeros(N)
    b.cupy.cuda.Device(0).synchronize()
    v = e.new_variable()
    e.push_sync(lambda run_ctx: b.cupy.copyto(out, x), b.gpu, [], [v])
    seen = []
    e.push_sync(lambda run_ctx: seen.append(b.sim.pending()), b.la.cpu(), [v], [])
    e.wait_for_all()
    assert seen == [0]


# ---- copies -----------------------------------------------------------------------------------------


def copies_have_streams_of_their_own(b):
    x = b.array()
    with b.noted() as log:
        y = x + 1
        z = b.la.array(np.arange(N, dtype=float), ctx=b.gpu)
        w = x.as_in_context(b.la.cpu())
        w.wait_to_read()
    kernels = set(streams(log, "cuLaunchKernel"))
    to, back = set(streams(log, "cuMemcpyHtoD")), set(streams(log, "cuMemcpyDtoH"))
    assert len(kernels) == len(to) == len(back) == 1
    assert len(kernels | to | back) == 3
    assert (y + z).asnumpy()[2] == 4


def copies_overlap_kernels(b):
    """Neither direction waits for a kernel, or the kernel for them."""
    x, other = b.array(), b.array(5.0)
    host = b.la.array(np.arange(N, dtype=float), ctx=b.la.cpu())
    with b.noted():
        y = x * 2
    z = host.as_in_context(b.gpu)
    z.wait_to_read()
    assert other.asnumpy()[0] == 5
    if mode == "lazy":
        assert b.ran("cuMemcpyHtoDAsync") == b.ran("cuMemcpyDtoHAsync") == 1
        assert b.ran("kernel") == 0
    assert y.asnumpy()[0] == 2
    assert z.asnumpy()[3] == 3


def staging_is_used_again_after_its_event(b):
    n = 5 << 19  # 20 MiB: five pieces by way of two
    host = np.arange(n, dtype=float)
    x = b.la.array(host, ctx=b.gpu)
    y = x.copy()
    assert np.array_equal(x.asnumpy(), host)
    assert np.array_equal(y.asnumpy(), host)


def pinned_memory_is_copied_from_and_to_directly(b):
    pinned = b.la.cpu_pinned()
    host = b.la.array(np.arange(N, dtype=float), ctx=pinned)
    host.wait_to_read()
    with b.noted() as log:
        x = host.as_in_context(b.gpu)
        host += 1  # after the device has read it
        back = x.as_in_context(pinned)
    assert not calls(log, "cuMemHostAlloc bytes=4194304")
    assert back.asnumpy().tolist() == list(range(N))  # the device's write is waited for
    assert host.asnumpy()[0] == 1
    for k in range(5):  # blocks are used again once the device has let go of them
        host = b.la.full(N, float(k), ctx=pinned)
        x = host.as_in_context(b.gpu)
        del host
        other = b.la.full(N, -1.0, ctx=pinned)
        other.wait_to_read()
        assert x.asnumpy()[0] == k


def copies_between_devices(b):
    second = b.la.gpu(1)
    x = b.array(4.0)
    with b.noted() as log:
        y = x + 1
        z = y.as_in_context(second)
        w = z * 2
        y[...] = 0.0  # after the other device has read it
    assert len(calls(log, "cuMemcpyPeerAsync")) == 1
    assert w.asnumpy().tolist() == [10.0] * N
    assert y.asnumpy()[0] == 0


# ---- memory -------------------------------------------------------------------------------------------


def memory_is_used_again_after_its_last_uses(b):
    for k in range(6):
        x, out = b.la.full(N, float(k), ctx=b.gpu), b.array(0.0)
        b.copied(out, x)  # on another stream
        b.launched()
        del x
        y = b.la.full(N, -1.0, ctx=b.gpu)
        b.launched()
        assert out.asnumpy()[0] == k
        assert y.asnumpy()[0] == -1
    b.la.storage.trim(b.gpu)
    assert b.la.storage.pool_stats(b.gpu)["cached"] == 0


def out_of_memory_drains_and_says_so(b):
    keep = b.array(3.0)
    b.la.storage.trim(b.gpu)
    base = b.cupy.get_default_memory_pool().used_bytes()
    b.sim.set_memory(base + (5 << 20))
    try:
        for _ in range(8):  # two fit, if what was there before is gone
            x = b.la.full((1 << 18) - 64, 1.0, ctx=b.gpu)
            y = x * 2
            b.launched()
            del x, y
            cycle = [b.la.full((1 << 18) - 64, 1.0, ctx=b.gpu)]
            cycle.append(cycle)
            b.launched()
            del cycle
        big = b.la.full(1 << 20, 1.0, ctx=b.gpu)
        raises(MemoryError, ["8388608 bytes", "gpu(0)", "in use"], big.wait_to_read)
        raises(MemoryError, "", (big + 1).wait_to_read)
        assert (keep + 1).asnumpy().tolist() == [4.0] * N
    finally:
        b.sim.set_memory(8 << 30)
    big[...] = 2.0
    assert big.asnumpy()[-1] == 2


def memory_for_all_streams_is_free_of_work(b):
    """What CuPy is given of ours may be used on its streams at once."""
    if mode != "lazy":
        return
    x = b.array(1.0)
    with b.la.engine.bulk(1):
        v = b.la.empty(N, ctx=b.gpu)
    y = x * 2
    b.launched()
    del y  # its kernel has not run
    theirs = v.ascupy()
    theirs[...] = 5.0
    b.cupy.cuda.get_current_stream().synchronize()
    b.la.waitall()
    assert theirs.get().tolist() == [5.0] * N


def lent_memory_comes_back_with_its_work_done(b):
    for _ in range(3):
        x = b.array(1.0)
        theirs = x.ascupy()
        theirs *= 2
        x += 1  # waits for what CuPy does
        assert float(theirs[0].get()) == 3.0
        theirs *= 2
        del theirs  # and for what it was doing when it let go
        x += 1
        assert x.asnumpy().tolist() == [7.0] * N

        theirs = b.cupy.asarray(x)
        theirs *= 2
        del theirs, x
        y = b.la.full(N, 5.0, ctx=b.gpu)
        assert y.asnumpy().tolist() == [5.0] * N


def borrowed_memory_goes_back_with_our_work_done(b):
    stream = b.cupy.cuda.Stream(non_blocking=True)
    with stream:
        theirs = b.cupy.full(N, 2.0)
        x = b.la.from_dlpack(theirs)
    out = b.array(0.0)

    def outer(run_ctx):  # what an op pushes on memory that it uses isn't waited for
        b.copied(out, x)

    b.engine.push_sync(outer, b.la.cpu(), [x.var], [])
    b.launched()
    del x, theirs
    gc.collect()
    with stream:
        fresh = b.cupy.full(N, -1.0)
    stream.synchronize()
    assert out.asnumpy().tolist() == [2.0] * N
    assert float(fresh[0].get()) == -1.0


def an_op_of_the_user_on_lent_memory_has_run(b):
    x = b.array(1.0)
    theirs = x.ascupy()
    theirs *= 2
    b.engine.push_sync(
        lambda run_ctx: b.cupy.add(run_ctx.cupy(x), 1.0, out=run_ctx.cupy(x)), b.gpu, [], [x.var]
    )
    assert b.sim.pending() == 0
    assert float(theirs[0].get()) == 3.0


# ---- programs ------------------------------------------------------------------------------------------


def runs_of_a_program_share_nothing(b):
    """Two calls whose stages no kernel can run as one: their temporaries are their own."""
    from lazyarray.lazy._lazy import Program

    def f(z):
        w = z + 1
        return (w**two) * w + w  # exponents are looked at on the host: no kernel

    two = b.la.full(5000, 2, ctx=b.gpu)
    host = [np.arange(5000) % 100 + k for k in range(6)]
    arrays = [b.la.array(h, ctx=b.gpu) for h in host]
    b.la.waitall()
    with b.la.engine.bulk(64):
        program = Program()
        with program:
            out = f(arrays[0])
        program.finish_calls([[arrays[0]]], [[out]])
        del out
        results = [program.begin([x])[1][0] for x in arrays]
    for h, r in zip(host, results, strict=True):
        assert np.array_equal(r.asnumpy(), (h + 1) ** 3 + h + 1)


def a_program_s_block_is_free_of_work(b):
    from lazyarray.lazy._lazy import Program

    n = 4096
    x = b.array(1.0, n)
    with b.la.engine.bulk(1):
        for _ in range(3):
            y = x * 2
            b.launched()
            del y
        program = Program()
        with program:
            t = x.cumsum()
            u = t.cumsum()
            v = u.cumsum()
            del t, u
        program.finish([v])
        for _ in range(3):
            program.run()
    want = np.ones(n).cumsum().cumsum().cumsum()
    assert np.array_equal(v.asnumpy(), want)
    del program, v
    z = b.la.full(3 * n, 2.0, ctx=b.gpu)
    assert z.asnumpy()[-1] == 2


def a_program_s_block_is_asked_for_under_no_lock(b):
    """CuPy's pool runs Python, which may let other threads record, or record itself."""
    from lazyarray.lazy._lazy import Program
    from lazyarray.lazy.cuda import room

    x, asked = b.array(1.0, 3000), []
    allocate = room.allocate

    def recording(number, stream, nbytes):
        if threading.current_thread() is threading.main_thread():
            asked.append(x + 1)
            thread = threading.Thread(target=lambda: asked.append(x + 1))
            thread.start()
            thread.join()
        return allocate(number, stream, nbytes)

    room.allocate = recording
    try:
        program = Program()
        with program:
            t = x.cumsum()
            u = t.cumsum()
            v = u.cumsum()
            del t, u
        b.la.storage.trim(b.gpu)
        program.finish([v])
    finally:
        room.allocate = allocate
    assert len(asked) == 2
    program.run()
    assert v.asnumpy()[2] == 10


# ---- failures --------------------------------------------------------------------------------------------


def a_failed_launch_poisons_what_depends_on_it(b):
    x, other = b.array(), b.array(5.0)
    b.sim.fail_next("cuLaunchKernel", 1)
    y = x + 1
    z, fine = y * 2, other * 2
    assert fine.asnumpy()[0] == 10
    for poisoned in (y, z, y):
        raises(RuntimeError, "cuLaunchKernel", poisoned.wait_to_read)
    assert x.asnumpy()[0] == 1
    y[...] = 4.0
    assert (y + x).asnumpy().tolist() == [5.0] * N
    b.la.waitall()


def a_failed_event_is_waited_for_instead(b):
    x = b.array()
    for call in ("cuEventRecord", "cuEventCreate"):
        held = []
        if call == "cuEventCreate":  # no event is left over
            while not held or len(calls(b.log(), "cuEventRecord")) < 40:
                held.append(x + 1)
                b.launched()
        b.sim.log()
        b.sim.fail_next(call, OUT_OF_MEMORY)
        y = x + 1
        b.launched()
        if any("fails" in line for line in b.log()):
            assert b.sim.pending() == 0 or mode != "lazy" or held
            raises(MemoryError, call, y.wait_to_read)
        else:
            b.sim.fail_no_more()
        y[...] = 3.0
        assert (y + 1).asnumpy().tolist() == [4.0] * N
    b.la.waitall()


def a_failed_copy_leaves_nothing_half_written(b):
    n = 3 << 19
    x = b.la.array(np.arange(n, dtype=float), ctx=b.gpu)
    x.wait_to_read()
    b.sim.fail_next("cuMemcpyDtoHAsync_v2", 1)
    raises(RuntimeError, "cuMemcpyDtoHAsync", x.asnumpy)
    assert np.array_equal(x.asnumpy(), np.arange(n))
    b.sim.fail_next("cuMemcpyHtoDAsync_v2", 1)
    y = b.la.array(np.ones(n), ctx=b.gpu)
    raises(RuntimeError, "cuMemcpyHtoDAsync", y.wait_to_read)
    b.la.array(np.ones(n), ctx=b.la.cpu()).copyto(y)
    assert y.asnumpy()[-1] == 1


def host_memory_that_is_not_there(b):
    def from_a_thread():  # which has no staging yet
        x = b.la.array(np.ones(N), ctx=b.la.gpu(1))
        try:
            x.wait_to_read()
        except MemoryError as exc:
            got.append(str(exc))

    got = []
    b.sim.fail_next("cuMemHostAlloc", OUT_OF_MEMORY)
    thread = threading.Thread(target=from_a_thread)
    thread.start()
    thread.join()
    if not got:
        b.sim.fail_no_more()
    else:
        assert "cuMemHostAlloc" in got[0]
    assert b.la.array(np.ones(N), ctx=b.la.gpu(1)).asnumpy()[0] == 1


def cases():
    skip = {"calls", "stream_of", "streams", "raises", "cases", "main", "failing"}
    found = [
        n for n, f in globals().items() if callable(f) and getattr(f, "__module__", "") == __name__
    ]
    return [n for n in found if n not in skip and not n[0].isupper()]


mode = ""  # LAZYARRAY_SIM


def main():
    global mode
    mode = os.environ["LAZYARRAY_SIM"]
    b = Bench()
    for name in sys.argv[1:] or cases():
        faulthandler.dump_traceback_later(25, exit=True)
        wrong = None
        try:
            b.sim.log()
            globals()[name](b)
            gc.collect()
            b.la.waitall()
            hazards = b.sim.hazards()
            assert not hazards, hazards
        except BaseException:
            wrong = traceback.format_exc()
            with contextlib.suppress(BaseException):
                b.la.waitall()
            b.sim.hazards()
        print(json.dumps([name, wrong]), flush=True)


if __name__ == "__main__":
    main()
