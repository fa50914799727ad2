"""Files of NumPy's formats: there and back, and what is refused."""

import copy
import io
import pickle
import sys
import zipfile

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la


@pytest.mark.parametrize("name", ["savez", "savez_compressed"])
def test_savez(name, tmp_path):
    getattr(la, name)(tmp_path / "a", la.arange(3), [1, 2], k=la.ones((2, 2)) * 2)
    with np.load(tmp_path / "a.npz") as found:
        assert sorted(found) == ["arr_0", "arr_1", "k"]
        np.testing.assert_array_equal(found["k"], np.full((2, 2), 2.0))
    assert sorted(la.load(tmp_path / "a.npz")) == ["arr_0", "arr_1", "k"]
    with la.no_sync(), pytest.raises(RuntimeError, match=name):
        getattr(la, name)(io.BytesIO(), la.ones(2) * 2)


@pytest.mark.parametrize("name", ["save", "savez"])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x.T[:, ::2],
        lambda x: x.T[::-1],
        lambda x: x[::2],
        lambda x: x[0].sum(),
    ],
)
def test_files_are_laid_out_as_numpys(name, view):
    """Row by row, but for arrays that lie column by column without gaps."""
    laid = []
    for xp in (la, np):
        file = io.BytesIO()
        getattr(xp, name)(file, view(xp.arange(24.0).reshape(4, 6)))
        found = np.load(io.BytesIO(file.getvalue()))
        laid.append((found if name == "save" else found["arr_0"]).strides)
    assert laid[0] == laid[1]


ONE = la.cpu(1)


def test_save_and_load(tmp_path):
    path = tmp_path / "arrays"  # taken as it is: no suffix is added
    a, b = la.arange(6.0).reshape(2, 3), la.array(True)
    la.save(path, [a, b * 1, np.ones(2, "int8")])
    got = la.load(path)
    assert isinstance(got, list) and [x.dtype for x in got] == ["float64", "int64", "int8"]
    np.testing.assert_array_equal(got[0].asnumpy(), a.asnumpy())
    with np.load(path) as archive:
        assert sorted(archive) == ["arr_0", "arr_1", "arr_2"]
        np.testing.assert_array_equal(archive["arr_0"], a.asnumpy())

    la.save(str(path), {"w/0": a.T, "file": b, "arr_0": a})
    got = la.load(str(path))
    assert isinstance(got, dict) and sorted(got) == ["arr_0", "file", "w/0"]
    np.testing.assert_array_equal(got["w/0"].asnumpy(), a.asnumpy().T)
    assert got["file"].dtype == bool and got["file"].shape == ()
    with np.load(path) as archive:
        np.testing.assert_array_equal(archive["w/0"], a.asnumpy().T)

    la.save(path, a)  # one array: an .npy file
    got = la.load(f"{path}.npy")
    np.testing.assert_array_equal(got.asnumpy(), a.asnumpy())
    np.testing.assert_array_equal(np.load(f"{path}.npy"), a.asnumpy())
    (got,) = _saved_and_loaded([a])
    np.testing.assert_array_equal(got.asnumpy(), a.asnumpy())
    assert _saved_and_loaded(2.5).item() == 2.5
    assert _saved_and_loaded([[1, 2], [3, 4]]).asnumpy().tolist() == [[1, 2], [3, 4]]
    for empty in ([], {}):
        la.save(path, empty)
        assert la.load(path) == empty
    assert all(x.device == ONE for x in _saved_and_loaded([a, a], ctx=ONE))
    with ONE:
        assert _saved_and_loaded([a])[0].device == ONE


def _saved_and_loaded(data, **kwargs):
    file = io.BytesIO()
    la.save(file, data)
    file.seek(0)
    return la.load(file, **kwargs)


def test_load_reads_numpys_files(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.eye(2))
    got = la.load(tmp_path / "a.npz")
    assert sorted(got) == ["x", "y"] and got["x"].asnumpy().tolist() == [0, 1, 2]
    with la.load(tmp_path / "a.npz", mmap_mode="r") as archive:
        assert archive.files == ["x", "y"] and "x" in archive
    np.savez_compressed(tmp_path / "c.npz", np.arange(3))
    assert la.load(tmp_path / "c.npz")["arr_0"].asnumpy().tolist() == [0, 1, 2]
    np.save(tmp_path / "b.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert la.load(tmp_path / "b.npy").asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_save_and_load_errors(tmp_path):
    with pytest.raises(TypeError, match="keys are strings"):
        la.save(tmp_path / "a", {1: la.ones(1)})
    with pytest.raises(FileNotFoundError):
        la.load(tmp_path / "a", mmap_mode="r+")
    with pytest.raises(ValueError, match="allow_pickle"):
        la.save(tmp_path / "a", [np.array([{}])], allow_pickle=False)
    assert not (tmp_path / "a").exists()
    for name in ("no folder/x.npy", "no folder/x.npz"):
        with pytest.raises(FileNotFoundError) as told:
            la.save(tmp_path / name, la.ones(1))
        assert told.value.filename == str(tmp_path / name)
    (tmp_path / "b").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="neither"):
        la.load(tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        la.load(tmp_path / "c")
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        la.load(tmp_path / "o.npy")


def test_one_array_in_an_npz_is_a_list_of_one(tmp_path):
    path = tmp_path / "x.npz"
    la.save(path, la.arange(3))
    (x,) = la.load(path)
    assert x.tolist() == [0, 1, 2]
    with np.load(path) as archive:
        np.testing.assert_array_equal(archive["arr_0"], [0, 1, 2])
    la.save(tmp_path / "y", arr=la.ones(2))
    assert la.load(tmp_path / "y.npy").tolist() == [1.0, 1.0]


def test_how_files_are_read(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3.0))
    assert la.load(path, fix_imports=False, encoding="latin1").tolist() == [0, 1, 2]
    for xp in (np, la):
        with pytest.raises(ValueError, match="encoding must be"):
            xp.load(path, encoding="utf8")
        with pytest.raises(ValueError, match=r"[Hh]eader"):
            xp.load(path, max_header_size=10)
        assert xp.load(path, max_header_size=10, allow_pickle=True).tolist() == [0, 1, 2]


def test_a_pickled_array_is_loaded(tmp_path):
    path = tmp_path / "a.pickle"
    la.arange(3).dump(path)
    assert la.load(path, allow_pickle=True).tolist() == [0, 1, 2]
    np.arange(4).dump(path)
    found = la.load(path, allow_pickle=True)
    assert isinstance(found, la.NDArray) and found.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="neither"):
        la.load(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(pickle.UnpicklingError):
        la.load(path, allow_pickle=True)


def test_a_pickle_is_not_mapped(tmp_path):
    path = tmp_path / "a.pickle"
    np.arange(3).dump(path)
    for xp in (np, la):
        assert xp.load(path, mmap_mode="r", allow_pickle=True).tolist() == [0, 1, 2]


@pytest.mark.host
def test_the_memory_that_was_read_into_is_the_arrays(tmp_path):
    values = np.random.default_rng(0).random((300, 400))
    np.save(tmp_path / "c.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values))
    np.savez(tmp_path / "x.npz", values)
    values.tofile(tmp_path / "bytes")
    la.waitall()

    def taken():
        stats = la.storage.pool_stats()
        return stats["hits"] + stats["misses"]

    before, in_use = taken(), la.storage.pool_stats()["in_use"]
    read = [
        la.load(tmp_path / "c.npy"),
        la.load(tmp_path / "f.npy"),
        la.load(tmp_path / "x.npz")["arr_0"],
        la.load(io.BytesIO((tmp_path / "c.npy").read_bytes())),
        la.fromfile(tmp_path / "bytes").reshape(300, 400),
    ]
    assert taken() == before  # the pool has given none
    assert la.storage.pool_stats()["in_use"] >= in_use + len(read) * values.nbytes  # but counts it
    assert read[1].strides == (8, 2400)
    for x in read:
        x += 1
        assert (x.asnumpy() == values + 1).all()
    del read, x
    la.waitall()
    assert la.storage.pool_stats()["in_use"] == in_use


def test_an_archive_in_a_file_that_denies_that_it_can_seek():
    class Denies(io.BytesIO):
        def seekable(self):
            return False

    file = Denies()
    np.savez(file, a=np.arange(3))
    file.seek(0)
    assert la.load(file)["a"].tolist() == [0, 1, 2]


def test_arrays_one_after_another(tmp_path):
    path = tmp_path / "a.npy"
    with path.open("wb") as file:
        la.save(file, la.arange(2))
        la.save(file, la.arange(3))
    with path.open("rb") as file:
        assert [la.load(file).size, la.load(file).size] == [2, 3]
        with pytest.raises(EOFError):
            la.load(file)


def test_an_archive_s_other_attributes(tmp_path):
    la.savez(tmp_path / "a", x=la.arange(3))
    found = la.load(tmp_path / "a.npz")
    assert found.f.x.tolist() == [0, 1, 2] and found.fid is None and found.zip is None


def test_a_path_of_one_array_holds_one(tmp_path):
    def loaded(xp, arr):
        path = tmp_path / f"{xp.__name__}.npy"
        xp.save(path, arr)
        return np.load(path, allow_pickle=True), xp.load(path, allow_pickle=True)

    for give in (lambda xp: [xp.ones(3), xp.zeros(3)], lambda xp: (xp.arange(2), [3, 4])):
        for got, want in zip(loaded(la, give(la)), loaded(np, give(np)), strict=True):
            assert (got.shape, got.dtype, got.tolist()) == (want.shape, want.dtype, want.tolist())
    for got in loaded(la, {"loss": [0.5, 0.25], "w": la.ones(2)}):
        history = got.item()
        assert history["loss"] == [0.5, 0.25] and type(history["w"]) is np.ndarray
    with pytest.raises(ValueError, match="inhomogeneous"):
        la.save(tmp_path / "x.npy", [la.ones(2), la.ones(3)])


def test_archives_print_as_numpys(tmp_path):
    for n in (0, 1, 5, 6):
        path = tmp_path / f"{n}.npz"
        np.savez(path, *[np.ones(1)] * n)
        with np.load(path) as want:
            assert repr(la.load(path)) == repr(want)
    la.savez(file := io.BytesIO(), a=la.ones(1))
    file.seek(0)
    assert str(la.load(file)) == "NpzFile 'object' with keys: a"


def test_arrays_by_the_names_of_their_files(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.arange(3), **{"b.npy": np.arange(2)})
    for xp in (np, la):
        with xp.load(tmp_path / "x.npz") as found:
            assert sorted(found.files) == ["a", "b.npy"]
            assert found["a.npy"].tolist() == found["a"].tolist() == [0, 1, 2]
            assert "a.npy" in found and "b.npy" in found and "c.npy" not in found
            assert found.get("a.npy").shape == (3,) and found.get("c", 5) == 5
            for missing in ("c", "c.npy", 3):
                with pytest.raises(KeyError, match="not a file in the archive"):
                    found[missing]


def test_an_archive_of_which_one_member_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), o=np.array({}, object), b=np.ones(2))
    for xp in (np, la):
        found = xp.load(path)
        assert found["a"].tolist() == [0, 1, 2] and found["b"].tolist() == [1, 1]
        assert found.files == [*found] == ["a", "o", "b"] and "o" in found
        reads = [lambda f: f["o"], lambda f: f["o.npy"], lambda f: f.get("o"), dict]
        reads += [lambda f: {**f}, lambda f: [*f.values()], lambda f: [*f.items()]]
        reads += [lambda f: f.f.o, lambda f: f.copy(), lambda f: f.pop("o"), copy.copy]
        for read in reads[: -3 if xp is np else None]:
            with pytest.raises(ValueError, match="allow_pickle=False"):
                read(found)
    np.savez(path, a=np.zeros(2, [(f"field {i}", "f4") for i in range(1000)]), b=np.ones(2))
    for xp in (np, la):
        found = xp.load(path)
        assert found["b"].tolist() == [1, 1]
        with pytest.raises(ValueError, match="max_header_size"):
            found["a"]


def test_a_list_of_which_one_member_is_refused(tmp_path):
    la.save(tmp_path / "x", [la.ones(1), np.array({}, object)])
    with pytest.raises(ValueError, match=r"'arr_1\.npy' in the archive is refused: .*allow_pickle"):
        la.load(tmp_path / "x")


def test_members_that_are_no_arrays_are_bytes(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("read me.txt", "hello")
        archive.writestr("b.npy", "no array")
    for xp in (np, la):
        found = xp.load(path)
        assert found["a"].tolist() == [0, 1, 2] and found.files == ["a", "read me.txt", "b"]
        assert found["read me.txt"] == b"hello" and found["b"] == b"no array"


def test_members_that_can_not_be_read_here(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), b=np.ones(2))
    whole = path.read_bytes()
    start = whole.rindex(b"PK\x01\x02")  # of the entry of b in the directory
    for place, byte, match in ((8, 1, "encrypted"), (10, 99, "compression")):
        changed = bytearray(whole)
        changed[start + place] = byte
        path.write_bytes(changed)
        found = la.load(path)
        assert found["a"].tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match=f"'b.npy' in the archive is refused: .*{match}"):
            found["b"]


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(24, dtype=">i4").reshape(2, 3, 4)),
        np.array(5.0),
        np.array(["ab", "c"]),
        np.array(["2024-01-01"], "M8[D]"),
        np.zeros(3, [("n", "i4"), ("v", "f8", (2,))]),
        np.zeros((0, 3)),
        np.zeros(2, "U0"),
    ],
    ids=lambda v: str(v.dtype),
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_header_is_parsed_once(value, on_disk, tmp_path):
    file = tmp_path / "x.npy" if on_disk else io.BytesIO()
    np.save(file, value)
    if not on_disk:
        np.save(file, value)
        file.seek(0)
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append((event, frame.f_code.co_name)))
    try:
        found = la.load(file)
    finally:
        sys.setprofile(None)
    if value.nbytes:
        assert seen.count(("call", "literal_eval")) == 1
    for x in (found,) if on_disk else (found, la.load(file)):
        assert x.shape == value.shape and x.dtype == value.dtype.newbyteorder("=")
        assert repr(x.tolist()) == repr(value.tolist())
        assert value.size < 2 or np.asarray(x).flags.f_contiguous == value.flags.f_contiguous


def test_a_reader_needs_no_tell():
    class Reader:
        def __init__(self, data):
            self._stream = io.BytesIO(data)

        def read(self, n=-1):
            return self._stream.read(n)

        def seek(self, *place):
            self._stream.seek(*place)

    two = io.BytesIO()
    np.save(two, np.arange(3))
    np.save(two, np.eye(2))
    reader = Reader(two.getvalue())
    assert la.load(reader).tolist() == [0, 1, 2]
    assert la.load(reader).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(EOFError):
        la.load(reader)
