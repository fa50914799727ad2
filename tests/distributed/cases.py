"""What several ranks do together: run by `test_ranks.py` through the launcher, not by pytest.

Each function is a case; a rank prints how each of them ended. What a rank was given follows from
its number, so every rank knows all ranks' values and computes the serial result.
"""

import atexit
import contextlib
import faulthandler
import functools
import hashlib
import io
import itertools
import json
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np

import lazyarray as la
from lazyarray.functions import archives

D = la.distributed
DTYPES = "?bBhHiIlLqQefdgFDG"
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def given(rank, shape, dtype, seed=0):
    """What a rank has."""
    rng = np.random.default_rng([rank, seed, *shape, ord(np.dtype(dtype).char)])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind == "c" else x).astype(dtype)


def of_all(shape, dtype, seed=0):
    return [given(r, shape, dtype, seed) for r in range(D.size())]


class Late:
    """Rank 1 is late by as long as the others take to be through, whatever the machine does."""

    def __init__(self):
        self.folder = D.world().exchange(tempfile.mkdtemp())[0]
        D.barrier()

    def wait(self):
        """Rank 1's. False: one of the others isn't through, for it waits for this rank."""
        end = time.monotonic() + 15
        while len(os.listdir(self.folder)) < D.size() - 1:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def through(self):
        """What another rank says when it is."""
        open(os.path.join(self.folder, str(D.rank())), "w").close()


UFUNCS = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def serial(op, xs):
    """``x0 + x1 + ...``, as NumPy has it."""
    with np.errstate(all="ignore"):
        total = xs[0].copy()
        for x in xs[1:]:
            total = UFUNCS[op](total, x)
        if op == "mean":
            total = np.true_divide(total, np.dtype(total.dtype).type(len(xs))).astype(total.dtype)
    return np.asarray(total)


def same(got, want, exact=True):
    got = got.asnumpy()
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    if exact or want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
    else:
        eps = float(np.finfo(want.dtype).eps) * 16
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps)


def raises(kind, f, *words):
    try:
        f()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
        return error
    raise AssertionError(f"no {kind.__name__}")


SHAPES = [(), (0,), (1,), (5,), (3, 4), (70, 90)]


@case
def reductions():
    # All by two; each by three or by four.
    some = DTYPES if D.size() == 2 else DTYPES[D.size() % 2 :: 2]
    for dtype in some:
        for op in UFUNCS:
            if op == "mean" and np.dtype(dtype).kind not in "fc":
                raises(TypeError, lambda d=dtype: D.allreduce(la.zeros(2, d), "mean"), "floats")
                continue
            for shape in SHAPES:
                xs = of_all(shape, dtype)
                want = serial(op, xs)
                x = la.array(xs[D.rank()])
                # NumPy itself has other last bits of complex products in other vectors.
                exact = op != "prod" or x.dtype.kind != "c"
                same(D.allreduce(x, op, ordered=True), want, exact)
                same(D.allreduce(x, op), want, exact=op in ("max", "min"))
                same(x, xs[D.rank()])
                assert D.allreduce(x, op, out=x) is x
                same(x, want, exact=op in ("max", "min"))
    x = la.ones(3)
    raises(ValueError, lambda: D.allreduce(x, "median"), "median")
    raises(ValueError, lambda: D.allreduce(x, out=la.ones(4)), "shape")


@case
def reductions_elsewhere():
    last = D.size() - 1
    for dtype in "?ieFd":
        for ordered in (False, True):
            xs = of_all((D.size(), 700), dtype)
            x = la.array(xs[D.rank()])
            want = serial("sum", xs)
            got = D.reduce(x, last, "sum", ordered=ordered)
            if D.rank() == last:
                same(got, want, exact=ordered)
            else:
                assert got is None
            same(D.reduce_scatter(x, ordered=ordered), want[D.rank()], exact=ordered)
            same(x, xs[D.rank()])
            if D.rank() == last:
                D.reduce(x, last, "sum", out=x, ordered=ordered)
                same(x, want, exact=ordered)
            else:
                D.reduce(x, last, "sum", ordered=ordered)
    for dtype, op in itertools.product(DTYPES, UFUNCS):
        if op == "mean" and np.dtype(dtype).kind not in "fc":
            continue
        xs = of_all((D.size(), 5), dtype, seed=7)
        x, want = la.array(xs[D.rank()]), serial(op, xs)
        exact = op in ("max", "min")
        got = D.reduce(x, 0, op)
        assert (got is None) == (D.rank() != 0)
        if got is not None:
            same(got, want, exact)
        same(D.reduce_scatter(x, op), want[D.rank()], exact)
    raises(ValueError, lambda: D.reduce(la.ones(2), D.size()), "root")
    raises(ValueError, lambda: D.reduce_scatter(la.ones((D.size() + 1, 2))), "row")


@case
def nans_are_kept():
    for r in range(D.size()):
        x = np.arange(4.0)
        if D.rank() == r:
            x[2] = np.nan
        for op in ("max", "min"):
            got = D.allreduce(la.array(x), op).asnumpy()
            assert np.isnan(got[2]), got
            assert not np.isnan(got[[0, 1, 3]]).any(), got


@case
def moves():
    size, rank = D.size(), D.rank()
    for dtype in DTYPES:
        for shape in [(), (0,), (3,), (2, 5)]:
            xs = of_all(shape, dtype)
            x = la.array(xs[rank])
            for root in {0, size - 1}:
                same(D.broadcast(x, root), xs[root])
                got = D.gather(x, root)
                if rank == root:
                    same(got, np.stack(xs))
                else:
                    assert got is None
                table = of_all((size, *shape), dtype)[root]
                part = D.scatter(la.array(table) if rank == root else x, root)
                same(part, np.asarray(table[rank]))
            same(D.allgather(x), np.stack(xs))
            tables = of_all((size, *shape), dtype)
            same(D.alltoall(la.array(tables[rank])), np.stack([t[rank] for t in tables]))
            same(x, xs[rank])


@case
def views():
    size, rank = D.size(), D.rank()
    xs = of_all((6, 8), "f8")
    total = serial("sum", xs)
    makes = [
        lambda x: x.T,
        lambda x: x[::2, 1::3],
        lambda x: x[::-1],
        lambda x: x[1:3],
        lambda x: x[:, 2],
        lambda x: x[..., None],
    ]
    for make in makes:
        x = la.array(xs[rank])
        part = make(x)
        same(D.allreduce(part, ordered=True), make(total))
        same(D.broadcast(part, size - 1), make(xs[size - 1]))
        same(D.allgather(part), np.stack([make(v) for v in xs]))
        D.allreduce(part, out=part, ordered=True)
        want = xs[rank].copy()
        make(want)[...] = make(total)
        same(x, want)  # and nothing else of it
        D.broadcast(part, 0, out=part)
        same(x, want)
    # results over what they are made of
    x = la.array(xs[rank])
    D.allreduce(x[:3], out=x[3:], ordered=True)
    want = xs[rank].copy()
    want[3:] = total[:3]
    same(x, want)
    x = la.array(xs[rank])
    D.allreduce(x[:4], out=x[1:5], ordered=True)
    want = xs[rank].copy()
    want[1:5] = total[:4]
    same(x, want)
    x = la.array(xs[rank])
    D.allreduce(x, out=x[::-1], ordered=True)
    same(x, total[::-1])
    x = la.arange(size * 2).reshape(size, 2) + 10 * rank
    D.alltoall(x, out=x)
    same(x, np.stack([np.arange(size * 2).reshape(size, 2)[rank] + 10 * r for r in range(size)]))


# Of an array of shape (size, 6, 8): each keeps the first axis.
VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2, 1),
    "strided": lambda x: x[:, ::2, 1::3],
    "backwards": lambda x: x[::-1, ::-1, ::-1],
    "column": lambda x: x[:, :, 2],
    "0-d": lambda x: x[:, 1, 2],
    "empty": lambda x: x[:, 3:3],
    "broadcast": lambda x: (la if isinstance(x, la.NDArray) else np).broadcast_to(
        x[:, :1, 3:4], (x.shape[0], 4, 5)
    ),
}


def of_one(x):
    """What a rank gives where no axis is that of the ranks."""
    return x[-1] if x.ndim > 1 else x[-1:].reshape(())


# What each gives of all ranks' views; ``rows`` where the first axis is that of the ranks.
CALLS = {
    "allreduce": (False, lambda x: D.allreduce(x, ordered=True), lambda xs, r: serial("sum", xs)),
    "reduce": (
        False,
        lambda x: D.reduce(x, D.size() - 1, ordered=True),
        lambda xs, r: serial("sum", xs) if r == len(xs) - 1 else None,
    ),
    "broadcast": (False, lambda x: D.broadcast(x, D.size() - 1), lambda xs, r: xs[-1]),
    "allgather": (False, lambda x: D.allgather(x), lambda xs, r: np.stack(xs)),
    "gather": (False, lambda x: D.gather(x), lambda xs, r: np.stack(xs) if r == 0 else None),
    "scatter": (True, lambda x: D.scatter(x if D.rank() == 0 else x[0]), lambda xs, r: xs[0][r]),
    "reduce_scatter": (
        True,
        lambda x: D.reduce_scatter(x, ordered=True),
        lambda xs, r: serial("sum", [x[r] for x in xs]),
    ),
    "alltoall": (True, lambda x: D.alltoall(x), lambda xs, r: np.stack([x[r] for x in xs])),
    "send": (
        False,
        lambda x: D.send(x, (D.rank() + 1) % D.size()) or D.recv(x, (D.rank() - 1) % D.size()),
        lambda xs, r: xs[r - 1],
    ),
}


@case
def every_call_with_every_dtype_and_view(dtypes=DTYPES):
    """Each call meets each dtype, and, of one dtype, each view; of the others they take turns."""
    rank, views = D.rank(), list(VIEWS)
    for d, dtype in enumerate(dtypes):
        xs = of_all((D.size(), 6, 8), dtype, seed=4)
        for c, (name, (rows, call, wanted)) in enumerate(CALLS.items()):
            for kind in views if dtype == "d" else [views[(d + c) % len(views)]]:
                make = VIEWS[kind] if rows else lambda x, f=VIEWS[kind]: of_one(f(x))
                x = la.array(xs[rank])
                want = wanted([make(v) for v in xs], rank)
                got = call(make(x))
                try:
                    if want is None:
                        assert got is None
                    else:
                        same(got, np.asarray(want))
                    same(x, xs[rank])
                except AssertionError as error:
                    raise AssertionError(f"{name} of {dtype}, {kind}") from error


@case
def in_pieces():
    """What is too much for one call of MPI's."""
    from lazyarray.distributed import mpi

    old, mpi.PIECE = mpi.PIECE, 100
    try:
        every_call_with_every_dtype_and_view("?dF")
        x = la.array(given(D.rank(), (D.size(), 701), "d"))
        xs = of_all((D.size(), 701), "d")
        same(D.reduce_scatter(x, "max"), serial("max", [v[D.rank()] for v in xs]))
        same(D.allreduce(x, "sum"), serial("sum", xs), exact=False)
        messages()
    finally:
        D.barrier()
        mpi.PIECE = old
    # ... and more bytes in a message than MPI counts: memory that nobody touches
    buffer = np.empty((1 << 32) + 5, np.uint8)
    with D.world().backend._message(buffer) as (_, count, kind):
        assert count == 1 and kind.Get_size() == kind.Get_extent()[1] == buffer.nbytes


@case
def an_mpi_that_prepares_no_reductions():
    """Before its version 4; and after a collective was given up, which the prepared one is in."""

    class Old:
        def __init__(self, comm):
            self.comm = comm

        def __getattr__(self, name):
            return getattr(self.comm, name)

        def Allreduce_init(self, *_):
            raise NotImplementedError

    group = D.world().split(0)
    backend = group.backend
    backend._agreement.request.Free()
    backend._comm = Old(backend._comm)
    backend._agreement = backend._prepared()
    for k in range(5):
        assert group.allreduce(la.array([k])).item() == k * D.size()
        group.barrier()
    first = D.rank() == 0
    raises(
        D.MismatchError,
        lambda: group.allreduce(la.ones(2 + first)).wait_to_read(),
        "rank 0 called",
    )


@case
def results_go_to_every_view():
    rank, size = D.rank(), D.size()
    for k, kind in enumerate(kind for kind in VIEWS if kind != "broadcast"):
        dtype = "fDe?h"[k % 5]
        xs = of_all((size, 6, 8), dtype, seed=5)
        views = [VIEWS[kind](v) for v in xs]
        total = serial("sum", views)
        row = serial("sum", [v[rank] for v in views])
        for call, want in [
            (lambda x, out: D.allreduce(x, out=out, ordered=True), total),
            (lambda x, out: D.alltoall(x, out=out), np.stack([v[rank] for v in views])),
            (lambda x, out: D.allgather(x[0], out=out), np.stack([v[0] for v in views])),
            (lambda x, out: D.broadcast(x, 0, out=out), views[0]),
            (
                lambda x, out, shape=row.shape: D.reduce_scatter(
                    x, out=out[:1].reshape(shape), ordered=True
                ),
                row,
            ),
        ]:
            base, whole = la.zeros((size, 6, 8), dtype), np.zeros((size, 6, 8), dtype)
            out, to = VIEWS[kind](base), VIEWS[kind](whole)
            call(VIEWS[kind](la.array(xs[rank])), out)
            if want is row and not np.may_share_memory(to[:1].reshape(row.shape), to):
                continue  # a copy, of which nobody hears
            (to[:1].reshape(row.shape) if want is row else to)[...] = want
            same(base, whole)


@case
def big():
    n = 3_000_001
    x = la.arange(n, dtype="f8") * (D.rank() + 1)
    factor = sum(range(1, D.size() + 1))
    for ordered in (False, True):
        got = D.allreduce(x, ordered=ordered)
        assert bool((got == la.arange(n, dtype="f8") * factor).all())
    assert D.broadcast(x, D.size() - 1)[-1].item() == (n - 1) * D.size()


@case
def several_arrays():
    shapes = [(3,), (0,), (2, 2), ()]
    for dtype in "fFe":
        every = [[given(r, s, dtype, 3) for s in shapes] for r in range(D.size())]
        mine = [la.array(x) for x in every[D.rank()]]
        got = D.allreduce(mine, "mean", ordered=True)
        for i, g in enumerate(got):
            same(g, serial("mean", [xs[i] for xs in every]))
        out = D.allreduce([mine[2][:, 0], mine[0]], out=[mine[2][:, 0], mine[0]], ordered=True)
        same(out[1], serial("sum", [xs[0] for xs in every]))
        same(mine[2][:, 1], every[D.rank()][2][:, 1])
    assert D.allreduce([]) == []
    raises(TypeError, lambda: D.allreduce([la.ones(1), la.ones(1, "f4")]), "dtypes")


@case
def scalars():
    x = la.arange(4.0).sum() + D.rank()
    got = D.allreduce(x)
    assert isinstance(got, la.Scalar)
    assert float(got) == 6 * D.size() + sum(range(D.size()))


@case
def bits_are_the_same_each_time():
    for n in (7, 5000, 300_000):
        x = la.array(given(D.rank(), (n,), "f4", 9))
        first = D.allreduce(x).asnumpy().tobytes()
        assert D.allreduce(x).asnumpy().tobytes() == first
        assert len(set(D.world().exchange(first))) == 1


@case
def bits_are_the_same_in_each_launch():
    """Prints them; `test_ranks.py` compares two runs."""
    found = hashlib.sha256()
    for n in (3, 1000, 300_000):
        for dtype in "fFe":
            x = la.array(given(D.rank(), (n,), dtype, 6))
            for op in ("sum", "mean"):
                found.update(D.allreduce(x, op).asnumpy().tobytes())
    params = network()
    trainer = D.DataParallel(la.nn.Momentum(params, lr=0.1), first=1000, bucket=3000)
    for k in range(5):
        x = la.array(given(D.rank(), (8, 64), "f", k))
        with la.autograd.record():
            loss = loss_of(params, x, la.arange(8))
        loss.backward()
        trainer.step()
    for p in params:
        found.update(p.asnumpy().tobytes())
    print(f"bits {found.hexdigest()}", flush=True)


@case
def groups():
    world = D.world()
    half = world.split(D.rank() % 2)
    members = [r for r in range(D.size()) if r % 2 == D.rank() % 2]
    assert (half.ranks, half.size) == (tuple(members), len(members))
    got = half.allreduce(la.array([float(D.rank())]))
    assert got.item() == sum(members)
    back = world.split(0, key=-D.rank())
    assert back.rank == D.size() - 1 - D.rank()
    assert back.broadcast(la.array([D.rank()]), 0).item() == D.size() - 1
    alone = world.split(0 if D.rank() == 0 else None)
    assert (alone is None) == (D.rank() != 0)
    if alone:
        assert alone.allreduce(la.ones(1)).item() == 1
    raises(TypeError, lambda: pickle.dumps(world))
    for _ in range(3):
        x = half.allreduce(la.ones(100_000))
        half.free()
        same(x, np.full(100_000, float(half.size)))
        raises(RuntimeError, functools.partial(half.allreduce, x), "was freed")
        half = world.split(D.rank() % 2)
    raises(ValueError, world.free, "shutdown")


@case
def messages():
    size, rank = D.size(), D.rank()
    after, before = (rank + 1) % size, (rank - 1) % size
    for n in (0, 3, 400_000):  # all send first, large ones, too
        D.send(la.full(n, float(rank)), after)
        same(D.recv(la.empty(n), before), np.full(n, float(before)))
    x = la.arange(12.0).reshape(3, 4) * rank
    D.send(x.T[1:], after, tag=5)
    D.send(x.astype("i4"), after, tag=6)
    x[...] = -1
    to = la.zeros((4, 3))
    D.recv(to[1:], before, tag=5, out=to[1:])
    want = np.zeros((4, 3))
    want[1:] = (np.arange(12.0).reshape(3, 4) * before).T[1:]
    same(to, want)
    got = D.recv(la.empty((3, 4), "i4"), before, tag=6)
    same(got, (np.arange(12.0).reshape(3, 4) * before).astype("i4"))
    D.send(la.ones(3), after)
    raises(
        D.MismatchError,
        lambda: D.recv(la.empty(3, "f4"), before).wait_to_read(),
        f"rank {before}",
    )
    raises(ValueError, lambda: D.send(x, size), "dest")


@case
def ranks_that_differ():
    first = D.rank() == 0
    kinds = [
        (lambda: D.allreduce(la.ones(3)), lambda: D.allgather(la.ones(3)), "allgather"),
        (lambda: D.allreduce(la.ones(3)), lambda: D.allreduce(la.ones(4)), "(4,)"),
        (lambda: D.allreduce(la.ones(3)), lambda: D.allreduce(la.ones(3, "f4")), "float32"),
        (lambda: D.allreduce(la.ones(3)), lambda: D.allreduce(la.ones(3), "max"), "max"),
        (lambda: D.broadcast(la.ones(3), 0), lambda: D.broadcast(la.ones(3), 1), "from 1"),
        (
            lambda: D.allreduce(la.ones(3), name="one"),
            lambda: D.allreduce(la.ones(3), name="two"),
            "'two'",
        ),
    ]
    for one, other, word in kinds:
        f = one if first else other
        said = "rank 0 called", "rank 1 called", word, "cases.py"
        # (under the naive engine the call itself raises)
        raises(D.MismatchError, lambda f=f: f().wait_to_read(), *said)
    # keys of one shape in another order
    kv = la.kvstore.create("dist_sync")
    kv.init(["a", "b"], [la.zeros(2), la.zeros(2)])

    def pulled():
        for key in "ab" if first else "ba":
            kv.push(key, la.ones(2))
        outs = [la.empty(2), la.empty(2)]
        kv.pull(["a", "b"], outs)
        for out in outs:
            out.wait_to_read()

    raises(D.MismatchError, pulled, "'key a'", "'key b'")
    with contextlib.suppress(D.MismatchError):
        la.waitall()
    # another order: both are reported, and all goes on
    a, b = la.ones(2), la.ones(5)
    for x in (a, b) if first else (b, a):
        with contextlib.suppress(D.MismatchError):
            D.allreduce(x, out=x)
    raises(D.MismatchError, a.wait_to_read, "rank 0")
    raises(D.MismatchError, b.wait_to_read, "rank 0")
    assert D.allreduce(la.ones(1)).item() == D.size()


def broken(x):
    """Poisons an array."""

    def fail(run_ctx):
        raise ValueError("no such value")

    with contextlib.suppress(ValueError):
        la.engine.get().push_sync(fail, la.cpu(0), (), [x.var])
    return x


@case
def a_rank_without_values():
    x, got = la.zeros((2, 2)), la.empty((2, 2))
    if D.rank() == 1:
        broken(x)
    for _ in range(2):

        def call():
            D.allreduce(x, out=got)
            got.wait_to_read()

        if D.rank() == 1:
            error = raises(ValueError, call, "no such value")
            assert any("'allreduce' pushed at" in note for note in error.__notes__)
        else:
            error = raises(D.RankError, call, "rank 1", "no such value")
            assert error.rank == 1
    # what is overwritten in full is well again
    D.broadcast(la.ones((2, 2)), 0, out=got)
    same(got, np.ones((2, 2)))
    part = la.ones(4)
    same(D.allreduce(part[:2]), np.full(2, float(D.size())))


@case
def gradients():
    size, rank = D.size(), D.rank()
    x = la.array(given(rank, (size, 3), "f8"))
    w = la.arange(3.0) + rank
    ws = [np.arange(3.0) + r for r in range(size)]
    x.attach_grad()
    for f, want in [
        (lambda x: D.allreduce(x), sum(ws) * np.ones((size, 1))),
        (lambda x: D.allreduce(x, "mean"), sum(ws) / size * np.ones((size, 1))),
        (lambda x: D.allgather(x)[0], sum(ws) * np.ones((size, 1)) * (rank == 0)),
        (lambda x: D.reduce_scatter(x), np.stack(ws)),
        (lambda x: D.alltoall(x), np.stack(ws)),
    ]:
        with la.autograd.record():
            loss = (f(x) * w).sum()
        loss.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=1e-12)
    with la.autograd.record():
        raises(NotImplementedError, lambda: D.allreduce(x, "max"), "gradient")
        raises(NotImplementedError, lambda: D.allreduce(x, out=x), "in place")


@case
def random_programs():
    size, rank = D.size(), D.rank()
    for seed in range(12):
        rng = np.random.default_rng(seed)  # the same choices on all ranks
        every = [[given(r, (size, 40), "f8", seed * 10 + k) for k in range(4)] for r in range(size)]
        mine = [la.array(x) for x in every[rank]]
        for _ in range(25):
            i, j, k = rng.integers(0, 4, 3)
            what = rng.integers(0, 8)
            root = int(rng.integers(0, size))
            if what == 0:
                mine[i] = mine[j] * 0.5 + mine[k]
                for xs in every:
                    xs[i] = xs[j] * 0.5 + xs[k]
            elif what == 1:
                mine[i] += mine[j]
                for xs in every:
                    xs[i] += xs[j]
            elif what == 2:
                mine[i] = la.tanh(mine[i])
                for xs in every:
                    xs[i] = np.tanh(xs[i])
            elif what == 3:
                D.allreduce(mine[i], "mean", out=mine[i], ordered=True)
                total = serial("mean", [xs[i] for xs in every])
                for xs in every:
                    xs[i][...] = total
            elif what == 4:
                D.broadcast(mine[i][:, ::2], root, out=mine[i][:, ::2])
                for r, xs in enumerate(every):
                    if r != root:
                        xs[i][:, ::2] = every[root][i][:, ::2]
            elif what == 5:
                mine[i] = D.alltoall(mine[j])
                tables = [xs[j].copy() for xs in every]
                for r, xs in enumerate(every):
                    xs[i] = np.stack([t[r] for t in tables])
            elif what == 6:
                row = D.reduce_scatter(mine[j], "max")
                mine[i][0] = row
                total = serial("max", [xs[j] for xs in every])
                for r, xs in enumerate(every):
                    xs[i][0] = total[r]
            else:
                D.send(mine[i][1], (rank + 1) % size)
                D.recv(mine[j][0], (rank - 1) % size, out=mine[j][0])
                rows = [xs[i][1].copy() for xs in every]
                for r, xs in enumerate(every):
                    xs[j][0] = rows[(r - 1) % size]
        for x, want in zip(mine, every[rank], strict=True):
            np.testing.assert_array_equal(x.asnumpy(), want, err_msg=f"seed {seed}")


@case
def nothing_waits():
    """A collective that another rank is late for returns at once, and so does what follows."""
    late, naive = Late(), os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine"
    waited = D.rank() == 1 and not naive and not late.wait()
    x = D.allreduce(la.ones(1000))
    y = la.ones(1000) * 2
    y.wait_to_read()  # what has nothing to do with it is not held up
    if D.rank() != 1:
        late.through()
    assert x[0].item() == D.size()
    assert not waited


@case
def a_trace_of_collectives():
    """They have a track of their own, on which they lie beside what is computed meanwhile."""
    file = os.path.join(tempfile.mkdtemp(), "trace.json")
    x, small = la.ones(200_000), la.ones(2)
    with la.profiler.profile(file):
        for _ in range(3):
            got = D.allreduce(x, "max")
            D.allreduce(small, out=small)
            small.wait_to_read()
        got.wait_to_read()
        D.barrier()
    with open(file) as lines:
        events = json.load(lines)["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    begun = {e["id"]: e for e in events if e["ph"] == "b"}
    ended = {e["id"]: e for e in events if e["ph"] == "e"}
    found = sorted((e["ts"], e["name"], tracks[e["tid"]], i) for i, e in begun.items())
    assert [(name, track) for _, name, track, _ in found] == [
        (name, "lazyarray communication")
        for name in 3 * ["allreduce max float64 (200000,)", "allreduce sum float64 (2,)"]
    ] + [("barrier", "lazyarray communication")], found
    for (_, _, _, i), (begin, _, _, _) in itertools.pairwise(found):  # one after the other
        assert ended[i]["ts"] <= begin


@case
def the_share_of_the_cores():
    """Of the threads that compute, too: workers, and who waits."""
    assert la.engine.get().cores <= int(os.environ["LAZYARRAY_CPU_WORKER_NTHREADS"])


@case
def who_waits_brings_it_on():
    """Small collectives that the main thread waits for need no other thread."""
    line = D.world()._process.thread.line
    x, large = la.ones(5), la.ones(100_000)
    large.wait_to_read()
    before, total = line.brought, 0
    for _ in range(20):  # how often it succeeds depends on who else uses the cores
        for k in range(100):
            D.allreduce(x, "mean", out=x)
            y = D.allreduce(x * (k + 1.0), "max") + D.allreduce(la.array([True]), "min")
            D.allreduce(large, "max", out=large)
            D.barrier()
            same(y, np.full(5, k + 2.0))
        same(large, np.ones(100_000))
        total = sum(D.world().exchange(line.brought - before))
        if total > 0:
            break
    assert total > 0


@case
def collectives_in_a_row():
    """The thread that ends one begins the next: no worker in between."""
    line = D.world()._process.thread.line
    late, naive = Late(), os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine"
    if D.rank() == 1 and not naive:
        assert late.wait()  # meanwhile the others issue all
    before = line.in_turn
    xs = [la.full(50_000, float(k)) for k in range(30)]
    la.waitall()
    for x in xs:
        D.allreduce(x, "max", out=x)
    if D.rank() != 1:
        late.through()
    for k, x in enumerate(xs):
        assert x[-1].item() == k
    if not naive:
        assert sum(D.world().exchange(line.in_turn - before)) >= 25


@case
def signals_while_a_rank_waits():
    """What a signal's handler raises in a wait breaks nothing: the next wait has the value."""
    waits, came = False, 0

    def handler(*_):
        nonlocal waits
        if waits:
            waits = False
            raise InterruptedError

    def value(x):
        nonlocal waits, came
        while True:
            try:
                waits = True
                x.wait_to_read()
                waits = False
                return x.item()
            except InterruptedError:
                came += 1

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0003 + 0.0001 * D.rank())
    for k in range(400):
        x = la.array([float(k)])
        if k % 50 == D.rank():
            time.sleep(0.002)
        D.allreduce(x, out=x)
        got = value(x)
        assert got == k * D.size(), (k, got)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)
    if os.environ.get("LAZYARRAY_ENGINE_TYPE") != "NaiveEngine":  # which has waited before
        assert sum(D.world().exchange(came)) > 0


def network(seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(64, 32), (32,), (32, 10), (10,)]
    params = [la.array((rng.standard_normal(s) * 0.1).astype("f4")) for s in shapes]
    for p in params:
        p.attach_grad()
    return params


def loss_of(params, x, y):
    w, b, v, c = params
    return la.nn.cross_entropy(la.maximum(x @ w + b, 0) @ v + c, y)


@case
def training_as_one_process():
    size, rank = D.size(), D.rank()
    rng = np.random.default_rng(1)
    images = rng.standard_normal((24 * size, 64)).astype("f4")
    labels = rng.integers(0, 10, 24 * size)
    alone, together = network(), network(rank)  # another start, which DataParallel replaces
    one = la.nn.Momentum(alone, lr=0.1)
    many = D.DataParallel(la.nn.Momentum(together, lr=0.1), first=1000, bucket=3000)
    for p, q in zip(alone, together, strict=True):
        same(q, p.asnumpy())
    sampler = D.DistributedSampler(len(images), 8, seed=3)
    whole = D.DistributedSampler(len(images), 8 * size, seed=3, rank=0, size=1)
    before = {}
    for _ in range(2):
        for mine, all_of in zip(sampler, whole, strict=True):
            for params, trainer, at in ((alone, one, all_of), (together, many, mine)):
                with la.autograd.record():
                    loss = loss_of(params, la.array(images[at]), la.array(labels[at]))
                loss.backward()
                if trainer is many:
                    many.average()
                    for p, q in zip(alone, together, strict=True):
                        np.testing.assert_allclose(
                            q.grad.asnumpy(), before[id(p)], rtol=2e-4, atol=2e-6
                        )
                    many.trainer.step()
                else:
                    before = {id(p): p.grad.asnumpy() for p in alone}
                    one.step()
    assert len(many._buckets) > 1
    assert sorted(i for bucket in many._buckets for i in bucket) == [0, 1, 2, 3]
    got = [p.asnumpy().tobytes() for p in together]
    assert all(other == got for other in D.world().exchange(got))


@case
def steps_do_not_wait():
    """A rank's step returns although another one is late, and later all have rank 0's order."""
    rank = D.rank()
    ws = [la.ones(40) for _ in range(3)]
    for w in ws:
        w.attach_grad()
    trainer = D.DataParallel(la.nn.SGD(ws, lr=0.01), first=8, bucket=8)
    late, naive = Late(), os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine"
    waited = False
    for step in range(4):
        if rank == 1 and step == 1 and not naive:
            waited = not late.wait()
        with la.autograd.record():
            x = ws[2] * 2
            if rank == 0 or step:  # a parameter that the others don't use at first
                x = x * ws[0]
            y = (x * ws[1]).sum()
        y.backward()
        trainer.step()
        if step == 1 and rank != 1:
            late.through()
    assert not waited
    assert trainer._order == [1, 0, 2], trainer._order  # from the loss backwards
    assert trainer._buckets == [[1], [0], [2]]
    bits = [w.asnumpy().tobytes() for w in ws]
    assert all(other == bits for other in D.world().exchange(bits))


@case
def accumulated_and_unused():
    rank, size = D.rank(), D.size()
    w, v, u = la.ones(3), la.ones(3), la.ones(2)
    w.attach_grad("add")
    v.attach_grad()
    u.attach_grad()
    trainer = D.DataParallel(la.nn.SGD([w, v, u], lr=1.0))
    for _ in range(2):
        trainer.zero_grad()
        for _ in range(2):  # two backward passes, one collective
            with la.autograd.record():
                y = (w * (rank + 1.0)).sum()
                if rank == 0:
                    y = y + (v * 6.0).sum()
            y.backward()
        count = trainer.comm._process.ledger._counts["world"].__reduce__()[1][0]
        trainer.average()
        after = trainer.comm._process.ledger._counts["world"].__reduce__()[1][0]
        assert after - count <= 4
        mean = 2 * sum(range(1, size + 1)) / size
        np.testing.assert_allclose(w.grad.asnumpy(), mean)
        np.testing.assert_allclose(v.grad.asnumpy(), 6 / size)  # not what rank 0 left there before
        np.testing.assert_allclose(u.grad.asnumpy(), 0)
        trainer.trainer.step()


@case
def averaged_before_the_step():
    """Averages that a program looks at, and changes, are what the step takes."""
    rank, size = D.rank(), D.size()
    w, v = la.ones(3), la.ones(2)
    for x in (w, v):
        x.attach_grad()
    trainer = D.DataParallel(la.nn.SGD([w, v], lr=0.25))
    mean = sum(range(1, size + 1)) / size
    for k in range(4):
        with la.autograd.record():
            y = (w * (rank + 1.0)).sum() + (v.sum() if k < 3 else 0.0)
        y.backward()
        if k % 2 == 0:
            trainer.average()
            np.testing.assert_allclose(w.grad.asnumpy(), mean)
            w.grad[...] *= 0.5
        trainer.step()
    np.testing.assert_allclose(w.asnumpy(), 1 - 0.25 * mean * (0.5 + 1 + 0.5 + 1))
    np.testing.assert_allclose(v.asnumpy(), 1 - 0.25 * 3)  # unused in the last


@case
def numbers_that_have_no_mean():
    """NaNs are no news, however small the array, and whoever divides."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 100_000):
            x = np.full(n, complex(np.inf, np.nan))
            assert not np.isfinite(D.allreduce(la.array(x), "mean").asnumpy()).any()


@case
def gradients_that_are_replaced_meanwhile():
    """The next backward pass puts another array in the place of one that is still under way."""
    rank, size = D.rank(), D.size()
    for n in (3, 300_000):
        w = la.ones(n)
        w.attach_grad()
        totals = []
        if rank == 1:
            time.sleep(0.2)
        for k in range(3):
            with la.autograd.record():
                y = (w * (rank + 1.0 + k)).sum()
            y.backward()
            D.allreduce(w.grad, out=w.grad)
            totals.append(w.grad * 1)
        for k, total in enumerate(totals):
            same(total, np.full(n, sum(r + 1.0 + k for r in range(size))))


@case
def compiled():
    params = network()
    trainer = D.DataParallel(la.nn.SGD(params, lr=0.1))
    plain = network()
    other = la.nn.SGD(plain, lr=0.1)

    @la.compile
    def backward(x, y):
        with la.autograd.record():
            loss = loss_of(params, x, y)
        loss.backward()
        return loss

    rng = np.random.default_rng(D.rank())
    for _ in range(4):
        x = la.array(rng.standard_normal((8, 64)).astype("f4"))
        y = la.array(rng.integers(0, 10, 8))
        backward(x, y)
        trainer.step()
        xs, ys = D.allgather(x).reshape(-1, 64), D.allgather(y).reshape(-1)
        with la.autograd.record():
            loss = loss_of(plain, xs, ys)
        loss.backward()
        other.step()
    for p, q in zip(params, plain, strict=True):
        np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), rtol=1e-4, atol=1e-6)


@case
def not_captured():
    f = la.compile(lambda x: D.allreduce(x) * 2)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            same(f(la.ones(3)), np.full(3, 2.0 * D.size()))


@case
def a_push_without_values():
    kv = la.kvstore.create("dist_sync")
    kv.init("w", la.zeros(3))
    x, got = la.ones(3), la.empty(3)
    if D.rank() == 0:
        broken(x)
        with contextlib.suppress(ValueError):
            x.wait_to_read()

    # inside of a `try`, where ops raise what their operands hold
    def pushed():
        kv.push("w", x)
        kv.pull("w", out=got)
        got.wait_to_read()

    def begun():
        kv.init("v", x)
        kv.pull("v", out=got)
        got.wait_to_read()

    for call in (pushed, begun):
        if D.rank() == 0:
            raises(ValueError, call, "no such value")
        else:
            raises(D.RankError, call, "rank 0", "no such value")
    kv.pushpull("w", la.ones(3), got)
    same(got, np.full(3, float(D.size())))


@case
def key_value_store():
    kv = la.kvstore.create("dist_sync")
    assert (kv.rank, kv.num_workers) == (D.rank(), D.size())
    kv.init([1, "b"], [la.full(3, D.rank() + 5.0), la.zeros(2)])
    out = la.empty(3)
    kv.pull(1, out=out)
    same(out, np.full(3, 5.0))  # rank 0's
    kv.push(1, [la.ones(3), la.ones(3) * D.rank()], priority=-1)
    kv.pull(1, out=out)
    same(out, np.full(3, float(D.size() + sum(range(D.size())))))
    x = la.ones(2)
    kv.pushpull("b", x)
    same(x, np.full(2, float(D.size())))
    kv.set_optimizer(la.nn.SGD, lr=0.5)
    kv.push("b", la.ones(2))
    kv.pull("b", out=x)
    same(x, np.full(2, -0.5 * D.size()))
    kv.barrier()
    raises(ValueError, lambda: la.kvstore.create("dist_async"), "server")
    # pushes that are issued together: the highest priority first, then as they came
    kv = la.kvstore.create("dist_sync")
    kv.init([0, 1, 2, 3], [la.zeros(n) for n in (10, 11, 12, 13)])
    pushed = [la.full(10 + k, k + 1.0) for k in range(4)]
    for k, priority in enumerate((-3, 0, -1, 0)):
        kv.push(k, pushed[k], priority)
        pushed[k] += 100  # after it
    outs = [la.empty(x.shape) for x in pushed]
    kv.pull([0, 1, 2, 3], outs)
    for k, got in enumerate(outs):
        same(got, np.full(10 + k, (k + 1.0) * D.size()))
    issued = [e.text.split()[-1] for e in list(D.world()._process.ledger._entries)[-4:]]
    assert issued == ["(11,)", "(13,)", "(12,)", "(10,)"], issued
    kv.push(0, la.ones(10))
    kv.push(0, la.ones(10) * 2, 7)  # the same key: one after the other
    kv.push(1, la.ones(11), -1)
    kv.pushpull(2, outs[2], priority=9)  # goes before those, and does not store
    same(outs[2], np.full(12, 3.0 * D.size() ** 2))
    kv.pull([0, 1, 2], outs[:3])
    for got, want in zip(outs, (2.0, 1.0, 3.0), strict=False):
        same(got, np.full(got.shape, want * D.size()))
    issued = [e.text.split()[-1] for e in list(D.world()._process.ledger._entries)[-4:]]
    assert issued == ["(10,)", "(12,)", "(10,)", "(11,)"], issued
    raises(TypeError, lambda: kv.push(0, la.ones(10), 0.5), "priority")
    raises(ValueError, lambda: kv.push("c", x), "init")


@case
def checkpoints():
    folder = D.world().exchange(tempfile.mkdtemp())[0]
    file = os.path.join(folder, "state.npz")
    w = la.ones(4) * (D.rank() + 1)
    saved = D.save(file, {"w": w, "steps": 7})
    w += 100  # after it
    assert (saved is not None) == (D.rank() == 0)
    if saved is not None:
        saved.wait_to_read()
    state = D.load(file)
    same(state["w"], np.ones(4))
    assert int(state["steps"]) == 7

    # files are written in the program's order, and loads wait for them, whoever writes
    write, hurry = archives.save, [0.3, 0]

    def slowly(*args):
        time.sleep(hurry.pop(0))
        write(*args)

    archives.save = slowly
    try:
        for value in (1.0, 2.0):
            D.save(file, {"w": la.full(4, value)}, root=D.size() - 1)
        same(D.load(file)["w"], np.full(4, 2.0))
    finally:
        archives.save = write

    # of another rank, to where there is no folder; the next one is written all the same
    def fails():
        D.save(os.path.join(folder, "none", "x.npz"), {"w": w}, root=D.size() - 1).wait_to_read()

    if D.rank() == D.size() - 1:
        raises(OSError, fails)
    D.save(file, {"w": la.full(4, 3.0)}, root=D.size() - 1)
    same(D.load(file)["w"], np.full(4, 3.0))
    if D.rank() == 0:
        raises(ValueError, lambda: D.save(file, {"w": broken(la.ones(4))}).wait_to_read())
    D.save(file, {"w": la.full(4, 4.0)})
    same(D.load(file)["w"], np.full(4, 4.0))
    kind = FileNotFoundError if D.rank() == 0 else D.RankError
    raises(kind, lambda: D.load(os.path.join(folder, "absent.npz")))
    D.load(io.BytesIO() if D.rank() else file)


@case
def lent_memory():
    """Who shares an array's memory finds the result there when the call returns."""
    x = np.full(5, float(D.rank() + 1))
    y = la.from_dlpack(x)
    D.allreduce(y, out=y)
    np.testing.assert_array_equal(x, float(sum(range(1, D.size() + 1))))


@case
def a_forked_child():
    child = os.fork()
    if child == 0:
        try:
            raises(RuntimeError, lambda: D.allreduce(la.ones(1)), "forked")
            assert not D.is_initialized()
            assert (la.ones(3) + 1).asnumpy().sum() == 6
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert D.allreduce(la.ones(1)).item() == D.size()


def main():
    faulthandler.dump_traceback_later(240, exit=True)
    D.init(timeout=80)
    names = sys.argv[1:] or list(CASES)
    for name in names:
        begin = time.perf_counter()
        try:
            CASES[name]()
            D.barrier()
        except BaseException:
            traceback.print_exc()
            print(f"case {name} failed", flush=True)
            raise
        print(f"case {name} ok {time.perf_counter() - begin:.2f}", flush=True)
    # The end of the program finishes what is pending.
    x = la.full(1000, float(D.rank()))
    for _ in range(20):
        x = D.allreduce(x + 1, "max")

    def told():
        if x[0].item() == D_SIZE + 19:
            print("case exit_with_pending_collectives ok", flush=True)

    global D_SIZE
    D_SIZE = D.size()
    atexit.register(told)


if __name__ == "__main__":
    main()
