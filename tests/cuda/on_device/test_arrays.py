"""What arrays on a GPU are made of, where they go and where their results are."""

import numpy as np
import pytest

import lazyarray as la


def test_host_memory_is_shared_on_a_cpu(gpu):
    """A GPU can't work in it, so the current device doesn't count."""
    host = np.arange(3.0)
    x = la.from_dlpack(host)
    x += 1
    assert (x.ctx, host.tolist()) == (la.cpu(0), [1, 2, 3])
    assert la.ndarray(3, buffer=host).ctx == la.cpu(0)
    host.flags.writeable = False
    assert la.from_dlpack(host).ctx == la.from_dlpack(host, copy=True).ctx == la.cpu(0)
    y = la.from_dlpack(np.arange(2.0), device=gpu)
    y += 1
    assert (y.ctx, y.tolist()) == (gpu, [1, 2])
    with pytest.raises(ValueError, match=r"cpu\(0\).*gpu\(0\)"):
        la.from_dlpack(np.arange(2.0), device=gpu, copy=False)


def test_dlpack_to_the_host_is_a_copy(gpu):
    x = la.arange(6).reshape(2, 3).T
    host = np.from_dlpack(x, device="cpu")
    x += 1
    assert host.tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(BufferError, match="without a copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match=r"\(2, 7\)"):
        x.__dlpack__(dl_device=(2, 7))


def test_a_trace_holds_what_the_host_gives_as_constants_there(gpu):
    x = la.arange(12.0).reshape(4, 3)
    graph = la.trace(lambda y: y[[2, 0]] * la.array([[1], [2]], dtype="i1"), x)
    assert "y[const0]" in str(graph) and "to_device" not in str(graph)
    y = graph(x)
    assert (y.ctx, y.tolist()) == (gpu, [[6, 7, 8], [0, 2, 4]])
    assert la.Graph.fromjson(graph.tojson())(x).tolist() == y.tolist()
    with la.cpu():
        e = graph.simple_bind(gpu)
        assert graph.bind(la.cpu(), [la.ones((4, 3))]).forward()[0].tolist() == [[1] * 3, [2] * 3]
    assert e.forward()[0].ctx == gpu


def test_a_trace_over_devices(gpu):
    def there_and_back(x):
        y = x.T.copyto(la.cpu(0)) * 2
        return y.copyto(x.ctx) + x.T

    x = la.arange(6.0).reshape(2, 3)
    y = la.trace(there_and_back, x)(x)
    assert (y.ctx, y.tolist()) == (gpu, (x.asnumpy().T * 3).tolist())


VIEWS = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[::-1, 1:, ::2],
    lambda a: a[1, 2, 3, ...],
    lambda a: a[:0],
    lambda a: a.swapaxes(0, 1),
    lambda a: a[:, None, 1:2],
]


@pytest.mark.parametrize("order", ["C", "F"])
def test_transfers_of_every_layout(gpu, order):
    host = np.asarray(np.random.default_rng(0).random((3, 4, 5)), order=order)
    for view in VIEWS:
        there = view(la.array(host)).copyto(la.cpu(0))
        assert there.strides == view(la.array(host)).copy("K").strides
        np.testing.assert_array_equal(there.asnumpy(), view(host))
        np.testing.assert_array_equal(view(la.array(host, ctx=la.cpu())).copyto(gpu), view(host))
        to = la.zeros((3, 4, 5), "f4")
        view(la.array(host, ctx=la.cpu())).copyto(view(to))
        np.testing.assert_array_equal(view(to).asnumpy(), view(host).astype("f4"))


def test_sorts_are_stable_and_a_partition_is_sorted(gpu):
    keys = np.random.default_rng(0).integers(0, 5, 300)
    x = la.array(keys)
    np.testing.assert_array_equal(la.argsort(x), np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(la.argpartition(x, 7), np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(la.partition(x, 7), np.sort(keys))


def test_nothing_is_wrong_with_no_elements(gpu):
    x = la.zeros((3, 3))
    index = la.array([5]), la.zeros(0, dtype=int)
    assert x[index].shape == (0,)
    x[index] = 1
    assert not x.any()
    assert (la.zeros(0, dtype=int) ** -1).tolist() == []
    with pytest.raises(IndexError, match="index 5"):
        x[la.array([5]), la.array([0])].asnumpy()
    with pytest.raises(ValueError, match="negative integer powers"):
        (la.ones(1, dtype=int) ** -1).asnumpy()
