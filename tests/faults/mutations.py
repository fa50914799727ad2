"""What is done to good bytes to make bad ones; run as a program, it feeds them to a reader.

``python mutations.py KIND SEED COUNT`` ends with status 0 if each mutation gave an error of a right
type or an array; a crash, a hang or an absurd allocation ends it otherwise.
"""

import io
import pathlib
import pickle
import random
import resource
import sys
import tempfile
import warnings

import numpy as np

import lazyarray as la
from lazyarray.lazy.cpu.jit.cache import LoopCache

NPY = np.lib.format


def npy(value, version=None):
    file = io.BytesIO()
    NPY.write_array(file, value, version)
    return file.getvalue()


def with_header(header, data=b"\0" * 64):
    """An .npy file with a header of one's own."""
    text = header.encode("latin1", "replace")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def npz(**arrays):
    file = io.BytesIO()
    la.save(file, {k: la.array(v) for k, v in arrays.items()})
    return file.getvalue()


def listed():
    file = io.BytesIO()
    la.save(file, [la.arange(5), la.ones((2, 3))])
    return file.getvalue()


def compressed():
    file = io.BytesIO()
    la.savez_compressed(file, a=la.arange(100), b=la.ones(3))
    return file.getvalue()


def graph():
    x, w = la.sym.var("x", shape=(2, 3)), la.sym.var("w", dtype="float32")
    c = la.array([[1.0, 2.0, 3.0]])
    y = la.sym.sum(la.sym.tanh(x * c + w)[:, 0:2], axis=(0,), keepdims=True)
    return la.sym.Group([y, la.sym.where(x > 0.5, x, np.float32(2))]).tojson().encode()


SHAPES = [
    "(-1,)",
    "(10**18,)",
    "(2**62, 2**62)",
    "(1,)*70",
    "(3.0,)",
    "('a',)",
    "(True,)",
    "3",
    "(0, 10**30)",
    "(4, 2)",
    "(2**63,)",
    "None",
    "()",
    "[8]",
    "(8,",
    "(8,)" * 3,
    "(-8, -1)",
    "(0,)*70",
    "(1e400,)",
]
DTYPES = [
    "'<f8'",
    "'|O'",
    "'<f3'",
    "'<U100000000'",
    "'>f8'",
    "'|V8'",
    "[('a', '<f8')]",
    "'<M8[ns]'",
    "12",
    "None",
    "'<f8, <f8'",
    "('<f8', (10**9,))",
    "'|S2147483647'",
    "''",
    "'|b1'",
    "'<c32'",
    "[('a', '|O')]",
]


def headers(rng):
    shape, dtype = rng.choice([*SHAPES, "(8,)"]), rng.choice([*DTYPES, "'<f8'"])
    order = rng.choice(["True", "False", "1", "'x'"])
    head = f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return with_header(
        rng.choice([head, head, head, head[:-3], head + head, "(" * 5000, "-" * 3000 + "1"])
    )


def damaged(rng, good):
    """Good bytes with a few of them changed, dropped, doubled, moved or cut off."""
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        at, n = rng.randrange(len(data)), rng.choice([1, 1, 2, 4, 8, 100])
        what = rng.randrange(7)
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at : at + n] = rng.randbytes(len(data[at : at + n]))
        elif what == 2:
            del data[at : at + n]
        elif what == 3:
            data[at:at] = data[at : at + n]
        elif what == 4:
            del data[at:]
        elif what == 5:
            data[at : at + n] = rng.choice([b"\xff", b"\0", b"9", b"-", b"}"]) * len(
                data[at : at + n]
            )
        else:
            to = rng.randrange(len(data))
            data[at : at + n], data[to : to + n] = data[to : to + n], data[at : at + n]
    return bytes(data)


def used(x):
    """Touches all that was read, so that memory which isn't its own would show."""
    for one in x.values() if isinstance(x, dict) else x if isinstance(x, list) else [x]:
        assert isinstance(one, (la.NDArray, np.ndarray, np.generic)), type(one)
        assert isinstance(one, la.NDArray) != (one.dtype.kind in "SUVOMm")
        if isinstance(one, la.NDArray):
            (one + one).sum().wait_to_read()
        repr(one)


def run_graph(g):
    str(g), g.tojson(), g.list_arguments()
    try:
        g.eval(x=la.ones((2, 3)), w=la.ones(3, "float32"))
    except (
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        ArithmeticError,
        AttributeError,
        MemoryError,
    ):
        pass  # a graph that is one, but not of these arrays


def loaded(data):
    used(la.load(io.BytesIO(data)))


def unpickled(data):
    x = pickle.loads(data)
    if isinstance(x, la.NDArray):
        used(x)
    elif isinstance(x, la.Graph):
        run_graph(x)


class _Rebuilt:
    """Pickled, it is a call of what rebuilds arrays, with arguments of one's own."""

    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return la.ones(1).__reduce__()[0], self.args


VALUES = [
    None,
    3,
    "abc",
    b"bytes",
    [1, [2, 3]],
    np.array(["a"]),
    np.array([None]),
    np.ones(2, ">f8"),
    np.ones(3)[::-1],
    np.ones(2, "f8,i4"),
    np.datetime64("2020"),
    {},
    np.ma.ones(3),
    np.broadcast_to(1.0, (2, 2)),
]


def pickles(rng):
    """Cut off, or of other values. (NumPy believes any state of a dtype: that isn't ours.)"""
    good = pickle.dumps(
        _graph if rng.random() < 0.3 else la.arange(6.0).reshape(2, 3), rng.randrange(6)
    )
    if rng.random() < 0.5:
        return good[: rng.randrange(len(good))]
    places = [la.cpu(0), la.cpu(1), None, "cpu:0", "gpu:99", 7, [], object]
    return pickle.dumps(
        _Rebuilt(*[rng.choice(VALUES), rng.choice(places)][: rng.choice([0, 1, 2, 2, 2])])
    )


class Refused(Exception):
    """No loop of this name is in the file."""


def cached(data):
    """A compiled loop is run: one bit that is another makes it none."""
    FILE.write_bytes(data)
    code = CACHE.load(LOOP[0])
    if code is None:
        raise Refused("no loop")
    assert code == LOOP[1]


LOOP = "the text of a loop", bytes(range(256)) * 8
FOLDER = tempfile.TemporaryDirectory()
CACHE = LoopCache(pathlib.Path(FOLDER.name), "a processor")
CACHE.store(*LOOP)
(FILE,) = pathlib.Path(FOLDER.name).iterdir()
READS = (ValueError, TypeError, OSError, EOFError)  # the last: of a file without a byte
_graph = la.Graph.fromjson(graph())
# What is read, how, and which errors are right.
KINDS = {
    "npy": (
        [npy(np.arange(8.0)), npy(np.ones((2, 3), "i2", "F"), (2, 0)), npy(np.ones(5, "?"))],
        loaded,
        READS,
    ),
    "headers": (headers, loaded, READS),
    "npz": ([npz(a=np.arange(8), b=np.ones((2, 2))), listed(), compressed()], loaded, READS),
    "graph": ([graph()], lambda data: run_graph(la.Graph.fromjson(data)), (ValueError,)),
    "loop": ([FILE.read_bytes()], cached, (Refused,)),
    # pickle calls what it is told to, so any exception is its own; but nothing may crash.
    "pickle": (pickles, unpickled, Exception),
}


def main(kind, seed, count):
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    warnings.simplefilter("ignore")
    source, read, right = KINDS[kind]
    good = 0
    for i in range(count):
        rng = random.Random(f"{kind} {seed} {i}")
        data = source(rng) if callable(source) else damaged(rng, rng.choice(source))
        try:
            read(data)
            good += 1
        except right as exc:
            assert str(exc) or kind == "pickle", (i, type(exc))
        except BaseException as exc:
            raise SystemExit(
                f"mutation {i} of {kind}: {type(exc).__name__}: {exc}\n{data!r}"
            ) from exc
        if i % 100 == 0:
            la.waitall()
    print(good, "of", count, "were right")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
