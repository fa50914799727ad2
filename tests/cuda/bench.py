"""What cases of streams are run with: the simulated devices, their log, one case after another.

A process runs cases and prints for each a line of JSON: its name and what went wrong, or null.
There is one worker of a kind and segments are of one instruction: which stream an op goes to is
known.
"""

import contextlib
import faulthandler
import gc
import json
import os
import sys
import time
import traceback

N = 1000
NOT_READY, OUT_OF_MEMORY, CAPTURE_FORBIDS = 600, 2, 900


class Bench:
    """The devices, and what is known of their log."""

    def __init__(self):
        import cupy
        from cupy import _sim

        import lazyarray as la

        self.la, self.cupy, self.sim = la, cupy, _sim
        self.gpu = la.gpu(0)
        self.engine = la.engine.get()
        self.Prop = la.engine.FnProperty
        self.mode = os.environ["LAZYARRAY_SIM"]

    def array(self, value=1.0, n=N, ctx=None):
        """An array on the GPU, all of whose work is over."""
        x = self.la.full(n, value, ctx=ctx or self.gpu)
        x.wait_to_read()
        self.la.waitall()
        return x

    def launched(self):
        """Waits until all that was pushed is launched, and for nothing that was launched."""
        end = time.monotonic() + 60
        while (stats := self.engine.stats())["pushed"] > stats["completed"]:
            assert time.monotonic() < end, "ops don't complete"
            time.sleep(0.001)

    def log(self):
        return self.sim.log(clear=False)

    @contextlib.contextmanager
    def noted(self):
        """A list that has at the end what was called meanwhile, all of it launched."""
        self.launched()
        self.sim.log()
        calls = []
        yield calls
        self.launched()
        calls += self.log()

    def ran(self, what):
        return sum(line.startswith(f"run {what}") for line in self.log())

    def priority(self, fn, reads=(), writes=()):
        """Pushes an op to the priority pool, whose stream is another."""
        self.engine.push_sync(
            fn, self.gpu, [x.var for x in reads], [x.var for x in writes],
            prop=self.Prop.GPU_PRIORITIZED,
        )  # fmt: skip

    def copied(self, to, source):
        """Pushes a copy of an array on the stream of the priority pool."""

        def copy(run_ctx):
            self.cupy.copyto(run_ctx.cupy(to), run_ctx.cupy(source))

        self.priority(copy, [source], [to])


def calls(log, name):
    return [line for line in log if line.startswith(name)]


def stream_of(line):
    return int(line.split("stream=")[1].split()[0])


def streams(log, name):
    return [stream_of(line) for line in calls(log, name)]


def raises(kind, words, fn):
    try:
        fn()
    except kind as exc:
        for word in [words] if isinstance(words, str) else words:
            assert word in str(exc), f"{word!r} is not in {exc}"
        return exc
    raise AssertionError(f"no {kind.__name__}")


def run(cases):
    """Runs those that the command line names."""
    b = Bench()
    for name in sys.argv[1:]:
        faulthandler.dump_traceback_later(25, exit=True)
        wrong = None
        try:
            b.sim.log()
            cases[name](b)
            gc.collect()
            b.la.waitall()
            hazards = b.sim.hazards()
            assert not hazards, hazards
        except BaseException:
            wrong = traceback.format_exc()
            with contextlib.suppress(BaseException):
                b.la.waitall()
            b.sim.hazards()
        print(json.dumps([name, wrong]), flush=True)
