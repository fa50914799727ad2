"""Cases of memory, programs and failures on streams; test_streams.py runs them by bench.py."""

import gc
import threading

import numpy as np
from bench import OUT_OF_MEMORY, N, calls, raises, run

# ---- memory -------------------------------------------------------------------------------------


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


def the_host_is_given_what_an_operation_uses(b):
    """Of 16 MiB, which are copied in four pieces."""
    want = np.arange(1 << 21)
    x = b.la.array(want, ctx=b.gpu)
    two = b.la.full(4, 2, dtype="int64", ctx=b.gpu)
    empty = b.la.full(0, 2, dtype="int64", ctx=b.gpu)
    b.la.waitall()
    with b.noted() as log:
        x[-2:-10:-2] **= two
        x[:0] **= empty
        b.la.waitall()
    want[-2:-10:-2] **= 2
    assert b.la.context.hosted_ops()["power"]
    assert len(calls(log, "cuMemcpyDtoH")) == 2
    assert len(calls(log, "cuMemcpyHtoD")) == 1
    assert np.array_equal(x.asnumpy(), want)


def memory_for_all_streams_is_free_of_work(b):
    """What CuPy is given of ours may be used on its streams at once."""
    if b.mode != "lazy":
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

    def outer(run_ctx, mine=x):  # what an op pushes on memory that it uses isn't waited for
        b.copied(out, mine)

    b.engine.push_sync(outer, b.la.cpu(), [x.var], [])
    b.launched()
    del x, theirs, outer
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


# ---- programs -----------------------------------------------------------------------------------


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
    from lazyarray.lazy.cuda import services

    x, asked = b.array(1.0, 3000), []
    allocate = services.allocate

    def recording(number, stream, nbytes):
        if threading.current_thread() is threading.main_thread():
            asked.append(x + 1)
            thread = threading.Thread(target=lambda: asked.append(x + 1))
            thread.start()
            thread.join()
        return allocate(number, stream, nbytes)

    services.allocate = recording
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
        services.allocate = allocate
    assert len(asked) == 2
    program.run()
    assert v.asnumpy()[2] == 10


# ---- failures -----------------------------------------------------------------------------------


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
            assert b.sim.pending() == 0 or b.mode != "lazy" or held
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


def what_a_stage_overwrites_comes_after_other_streams(b):
    """No array holds it any more, and its last op is complete: its work may not be."""
    x, y, new = b.array(), b.array(0.0), b.array(4.0)
    b.copied(x, y)  # on another stream
    b.launched()
    with b.la.engine.bulk(64):
        x[:] = new * 2
        z = x * x.max()  # a second kernel reads it
        del x
    assert z.asnumpy().tolist() == [64.0] * N


if __name__ == "__main__":
    run(globals())
