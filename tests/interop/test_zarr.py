"""zarr and h5py: arrays on disk, written from lazyarrays and read back."""

import numpy as np
import pytest

import lazyarray as la

from .calls import same

zarr = pytest.importorskip("zarr", reason="zarr is not installed")

pytestmark = pytest.mark.host

CALLS = {
    "zarr.array": "zarr.array(x)[:]",
    "zarr.array in chunks": "zarr.array(x, chunks=(2, 2))[:]",
    "assign": "assigned(x.shape, slice(None), x)",
    "assign part": "assigned(x.shape, (slice(1, 3), slice(None)), x[1:3])",
    "assign a scalar": "assigned(x.shape, (0, 0), x[1, 1])",
    "assign under a mask": "masked(x)",
    "select": "xp.asarray(zarr.array(x))",
    "row": "zarr.array(x)[xp.argmax(x[:, 0])]",
    "orthogonal": "zarr.array(x).oindex[i, :]",
    "arithmetic": "xp.asarray(zarr.array(x)[:]) + x",
    "attributes": "zarr.array(x).shape",
    "save": "zarr.load(saved(x))",
}


def assigned(shape, key, value):
    z = zarr.zeros(shape, chunks=(2, 2), dtype="f8")
    z[key] = value
    return z[:]


def masked(x):
    z = zarr.array(np.asarray(x))
    z.set_mask_selection(np.asarray(x) > 3, 0)
    return z[:]


@pytest.mark.parametrize("name", CALLS)
def test_calls(name, tmp_path):
    def value(xp):
        def saved(x):
            path = str(tmp_path / xp.__name__)
            zarr.save(path, x)
            return path

        names = {"xp": xp, "x": xp.arange(12.0).reshape(4, 3), "i": xp.array([0, 2])}
        return eval(CALLS[name], globals() | names | {"saved": saved})

    same(value(la), value(np))


def test_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    x = la.arange(12.0).reshape(4, 3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = x
        file.create_dataset("y", data=x * 2, chunks=True)
        file["x"].attrs["mean"] = x.mean()
        file["y"][1] = x[0]
        same(la.array(file["x"]), np.arange(12.0).reshape(4, 3))
        assert file["y"][1].tolist() == [0, 1, 2] and file["x"].attrs["mean"] == 5.5
        out = la.zeros((4, 3))
        file["x"].read_direct(np.asarray(out, copy=False))
        assert out[3, 2] == 11
