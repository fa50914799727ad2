"""Compiled loops on disk: found again, and never believed where they are not whole."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed: nothing is compiled")
from lazyarray.lazy.cpu.jit import cache
from lazyarray.lazy.cpu.jit.cache import LoopCache

PROGRAM = """
import numpy as np, lazyarray as la
from lazyarray.lazy._lazy import _set_policy
from lazyarray.lazy.cpu.jit import thread
from lazyarray.lazy.cpu.jit._tier import compiled_loops, refused_loops
for name in ("inline_ns", "fuse_ns", "direct_bytes"):
    _set_policy(name, 0)
x = np.random.default_rng(0).random(3000)
a = la.array(x)
for _ in range(2):
    assert ((a * 2 + a).asnumpy() == x * 2 + x).all()
    assert ((a - 1) / (a + 1) * a).asnumpy().tobytes() == ((x - 1) / (x + 1) * x).tobytes()
print(compiled_loops()["ready"], len(refused_loops()), thread._compiler.found)
"""


def start(directory):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={
            **os.environ,
            "LAZYARRAY_JIT": "eager",
            "LAZYARRAY_CACHE_DIR": str(directory),
            "LAZYARRAY_ENGINE_TYPE": "",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(directory):
    """How many loops are ready, refused, and were found on disk."""
    process = start(directory)
    out, err = process.communicate(timeout=250)
    assert process.returncode == 0, err
    return [int(n) for n in out.split()]


def files(directory):
    return sorted((directory / "loops").iterdir())


def test_another_process_finds_them(tmp_path):
    assert run(tmp_path) == [2, 0, 0]
    assert len(files(tmp_path)) == 2
    assert run(tmp_path) == [2, 0, 2]


def test_files_that_are_not_whole(tmp_path):
    run(tmp_path)
    first, second = files(tmp_path)
    good = first.read_bytes(), second.read_bytes()
    first.write_bytes(good[0][:-7])
    second.write_bytes(b"something else" * 100)
    assert run(tmp_path) == [2, 0, 0]
    assert (first.read_bytes(), second.read_bytes()) == good  # they were written again
    first.write_bytes(b"")
    flipped = bytearray(good[1])
    flipped[len(flipped) // 2] ^= 4
    second.write_bytes(flipped)
    assert run(tmp_path) == [2, 0, 0]


def test_another_loop_under_the_name(tmp_path):
    run(tmp_path)
    first, second = files(tmp_path)
    first.write_bytes(second.read_bytes())
    assert run(tmp_path) == [2, 0, 1]


def test_what_others_may_write_is_not_run(tmp_path):
    run(tmp_path)
    first, _ = files(tmp_path)
    first.chmod(0o666)
    assert run(tmp_path) == [2, 0, 1]
    (tmp_path / "loops").chmod(0o777)
    assert run(tmp_path) == [2, 0, 0]


def test_nowhere_to_write(tmp_path):
    (tmp_path / "loops").write_text("a file")
    assert run(tmp_path) == [2, 0, 0]
    assert run("0") == [2, 0, 0]
    assert not pathlib.Path("0").exists()


def test_two_at_once(tmp_path):
    for process in [start(tmp_path), start(tmp_path), start(tmp_path)]:
        out, err = process.communicate(timeout=250)
        assert process.returncode == 0 and out.split()[:2] == ["2", "0"], err
    assert len(files(tmp_path)) == 2
    assert run(tmp_path) == [2, 0, 2]


def test_the_oldest_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST", 3)
    for k in range(5):
        LoopCache(tmp_path, "here").store(str(k), b"code")
        os.utime(max(tmp_path.iterdir(), key=lambda p: p.stat().st_mtime_ns), (k, k))
    left = LoopCache(tmp_path, "here")
    assert [left.load(str(k)) for k in range(5)] == [None, None, b"code", b"code", b"code"]
    assert LoopCache(tmp_path, "there").load("4") is None


def test_where(monkeypatch):
    monkeypatch.delenv("LAZYARRAY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.directory() == pathlib.Path("/x/lazyarray/loops")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/of")
    assert cache.directory() == pathlib.Path("/home/of/.cache/lazyarray/loops")
    monkeypatch.setenv("LAZYARRAY_CACHE_DIR", "/y")
    assert cache.directory() == pathlib.Path("/y/loops")
    monkeypatch.setenv("LAZYARRAY_CACHE_DIR", "0")
    assert cache.directory() is None
