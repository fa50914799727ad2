"""Ctrl-C at random moments of running programs: python -m tests.faults.interrupted [SEED [MOMENTS]]

Each is a KeyboardInterrupt in the main thread, soon; nothing is half done, and the program goes on.
"""

import faulthandler
import os
import signal
import sys
import threading
import time

import numpy as np

import lazyarray as la

from .injected import check, settle
from .scenarios import ALL

PROMPT = 5.0  # seconds; most take milliseconds, but the machine may be busy


class Sender(threading.Thread):
    """Sends one SIGINT, some time after it was asked to."""

    def __init__(self):
        super().__init__(daemon=True)
        self.asked, self.sent = threading.Event(), threading.Event()
        self.delay = self.at = 0.0

    def run(self):
        while True:
            self.asked.wait()
            self.asked.clear()
            time.sleep(self.delay)
            self.at = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
            self.sent.set()

    def ask(self, delay):
        self.delay = delay
        self.sent.clear()
        self.asked.set()


def slow(n):
    """An op that a wait has to wait for."""
    x = la.array(np.arange(50_000.0)).reshape(500, 100)
    for _ in range(20):
        x = (x @ la.ones((100, 100))) * 0.01
    return [(x.sum() * 0 + n, np.array(float(n)))]


def main(seed=1, moments=300):
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    rng = np.random.default_rng(seed)
    programs = [*ALL.values(), slow]
    lost = []
    sys.unraisablehook = lost.append
    sender = Sender()
    sender.start()
    for f in programs:
        check(f(0))
    x, late, met = la.zeros(30_000), 0.0, {}
    for moment in range(moments):
        faulthandler.dump_traceback_later(200, exit=True)
        program = programs[rng.integers(len(programs))]
        try:
            try:
                sender.ask(float(rng.random() * rng.choice([0.002, 0.02, 0.06])))
                for n in range(1_000_000):
                    x += 1
                    check(program(n % 50))
            except KeyboardInterrupt:
                late = max(late, time.monotonic() - sender.at)
                if not sender.sent.wait(10):
                    sys.exit("interrupted by nobody")
        except KeyboardInterrupt:  # a second one would be a stranger's
            sys.exit("interrupted twice")
        met[program.__name__] = met.get(program.__name__, 0) + 1
        values = np.unique(x.asnumpy())
        assert len(values) == 1, f"half an addition (moment {moment}, seed {seed}): {values}"
        check(program(moment % 50 + 1))
        faulthandler.cancel_dump_traceback_later()
    settle()
    assert late < PROMPT, f"a KeyboardInterrupt came {late:.2f} s late"
    if lost:
        sys.exit(f"lost: {lost}")
    print(f"{moments} moments, the latest after {late * 1000:.0f} ms; {met}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
