"""What the tests of fusion share: figures for small arrays, and how a segment ran."""

import contextlib
import itertools
import re

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy

# Everything is recorded, fused and cut into tiles of a few elements; nothing is flushed by a timer.
SMALL = {
    "inline_ns": 0,
    "fuse_ns": 0,
    "tile_bytes": 200,
    "least": 4,
    "row": 16,
    "split_ns": 0,
    "task_ns": 0,
    "age_ns": 1e15,
}


@contextlib.contextmanager
def figures(**changes):
    old = {name: _set_policy(name, value) for name, value in changes.items()}
    try:
        yield
    finally:
        engine.get().wait_for_all()
        for name, value in old.items():
            _set_policy(name, value)


def same(got, want):
    """Equal to NumPy's bit for bit (less the bits of a NaN)."""
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    want = np.asarray(want)
    got = got.asnumpy() if isinstance(got, la.NDArray) else np.asarray(got)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind != "O" and got.tobytes() == want.tobytes():
        return
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind in "fc":
        parts = ["real", "imag"] if want.dtype.kind == "c" else ["real"]
        for part in parts:
            g, w = getattr(got, part), getattr(want, part)
            number = ~np.isnan(w)
            np.testing.assert_array_equal(np.signbit(g)[number], np.signbit(w)[number])


class Explained:
    """``la.explain()``, read: operators of stages of (name, dtype, shape, whether in scratch)."""

    def __init__(self, text):
        if " on gpu(" in text:
            pytest.skip("the numbers are equal; what comes now is about a CPU's passes")
        self.text = text
        self.operators = []
        for line in text.splitlines()[2:]:
            if line.startswith("operator"):
                head = re.match(r"operators? (\d+)(?: to (\d+), each)?", line)
                stages = []  # shared by operators that are alike
                self.operators += [stages] * (int(head[2] or head[1]) - int(head[1]) + 1)
                ran = re.search(r"on (\d+) thread", line)
                fused = None
            elif line.startswith("  fused pass"):
                fused = {"ops": [], "tiles": int(re.search(r"(\d+) tiles?", line)[1])}
                fused["tasks"] = int(re.search(r"(\d+) tasks?", line)[1])
                fused["scratch"] = int(re.search(r"(\d+) bytes of scratch", line)[1])
                fused["threads"] = int(ran[1]) if ran else 0
                self.operators[-1].append(fused)
            else:
                op = re.match(r"( +)(\S+)(?: (\w+)(\(.*?\)))?(  in scratch)?", line)
                deep = len(op[1]) == 4
                if not deep:
                    fused = None
                if fused is None:
                    self.operators[-1].append({"ops": [], "tiles": 0})
                    if deep:
                        raise AssertionError(text)
                    target = self.operators[-1][-1]
                else:
                    target = fused
                target["ops"].append((op[2], op[3], op[4], op[5] is not None))

    @property
    def stages(self):
        """The names of the ops of each stage; a stage by itself is a plain string."""
        return [
            [name for name, *_ in s["ops"]] if s["tiles"] else s["ops"][0][0]
            for operator in self.operators
            for s in operator
        ]

    @property
    def passes(self):
        return [s for operator in self.operators for s in operator if s["tiles"]]

    @property
    def temporaries(self):
        return int(re.search(r"(\d+) temporar", self.text)[1])

    @property
    def in_scratch(self):
        return [op[0] for s in self.passes for op in s["ops"] if op[3]]


def explained():
    return Explained(la.explain())


def both(program, *arrays, strides=False):
    """Runs ``program(module, *arrays)`` on NumPy and, as one segment, on lazyarray: equal results.

    ``arrays`` are NumPy's; both get copies. Returns how it ran.
    """
    with np.errstate(all="ignore"):
        mine = [np.array(a) for a in arrays]
        want = program(np, *mine)
        theirs = [la.array(a) for a in arrays]
        la.waitall()
        with engine.bulk(1 << 20):
            got = program(la, *theirs)
            text = la.explain()
        same(got, want)
        same(theirs, mine)
        if strides:
            for g, w in zip(got, want, strict=True):
                assert g.strides == w.strides
    return Explained(text)


def grid(**choices):
    """Every combination of the choices, as dicts."""
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values, strict=True))
