"""Arrays on a GPU between workers: where connections take its memory, and where they don't."""

import numpy as np
import pytest

import lazyarray as la

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

from distributed.protocol import deserialize, serialize  # noqa: E402

pytestmark = pytest.mark.skipif(la.gpu_count() == 0, reason="no GPU: la.gpu_count() is 0")

ON_GPU = ("cuda", "dask", "pickle")  # the families that UCX asks, in turn

ARRAYS = {
    "rows": lambda: la.ones((30, 40)) * 2,
    "columns": lambda: (la.arange(1200.0).reshape(30, 40) * 2).T,
    "steps": lambda: la.arange(1000)[::2] + 0,
    "a view with steps": lambda: la.arange(1000)[::-2],
    "scalar": lambda: la.arange(3.0).sum(),
    "0-d": lambda: la.full((), 3.5),
    "broadcast": lambda: la.broadcast_to(la.arange(3), (10, 3)),
    "bools": lambda: la.arange(70) > 5,
    "complex": lambda: la.ones((9, 9), dtype="F") * 1j,
    "empty": lambda: la.zeros((0, 3)),
}


@pytest.mark.parametrize("families", [ON_GPU, ("dask", "pickle")], ids=["cuda", "host"])
@pytest.mark.parametrize("name", ARRAYS)
def test_what_travels(name, families):
    with la.gpu(0):
        x = ARRAYS[name]()
        want = x.asnumpy()
        header, frames = serialize(x, serializers=families)
        assert header["serializer"] == families[0]
        if families is ON_GPU:
            assert all(isinstance(f, cupy.ndarray) and f.dtype == "u1" for f in frames)
            assert sum(f.nbytes for f in frames) == x.nbytes
        y = deserialize(header, frames)
    assert type(y) is type(x) and y.dtype == x.dtype and y.device == x.device
    if families is ON_GPU:
        frames[0][...] = 0  # what was received is nobody's memory but the array's
    np.testing.assert_array_equal(y.asnumpy(), want)


def test_arrays_on_the_host_go_another_way():
    header, _ = serialize(la.ones(3, ctx=la.cpu()), serializers=ON_GPU)
    assert header["serializer"] == "dask"


def test_an_array_that_failed():
    with la.gpu(0):
        x = la.linalg.inv(la.zeros((5, 5)))
        header, frames = serialize(x, serializers=ON_GPU)
    with pytest.raises(np.linalg.LinAlgError):
        deserialize(header, frames).wait_to_read()
