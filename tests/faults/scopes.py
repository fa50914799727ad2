"""Ctrl-C while scopes are entered and left: python -m tests.faults.scopes [SEED [TRIALS]]

Each trial enters and leaves one scope of the package (or several, nested) over and over, until an
interrupt comes, some microseconds later. Then all must be as it was before.
"""

import collections
import contextlib
import os
import random
import signal
import sys
import tempfile

import lazyarray as la
from lazyarray.graph.scopes import AttrScope, NameManager

FOLDER = tempfile.mkdtemp()
X = la.ones(3)
KEPT = la.cpu(1)
BULK = la.engine.bulk(4)
S = la.sym.var("x")
BOUND = (S * 2).bind(la.cpu(0), {"x": la.ones(2)}, {"x": la.zeros(2)})


@la.autograd.record()
def recorded():
    return la.autograd.is_recording()


def traced():
    la.trace(lambda x: x + 1, la.ones(2))


def computed():
    BOUND.compute(True)


def at_random():
    """A few of them, one inside the other."""
    with contextlib.ExitStack() as stack:
        for scope in random.sample(PLAIN, 3):
            stack.enter_context(scope())


def nested():
    with la.cpu(1), la.autograd.record(), la.engine.bulk(8), la.no_sync(), KEPT, KEPT, BULK:
        pass


PLAIN = [
    lambda: la.cpu(1),
    lambda: KEPT,
    lambda: la.cpu_pinned(0),
    lambda: la.engine.bulk(8),
    lambda: BULK,
    la.no_sync,
    la.autograd.record,
    la.autograd.pause,
    la.autograd.train_mode,
    la.autograd.predict_mode,
    lambda: la.AttrScope(a="b"),
    la.sym.NameManager,
    lambda: la.sym.Prefix("p_"),
    lambda: la.profiler.task("t"),
    lambda: la.profiler.frame("f"),
    lambda: la.profiler.event("e"),
]
DEAR = [  # they do much as they are entered
    lambda: la.set_scalars("numpy"),
    lambda: la.profiler.profile(os.path.join(FOLDER, "trace.json")),
    lambda: la.profiler.profile(os.path.join(FOLDER, "trace.json"), continuous_dump=False),
]
PROGRAMS = [nested, recorded, traced, computed]


def state():
    try:
        hidden = bool(X[0] == 1)
    except RuntimeError:
        hidden = "no_sync"
    return {
        "device": str(la.current_context()),
        "recording": la.autograd.is_recording(),
        "training": la.autograd.is_training(),
        "bulk": la.engine.get().bulk_size,
        "no_sync": hidden,
        "scalars": type(la.ones(2).sum()).__name__,
        "mean": la.nanmean is MEAN,
        "profiler": la.profiler.state(),
        "file": la.profiler.session.session.config.filename,
        "attributes": AttrScope.current(),
        "names": len(NameManager._stack()),
        "hook": sys.getprofile(),
    }


MEAN = la.nanmean


class Now(KeyboardInterrupt):
    pass


def interrupt(number, frame):
    raise Now


def trial(do, longest):
    """Does it until the interrupt comes; whether it came at all in a second."""
    signal.setitimer(signal.ITIMER_REAL, random.uniform(5e-6, longest))
    while True:
        do()


def entered(scope):
    def do():
        with scope():
            pass

    return do


def main(seed=1, trials=10_000):
    random.seed(seed)
    signal.signal(signal.SIGALRM, interrupt)
    lost = []
    sys.unraisablehook = lost.append
    plain = [entered(scope) for scope in PLAIN]
    dear = [entered(scope) for scope in DEAR]
    for do in (*plain, *dear, *PROGRAMS):
        do()
    NameManager.current()  # the one that a thread has from its first name on
    before, counts = state(), collections.Counter()
    for number in range(trials):
        kind = random.random()
        if kind < 0.85:
            do, longest = random.choice(plain), 60e-6
        elif kind < 0.93:
            do, longest = random.choice(PROGRAMS), 400e-6
        else:
            do, longest = random.choice(dear), 4e-3
        try:
            trial(do, longest)
        except Now:
            pass
        now = state()
        if now != before:
            wrong = {k: (before[k], now[k]) for k in before if before[k] != now[k]}
            sys.exit(f"trial {number} of seed {seed}, {do}: {wrong}")
        counts["plain" if do in plain else "dear" if do in dear else do.__name__] += 1
    if lost:
        sys.exit(f"lost: {lost}")
    print(f"{trials} interrupts of {len(PLAIN) + len(DEAR)} scopes, none left anything; {counts}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
