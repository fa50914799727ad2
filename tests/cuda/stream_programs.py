"""Random programs on the simulated devices against NumPy; run by test_streams.py.

``python stream_programs.py seed ...``: each program works on arrays of two GPUs and the host, in
few shapes of kernels. Values are sums and doubles of small integers: every bit is as NumPy has it.
"""

import contextlib
import faulthandler
import sys
import threading

import cupy
import numpy as np
from cupy import _sim

import lazyarray as la

N, STEPS = 600, 60
PLACES = [la.gpu(0), la.gpu(0), la.gpu(0), la.gpu(1), la.gpu(1), la.cpu(), la.cpu_pinned()]


class Both:
    """Arrays, and what they have to be."""

    def __init__(self, rng):
        self.rng = rng
        self.host = [np.asarray(rng.integers(-4, 5, N), float) for _ in PLACES]
        self.device = [la.array(h, ctx=place) for h, place in zip(self.host, PLACES, strict=True)]

    def any(self):
        return int(self.rng.integers(len(PLACES)))

    def pair(self):
        """Two on one device."""
        i = self.any()
        same = [j for j in range(len(PLACES)) if PLACES[j] == PLACES[i]]
        return i, int(self.rng.choice(same))

    def gpus(self):
        i, j = self.pair()
        while PLACES[i].device_type != "gpu" or i == j:
            i, j = self.pair()
        return i, j

    # ---- steps

    def add(self):
        i, j = self.pair()
        self.host[i] = self.host[i] + self.host[j]
        self.device[i] = self.device[i] + self.device[j]

    def add_in_place(self):
        i, j = self.pair()
        self.host[i] += self.host[j]
        self.device[i] += self.device[j]

    def part(self):
        i, j = self.pair()
        self.host[i][100:300] = self.host[j][200:400]
        self.device[i][100:300] = self.device[j][200:400]

    def fill(self):
        i = self.any()
        self.host[i] = np.full(N, 3.0)
        self.device[i] = la.full(N, 3.0, ctx=PLACES[i])

    def copy(self):
        i, j = self.any(), self.any()
        self.host[i][...] = self.host[j]
        self.device[j].copyto(self.device[i])

    def chain(self):
        i, j = self.pair()
        self.host[i] = np.maximum(self.host[i] - self.host[j], self.host[j] * 0.5)
        a, c = self.device[i], self.device[j]
        with la.engine.bulk(16):
            self.device[i] = la.maximum(a - c, c * 0.5)

    def look(self):
        i = self.any()
        np.testing.assert_array_equal(self.device[i].asnumpy(), self.host[i])

    def wait(self):
        i = self.any()
        self.device[i].wait_to_write()

    def pushed(self):
        """An op of the user, with CuPy; some by the priority pool, some asynchronous."""
        i, j = self.gpus()
        self.host[i] += self.host[j]
        x, y = self.device[i], self.device[j]
        kind = int(self.rng.integers(3))

        def op(run_ctx, on_complete=None):
            to = run_ctx.cupy(x)
            cupy.add(to, run_ctx.cupy(y), out=to)
            if on_complete:
                threading.Thread(target=on_complete).start()

        Prop = la.engine.FnProperty
        push = la.engine.get().push_async if kind == 2 else la.engine.get().push_sync
        prop = Prop.GPU_PRIORITIZED if kind == 1 else Prop.NORMAL
        push(op, PLACES[i], [y.var], [x.var], prop=prop)

    def lent(self):
        i, _ = self.gpus()
        with cupy.cuda.Device(PLACES[i].device_id):
            theirs = self.device[i].ascupy()
            theirs += 1
            self.host[i] += 1
            self.device[i] += self.device[i]
            self.host[i] += self.host[i]
            if self.rng.integers(2):
                theirs += 1
                self.host[i] += 1

    def trim(self):
        la.storage.trim(PLACES[self.any()])


WEIGHTS = {
    Both.add: 6, Both.add_in_place: 6, Both.part: 3, Both.fill: 3, Both.copy: 6, Both.chain: 5,
    Both.look: 1, Both.wait: 1, Both.pushed: 3, Both.lent: 1, Both.trim: 0.3,
}  # fmt: skip


def program(seed):
    rng = np.random.default_rng(seed)
    both = Both(rng)
    steps = list(WEIGHTS)
    weights = np.array(list(WEIGHTS.values()))
    for step in rng.choice(len(steps), STEPS, p=weights / weights.sum()):
        steps[step](both)
    for d, h in zip(both.device, both.host, strict=True):
        np.testing.assert_array_equal(d.asnumpy(), h)


def main():
    faulthandler.dump_traceback_later(60, exit=True)
    for seed in map(int, sys.argv[1:]):
        # At odd seeds in segments of one; at others two programs at once.
        with la.engine.bulk(1) if seed % 2 else contextlib.nullcontext():
            failures = []

            def run(s, failures=failures):
                try:
                    program(s)
                except BaseException as exc:
                    failures.append(exc)

            others = [] if seed % 2 else [threading.Thread(target=run, args=(seed + 1000,))]
            for thread in others:
                thread.start()
            run(seed)
            for thread in others:
                thread.join()
            for failure in failures:
                raise failure
            la.waitall()
            assert not _sim.hazards(), f"hazards in program {seed}"


main()
