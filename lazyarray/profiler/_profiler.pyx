# distutils: language = c++
"""The profiler's native side: what is profiled, and what a recording makes of it."""

import errno
import os
import sys
import threading

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from lazyarray.engine._engine cimport (
    OK,
    SPAN_EVENT,
    SPAN_FRAME,
    SPAN_MARKER,
    SPAN_TASK,
    PROFILE_COUNTERS,
    PROFILE_OPS,
    PROFILE_SCOPES,
    CDevice,
    CEngine,
    SpanKind,
    Status,
    ProfileBlockPtr,
    ProfileSample,
    ProfileSpan,
    WorkerName,
    intern_name,
    note_wait,
    poll_signals,
    process_engine,
    sites,
    this_thread,
)
from lazyarray.storage._storage cimport store

from lazyarray.engine._engine import check_methods
from lazyarray.lazy.cpu.jit import thread as compiler


cdef extern from "<unordered_map>" namespace "std" nogil:
    cdef cppclass unordered_map[K, V]:
        V& operator[](const K&) except +


cdef extern from "profiler/ledger.h" namespace "lazyarray" nogil:
    cdef cppclass Sum:
        int64_t count, ns, least, most, moved, ops
    cdef cppclass CounterSum:
        int64_t count
        double last, least, most
    cdef cppclass ThreadSum:
        int64_t waited, ran_in_waits, ran, inline_ns, inlined
    cdef cppclass WorkerSum:
        int64_t busy, ran, joined
    cdef cppclass Key "lazyarray::Totals::Key":
        const char* name
        uint32_t site
        int kind
    cdef cppclass Totals:
        Totals()
        vector[pair[Key, Sum]] rows() except +
        vector[pair[string, CounterSum]] counter_rows() except +
        vector[pair[uint64_t, ThreadSum]] thread_rows() except +
        vector[pair[int, WorkerSum]] worker_rows() except +
        Sum inputs, workers_wait
        uint64_t markers
    cdef cppclass PageFile:
        int open(const char*, const string&, const char*) except +
        cbool is_open()
        void close()
    cdef cppclass Ledger:
        Ledger(int64_t, int, cbool) except +
        PageFile file
        Totals totals
        # Of bytes: what Cython would make strings of them by is not ready for a lack of memory.
        void name_site(const char*, const char*) except +
        void name_thread(uint64_t, const char*) except +
        unordered_map[uint64_t, string] thread_names
        vector[WorkerName] worker_names
        uint64_t lost
        string head(const char*) except +
        int enter(const vector[ProfileBlockPtr]&)
        int finish()


EVENT, TASK, FRAME, MARKER = <int>SPAN_EVENT, <int>SPAN_TASK, <int>SPAN_FRAME, <int>SPAN_MARKER
cdef tuple _KINDS = ("operator", "inline", "wait", "event", "task", "frame")  # of Totals


# ---- what is profiled ----------------------------------------------------------------------------


cdef int64_t _begun = 0  # when profiling began, but for pauses


def profile(bint operators, bint counters, bint anew):
    """Starts what the process's engine profiles, or goes on; waits and users' scopes always.

    ``anew``: what users named before counts from now on.
    """
    global _begun
    cdef int what = PROFILE_SCOPES
    process_engine().flush()
    if anew:
        _begun = process_engine().c.now()
    if operators:
        what |= PROFILE_OPS
    if counters:
        what |= PROFILE_COUNTERS
    process_engine().c.profile().set(what)
    _note_memory()


def profile_off():
    """Ends it; what was collected stays for the next :meth:`Recording.drain`."""
    _note_memory()
    process_engine().c.profile().set(0)


def profiled():
    """Whether anything is profiled now."""
    return process_engine().c.profiling()


def full_blocks():
    """How much was collected since the last drain, in blocks of 8192 entries."""
    return process_engine().c.profile().full()


def settle():
    """Waits for everything pushed so far, without raising what failed; false where it can't."""
    process_engine().flush()
    cdef CEngine* c = process_engine().c
    cdef Status status
    interrupt = []
    cdef void* arg = <void*>interrupt
    cdef int64_t start = c.now()
    with nogil:
        status = c.wait_for_all(poll_signals, arg, -1)
    note_wait(c, "the profiler's stop", start)
    if interrupt:
        raise interrupt[0]
    return status == OK


def now():
    """The profile's clock, in nanoseconds."""
    return process_engine().c.now()


def here():
    """The number of the user's line that runs now; 0 while nothing is profiled."""
    return sites().here() if process_engine().c.profiling() else 0


def note_span(int kind, str name, str domain, int64_t start, int64_t end, uint32_t site):
    """Notes what a user named; nothing while profiling is off."""
    cdef CEngine* c = process_engine().c
    cdef ProfileSpan s
    if not c.profiling():
        return
    s.kind = <SpanKind>kind
    s.name = _interned(name)
    s.domain = _interned(domain)
    s.start, s.end, s.site = max(start, _begun), end, site
    s.thread = this_thread()
    s.worker = c.current_worker()
    c.profile().add(s)


def note_counter(str name, str domain, double value):
    """Notes the value of a user's counter."""
    if process_engine().c.profiling():
        _note(_interned(name), _interned(domain), value)


cdef const char* _interned(str text) except NULL:
    return intern_name(text.replace("\0", "\ufffd").encode("utf-8", "replace"))  # it ends at a NUL


cdef int _note(const char* name, const char* domain, double value) except -1:
    cdef CEngine* c = process_engine().c
    cdef ProfileSample s
    s.name, s.domain, s.when, s.value = name, domain, c.now(), value
    c.profile().add(s)
    return 0


cdef int _note_memory() except -1:
    cdef CEngine* c = process_engine().c
    cdef CDevice cpu
    if c.profile().on(PROFILE_COUNTERS):
        _note("pool memory in use", "cpu(0)", store().pool(cpu).stats().in_use)
    return 0


# ---- what becomes of it ----------------------------------------------------------------------------




cdef class Recording:
    """What a profile collects: its totals, and its file. One thread at a time uses it."""

    cdef Ledger* ledger
    cdef size_t told  # how many sites the ledger knows
    cdef readonly str filename
    cdef readonly bint sums

    def __cinit__(self, str filename, str tail, bint sums):
        self.filename = filename
        self.sums = sums
        self.ledger = new Ledger(process_engine().c.now(), os.getpid(), sums)
        process_engine().c.profile().take()  # of an earlier one
        process_engine().c.profile().take_lost()
        name = f"lazyarray: {os.path.basename(sys.argv[0] or 'python') if sys.argv else 'python'}"
        self.check(self.ledger.file.open(filename.encode("utf-8", "surrogateescape"),
                                         self.ledger.head(name.encode("utf-8", "replace")),
                                         tail.encode()))

    def __dealloc__(self):
        del self.ledger

    cdef int check(self, int error) except -1:
        if error == 0:
            return 0
        self.ledger.file.close()
        if error == errno.EWOULDBLOCK:
            raise BlockingIOError(error, "another recording writes this file", self.filename)
        if error == errno.ENOMEM:
            raise MemoryError(f"the recording {self.filename!r} ends")
        raise OSError(error, os.strerror(error), self.filename)

    def drain(self):
        """Enters what was collected, and writes it to the file. OSError if that fails, once."""
        _note_memory()
        cdef Ledger* ledger = self.ledger
        cdef CEngine* c = process_engine().c
        self.tell_names()
        cdef vector[ProfileBlockPtr] blocks = c.profile().take()
        cdef int error
        ledger.lost += c.profile().take_lost()
        with nogil:
            error = ledger.enter(blocks)
            blocks.clear()
        return self.check(error)

    cdef int tell_names(self) except -1:
        cdef vector[WorkerName] names
        while self.told < sites().size():
            place = _place(self.told + 1)
            self.ledger.name_site(
                f"{place[0]}:{place[1]} in {place[2]}".encode("utf-8", "replace"),
                f"{os.path.basename(place[0])}:{place[1]}".encode("utf-8", "replace"))
            self.told += 1
        for thread in threading.enumerate():
            if thread.ident is not None:
                self.ledger.name_thread(thread.ident, thread.name.encode("utf-8", "replace"))
        if compiler.ident:
            self.ledger.name_thread(compiler.ident, b"compiler")
        names = process_engine().c.worker_names()
        self.ledger.worker_names.swap(names)
        return 0

    def finish(self):
        """Closes the file."""
        cdef int error
        cdef Ledger* ledger = self.ledger
        with nogil:
            error = ledger.finish()
        return self.check(error)

    @property
    def finished(self):
        """Whether the file is closed."""
        return not self.ledger.file.is_open()

    @property
    def lost(self):
        """How many entries found no space, for the writer was too slow."""
        return self.ledger.lost

    # -- totals

    def reset(self):
        """Begins the totals anew."""
        self.ledger.totals = Totals()

    def rows(self):
        """By name and line: (kind, name, place, count, ns, least, most, bytes, ops)."""
        cdef pair[Key, Sum] r
        out = []
        for r in self.ledger.totals.rows():
            place = _place(r.first.site) if r.first.site else None
            s = r.second
            out.append((_KINDS[r.first.kind], r.first.name.decode(), place, s.count, s.ns, s.least,
                        s.most, s.moved, s.ops))
        return out

    def counters(self):
        """By name: (count, last, least, most)."""
        cdef vector[pair[string, CounterSum]] rows = self.ledger.totals.counter_rows()
        cdef CounterSum* s
        cdef size_t i
        out = {}
        for i in range(rows.size()):
            s = &rows[i].second
            out[rows[i].first.decode()] = (s.count, s.last, s.least, s.most)
        return out

    def threads(self):
        """By name: nanoseconds (waited, of these running operators, running others, inline), inlined."""
        cdef pair[uint64_t, ThreadSum] r
        out = []
        for r in self.ledger.totals.thread_rows():
            t = r.second
            name = self.ledger.thread_names[r.first].decode() or f"thread {r.first:#x}"
            out.append((name, t.waited, t.ran_in_waits, t.ran, t.inline_ns, t.inlined))
        return out

    def workers(self):
        """By number: (name, busy nanoseconds, operators, times it took part in another's)."""
        cdef pair[int, WorkerSum] r
        cdef vector[WorkerName]* names = &self.ledger.worker_names
        sums = {}
        for r in self.ledger.totals.worker_rows():
            sums[r.first] = (r.second.busy, r.second.ran, r.second.joined)
        out = []
        for number in range(names.size()):
            name = f"worker {number} of {names[0][number].device.text().decode()}, {names[0][number].role.decode()}"
            out.append((name, *sums.get(number, (0, 0, 0))))
        return out

    def latencies(self):
        """Of operators: how many, nanoseconds from the push to ready, and from then to the start."""
        t = &self.ledger.totals
        return t.inputs.count, t.inputs.ns, t.workers_wait.ns


cdef tuple _place(uint32_t site):
    return <tuple>sites().place(site)


check_methods(globals())
