# distutils: language = c++
"""Collectives on their way: their states, and the line in which they wait for the communication thread.

A thread that waits for a collective brings it on itself: of a large one the agreement of the ranks, of
a small one all, which saves two changes of threads. It gives it to the communication thread if others
keep it waiting, and for what may block. Nothing here is interpreted: a handler of signals, which may
raise, is never called between a call of MPI's and the note of it. NumPy may call one, so each step can
be taken again.
"""

cimport cython
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

import collections
import queue
import threading
import time

import numpy as np

from lazyarray.engine._engine cimport (
    CEngine, Device, OnComplete, RunContext, Var, process_engine, raise_later,
)
from lazyarray.lazy._lazy cimport Tensor
from lazyarray.engine import FnProperty
from lazyarray.engine._engine import check_methods, line_text
from lazyarray.lazy._lazy import stream_of_thread


cdef extern from "distributed/bell.h" namespace "lazyarray" nogil:
    cdef cppclass Bell:
        void ring(int64_t)
        void cancel()
        cbool sleep(int64_t)


# An entry's states, before it is done or failed.
UNREADY = "waits for its arrays"
QUEUED = "waits for the communication thread"
WAITING = "waits for other ranks"
UNDER_WAY = "moves data"  # while the backend blocks

AGREEING, MOVING, OVER, AGREED, DIFFERS = 1, 2, 3, 4, 5
cdef enum:
    BEGUN, C_AGREEING, C_MOVING, C_OVER, C_AGREED, C_DIFFERS

# For which what a waiter may bring on is left to it, and for which it tries.
cdef int64_t LEFT = 300_000, TRIES = 300_000

cdef object monotonic = time.monotonic
cdef object get_ident = threading.get_ident, main_thread = threading.main_thread().ident
cdef object divide = np.true_divide, errstate = np.errstate
cdef object copy_of = np.ndarray.copy
cdef object no_skip = FnProperty.NO_SKIP
cdef str queued = QUEUED, waiting = WAITING


cdef list _given_up = []


@cython.final
cdef class Entry:
    """A collective that was issued: ``number`` counts those of its communicator, 0 for messages.

    ``order`` counts all that this rank has issued, of all communicators, which share one thread.
    """

    cdef readonly str comm, text
    cdef readonly object number, order, line
    cdef readonly tuple ranks   # whom it waits for, in the world's numbers
    cdef public str lines       # that led to the call, where ranks compare them
    cdef public str state
    cdef public double since

    def __init__(self, str comm, number, order, str text, line, tuple ranks):
        self.comm, self.number, self.order, self.text, self.line = comm, number, order, text, line
        self.ranks, self.lines = ranks, ""
        self.becomes(UNREADY)

    @property
    def where(self):
        """The user's line that issued it."""
        return line_text(self.line)

    cpdef becomes(self, str state):
        self.state, self.since = state, monotonic()

    def told(self):
        """As another rank gets it."""
        return {
            "comm": self.comm,
            "number": self.number,
            "order": self.order,
            "text": self.text,
            "where": self.where,
            "state": self.state,
            "ranks": list(self.ranks),
            "seconds": monotonic() - self.since,
        }


@cython.final
cdef class Agreement:
    """What a group's ranks agree by before each collective: one reduction, prepared once.

    ``mine`` and ``all`` are its buffers: [mark, -mark, failed], and their greatest. ``request`` has
    MPI's ``Start`` and ``Test``. One collective of a group is on its way at a time, so the buffers
    need no lock. A collective that is given up leaves it ``busy``, for ever.
    """

    cdef int64_t[::1] mine, all
    cdef readonly object request
    cdef readonly bint busy

    def __init__(self, mine, all, request):
        self.mine, self.all, self.request = mine, all, request


@cython.final
cdef class Repeated:
    """A request that starts anew each time: where MPI has none that is prepared."""

    cdef object begins, arguments, request

    def __init__(self, begins, *arguments):
        self.begins, self.arguments = begins, arguments

    def Start(self):
        self.request = self.begins(*self.arguments)

    def Test(self):
        return self.request.Test()


def on_host(Tensor x not None):
    """Whether an array is in memory that MPI can read."""
    return x.v.on_host()


def is_profiled():
    """Whether the profiler runs."""
    return process_engine().c.profiling()


def is_writable(Tensor x not None):
    """Whether results may be written to it."""
    return not x.v.readonly


cdef class Task:
    """A collective whose arrays are ready: what there is to do, and whom to tell of its end.

    ``mark`` is a number that is the same on all ranks that call the same; None for messages, about
    which nobody agrees. ``small``: what to reduce, and how, if it is so little that it is not worth
    another thread: ((source, target) or None, MPI's type, MPI's op, divisor or None).
    """

    cdef readonly object comm, mark, work, request, failure
    cdef readonly Entry entry
    cdef readonly object stream  # of an op on a GPU: where its work goes
    cdef readonly RunContext run_ctx
    cdef readonly list inputs
    cdef readonly int state
    cdef bint pushing
    cdef object begins, small, buffer
    cdef Agreement agreement
    cdef list outputs, given
    cdef dict own_, views
    cdef OnComplete done
    cdef Line line

    def __init__(self, Line line, comm, entry, mark, inputs, outputs, work, small):
        self.line, self.comm, self.entry, self.mark, self.work = line, comm, entry, mark, work
        self.begins = comm.backend.begins
        self.small = small
        self.given, self.outputs = inputs, outputs
        # Of the arrays as they are now: a backward pass gives `x.grad` other memory.
        self.own_ = {}
        self.inputs = []  # whose values are needed
        for x in inputs:
            own = self.own_[id(x)] = x.detach()
            self.inputs.append(own)
        for x in outputs:
            if id(x) not in self.own_:
                self.own_[id(x)] = x.detach()
        self.state = BEGUN

    def push(self, Device place, Var channel, str name):
        """Has the engine start it when its arrays are ready: it writes the channel, and its results.

        Whether one of the arrays shares its memory with others, who look at it when this returns.
        """
        cdef list reads = [], writes = [channel], overwrites = []
        cdef bint lent = False
        cdef Var var
        for x in self.given:
            var = x.var
            lent = lent or var.c.exports.load() != 0
            reads.append(var)
        for x in self.outputs:
            var = x.var
            lent = lent or var.c.exports.load() != 0
            if var in reads or not x._whole():
                if var not in writes:  # each use counts as a write
                    writes.append(var)
            elif var not in overwrites:
                overwrites.append(var)
        self.given = self.outputs = None
        const = tuple([v for v in reads if v not in writes])
        whole = tuple([v for v in overwrites if v not in writes])
        self.pushing = True
        try:
            process_engine().push_callable(
                self.starts, place, const, tuple(writes), whole, no_skip, 0, name, True, True
            )
        finally:
            self.pushing = False
        return lent

    def starts(self, RunContext run_ctx, OnComplete done):
        """What the engine calls when the arrays are ready."""
        self.run_ctx, self.done = run_ctx, done
        if run_ctx.ctx.c.has_streams():
            try:  # here, where this thread's stream is the op's: memory is allocated for it
                self.views = {key: run_ctx.cupy(x) for key, x in self.own_.items()}
                self.stream = stream_of_thread(run_ctx.ctx.device_id)
            except BaseException as error:  # the other ranks are told
                self.failure = error
        self.line.put(self)

    cpdef ends(self, error=None):
        """Ends the op, once; whoever comes later does nothing."""
        cdef OnComplete done
        done, self.done = self.done, None  # at once: under the GIL
        if done is not None:
            self.entry.becomes("failed" if error is not None else "done")
            done(error)

    def own(self, x):
        """What the array was when the collective was called."""
        return self.own_[id(x)]

    def view(self, x):
        """The memory of what the array was: NumPy's array, CuPy's on a GPU."""
        if self.views is not None:
            return self.views[id(x)]
        return self.run_ctx.numpy(self.own_[id(x)])

    cdef object find_failure(self):
        """What is wrong with the inputs."""
        cdef Var var
        for x in self.inputs:
            var = x.var
            if var.c.error.load() is NULL:
                continue
            try:
                process_engine()._hand_on(var)
            except BaseException as error:
                return error
        return None

    def gives_up(self):
        """What MPI may still write to is kept for ever."""
        if self.request is not None:
            _given_up.append((self.request, self.agreement, self.buffer))

    cpdef int advance(self) except -1:
        """Brings it on as far as that goes without waiting; the state that it has got to.

        AGREEING and MOVING: call again. AGREED: the rest is ``work``. DIFFERS: the ranks do not
        call the same, or some have no values.
        """
        if self.state == BEGUN:
            self.failure = self.failure or self.find_failure()
            self.entry.becomes(waiting)
            self.line.current(self.entry)
            if self.mark is None or self.begins is None:
                self.state = C_AGREED
                return self.state
            self.agree()
        if self.state == C_AGREEING:
            if not self.request.Test():  # one that is over stays so
                return self.state
            self.agreement.busy = False
            self.agreed()
        if self.state == C_MOVING and self.request.Test():
            self.moved()
        return self.state

    cdef int agree(self) except -1:
        """Begins the agreement."""
        cdef int64_t mark = self.mark
        cdef Agreement a = self.comm.backend.agreement()
        a.mine[0], a.mine[1], a.mine[2] = mark, -mark, self.failure is not None
        self.agreement = a
        a.request.Start()
        # From here on to the end nothing is interpreted, and nothing fails.
        a.busy = True
        self.request = a.request
        self.state = C_AGREEING
        return 0

    cdef int agreed(self) except -1:
        """The next state, now that all are there."""
        cdef Agreement a = self.agreement
        cdef bint same = a.all[0] == -a.all[1] and not a.all[2]
        if same and self.small is not None and self.small[0] is not None:
            return self.move()
        self.request = None
        self.state = C_DIFFERS if not same else C_AGREED if self.small is None else C_OVER
        return 0

    cdef int move(self) except -1:
        """Begins the reduction of a copy: whatever becomes of it, MPI writes to no user's memory."""
        (x, _), kind, op, _ = self.small
        self.buffer = copy_of(self.view(x))
        self.request = self.begins(self.comm.backend.in_place, [self.buffer, self.buffer.size, kind], op)
        self.state = C_MOVING
        return 0

    cdef int moved(self) except -1:
        (_, to), _, _, divisor = self.small
        result = self.buffer
        if divisor is not None:
            with errstate(all="ignore"):  # as where the communication thread divides
                result = divide(self.buffer, divisor)
        self.view(to)[...] = result
        self.state, self.request = C_OVER, None
        return 0


@cython.final
cdef class Line:
    """What waits for the communication thread: tasks, and (function, answer)."""

    cdef Bell bell
    cdef readonly object items
    cdef public Task task       # what is done now
    cdef public object over     # why nothing runs any more
    cdef readonly int brought   # tasks that waiters ended
    cdef readonly int in_turn   # tasks that began as the thread ended the one before
    cdef object ledger, lost, left, thread
    cdef bint helped            # waiters call MPI, too

    def __init__(self, ledger, lost, left):
        self.items = collections.deque()
        self.ledger, self.lost, self.left = ledger, lost, left

    cdef int current(self, entry) except -1:
        self.ledger.current = entry
        self.ledger.begun.append(entry)
        return 0

    def call(self, item):
        """Puts what is no task."""
        self.items.append(item)
        self.bell.ring(0)

    cpdef put(self, Task task):
        cdef CEngine* engine = process_engine().c
        cdef bint waited = False
        task.entry.becomes(queued)
        if self.over is not None:
            task.ends(self.over)
            return
        self.items.append(task)
        if get_ident() == self.thread:  # which has ended the one before, and comes for it at once
            self.in_turn += 1
        # Of large ones only the agreement: that pays where its thread would soon wait, and is awake.
        elif (task.pushing or task.small is not None) and self.helps(task) and not engine.profiling():
            waited = task.done.offer()
            self.bell.ring(LEFT if waited or task.pushing else 0)
        else:
            self.bell.ring(0)
        if self.over is not None:  # meanwhile: nobody looks any more
            self.fail()

    cdef bint helps(self, Task task):
        return (self.helped and task.mark is not None and task.begins is not None
                and not self.lost and not self.left)

    def fail(self):
        """Ends all that waits."""
        while self.items:
            item = self.items.popleft()
            if isinstance(item, Task):
                (<Task>item).ends(self.over)
            elif item is not None:
                item[1].put((False, self.over))

    def get(self, double timeout=-1):
        """The next one; queue.Empty after ``timeout`` seconds."""
        cdef int64_t limit = -1 if timeout < 0 else <int64_t>(timeout * 1e9)
        cdef bint rung = True
        self.thread = get_ident()
        while not self.items:
            if not rung and limit >= 0:
                raise queue.Empty
            with nogil:
                rung = self.bell.sleep(limit)
        return self.items.popleft()

    cdef int serve(self) except -1:
        """For a thread that waits: brings the first one on, for a while."""
        if not self.items or self.over is not None or not isinstance(self.items[0], Task):
            return 0
        if not self.helps(self.items[0]):
            return 0
        cdef Task task = self.items.popleft()
        cdef int64_t end = process_engine().c.now() + TRIES
        cdef int state = task.state
        self.bell.cancel()
        if self.items:
            self.bell.ring(0)
        self.task = task
        try:
            state = task.advance()
            while (state == C_AGREEING or state == C_MOVING) and process_engine().c.now() < end:
                state = task.advance()
        except BaseException as error:  # the communication thread tries again, undisturbed
            state = C_AGREEING
            if get_ident() == main_thread:  # a signal's handler's
                raise_later(error)
        if state == C_OVER:
            self.ledger.current = None
            self.task = None
            self.brought += 1
            task.ends()
            return 0
        self.items.appendleft(task)
        self.bell.ring(0)
        if self.over is not None:
            self.fail()
        return 0


cdef Line _line = None


cdef void assist() noexcept nogil:
    with gil:
        if _line is not None:
            _line.serve()


def let_waiters_help(Line line):
    """From now on threads that wait bring on what stands in the line; None: no more."""
    global _line
    _line = line
    if line is not None:
        line.helped = True
        process_engine().c.set_assist(assist)


check_methods(globals())
