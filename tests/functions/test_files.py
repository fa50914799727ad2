"""Reading and writing in NumPy's formats: the same arrays, the same bytes."""

import builtins
import importlib
import io

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, same

TABLE = "# head\n1, 2.5, 3\n4, nan, 6\n"


def test_fromfile(tmp_path):
    file = tmp_path / "data"
    np.arange(6, dtype="i4").tofile(file)
    check("fromfile", file, "i4")
    check("fromfile", str(file), dtype="i4", count=2, offset=4)
    check("fromfile", tmp_path / "none")
    file.write_text("1;2;3")
    check("fromfile", file, float, sep=";")


def test_from_text_and_iterators():
    check("fromstring", "1 2", sep=" ")
    check("fromstring", "1,2,3", dtype="i2", count=2, sep=",")
    check("fromiter", range(5), "f4")
    check("fromiter", range(5), int, 3)
    check("fromiter", range(2), int, 3)
    with pytest.raises(TypeError):
        la.fromstring("1 2")
    same(la.fromiter(iter(la.arange(3.0)), float), np.arange(3.0))


@pytest.mark.filterwarnings("ignore:Input line")
@pytest.mark.parametrize(
    "kwargs",
    [
        {"delimiter": ","},
        {"delimiter": ",", "usecols": 0, "dtype": int},
        {"delimiter": ",", "unpack": True, "skiprows": 1},
        {"delimiter": ",", "max_rows": 1, "ndmin": 2},
        {"delimiter": ",", "converters": {0: lambda s: float(s) * 2}},
        {},
    ],
)
def test_loadtxt(kwargs):
    check("loadtxt", TABLE.splitlines(), strides=False, **kwargs)


def test_genfromtxt():
    check("genfromtxt", ["1,2", "3,"], delimiter=",")
    check("genfromtxt", ["1,2", ",4"], int, delimiter=",", filling_values=-1)
    check("genfromtxt", TABLE.splitlines(), delimiter=",", skip_header=1, usecols=(0, 2))


def test_savetxt():
    a = np.arange(6.0).reshape(2, 3) / 3
    for kwargs in ({}, {"fmt": "%.2f", "delimiter": ";", "header": "h", "footer": "f"}):
        want, got = io.StringIO(), io.StringIO()
        np.savetxt(want, a, **kwargs)
        la.savetxt(got, la.array(a), **kwargs)
        assert got.getvalue() == want.getvalue()
    with pytest.raises(ValueError):
        la.savetxt(io.StringIO(), la.ones((2, 2, 2)))


def test_like_decides_the_device():
    like = la.ones(1, device=la.cpu(1))
    for x in (
        la.fromiter(range(2), int, like=like),
        la.fromstring("1", sep=" ", like=like),
        la.loadtxt(["1"], like=like),
        la.frombuffer(b"12345678", like=like),
        la.fromfunction(lambda i: i, (2,), like=like),
        la.eye(2, like=like),
        la.tri(2, like=like),
        la.identity(2, like=like),
    ):
        assert x.device == la.cpu(1)


def test_a_file_that_may_be_written_in_a_folder_that_may_not(tmp_path):
    """Nothing can be made beside it; so the file itself is written."""
    path = tmp_path / "x.npy"
    path.write_bytes(b"")
    opened = builtins.open

    def refusing(name, mode="r", *args, **kwargs):
        if str(name).endswith(".tmp"):
            raise PermissionError(13, "Permission denied", name)
        return opened(name, mode, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", refusing)
        la.save(path, la.arange(3))
        np.testing.assert_array_equal(np.load(path), [0, 1, 2])
        la.arange(3.0).tofile(path)
        with pytest.raises(PermissionError) as raised:
            la.save(tmp_path / "new.npy", la.arange(3))
    assert raised.value.filename == str(tmp_path / "new.npy")
    np.testing.assert_array_equal(np.fromfile(path), [0.0, 1.0, 2.0])


def test_a_file_whose_seek_tells_nothing():
    class Told(io.BytesIO):
        def seek(self, *where):
            super().seek(*where)

    file = Told()
    np.save(file, np.arange(5))
    file.seek(0)
    assert la.load(file).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_compressed_streams(module, tmp_path):
    library = importlib.import_module(module)
    with library.open(tmp_path / "x", "wb") as file:
        np.save(file, np.arange(1000.0))
        np.save(file, np.arange(5))
    with library.open(tmp_path / "x") as file:
        np.testing.assert_array_equal(la.load(file).asnumpy(), np.arange(1000.0))
        np.testing.assert_array_equal(la.load(file).asnumpy(), np.arange(5))
    whole = library.open(tmp_path / "x").read()
    with library.open(tmp_path / "y", "wb") as file:
        file.write(whole[:500])
    with library.open(tmp_path / "y") as file, pytest.raises(ValueError):
        la.load(file)
