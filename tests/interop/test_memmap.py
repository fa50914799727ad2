"""Arrays on the memory of files: read and written through."""

import gc
import warnings

import numpy as np
import pytest

import lazyarray as la


@pytest.fixture
def path(tmp_path):
    np.arange(12, dtype="f4").tofile(tmp_path / "x")
    return tmp_path / "x"


def on_disk(path, dtype="f4"):
    return np.fromfile(path, dtype).tolist()


def test_it_reads_and_writes_through(path):
    x = la.memmap(path, "f4", "r+", shape=(3, 4))
    assert isinstance(x, la.memmap) and isinstance(x, la.ndarray)
    assert (x.shape, x.dtype, x.mode, x.offset, x.filename) == ((3, 4), "f4", "r+", 0, path)
    x[1] = 0
    x[:, 0] += 10
    la.multiply(x[2], 2, out=x[2])
    x[la.array([0]), la.array([3])] = -1
    x.flush()
    want = np.arange(12, dtype="f4").reshape(3, 4)
    want[1] = 0
    want[:, 0] += 10
    want[2] *= 2
    want[0, 3] = -1
    assert on_disk(path) == want.ravel().tolist() and x.tolist() == want.tolist()
    other = la.memmap(path, "f4", "r", shape=(3, 4))
    x[0, 0] = 99  # another view of the file sees it, in the order of the program
    assert other[0, 0] == 99
    del x
    gc.collect()
    assert on_disk(path)[0] == 99


def test_modes(path):
    x = la.memmap(path, "f4", "r")
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    x = la.memmap(path, "f4", "c")
    x[0] = 5
    assert x[0] == 5 and on_disk(path)[0] == 0
    new = la.memmap(path.with_name("new"), "i8", "w+", shape=(2, 2), order="F")
    new[0, 1] = 7
    new.flush()
    assert new.flags.f_contiguous and on_disk(path.with_name("new"), "i8") == [0, 0, 7, 0]
    part = la.memmap(path, "f4", "r", offset=4, shape=3)
    assert part.tolist() == [1, 2, 3] and part.offset == 4
    with pytest.raises(FileNotFoundError):
        la.memmap(path.with_name("none"), "f4", "r")
    with pytest.raises(ValueError, match="mode must be"):
        la.memmap(path, "f4", "x")


def test_what_is_made_of_it_is_an_array_like_any_other(path):
    x = la.memmap(path, "f4", "r", shape=(3, 4))
    y = x * 2
    assert type(y) is la.NDArray and type(la.array(x)) is la.NDArray
    before = la.array(x[0])
    np.zeros(12, "f4").tofile(path)
    assert y[2, 3] == 22 and before.tolist() == [0, 1, 2, 3]
    assert (x.T @ la.ones(3, "f4")).shape == (4,)


def test_what_it_cannot_hold_is_numpys(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.HostArrayWarning)
        swapped = la.memmap(path, ">i4", "r")
        records = la.memmap(path, [("a", "f4"), ("b", "i4")], "r")
    assert type(swapped) is np.memmap is type(records) and records["a"].shape == (6,)
    assert (la.ones(12) + swapped).shape == (12,)
    assert la.sum(swapped) == np.memmap(path, ">i4", "r").sum()


def test_loading_maps_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    x = la.load(tmp_path / "a.npy", mmap_mode="r+")
    assert isinstance(x, la.memmap)
    x[0] = 8
    x.flush()
    assert np.load(tmp_path / "a.npy").tolist() == [[8, 8, 8], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        la.load(tmp_path / "a.npy", mmap_mode="r")[0] = 1
    np.savez(tmp_path / "b.npz", a=np.ones(2))
    assert la.load(tmp_path / "b.npz", mmap_mode="r")["a"].tolist() == [1, 1]  # as NumPy


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
def test_what_is_written_into_a_mapped_file_is_seen(path, tmp_path):
    x = la.memmap(path, "f4", "r+")
    records = la.memmap(path, [("a", "f4"), ("b", "i4")], "r")  # NumPy's
    part = la.memmap(path, "f4", "r", offset=4, shape=3)[1:]
    np.save(tmp_path / "a.npy", np.zeros(3))
    y = la.load(tmp_path / "a.npy", mmap_mode="r")
    la.arange(12, 24, dtype="f4").tofile(path)
    la.save(tmp_path / "a.npy", la.arange(3.0))
    assert x.tolist() == list(range(12, 24)) and part.tolist() == [14, 15]
    assert records["a"][1] == 14 and y.tolist() == [0, 1, 2]
    x += 1
    x.flush()
    assert on_disk(path)[0] == 13
    del x, records
    gc.collect()
    number = path.stat().st_ino
    la.zeros(12, "f4").tofile(path)  # part maps it still
    assert path.stat().st_ino == number and part.tolist() == [0, 0]
    del part
    gc.collect()
    with open(path, "rb") as reader:
        la.ones(12, "f4").tofile(path)  # nobody does: who reads the old one, reads it whole
        assert np.fromfile(reader, "f4").tolist() == [0] * 12 and on_disk(path) == [1] * 12


@pytest.mark.parametrize("n", [7, 100_000])
def test_an_array_written_to_the_file_that_it_maps(tmp_path, n):
    path = tmp_path / "x.npy"
    want = np.arange(float(n))
    np.save(path, want)
    x = la.load(path, mmap_mode="r+")
    for values in (x[::-1], x * 2, x[: n // 2], x):
        expected = values.asnumpy()
        la.save(path, values)
        assert np.array_equal(np.load(path), expected)
        np.save(path, want)  # in place, as NumPy's does
        assert np.array_equal(x, want)
    raw = tmp_path / "raw"
    want.tofile(raw)
    x = la.memmap(raw, "f8", "r+")
    for values in (x[::-1], x[1:], x):
        expected = values.asnumpy()
        values.tofile(raw)
        assert np.array_equal(np.fromfile(raw), expected)
        want.tofile(raw)


def test_strings_and_objects_in_files(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.HostArrayWarning)
        la.savez(tmp_path / "a.npz", x=la.arange(3), names=np.array(["a", "b"]))
        found = la.load(tmp_path / "a.npz")
        assert isinstance(found["x"], la.NDArray) and found["names"].tolist() == ["a", "b"]
        la.save(tmp_path / "b.npy", np.array([{"a": 1}, None], dtype=object))
        with pytest.raises(ValueError, match="allow_pickle=False"):
            la.load(tmp_path / "b.npy")
        assert la.load(tmp_path / "b.npy", allow_pickle=True).tolist() == [{"a": 1}, None]
        la.save(tmp_path / "c.npy", np.array(["2024-01-01"], "M8[D]"))
        assert la.load(tmp_path / "c.npy").dtype == "M8[D]"
        la.save(tmp_path / "d.npz", {"day": np.datetime64("2024-01-01"), "w": la.ones(2)})
        assert str(la.load(tmp_path / "d.npz")["day"]) == "2024-01-01"
    with pytest.raises(ValueError, match="allow_pickle"):
        la.save(tmp_path / "b.npy", np.array([{}], dtype=object), allow_pickle=False)
    assert la.load(tmp_path / "b.npy", allow_pickle=True).shape == (2,)  # nothing was lost
