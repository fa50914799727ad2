"""What the profiler's tests share: a recording, read back; programs in processes of their own."""

import json
import os
import pathlib
import subprocess
import sys

import lazyarray as la

ROOT = str(pathlib.Path(la.__file__).parent.parent)
NAIVE = isinstance(la.engine.get(), la.engine.NaiveEngine)


def whole(path):
    """What the file holds; a page that was read while it was being written is read again."""
    for _ in range(10):
        try:
            return json.loads(pathlib.Path(path).read_text())
        except json.JSONDecodeError as error:
            torn = error
    raise torn


class Trace:
    """The events of a file; by category, by track."""

    def __init__(self, path):
        self.whole = whole(path)
        self.events = self.whole["traceEvents"]
        self.tracks = {
            e["tid"]: e["args"]["name"] for e in self.events if e["name"] == "thread_name"
        }

    def of(self, category, name=None):
        return [
            e
            for e in self.events
            if e.get("cat") == category and e["ph"] in "Xbis" and name in (None, e["name"])
        ]

    def one(self, category, name=None):
        found = self.of(category, name)
        assert len(found) == 1, found
        return found[0]

    def operators(self):
        return self.of("operator")

    def track(self, event):
        return self.tracks[event["tid"]]

    def counters(self, name):
        return [e["args"]["value"] for e in self.events if e["ph"] == "C" and e["name"] == name]

    def check(self):
        """What every trace has to fulfil."""
        slices = {}
        for e in self.events:
            assert e["ph"] in ("X", "M", "C", "i", "b", "e", "s", "f"), e
            assert isinstance(e["pid"], int)
            if e["ph"] in "Xibesf":
                assert e["tid"] in self.tracks
            if e["ph"] == "X":
                assert e["dur"] >= 0
                slices.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
        for spans in slices.values():
            # On a track they nest, or none is inside another.
            open_ends = []
            for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                assert not open_ends or end <= open_ends[-1] + 0.002, (start, end, open_ends)
                open_ends.append(end)
        for e in self.operators():
            a = e["args"]
            assert a["pushed"] <= a["ready"] <= a["started"] <= a["ended"]
            assert a["started"] == e["ts"] and abs(e["ts"] + e["dur"] - a["ended"]) < 0.002
        for s, f in self.arrows():
            assert s["ts"] <= f["ts"]
        return self

    def arrows(self):
        starts = {e["id"]: e for e in self.events if e["ph"] == "s"}
        ends = {e["id"]: e for e in self.events if e["ph"] == "f"}
        assert set(starts) == set(ends)
        return [(starts[i], ends[i]) for i in starts]

    def edges(self):
        """Pairs of operators' seqs that an arrow joins."""
        pairs = set()
        for s, f in self.arrows():
            first, second = self.at(s), self.at(f)
            assert first and second, (s, f)
            pairs.add((first["args"]["seq"], second["args"]["seq"]))
        return pairs

    def at(self, point):
        """The innermost operator at a point of a track."""
        inside = [
            e
            for e in self.operators()
            if e["tid"] == point["tid"]
            and e["ts"] - 1e-6 <= point["ts"] <= e["ts"] + e["dur"] + 1e-6
        ]
        return max(inside, key=lambda e: e["ts"], default=None)


def program(code, cwd, wait=True, **env):
    """Runs code in a process of its own, with lazyarray as `la`, in the directory `cwd`."""
    full = {k: v for k, v in os.environ.items() if not k.startswith("LAZYARRAY_")} | env
    full["PYTHONPATH"] = os.pathsep.join(p for p in (ROOT, full.get("PYTHONPATH")) if p)
    process = subprocess.Popen(
        [sys.executable, "-c", "import lazyarray as la, os, signal, sys, time\n" + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=full,
        cwd=cwd,
    )
    if not wait:
        return process
    try:
        out, err = process.communicate(timeout=250)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
