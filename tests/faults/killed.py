"""Writers that are killed (SIGKILL): python -m tests.faults.killed KIND [TIMES [SEED]]

A child writes a file over and over, each time with other contents, until it is killed. What is
there then was written whole, and the next one goes on from it.
"""

import json
import os
import pathlib
import pickle
import random
import signal
import sys
import tempfile
import time

import numpy as np

import lazyarray as la
from lazyarray.lazy.cpu.jit.cache import LoopCache

N = 100_000


def long_graph(n):
    y = la.sym.var("x")
    for i in range(n):
        y = y + i
    return y


def profiled(path, n):
    la.profiler.set_config(filename=path, dump_period=0.001)
    la.profiler.start()
    x = la.ones(100)
    for _ in range(int(n) % 50 + 10):
        x = x + 1
    x.wait_to_read()
    la.profiler.stop()
    la.profiler.dump()


def even(*arrays):
    """Whether arrays hold one and the same number in all places."""
    found = [np.asarray(x) for x in arrays]
    assert all(x.size for x in found)
    assert all((x == found[0].flat[0]).all() for x in found)


def part(n):
    return la.full(N // 2, n)


def loaded(path):
    d = la.load(path)
    return d.values() if isinstance(d, dict) else d if isinstance(d, list) else [d]


def unpickled(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def keep_loop(path, n):
    LoopCache(pathlib.Path(path).parent, "a processor").store("a loop", bytes([int(n) % 256]) * N)


def kept_loop(path):
    code = LoopCache(pathlib.Path(path).parent, "a processor").load("a loop")
    even(np.frombuffer(code, "u1"))


LOOP = LoopCache(pathlib.Path("."), "a processor")._file("a loop").name
GRAPHS = [long_graph(200), long_graph(201)]

# How it writes, how it is read again, and the name of the file.
KINDS = {
    "npy": (lambda p, n: la.save(p, la.full(N, n)), lambda p: even(*loaded(p)), "x.npy"),
    "npz": (
        lambda p, n: la.save(p, {"a": la.full(N, n), "b": part(n)}),
        lambda p: even(*loaded(p)),
        "x.npz",
    ),
    "list": (
        lambda p, n: la.save(p, [la.full(N, n), part(n)]),
        lambda p: even(*loaded(p)),
        "x",
    ),
    "compressed": (
        lambda p, n: la.savez_compressed(p, a=la.full(N, n), b=part(n)),
        lambda p: even(*loaded(p)),
        "x.npz",
    ),
    "pickle": (lambda p, n: la.full(N, n).dump(p), lambda p: even(unpickled(p)), "x"),
    "tofile": (lambda p, n: la.full(N, n).tofile(p), lambda p: even(np.fromfile(p)), "x"),
    "graph": (lambda p, n: GRAPHS[int(n) % 2].save(p), lambda p: la.sym.load(p), "g.json"),
    "loop": (keep_loop, kept_loop, LOOP),
    "profile": (profiled, lambda p: json.loads(open(p).read())["traceEvents"], "p.json"),
}


def child(write, path, start):
    try:
        n = start
        while True:
            n += 1.0
            write(path, n)
    finally:
        os._exit(1)


def main(kind, times=200, seed=1):
    write, read, name = KINDS[kind]
    rng = random.Random(seed)
    overwritten = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        write(path, 0.0)
        for number in range(times):
            before = os.stat(path).st_mtime_ns, os.stat(path).st_ino
            pid = os.fork()
            if pid == 0:
                child(write, path, float(number))
            time.sleep(rng.uniform(0.002, 0.03))
            os.kill(pid, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            assert code == -signal.SIGKILL, code
            try:
                read(path)
            except Exception as exc:
                sys.exit(f"{kind}, kill {number} of seed {seed}: {type(exc).__name__}: {exc}")
            overwritten += before != (os.stat(path).st_mtime_ns, os.stat(path).st_ino)
            for left in os.listdir(folder):
                if left.endswith((".tmp", ".part")):
                    os.unlink(os.path.join(folder, left))
        assert sorted(os.listdir(folder)) == [name], os.listdir(folder)
    print(f"{kind}: {times} writers killed, {overwritten} after they had written; each file whole")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
