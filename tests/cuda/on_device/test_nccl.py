"""Collectives by NCCL in a process that is alone: each of its calls gives what it was given."""

import numpy as np
import pytest

import lazyarray as la

D = la.distributed
DTYPES = "?bBhHiIlLqQefdFD"


@pytest.fixture
def comm(gpu):
    D.shutdown()
    try:
        D.init("single", gpu="nccl")
    except ImportError as error:
        pytest.skip(str(error))
    yield D.world()
    D.shutdown()


def values(shape, dtype):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(comm, dtype):
    for shape in ((), (3, 4), (0,), (1, 5000)):  # the last one is added up in parts
        want = values(shape, dtype)
        x = la.array(want)
        for op in ("sum", "prod", "max", "min", *["mean"] * (x.dtype.kind in "fc")):
            for ordered in (False, True):
                np.testing.assert_array_equal(comm.allreduce(x, op, ordered=ordered), want)
                np.testing.assert_array_equal(comm.reduce(x, 0, op, ordered=ordered), want)
                row = comm.reduce_scatter(x.reshape(1, *shape), op, ordered=ordered)
                np.testing.assert_array_equal(row, want)
        assert comm.allreduce(x, out=x) is x
        np.testing.assert_array_equal(x, want)
        for got in comm.allreduce([x, x]):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_moves(comm, dtype):
    for shape in ((1,), (1, 3, 4), (1, 0)):
        want = values(shape, dtype)
        x = la.array(want)
        np.testing.assert_array_equal(comm.broadcast(x), want)
        np.testing.assert_array_equal(comm.broadcast(x.T, out=la.empty(shape, dtype).T), want.T)
        np.testing.assert_array_equal(comm.allgather(x[0]), want)
        np.testing.assert_array_equal(comm.gather(x[0]), want)
        np.testing.assert_array_equal(comm.scatter(x), want[0])
        np.testing.assert_array_equal(comm.alltoall(x), want)


def test_order_without_waiting(comm):
    x = la.ones(100_000)
    for _ in range(20):
        x = comm.allreduce(x + 1, "mean")
        comm.allreduce(x, out=x)
    comm.barrier()
    np.testing.assert_array_equal(x, 21.0)


def test_one_gpu_a_communicator(comm):
    comm.allreduce(la.ones(2)).wait_to_read()
    if la.gpu_count() < 2:
        return
    with pytest.raises(ValueError, match="one GPU"):
        comm.allreduce(la.ones(2, ctx=la.gpu(1)))
    np.testing.assert_array_equal(comm.split(0).allreduce(la.ones(2, ctx=la.gpu(1))), 1.0)
