"""Random engine workloads equal a serial model, on every engine and number of workers.

A program is a list of steps over a few slots, each slot a variable and a value. The model runs at
once what is pushed: what each op computes, what it poisons, what is skipped. Every op mixes its
inputs in an order-sensitive way, so that a wrong order anywhere changes the final values.
"""

import functools
import graphlib
import itertools
import queue
import random
import threading
import time
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lazyarray import engine
from lazyarray.engine import FnProperty

THREADED = ("ThreadedEnginePooled", "ThreadedEnginePerDevice")
KINDS = ("NaiveEngine", *THREADED)
DEVICES = (engine.Device("cpu", 0), engine.Device("cpu", 1))
PROPS = tuple(
    getattr(FnProperty, name)
    for name in "NORMAL COPY_FROM_GPU COPY_TO_GPU CPU_PRIORITIZED GPU_PRIORITIZED ASYNC".split()
)
ACTIONS = ("run", "run", "run", "nest", "operator", "async", "fail", "async_fail")
ACTIONS += ("watch", "delete", "wait")
MOD = (1 << 61) - 1


class Step(NamedTuple):
    action: str
    reads: tuple = ()
    writes: tuple = ()
    prop: int = 0
    priority: int = 0
    device: int = 0
    pause: bool = False


class Boom(Exception):
    """The failure of the op whose number it carries."""


class Cell:
    """A variable with its value, and what the model knows of it."""

    def __init__(self, e, start):
        self.var, self.value = e.new_variable(), start
        self.model, self.poison, self.writes = start, frozenset(), 0


def mix(number, reads, old):
    return functools.reduce(lambda h, x: (h * 1000003 + x) % MOD, reads, old * 31 + number)


class Program:
    """Pushes steps to an engine and models them; check() compares when all has been pushed."""

    def __init__(self, e, n_slots, finish, *, base=0, shared=()):
        self.e, self.finish, self.base = e, finish, base
        self.naive = type(e).__name__ == "NaiveEngine"
        self.cells = [Cell(e, base + i) for i in range(n_slots)]
        self.shared = list(shared)  # cells that steps may read, and nobody writes
        self.total, self.total_var = [0], e.new_variable()  # what nested ops add to
        self.model_total, self.nested = 0, 0
        self.deleted, self.model_deleted = [], []
        self.watched, self.model_watched = {}, {}
        self.failed, self.seen = set(), set()
        self.number = base

    # ---- what runs in the engine ------------------------------------------------------------

    def compute(self, number, reads, writes, pause):
        values = [c.value for c in reads]
        if pause:
            time.sleep(0.0002)
        for j, c in enumerate(writes):
            c.value = mix(number + j, values, c.value)

    def add(self, number):
        self.total[0] += number

    # ---- pushing ----------------------------------------------------------------------------

    def run(self, steps):
        for step in steps:
            self.number += 1
            getattr(self, "do_" + step.action)(self.number, step)

    def sets(self, step):
        pool = self.cells + self.shared
        reads = [pool[i % len(pool)] for i in step.reads]
        writes = [self.cells[i % len(self.cells)] for i in step.writes]
        return reads, writes

    def push(self, method, fn, number, step, reads, writes, *, fails=False):
        """Push, and return whether the model says that it runs."""
        args = [c.var for c in reads], [c.var for c in writes]
        unique = list(dict.fromkeys(writes))
        poison = frozenset().union(*(c.poison for c in reads + writes))
        expected = poison or ({number} if fails else ())
        try:
            getattr(self.e, method)(
                fn,
                DEVICES[step.device],
                *args,
                PROPS[step.prop],
                step.priority,
                f"op {number}",
            )
        except Boom as boom:
            assert self.naive and boom.args[0] in expected
            self.seen.add(boom.args[0])
        else:
            assert not (self.naive and fails and not poison), "the naive engine raises here"
        for c in unique:
            c.writes += 1
            if expected:
                c.poison = frozenset(expected)
        if poison:
            return False
        if fails:
            self.failed.add(number)
        return True

    def model_compute(self, number, reads, writes):
        values = [c.model for c in reads]
        for j, c in enumerate(writes):
            c.model = mix(number + j, values, c.model)

    def do_run(self, number, step):
        reads, writes = self.sets(step)
        writes = list(dict.fromkeys(writes))
        fn = lambda rc: self.compute(number, reads, writes, step.pause)  # noqa: E731
        if self.push("push_sync", fn, number, step, reads, writes):
            self.model_compute(number, reads, writes)

    def do_nest(self, number, step):
        """Half-way through, the op pushes others, of a variable that it does not hold."""
        reads, writes = self.sets(step)
        writes = list(dict.fromkeys(writes))

        def fn(rc):
            for k in range(3):
                self.e.push_sync(
                    lambda rc, k=k: self.add(number + k),
                    DEVICES[k % 2],
                    (),
                    (self.total_var,),
                    PROPS[(step.prop + k) % len(PROPS)],
                )
            self.compute(number, reads, writes, step.pause)

        if self.push("push_sync", fn, number, step, reads, writes):
            self.model_compute(number, reads, writes)
            self.model_total += 3 * number + 3
            self.nested += 3

    def do_operator(self, number, step):
        reads, writes = self.sets(step)
        writes = list(dict.fromkeys(writes))
        op = self.e.new_operator(
            lambda rc: self.compute(number, reads, writes, step.pause),
            [c.var for c in reads],
            [c.var for c in writes],
            PROPS[step.prop],
            f"op {number}",
        )
        poison = frozenset().union(*(c.poison for c in reads + writes))
        for _ in range(2):
            try:
                self.e.push(op, DEVICES[step.device], step.priority)
            except Boom as boom:
                assert self.naive and boom.args[0] in poison
            for c in writes:
                c.writes += 1
                c.poison = poison or c.poison
            if not poison:
                self.model_compute(number, reads, writes)
        self.e.delete_operator(op)

    def do_async(self, number, step, error=None):
        reads, writes = self.sets(step)
        writes = list(dict.fromkeys(writes))

        def complete(on_complete):
            if error is None:
                self.compute(number, reads, writes, step.pause)
            on_complete(error)

        def fn(rc, on_complete):
            if step.pause:
                complete(on_complete)
            else:
                self.finish(complete, on_complete)

        fails = error is not None
        if self.push("push_async", fn, number, step, reads, writes, fails=fails) and not fails:
            self.model_compute(number, reads, writes)

    def do_async_fail(self, number, step):
        self.do_async(number, step, error=Boom(number))

    def do_fail(self, number, step):
        def fn(rc):
            raise Boom(number)

        self.push("push_sync", fn, number, step, *self.sets(step), fails=True)

    def do_watch(self, number, step):
        """Reads whatever is there, poisoned or not."""
        reads, _ = self.sets(step)

        def fn(rc):
            self.watched[number] = [c.value for c in reads]

        try:
            self.e.push_sync(
                fn, DEVICES[step.device], [c.var for c in reads], (), FnProperty.NO_SKIP
            )
        except Boom as boom:
            assert self.naive and any(boom.args[0] in c.poison for c in reads)
        self.model_watched[number] = [c.model for c in reads]

    def do_delete(self, number, step):
        """The slot gets a new variable; the old one's last value is seen by its deletion."""
        if not step.writes:
            return
        i = step.writes[0] % len(self.cells)
        cell, self.cells[i] = self.cells[i], Cell(self.e, number)
        self.e.delete_variable(
            lambda rc: self.deleted.append((number, cell.value)), DEVICES[step.device], cell.var
        )
        self.model_deleted.append((number, cell.model))

    def do_wait(self, number, step):
        if step.writes:
            self.check_cell(self.cells[step.writes[0] % len(self.cells)])

    # ---- comparing --------------------------------------------------------------------------

    def check_cell(self, cell):
        raised = None
        try:
            self.e.wait_for_var(cell.var)
        except Boom as boom:
            raised = boom.args[0]
            self.seen.add(raised)
        assert raised in cell.poison if cell.poison else raised is None
        assert cell.value == cell.model
        assert cell.var.version == cell.writes

    def check(self, *, alone=True):
        """After all pushes. alone: no other program shares the engine's list of errors."""
        raised = None
        try:
            self.e.wait_for_all()
        except Boom as boom:
            raised = boom.args[0]
        if alone and not self.naive:
            unseen = self.failed - self.seen
            assert raised == (min(unseen) if unseen else None), "the first that no wait raised"
            self.e.wait_for_all()  # and once only
        for cell in self.cells:
            self.check_cell(cell)
        self.e.wait_for_var(self.total_var)
        assert self.total[0] == self.model_total
        assert self.total_var.version == self.nested
        assert sorted(self.deleted) == self.model_deleted
        assert self.watched == self.model_watched


def random_steps(seed, n, n_slots, actions=ACTIONS):
    rng = random.Random(seed)

    def some(most):
        return tuple(rng.randrange(n_slots) for _ in range(rng.randrange(most + 1)))

    return [
        Step(
            rng.choice(actions),
            some(4),
            some(3),
            rng.randrange(len(PROPS)),
            rng.randrange(-3, 4),
            rng.randrange(2),
            rng.random() < 0.1,
        )
        for _ in range(n)
    ]


steps_strategy = st.lists(
    st.builds(
        Step,
        st.sampled_from(ACTIONS),
        st.lists(st.integers(0, 3), max_size=3).map(tuple),
        st.lists(st.integers(0, 3), max_size=3).map(tuple),
        st.integers(0, len(PROPS) - 1),
        st.integers(-3, 3),
        st.integers(0, 1),
        st.booleans(),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def finish():
    """finish(fn, arg) calls it in one of two threads that belong to no engine."""
    todo = queue.SimpleQueue()

    def run():
        while (job := todo.get()) is not None:
            job[0](job[1])

    threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    yield lambda fn, arg: todo.put((fn, arg))
    for _ in threads:
        todo.put(None)


WORKERS = [("NaiveEngine", None), *((kind, n) for kind in THREADED for n in (1, 2, 3, 4))]


@pytest.mark.parametrize("kind, workers", WORKERS)
@pytest.mark.parametrize("seed", range(3))
def test_seeded_programs(kind, workers, seed, make_engine, finish):
    n_slots = (3, 8, 40)[seed]
    program = Program(make_engine(kind, workers), n_slots, finish)
    program.run(random_steps(seed, 400, n_slots))
    program.check()


@pytest.mark.parametrize("kind, workers", WORKERS)
def test_seeded_programs_without_failures(kind, workers, make_engine, finish):
    """Failures soon poison a small program whole; this one computes to its end."""
    actions = [a for a in ACTIONS if "fail" not in a]
    program = Program(make_engine(kind, workers), 6, finish)
    program.run(random_steps(11, 800, 6, actions))
    program.check()
    assert not program.failed


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=steps_strategy, kind=st.sampled_from(KINDS), workers=st.integers(1, 4))
def test_any_program(steps, kind, workers, finish):
    cls = getattr(engine, kind)
    e = cls() if kind == "NaiveEngine" else cls(num_workers=workers)
    program = Program(e, 4, finish)
    program.run(steps)
    program.check()
    e.stop()


@pytest.mark.parametrize("kind, workers", WORKERS)
def test_several_pushing_threads(kind, workers, make_engine, finish, spawn):
    """Each thread has its own slots, reads shared ones, and shares workers and errors."""
    e = make_engine(kind, workers)
    shared = [Cell(e, 1000 + i) for i in range(3)]
    programs = [Program(e, 4, finish, base=10000 * (t + 1), shared=shared) for t in range(3)]
    threads = [
        spawn(program.run, random_steps(100 + t, 150, 7)) for t, program in enumerate(programs)
    ]
    for thread in threads:
        thread.finish()
    for program in programs:
        program.check(alone=False)


@pytest.mark.parametrize("kind, workers", WORKERS)
def test_threads_that_share_slots_in_one_order(kind, workers, make_engine, finish, spawn):
    """A lock makes the push order known; everything else is shared."""
    e = make_engine(kind, workers)
    program, lock = Program(e, 5, finish), threading.RLock()
    actions = [a for a in ACTIONS if a != "wait"]

    def push(seed):
        for step in random_steps(seed, 120, 5, actions):
            with lock:
                program.run([step])

    for thread in [spawn(push, 200 + t) for t in range(3)]:
        thread.finish()
    program.check()


@pytest.mark.parametrize("kind, workers", WORKERS)
@pytest.mark.parametrize("n_vars", [2, 5])
def test_unlocked_threads_are_serializable(kind, workers, n_vars, make_engine, spawn):
    """Each push is atomic: some one order of all ops explains what every variable saw.

    Every op notes, per variable, which writers came before it. The orders of the variables and
    of the threads together must have no cycle, and no op may see a variable change under it.
    """
    e = make_engine(kind, workers)
    vs = [e.new_variable() for _ in range(n_vars)]
    writers = [[] for _ in vs]  # per variable, the ops that wrote it, in order
    readers = [[] for _ in vs]  # per variable, (op, number of writers before it)
    active = [[0, 0] for _ in vs]  # per variable, running readers and writers
    torn = []

    lock = threading.Lock()  # two readers of one variable may meet at its count

    def run(op, reads, writes):
        for v in reads:
            with lock:
                active[v][0] += 1
        if any(active[v][1] for v in reads):
            torn.append(op)
        before = [len(writers[v]) for v in reads]
        for v in writes:
            with lock:
                active[v][1] += 1
            if active[v] != [0, 1]:
                torn.append(op)
        if op[1] % 8 == 0:
            time.sleep(0.0001)
        if before != [len(writers[v]) for v in reads]:
            torn.append(op)
        for v, n in zip(reads, before, strict=True):
            readers[v].append((op, n))
        for v in writes:
            writers[v].append(op)
            with lock:
                active[v][1] -= 1
        for v in reads:
            with lock:
                active[v][0] -= 1

    def push(t):
        rng = random.Random(t)
        for i in range(150):
            chosen = rng.sample(range(n_vars), rng.randrange(1, min(n_vars, 4) + 1))
            cut = rng.randrange(len(chosen) + 1)
            reads, writes = chosen[:cut], chosen[cut:]
            e.push_sync(
                lambda rc, op=(t, i), r=reads, w=writes: run(op, r, w),
                DEVICES[rng.randrange(2)],
                [vs[v] for v in reads],
                [vs[v] for v in writes],
            )

    for thread in [spawn(push, t) for t in range(3)]:
        thread.finish()
    e.wait_for_all()
    assert torn == []
    assert [v.version for v in vs] == [len(w) for w in writers]

    after = graphlib.TopologicalSorter()
    for t in range(3):
        for i in range(149):
            after.add((t, i + 1), (t, i))
    for wrote, read in zip(writers, readers, strict=True):
        for a, b in itertools.pairwise(wrote):
            after.add(b, a)
        for op, n in read:
            if n:
                after.add(op, wrote[n - 1])
            if n < len(wrote):
                after.add(wrote[n], op)
    assert len(list(after.static_order())) == 450
