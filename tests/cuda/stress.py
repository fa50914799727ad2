"""Random programs by several threads on a GPU, against NumPy: for races, stray accesses, leaks.

    python -m tests.cuda.stress --rounds 50           # and whether memory comes back
    compute-sanitizer --tool memcheck python -m tests.cuda.stress --rounds 4 --bare

Whole numbers, so that a wrong order shows as a wrong value and nothing else does. Each thread has
arrays of its own on the device and on the host, pinned or not; all read common ones. In between
work is held up on the device, or before it gets there, memory is let go of and given back.
"""

import argparse
import gc
import random
import sys
import threading
import time

import numpy as np

import lazyarray as la

MIB = 2**20
SLOW = 512  # rows of matrices whose product keeps a GPU busy for a while


class Program:
    """A thread's arrays, as lazyarray has them and as they should be."""

    def __init__(self, seed, n, common):
        self.rng = random.Random(seed)
        self.n, self.common = n, common
        self.gpu = la.gpu(0)
        first = np.random.default_rng(seed).integers(-1000, 1000, (6, n), dtype=np.int32)
        self.want = list(first.copy())
        places = [self.gpu] * 4 + [la.cpu_pinned(0), la.cpu(0)]
        self.got = [la.array(x, ctx=place) for x, place in zip(first, places, strict=True)]
        self.slow = la.full((SLOW, SLOW), 0.5, dtype="float32", ctx=self.gpu)
        self.steps = [
            self.combine, self.combine, self.update, self.update, self.shift, self.rows,
            self.total, self.sort, self.choose, self.to_host, self.to_host, self.to_device,
            self.to_device, self.wait_there, self.wait_here, self.share, self.look, self.free,
        ]  # fmt: skip

    def run(self, steps):
        for _ in range(steps):
            self.rng.choice(self.steps)()
        for got, want in zip(self.got, self.want, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), want)

    def pick(self):
        """Two different arrays of the device."""
        return self.rng.sample(range(4), 2)

    # ---- kernels -------------------------------------------------------------------------------

    def combine(self):
        i, j = self.pick()
        k = self.rng.randrange(len(self.common))
        there, here = self.common[k]
        self.got[i] = self.got[j] * 3 - there + self.got[i]  # the old memory is free
        self.want[i] = self.want[j] * 3 - here + self.want[i]

    def update(self):
        i, j = self.pick()
        for x in (self.got, self.want):
            x[i] += x[j]
            x[i] ^= 5

    def shift(self):
        i, j = self.pick()
        k = self.rng.randrange(1, self.n // 2)
        for x in (self.got, self.want):
            x[i][k:] -= x[j][:-k]
            x[i][1:] = x[i][:-1]  # onto itself

    def rows(self):
        i, j = self.pick()
        axis = self.rng.randrange(2)
        for x in (self.got, self.want):
            s = x[j].reshape(16, -1)
            x[i] += (
                (s - s.sum(axis=axis, keepdims=True, dtype=np.int32))
                .max(axis=1 - axis)
                .sum(dtype=np.int32)
            )

    def total(self):
        i = self.rng.randrange(4)
        assert int(self.got[i].sum()) == int(self.want[i].sum())

    # ---- CuPy ----------------------------------------------------------------------------------

    def sort(self):
        i, j = self.pick()
        self.got[i], self.want[i] = la.sort(self.got[j]), np.sort(self.want[j])

    def choose(self):
        i, j = self.pick()
        self.got[i][self.got[j] > 3] = 7
        self.want[i][self.want[j] > 3] = 7

    # ---- transfers -----------------------------------------------------------------------------

    def to_host(self):
        i, h = self.rng.randrange(4), self.rng.choice((4, 5))
        self.got[i].copyto(self.got[h])
        self.want[h][...] = self.want[i]

    def to_device(self):
        i, h = self.rng.randrange(4), self.rng.choice((4, 5))
        if self.rng.random() < 0.5:
            self.got[i] = self.got[h].as_in_context(self.gpu)
            self.want[i] = self.want[h].copy()
        else:
            k = self.rng.randrange(1, self.n)
            self.got[h][-k:].copyto(self.got[i][:k])
            self.want[i][:k] = self.want[h][-k:]
        self.got[h] += 1  # while it may still be on its way
        self.want[h] += 1

    # ---- delays --------------------------------------------------------------------------------

    def wait_there(self):
        """What comes after has to wait on the device."""
        i = self.rng.randrange(4)
        x = self.slow
        for _ in range(self.rng.randrange(1, 20)):
            x = x @ self.slow * np.float32(2 / SLOW)
        self.got[i] += (x[0, 0] * 0).astype(np.int32)

    def wait_here(self):
        """What comes after is launched late."""
        i = self.rng.randrange(6)
        x = self.got[i]
        seconds = self.rng.choice((0.0002, 0.002))
        la.engine.get().push_sync(lambda _: time.sleep(seconds), x.device, (), (x.var,))

    # ---- others, waits, memory -----------------------------------------------------------------

    def share(self):
        """CuPy writes to our memory."""
        i = self.rng.randrange(4)
        theirs = self.got[i].ascupy()
        theirs += 2
        self.got[i] += 1
        self.want[i] += 3
        del theirs

    def look(self):
        i = self.rng.randrange(6)
        np.testing.assert_array_equal(self.got[i].asnumpy(), self.want[i])

    def free(self):
        """Memory whose last use is under way goes back, and further."""
        i, j = self.pick()
        dropped = [self.got[i] * k + self.got[j] for k in range(8)]
        del dropped
        if self.rng.random() < 0.2:
            la.storage.trim(self.gpu)


def round_of(seed, threads, steps, n):
    """All threads' programs, at the same time; raises what one of them raises."""
    numbers = np.random.default_rng(seed).integers(-9, 9, (3, n), dtype=np.int32)
    common = [(la.array(x, ctx=la.gpu(0)), x) for x in numbers]
    wrong = []

    def run(k):
        try:
            Program(seed * 100 + k, n, common).run(steps)
        except BaseException as exc:
            exc.add_note(f"thread {k} of seed {seed}, n = {n}")
            wrong.append(exc)

    running = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if wrong:
        raise wrong[0]
    la.waitall()


def memory():
    """Bytes in use, by whose count, once all that nobody needs was given back."""
    import cupy

    la.waitall()
    gc.collect()
    gpu = la.gpu(0)
    la.storage.trim(gpu)
    with cupy.cuda.Device(0):
        pool = cupy.get_default_memory_pool()
        pool.free_all_blocks()
        free, total = la.context.memory_info(gpu)
        ours = la.storage.pool_stats(gpu)["in_use"]
        return {"ours": ours, "CuPy's": pool.used_bytes(), "the device's": total - free,
                "the host's": resident()}  # fmt: skip


def resident():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


# What may be left over after any number of rounds; kernels and the interpreter have caches.
SLACK = {"ours": 0, "CuPy's": 0, "the device's": 64 * MIB, "the host's": 128 * MIB}


def bare():
    """Each block of its own from the driver, so that a tool sees where it ends."""
    import cupy

    from lazyarray.lazy.cuda import services, views

    def allocate(number, stream, nbytes):
        with views.on(number, stream):
            memory = cupy.cuda.Memory(nbytes)
        return memory.ptr, memory

    services.allocate = allocate


def main():
    global SLOW
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=60, help="of a thread in a round")
    parser.add_argument("--size", type=int, default=1 << 16, help="elements, times 16")
    parser.add_argument("--slow", type=int, default=SLOW, help="rows of the product that delays")
    parser.add_argument("--bare", action="store_true", help="no pool between us and the driver")
    args = parser.parse_args()
    SLOW = args.slow
    if not la.gpu_count():
        sys.exit("the stress program needs a GPU: there is none, or CuPy is missing")
    if args.bare:
        bare()
    few = min(4, args.rounds)  # rounds that fill the caches
    n = args.size // 16 * 16
    before = {}
    start = time.monotonic()
    for k in range(args.rounds + few):
        if k == few:
            before = memory()
        round_of(args.seed + k, args.threads, args.steps, n)
    after = memory()
    leaks = {what: after[what] - before[what] for what in before}
    grown = {what: by for what, by in leaks.items() if by > SLACK[what]}
    text = ", ".join(f"{what} {by / MIB:+.1f}" for what, by in leaks.items())
    print(f"{args.rounds} rounds of {args.threads} threads in {time.monotonic() - start:.1f} s; "
          f"memory in use, MiB: {text}")  # fmt: skip
    if grown:
        sys.exit(f"memory leaked: {', '.join(grown)}")


if __name__ == "__main__":
    main()
