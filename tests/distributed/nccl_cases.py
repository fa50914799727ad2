"""What ranks with a GPU each do by NCCL: run by `test_nccl.py` through the launcher.

On simulated devices, whose NCCL is `tests/cuda/sim/nccl.cpp`, or on real ones.
"""

import contextlib
import faulthandler
import os
import tempfile
import traceback

import cupy
import numpy as np
from cases import UFUNCS, D, of_all, raises, same, serial

import lazyarray as la
from lazyarray import engine

DTYPES = "?bBhHiIlLqQefdFD"
# Simulated devices that run things at once, or in a random order, have half of the dtypes each.
HALVES = {"eager": DTYPES[1::2], "random:2": DTYPES[::2]}
SOME = HALVES.get(os.environ.get("LAZYARRAY_SIM", ""), DTYPES)
SHAPES = [(), (0,), (5,), (3, 4), (60, 90)]  # the last one is more than what every rank adds up
CASES = {}
SIMULATED = hasattr(cupy, "_sim")


def case(f):
    CASES[f.__name__] = f
    return f


def place():
    return la.gpu(D.local_rank() % la.gpu_count())


def mine(xs):
    return la.array(xs[D.rank()], ctx=place())


@case
def reductions():
    for dtype in SOME:
        for op in UFUNCS:
            if op == "mean" and np.dtype(dtype).kind not in "fc":
                continue
            for shape in SHAPES:
                xs = of_all(shape, dtype)
                want = serial(op, xs)
                exact = op in ("max", "min")
                x = mine(xs)
                got = D.allreduce(x, op)
                assert got.device == place()
                same(got, want, exact)
                same(D.allreduce(x, op, ordered=True), want, SIMULATED and op != "prod")
                root = D.size() - 1
                at_root = D.reduce(x, root, op)
                if D.rank() == root:
                    same(at_root, want, exact)
                else:
                    assert at_root is None
                same(x, xs[D.rank()])
                assert D.allreduce(x, op, out=x) is x
                same(x, want, exact)


@case
def nan_is_kept():
    for op in ("max", "min"):
        x = la.array([np.nan, 1.0, 2.0] if D.rank() == 0 else [1.0, 2.0, np.nan], ctx=place())
        got = D.allreduce(x, op).asnumpy()
        assert np.isnan(got).tolist() == [True, False, True], got


@case
def rows():
    n, r = D.size(), D.rank()
    for dtype in SOME:
        for shape in [(), (0,), (7,), (4, 5)]:
            xs = of_all((n, *shape), dtype)
            x = mine(xs)
            same(D.allgather(x[r]), np.stack([xs[i][i] for i in range(n)]))
            same(D.alltoall(x), np.stack([xs[i][r] for i in range(n)]))
            for op in ("sum", "max"):
                want = serial(op, xs)[r]
                same(D.reduce_scatter(x, op), want, exact=op == "max")
                same(D.reduce_scatter(x, op, ordered=True), want, exact=SIMULATED)
            for root in range(n):
                same(D.broadcast(x, root), xs[root])
                found = D.gather(x[0], root)
                if r == root:
                    same(found, np.stack([xs[i][0] for i in range(n)]))
                row = x if r == root else la.empty(shape, dtype, ctx=place())
                same(D.scatter(row, root), xs[root][r])
            same(x, xs[r])


@case
def in_place_and_views():
    n, r = D.size(), D.rank()
    xs = of_all((n, n, 3), "d")
    for view in (
        lambda a: a.swapaxes(0, 1),
        lambda a: a[:, ::-1],
        lambda a: a[..., ::2],
        lambda a: a.T.swapaxes(0, 1),
    ):
        if view(xs[0]).shape[0] != n:
            continue
        for call, want in (
            (D.allreduce, serial("sum", [view(x) for x in xs])),
            (D.alltoall, np.stack([view(xs[i])[r] for i in range(n)])),
            (lambda a, out: D.broadcast(a, n - 1, out=out), view(xs[-1])),
        ):
            x = mine(xs)
            call(view(x), out=view(x))
            host = xs[r].copy()
            view(host)[...] = want
            same(x, host, exact=False)
            out = la.zeros((n, n, 3), ctx=place())
            call(view(mine(xs)), out=view(out))
            same(view(out), want, exact=False)
    # Rows of what is sent are where the result goes.
    x = mine(xs)
    D.reduce_scatter(x, out=x[0])
    same(x[0], serial("sum", xs)[r], exact=False)
    same(x[1], xs[r][1])
    x = mine(xs)
    D.allgather(x[r], out=x)
    same(x, np.stack([xs[i][i] for i in range(n)]))


@case
def lists():
    shapes = [(3,), (), (2, 5), (0,), (1000,)]
    each = [of_all(s, "f", seed=k) for k, s in enumerate(shapes)]
    xs = [mine(e) for e in each]
    for got, e in zip(D.allreduce(xs, "mean"), each, strict=True):
        same(got, serial("mean", e), exact=False)
    D.allreduce(xs, "sum", out=xs)
    for x, e in zip(xs, each, strict=True):
        same(x, serial("sum", e), exact=False)
    D.broadcast(xs, out=xs)
    for x, e in zip(xs, each, strict=True):
        same(x, serial("sum", e), exact=False)
    # One of them is on the host: by the host, all of them.
    mixed = [mine(each[0]), la.array(each[1][D.rank()])]
    got = D.allreduce(mixed)
    assert [g.device for g in got] == [place(), la.cpu(0)]
    for g, e in zip(got, each, strict=False):
        same(g, serial("sum", e), exact=False)


@case
def order_is_kept_without_waiting():
    """Kernels before and after, on other streams; nothing waits but the end."""
    n, r = D.size(), D.rank()
    xs = [np.full(1000, float(i)) for i in range(n)]
    x = mine(xs)
    others = []
    for step in range(20):
        y = x * 2 + step
        x = D.allreduce(y, "mean" if step % 3 else "sum")
        D.allreduce(y, out=y)
        others.append(y.sum())
        x += r  # differs from rank to rank again
        xs = [v * 2 + step for v in xs]
        total = serial("sum", xs)
        xs = [(total / n if step % 3 else total) + i for i in range(n)]
        others.append(total.sum())
    same(x, xs[r], exact=False)
    for got, want in zip(others[::2], others[1::2], strict=True):
        np.testing.assert_allclose(got.item(), want, rtol=1e-12)


@case
def with_collectives_of_the_host():
    n = D.size()
    host, device = la.ones(5), la.ones(5, ctx=place())
    for _ in range(10):
        D.allreduce(host, out=host)
        D.allreduce(device, out=device)
        device += 1
        device -= 1
    D.barrier()
    same(host, np.full(5, float(n) ** 10))
    same(device, np.full(5, float(n) ** 10))
    to, source = (D.rank() + 1) % n, (D.rank() - 1) % n
    D.send(la.full(3, D.rank(), ctx=place()), to)
    got = D.recv(la.empty(3, int, ctx=place()), source)
    assert got.device == place()
    same(got, np.full(3, source))


@case
def ranks_that_differ():
    x = la.ones(3, ctx=place() if D.rank() else la.cpu(0))
    raises(D.MismatchError, lambda: D.allreduce(x).asnumpy(), "by NCCL")
    y = la.ones(3, ctx=place())
    raises(D.MismatchError, lambda: D.allreduce(y, "max" if D.rank() else "min").asnumpy(), "min")
    same(D.allreduce(y), np.full(3, float(D.size())))


@case
def a_rank_without_values():
    x = la.ones(3, ctx=place())
    if D.rank() == 0:

        def fails(run_ctx):
            raise KeyError("no values")

        with contextlib.suppress(KeyError):  # the naive engine raises at the call
            engine.get().push_sync(fails, place(), mutable_vars=[x.var])
        raises(KeyError, lambda: D.allreduce(x).asnumpy(), "no values")
    else:
        raises(D.RankError, lambda: D.allreduce(x).asnumpy(), "no values")
    D.broadcast(la.ones(3, ctx=place()), out=x)  # heals
    same(x, np.ones(3))


@case
def groups():
    r, n = D.rank(), D.size()
    reversed_ = D.world().split(0, -r)
    x = la.full(2, r, ctx=place())
    same(reversed_.allgather(x), np.repeat(np.arange(n)[::-1, None], 2, 1))
    alone = D.world().split(r)
    same(alone.allreduce(x), np.full(2, r))
    if la.gpu_count() > 1:
        other = la.gpu(1 - place().device_id)
        raises(ValueError, lambda: D.allreduce(la.ones(2, ctx=other)), "one GPU")


@case
def gradients():
    xs = of_all((6,), "d")
    x = mine(xs)
    x.attach_grad()
    with la.autograd.record():
        loss = (D.allreduce(x, "mean") ** 2).sum()
    loss.backward()
    want = 2 * serial("mean", xs)  # of the sum of all ranks' losses
    same(x.grad, want, exact=False)


@case
def checkpoints():
    folder = D.world().exchange(tempfile.mkdtemp())[0]
    file = os.path.join(folder, "state.npz")
    x = mine(of_all((4,), "d"))
    saved = D.save(file, {"x": x})
    if saved is not None:
        saved.wait_to_read()
    D.barrier()
    with place():
        got = D.load(file)["x"]
    assert got.device == place()
    same(got, of_all((4,), "d")[0])
    same(D.load(file)["x"], of_all((4,), "d")[0])


def trained(ctx, batches):
    w = la.array(np.linspace(-1, 1, 24).reshape(8, 3).astype("f"), ctx=ctx)
    b = la.zeros(3, "float32", ctx=ctx)
    for p in (w, b):
        p.attach_grad()
    trainer = la.nn.Adam([w, b], lr=0.05)
    if batches is None:
        step = D.DataParallel(trainer, first=1, bucket=64)
    rng = np.random.default_rng(5)
    for _ in range(6):
        data = rng.standard_normal((D.size(), 4, 8)).astype("f")
        answers = rng.integers(0, 3, (D.size(), 4))
        if batches is None:
            data, answers, stepper = data[D.rank()], answers[D.rank()], step
        else:
            data, answers, stepper = data.reshape(-1, 8), answers.reshape(-1), trainer
        with la.autograd.record():
            x = la.array(data, ctx=ctx)
            loss = la.nn.cross_entropy(x @ w + b, la.array(answers, ctx=ctx))
        loss.backward()
        stepper.step()
    return w.asnumpy(), b.asnumpy()


@case
def data_parallel():
    got = trained(place(), None)
    want = trained(la.cpu(0), "all")
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-5)


@case
def nothing_goes_through_the_host():
    if not SIMULATED:
        return
    x = la.ones((50, D.size(), 40), ctx=place())
    D.allreduce(x).wait_to_read()
    cupy._sim.log(clear=True)
    y = D.alltoall(D.allreduce(x).swapaxes(0, 1))
    D.allreduce([y, y + 1])
    y.wait_to_read()
    D.barrier()
    calls = [line.split()[0] for line in cupy._sim.log()]
    assert "nccl" in calls
    assert not [c for c in calls if "DtoH" in c or "HtoD" in c], calls


def main():
    faulthandler.dump_traceback_later(100, exit=True)
    D.init(timeout=20, gpu="nccl")
    for name, f in CASES.items():
        try:
            f()
            D.barrier()
        except BaseException:
            traceback.print_exc()
            print(f"case {name} failed", flush=True)
            raise
        print(f"case {name} ok", flush=True)
    if SIMULATED:
        assert not cupy._sim.hazards()


if __name__ == "__main__":
    main()
