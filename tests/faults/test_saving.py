"""Files: load gives what was saved last under a name; what fails leaves nothing half-written."""

import errno
import io
import os
import zipfile

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions import _files

ARRAY, LIST, DICT = la.arange(3.0), [la.ones(2), la.zeros(1)], {"a": la.ones(2)}


def same(got, want):
    if isinstance(want, dict):
        return (
            isinstance(got, dict)
            and got.keys() == want.keys()
            and all(same(got[k], want[k]) for k in want)
        )
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return isinstance(got, la.NDArray) and np.array_equal(got.asnumpy(), want.asnumpy())


@pytest.mark.parametrize("name", ["p", "p.npz", "p.x"])
@pytest.mark.parametrize("first", [ARRAY, LIST, DICT], ids=["array", "list", "dict"])
@pytest.mark.parametrize("second", [ARRAY, LIST, DICT], ids=["array", "list", "dict"])
def test_the_last_that_was_saved_is_loaded(name, first, second, tmp_path):
    path = tmp_path / name
    for data in (first, second, first):
        la.save(path, data)
        want = [data] if name == "p.npz" and data is ARRAY else data
        assert same(la.load(path), want) and same(la.load(str(path)), want)


def test_other_names_are_left_alone(tmp_path):
    la.save(tmp_path / "p.npy", ARRAY)
    la.save(tmp_path / "p", LIST)
    assert same(la.load(tmp_path / "p.npy"), ARRAY) and same(la.load(tmp_path / "p"), LIST)
    (tmp_path / "q").write_text("not ours")
    (tmp_path / "d").mkdir()
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("book.txt", "not ours")
    with open(tmp_path / "n", "wb") as file:
        np.savez(file, a=np.ones(3))
    for name in "qdzn":
        la.save(tmp_path / name, ARRAY)
    assert np.load(tmp_path / "n")["a"].tolist() == [1, 1, 1]
    assert (tmp_path / "q").read_text() == "not ours" and zipfile.is_zipfile(tmp_path / "z")
    assert same(la.load(tmp_path / "d"), ARRAY)  # d.npy, as d is a directory
    assert np.load(tmp_path / "q.npy").tolist() == [0, 1, 2]


class Fails(Exception):
    pass


WRITERS = {
    "save": la.save,
    "save_list": lambda path, x: la.save(path, [x, x]),
    "savez": la.savez,
    "savez_compressed": la.savez_compressed,
    "dump": lambda path, x: x.dump(path),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_failed_write_changes_nothing(writer, tmp_path, monkeypatch):
    path = tmp_path / "x"
    writer(path, la.arange(1000.0))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def fails(*args, **kwargs):
        raise Fails

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(Fails):
            writer(path, la.zeros(1000))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    bad = la.linalg.inv(la.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        writer(path, bad)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_full_disk_is_an_oserror_and_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    import signal

    la.save(tmp_path / "x", ARRAY)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, old[1]))
        for data in (la.zeros(10000), [la.zeros(10000)]):
            with pytest.raises(OSError):
                la.save(tmp_path / "x", data)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(tmp_path) == ["x.npy"] and same(la.load(tmp_path / "x"), ARRAY)


def test_permissions_links_and_readers_of_the_old_file(tmp_path):
    path = tmp_path / "x.npy"
    la.save(path, ARRAY)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()
    path.chmod(0o640)
    (tmp_path / "link.npy").symlink_to(path)
    with open(path, "rb") as reader:
        la.save(tmp_path / "link.npy", la.zeros(5))
        assert np.load(reader).tolist() == [0, 1, 2]  # what it has open is whole
    assert path.stat().st_mode & 0o777 == 0o640 and (tmp_path / "link.npy").is_symlink()
    assert la.load(path).shape == (5,)
    with pytest.raises(OSError):
        la.save(tmp_path / "missing" / "x.npy", ARRAY)
    (tmp_path / "dir.npy").mkdir()
    with pytest.raises(OSError):
        la.save(tmp_path / "dir.npy", ARRAY)


ALL = {
    **WRITERS,
    "tofile": lambda path, x: x.tofile(path),
    "graph": lambda path, x: la.sym.var("x" * x.shape[0]).save(path),
}


@pytest.mark.parametrize("first, second", [(1000, 5), (5, 1000)])
@pytest.mark.parametrize("writer", ALL.values(), ids=ALL)
@pytest.mark.parametrize("refused", ["", "EPERM", "EACCES", "EBUSY", "EROFS beside"])
def test_a_file_that_stays_the_same_one(refused, writer, first, second, tmp_path, monkeypatch):
    """Under its other names, or where only the file itself may be written."""
    path, other = tmp_path / "x.npz", tmp_path / "other"
    names = ["x.npz"]

    def refuses(name, *args, **kwargs):
        code, *beside = refused.split()
        if not beside or str(name).endswith(".tmp"):
            raise OSError(getattr(errno, code), "no", name)
        return open(name, *args, **kwargs)

    def written(length):
        writer(path, la.arange(float(length)))
        return path.read_bytes()

    want = written(second)
    path.unlink()
    written(first)
    number = path.stat().st_ino
    with monkeypatch.context() as patch:
        if refused.endswith("beside"):
            patch.setattr(_files, "open", refuses, raising=False)
        elif refused:
            patch.setattr(os, "replace", refuses)
        else:
            os.link(path, other)
            names.append("other")
        got = written(second)
        if refused:
            with pytest.raises(OSError) as raised:
                writer(tmp_path / "new.npz", ARRAY)
            assert raised.value.errno == getattr(errno, refused.split()[0])
    assert len(got) == len(want) and (b"PK" in want or got == want)  # an archive tells the time
    assert path.stat().st_ino == number and sorted(os.listdir(tmp_path)) == sorted(names)
    if not refused:
        assert other.read_bytes() == got


def test_other_errors_leave_the_old_file(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "full")

    la.save(tmp_path / "x", ARRAY)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="full"):
            la.save(tmp_path / "x", la.zeros(9))
    assert os.listdir(tmp_path) == ["x.npy"] and same(la.load(tmp_path / "x"), ARRAY)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "x.npy"
    la.save(path, ARRAY)
    os.chown(path, 65534, 65534)
    la.save(path, la.zeros(5))
    assert path.stat().st_uid == 65534 and la.load(path).shape == (5,)


@pytest.mark.parametrize("writer", ALL.values(), ids=ALL)
def test_the_longest_names(writer, tmp_path):
    path = tmp_path / ("a" * 251 + ".npz")
    for _ in range(2):
        writer(path, ARRAY)
    assert os.listdir(tmp_path) == ["a" * 251 + ".npz"]


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_graphs_too(tmp_path):
    y = la.sym.exp(la.sym.var("x"))
    y.save(tmp_path / "g.json")
    y.save(tmp_path / "g.json")
    assert (
        os.listdir(tmp_path) == ["g.json"]
        and la.sym.load(tmp_path / "g.json").tojson() == y.tojson()
    )


def test_an_interrupt_as_the_file_is_opened_leaves_nothing(tmp_path, monkeypatch):
    def opened(*args):
        open(*args).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(_files, "open", opened, raising=False)
    for write in WRITERS.values():
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "p", ARRAY)
    assert os.listdir(tmp_path) == []


class Interrupted(io.BytesIO):
    """A file during whose n-th reading a signal's handler raises."""

    def __init__(self, data, n):
        super().__init__(data)
        self.left = n

    def read(self, *args):
        self.left -= 1
        if not self.left:
            raise Fails("now")
        return super().read(*args)


@pytest.mark.parametrize("data", [ARRAY, LIST, DICT], ids=["array", "list", "dict"])
def test_what_a_handler_raises_while_a_file_is_read_is_not_the_file_s(data):
    file = io.BytesIO()
    la.save(file, data)
    for n in range(1, 100):
        try:
            assert same(la.load(Interrupted(file.getvalue(), n)), data)
        except Fails:
            continue
        break
    assert 3 < n < 50
