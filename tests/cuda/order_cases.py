"""Cases of order between streams, the host and copies; test_streams.py runs them by bench.py."""

import signal
import threading
import time

import numpy as np
from bench import CAPTURE_FORBIDS, NOT_READY, N, calls, raises, run, stream_of, streams

# ---- who waits for what -------------------------------------------------------------------------


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
    assert len(waits) == 1 if b.mode == "lazy" else len(waits) <= 1
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
    assert len(waits) == 2 if b.mode == "lazy" else len(waits) <= 2
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


def what_others_capture_is_no_failure(b):
    """CUDA refuses calls while another library captures: they are made again later."""
    x = b.array()
    y = x + 1
    b.launched()
    for _ in range(3):
        b.sim.fail_next("cuEventQuery", CAPTURE_FORBIDS)
    assert (y.asnumpy() == x.asnumpy() + 1).all()
    b.sim.fail_next("cuEventQuery", CAPTURE_FORBIDS)
    b.sim.fail_next("cuMemGetInfo_v2", CAPTURE_FORBIDS)
    assert ((y * 2).asnumpy() == 2 * y.asnumpy()).all()


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
    if b.mode != "lazy":
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


# ---- asynchronous ops, ops of users -------------------------------------------------------------


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


# ---- copies -------------------------------------------------------------------------------------


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
    if b.mode == "lazy":
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


if __name__ == "__main__":
    run(globals())
