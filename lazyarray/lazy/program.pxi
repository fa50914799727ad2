# Programs: ops captured instead of run, planned once, then pushed many times.


class TracingError(RuntimeError):
    """The value of an array was asked for while what makes it is traced, so is not run."""


cdef bint capturing() noexcept:
    """Whether this thread's ops are captured by a program."""
    return _recorder.captures and mode().capturing is not NULL


cdef int refuse_to_wait(str what) except -1:
    """Inside a capture nothing has a value: not even what was there before may decide what is captured."""
    if capturing():
        raise TracingError(
            f"{what.lstrip('?')} asks for the value of an array while it is traced: what a program does may "
            "depend on shapes and dtypes, not on values")
    return 0


cdef PyObject* noting() noexcept:
    """Who is told of this thread's calls of public functions; NULL: nobody."""
    return mode().notes if _recorder.captures else NULL


def note_calls(notes):
    """Has this thread's calls of public functions told to ``notes``, inside a :class:`Program`; None: to nobody.

    ``notes.begin(op, args, kwargs)`` is called before each, ``notes.end(result)`` after it (None: it failed).
    Who asks for it keeps ``notes`` until it asks for nobody.
    """
    cdef PyObject* told = <PyObject*>notes
    mode().notes = told if notes is not None else NULL


def is_noting():
    """Whether this thread's calls become nodes of a graph."""
    return noting() is not NULL


def is_capturing():
    """Whether this thread's ops are captured by a :class:`Program`."""
    return capturing()


cdef CError* _unknown_value = error_from_exception(
    TracingError("the array is part of a trace and has no value"), "trace", 0)


cdef int set_unknown(Chunk* c) except -1:
    """Has whoever asks for the value of what is part of a trace told so."""
    _recorder.engine().set_error(c, _unknown_value)
    return 0


def veiled(Tensor x not None):
    """``x``, a new array that stands for another in a trace: who keeps it holds no value."""
    set_unknown(x.v.chunk)
    return x


cdef int capture(Instr* instr) except -1:
    """Gives an instruction to the program that this thread captures. Its outputs have no values."""
    cdef CProgram* program = mode().capturing
    cdef Chunk* c
    instr.site = sites().here()
    instr.filters = plain_filters()
    for k in range(instr.nin, instr.nop):
        c = instr.ops[k].chunk
        if program.bore(c) and not lazy(c).resource and c.error.load() is NULL:
            set_unknown(c)
    program.capture(instr)
    return 0


cdef class Program:
    """The ops of a block, to be run later and again: ``with program:`` captures what this thread does.

    Arrays that were there before are used by reference: each run reads and writes them as they are
    then. Those made inside get memory of the program's own, shared where their lives don't meet.
    """

    cdef CProgram* p
    cdef readonly list inputs, outputs  # by phase, if it is to be called
    cdef list carried
    cdef set outside
    cdef vector[Chunk*] used      # by reference; the instructions hold them
    cdef vector[uint64_t] known   # of each what `standing` said at the capture
    cdef uint64_t moved           # and `_moved`, then

    def __cinit__(self):
        self.p = new CProgram(_recorder, store())
        self.outside = set()
        self.moved = _moved

    def __dealloc__(self):
        if self.p is not NULL:
            self.p.unref()

    def __enter__(self):
        if capturing():
            raise TracingError("this thread traces already: traces do not nest")
        if self.p.finished or self.p.instrs.size():
            raise RuntimeError("a Program is captured once")
        mode().capturing = self.p
        _recorder.captures += 1
        return self

    def __exit__(self, *exc):
        mode().capturing = NULL
        _recorder.captures -= 1
        self.p.restore_writers()

    def split(self):
        """Ends a phase: what follows can be run apart from what came before."""
        self.p.splits.push_back(self.p.instrs.size())

    def writes_tracked(self):
        """Whether what was there before was written, by something that the tape has to know in each run."""
        return self.p.writers_changed()

    def impure(self):
        """Whether running the first phase again does something else: it draws, or writes in place."""
        return self.p.impure()

    def touches(self, Tensor x not None):
        """Whether an instruction writes the array's memory."""
        for i in range(self.p.instrs.size()):
            for k in range(self.p.instrs[i].nin, self.p.instrs[i].nop):
                if self.p.instrs[i].ops[k].chunk == x.v.chunk:
                    return True
        return False

    def uses_after(self, Tensor x not None, int phase):
        """Whether a phase after ``phase`` uses the array's memory."""
        for i in range(self.p.splits[phase], self.p.instrs.size()):
            for k in range(self.p.instrs[i].nop):
                if self.p.instrs[i].ops[k].chunk == x.v.chunk:
                    return True
        return False

    def kept_elsewhere(self, list known not None):
        """Where an array was made that somebody keeps who isn't among ``known``; None if there is none."""
        cdef dict handles = {}
        cdef Chunk* c
        for x in known:
            number = <size_t>(<Tensor>x).v.chunk
            handles[number] = handles.get(number, 0) + 1
        for i in range(self.p.instrs.size()):
            for k in range(self.p.instrs[i].nop):
                c = self.p.instrs[i].ops[k].chunk
                if c is not NULL and self.p.bore(c) and not lazy(c).resource \
                        and c.handles.load() > <int>handles.get(<size_t>c, 0):
                    return site_text(self.p.instrs[i].site)
        return None

    def used_outside(self):
        """What was there before and is used, but for streams of random numbers: (number, where first)."""
        cdef dict found = {}
        cdef Chunk* c
        for i in range(self.p.instrs.size()):
            for k in range(self.p.instrs[i].nop):
                c = self.p.instrs[i].ops[k].chunk
                if c is not NULL and not self.p.bore(c) and not lazy(c).resource and <size_t>c not in found:
                    found[<size_t>c] = site_text(self.p.instrs[i].site)
        return found

    cpdef bint stands(self) except -1:
        """Whether what is used by reference is where it was at the capture, and gradients reach it as then."""
        cdef uint64_t now
        cdef bint on = recording()
        if self.moved != _moved:
            return False
        for i in range(self.used.size()):
            now = standing(self.used[i])
            if now != self.known[i] and (on or now > 1 or self.known[i] > 1):
                return False
        return True

    def chunk_of(self, Tensor x not None):
        """A number for the memory of an array, as :meth:`instructions` names it."""
        return <size_t>x.v.chunk

    def bore(self, Tensor x not None):
        """Whether the array's memory was made in the capture."""
        return self.p.bore(x.v.chunk)

    def finish(self, list outputs not None, Program shared=None):
        """Plans what was captured, to be :meth:`run`. ``outputs``: arrays whose values will be looked at.

        With ``shared``, intermediates use that program's memory if they fit: the two then run one
        after the other.
        """
        cdef unordered_set[Chunk*] none
        self.settle()
        self.plan(none, shared)

    def finish_calls(self, list inputs not None, list outputs not None):
        """Plans what was captured, to be called: for each phase its inputs and outputs, two lists.

        Each :meth:`begin` and :meth:`go_on` puts other arrays, laid out alike, in the inputs' place, and
        new ones in that of the outputs and of what a later phase reads.
        """
        cdef unordered_set[Chunk*] substituted, given
        cdef Tensor t
        self.settle()
        for phase in (*inputs, *outputs):
            for x in phase:
                t = x
                if lazy(t.v.chunk).resource:
                    raise ValueError("a generator's state can't be an input")
                substituted.insert(t.v.chunk)
        for phase in inputs:
            for x in phase:
                given.insert((<Tensor>x).v.chunk)
        for phase in outputs:  # new arrays in each call, those of constants too
            for x in phase:
                if self.p.constant((<Tensor>x).v.chunk):
                    self.initialise((<Tensor>x).v.chunk)
        for c in self.p.outside(0, self.p.instrs.size()):
            # Given out as they are; but an input is another array each time.
            if not given.count(c):
                substituted.erase(c)
                self.outside.add(<size_t>c)
                self.used.push_back(c)
                self.known.push_back(standing(c))
        self.inputs, self.outputs = inputs, outputs
        self.carried = []
        for c in self.p.carried(substituted):
            t = new_tensor(c, dtype_code(np.uint8))
            t.v.layout.resize(1)
            t.v.layout.shape()[0] = c.nbytes
            t.v.layout.strides()[0] = 1
            self.carried.append(t)
            substituted.insert(c)
        self.plan(substituted, None)
        # Each call has others in their place: whoever kept one of these holds nothing.
        for c in substituted:
            if self.p.bore(c):
                set_unknown(c)

    cdef int settle(self) except -1:
        """What was captured has values from now on."""
        cdef Instr* instr
        cdef size_t i
        if self.p.finished:
            raise RuntimeError("finish() was called before")
        for i in range(self.p.instrs.size()):
            instr = self.p.instrs[i]
            for k in range(instr.nin, instr.nop):
                if self.p.bore(instr.ops[k].chunk):
                    _recorder.engine().set_error(instr.ops[k].chunk, NULL)
        for c in self.p.initialised():
            self.initialise(c)
        return 0

    cdef int plan(self, unordered_set[Chunk*]& substituted, Program shared) except -1:
        if not self.p.finish(substituted, shared.p if shared is not None else NULL):
            raise MemoryError(f"unable to allocate {self.p.planned} bytes for a program's intermediates")
        return 0

    cdef int initialise(self, Chunk* c) except -1:
        """Has each run begin with the values that the host gave an array inside the capture."""
        cdef npy_intp n = c.nbytes
        cdef Tensor whole = new_tensor(c, dtype_code(np.uint8)), kept
        cdef Instr* instr
        cdef const View* views[2]
        whole.v.layout.resize(1)
        whole.v.layout.shape()[0] = n
        whole.v.layout.strides()[0] = 1
        kept = empty_like_shape(whole.v.dtype, 1, &n, c.device)
        need_memory(kept.v.chunk)
        memcpy(kept.v.chunk.data, c.data, n)
        instr = _recorder.begin(cast_kernel(whole.v.dtype, whole.v.dtype), 1, 1)
        views[0] = &kept.v
        views[1] = &whole.v
        set_space(instr[0], whole.v.layout, views)
        for k in range(2):
            set_operand(instr, k, views[k])
        instr.overwrites = 1
        instr.cost_ns = 30 + n * 0.03
        self.p.reserve(1)
        self.p.capture_first(instr)
        return 0

    def run(self, phase=None):
        """Pushes the operators (of one phase); its arrays are then pending, as after any op."""
        cdef Substitutions none
        if self.inputs is not None:
            raise RuntimeError("the program has inputs: begin() it with them")
        self.push(-1 if phase is None else phase, none)

    cdef int push(self, int phase, Substitutions& substitutions) except -1:
        cdef size_t i, k
        cdef vector[ProgramRole]* visible  # looping over the vector itself would copy it
        if not self.p.finished:
            raise RuntimeError("finish() the program before")
        if phase >= <int>self.p.phases.size():
            raise IndexError(f"the program has {self.p.phases.size()} phases")
        if capturing():
            raise TracingError("a program can't run inside a trace")
        if _recorder.engine().stopped():
            raise RuntimeError("the engine is stopped: call start() before using arrays")
        if _recorder.store().exports.load():
            self.quiesce_lent(substitutions)
        flush(True)
        self.p.prepare(phase, substitutions)
        # Nothing fails from here on, and the GIL is held until all is pushed.
        for i in range(self.p.phases.size()):
            if phase < 0 or phase == <int>i:
                visible = &self.p.phases[i].visible
                for k in range(visible.size()):
                    issue(replaced(visible[0][k].chunk, substitutions), visible[0][k].writes)
        check_status(self.p.push(phase), None)
        if _recorder.store().exports.load():
            self.finish_exported(substitutions)
        if self.p.instrs.size() and _recorder.over_budget(self.p.instrs[0].device()):
            _throttle(self.p.instrs[0].device())
        if _recorder.engine().policy() == NAIVE:
            for i in range(self.p.phases.size()):
                if phase < 0 or phase == <int>i:
                    visible = &self.p.phases[i].visible
                    for k in range(visible.size()):
                        raise_error(_recorder.engine().error_of(replaced(visible[0][k].chunk, substitutions)))
        return 0

    cdef int quiesce_lent(self, Substitutions& substitutions) except -1:
        """Waits for what others may have launched on memory of GPUs that the program uses."""
        cdef vector[Chunk*] lent
        for c in self.p.outside(0, self.p.instrs.size()):
            c = replaced(c, substitutions)
            if c.exports.load() and c.device.has_streams():
                lent.push_back(c)
        return quiesce(lent)

    cdef int finish_exported(self, Substitutions& substitutions) except -1:
        """Waits for what was pushed, if it uses memory that others can touch."""
        cdef vector[Chunk*] exported
        for c in self.p.outside(0, self.p.instrs.size()):
            c = replaced(c, substitutions)
            if c.exports.load():
                exported.push_back(c)
        if exported.size():
            _finish(exported)
        return 0

    cdef bint takes(self, list arrays) except -1:
        """Whether no two of them share memory, with each other or with what is used by reference."""
        cdef unordered_set[Chunk*] met
        cdef Tensor t
        for x in arrays:
            t = x
            if self.outside and <size_t>t.v.chunk in self.outside or not met.insert(t.v.chunk).second:
                return False
        return True

    def begin(self, list arrays not None):
        """Runs the first phase on ``arrays`` in the place of its inputs; None if these share memory.

        Gives the call and the phase's outputs.
        """
        if not self.takes(arrays):
            return None
        cdef ProgramCall call = ProgramCall.__new__(ProgramCall)
        call.program = self
        for x in self.carried:
            call.renew(x, call.substitutions)
        return call, call.go_on(arrays)

    def tracked_outside(self):
        """Arrays used by reference that gradients can reach, as vectors or as the leaves that they are."""
        cdef list found = []
        cdef Node* n
        cdef NodeOperand* o
        cdef Tensor t
        cdef size_t i
        for c in self.p.outside():
            n = writer_of(c)
            if n is NULL:
                continue
            for i in range(n.operands.size()):
                o = &n.operands[i]
                if o.memory != known_as(c) or n.kind != NODE_LEAF and i < <size_t>n.nin:
                    continue
                t = new_tensor(c, o.dtype)
                if n.kind == NODE_LEAF:
                    t.v.layout = o.layout
                else:
                    t.v.layout.resize(1)
                    t.v.layout.shape()[0] = c.nbytes // info(o.dtype).size
                    t.v.layout.strides()[0] = info(o.dtype).size
                found.append(t)
                if n.kind != NODE_LEAF:
                    break
        return found

    def read_after(self, int phase):
        """Vectors of the bytes that phases after ``phase`` use by reference."""
        cdef list found = []
        cdef Tensor t
        for c in self.p.outside(self.p.splits[phase], self.p.instrs.size()):
            if lazy(c).resource:
                continue
            t = new_tensor(c, dtype_code(np.uint8))
            t.v.layout.resize(1)
            t.v.layout.shape()[0] = c.nbytes
            t.v.layout.strides()[0] = 1
            found.append(t)
        return found

    def memory(self):
        """What its intermediates need, in bytes, and how it is cut.

        ``planned``: their block; ``unplanned``: if each had memory of its own; ``bound``: the most
        that is alive at once, which no plan can go below. Arrays of at most 64 bytes don't count.
        """
        operators = 0
        for i in range(self.p.phases.size()):
            operators += self.p.phases[i].operators.size()
        return {"planned": self.p.planned, "unplanned": self.p.unplanned, "bound": self.p.bound,
                "instructions": self.p.instrs.size(), "operators": operators,
                "temporaries": self.p.temporaries}

    def places(self):
        """Where the plan put what the capture made: bytes from the block's start, by number.

        -1: it has memory of its own; -2: it is a temporary, which has none.
        """
        cdef dict found = {}
        cdef Instr* instr
        cdef size_t i
        for i in range(self.p.instrs.size()):
            instr = self.p.instrs[i]
            for k in range(instr.nop):
                if instr.ops[k].chunk is not NULL and self.p.bore(instr.ops[k].chunk):
                    found[<size_t>instr.ops[k].chunk] = self.p.place_of(instr.ops[k].chunk)
        return found

    def array_of(self, size_t number, dtype):
        """The memory that an instruction names ``number``, as a vector; None if nobody wrote it before.

        That is so for what the capture made, unless the host gave it values: then it is a copy of them.
        """
        cdef Instr* instr
        cdef Chunk* c
        cdef Tensor t, kept
        cdef size_t i
        for i in range(self.p.instrs.size()):
            instr = self.p.instrs[i]
            for k in range(instr.nop):
                c = instr.ops[k].chunk
                if <size_t>c != number:
                    continue
                if c.data is NULL and self.p.bore(c):
                    return None
                t = new_tensor(c, dtype_code(dtype))
                t.v.layout.resize(1)
                t.v.layout.shape()[0] = c.nbytes // t.v.itemsize()
                t.v.layout.strides()[0] = t.v.itemsize()
                if self.p.bore(c):
                    kept = empty_like_shape(t.v.dtype, 1, t.v.layout.shape(), c.device)
                    need_memory(kept.v.chunk)
                    memcpy(kept.v.chunk.data, c.data, kept.v.chunk.nbytes)
                    return kept
                return t
        raise KeyError(number)

    def operators(self):
        """The names of the operators of each phase, in the order in which they are pushed."""
        return [[self.p.phases[i].operators[j].name.decode()
                 for j in range(self.p.phases[i].operators.size())]
                for i in range(self.p.phases.size())]

    def instructions(self):
        """What was captured, an :class:`Instruction` (captured.py) each."""
        return [described(self.p, self.p.instrs[i], i) for i in range(self.p.instrs.size())]
