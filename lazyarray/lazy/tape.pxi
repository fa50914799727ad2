# The tape: whether this thread records for autograd, and how an op is noted.
#
# Gradients are taken of instructions, not of Python calls: each names the memory that it reads and
# writes, so views, broadcasting, slices and in-place ops need no rules. See tape.h for the graph.


cdef dict _gradients = {}  # by the op's name


cdef class _GradientRef:
    cdef Gradient* g


def set_gradients(dict table):
    """Takes the rules of ops: for each name a list of (function or None, operand numbers) by input."""
    cdef _GradientRef ref
    cdef GradientInput* input
    for name, rules in table.items():
        ref = _GradientRef.__new__(_GradientRef)
        ref.g = new Gradient()
        for function, arguments in rules:
            ref.g.inputs.emplace_back()
            input = &ref.g.inputs.back()
            if function is None:
                continue
            Py_INCREF(function)
            input.function = <void*>function
            for a in arguments:
                input.arguments.push_back(a)
                if a >= 0:
                    input.needs |= 1u << <int>a
        _gradients[name] = ref


cdef bint recording() noexcept:
    """Whether this thread records for autograd."""
    return _recorder.tape.scopes and mode().recording


def is_recording():
    """Whether ops of this thread are recorded for :func:`lazyarray.autograd.backward`.

    Returns: a bool.
    Raises: nothing.
    """
    return recording()


def is_training():
    """Whether this thread's ops that differ in training (dropout, batch norm) run so.

    Returns: a bool.
    Raises: nothing.
    """
    return mode().training


def set_recording(bint on):
    """Makes this thread record, or not.

    Args:
        on: whether it is to record.
    Returns: a bool: whether it did.
    Raises: nothing.
    """
    cdef Mode* m = &mode()
    cdef bint old = m.recording
    m.recording = on
    _recorder.tape.scopes += <int>on - <int>old
    return old


def set_training(bint on):
    """Sets what :func:`is_training` says.

    Args:
        on: what it is to say.
    Returns: a bool: what it said.
    Raises: nothing.
    """
    cdef Mode* m = &mode()
    cdef bint old = m.training
    m.training = on
    return old


cdef bint inexact(int dtype) noexcept:
    return info(dtype).kind == b"f" or info(dtype).kind == b"c"


cdef bint wants_gradient(Tensor x) noexcept:
    return writer_of(x.v.chunk) is not NULL and not x.v.detached and inexact(x.v.dtype)


def tracked(x):
    """Whether a gradient can reach ``x``: it is recorded from here on what happens to it."""
    return isinstance(x, Tensor) and wants_gradient(<Tensor>x)


def recorded(x):
    """Whether ``x`` was made of leaves while that was recorded, if only by what doesn't change with them."""
    return isinstance(x, Tensor) and history_of((<Tensor>x).v.chunk) is not NULL \
        and not (<Tensor>x).v.detached


cdef Node* leaf_of(Chunk* c) noexcept:
    """The node that tells the gradients of the chunk's views that have one of their own, or NULL."""
    cdef Node* n = writer_of(c)
    return n if n is NULL or n.kind == NODE_LEAF else n.marks


cdef int refuse_leaf(Chunk* c) except -1:
    cdef Node* leaf = leaf_of(c)
    if leaf is not NULL:
        if (<list>leaf.payload)[0][1] == "null":  # a compiled function's stand-in
            raise TracingError("an array that gradients are taken of is written in place")
        raise ValueError(
            "in-place operation on an array with attach_grad() inside autograd.record(): its gradient "
            "is of the values it came with; write to it outside, or in autograd.pause()")
    return 0


cdef list set_apart(Instr* instr, uint32_t needs):
    """Has an in-place instruction read a copy of what its own gradient needs; the copies, to be held."""
    cdef list copies = []
    cdef Tensor t
    cdef int i, j, k
    cdef bint written
    for k in range(instr.nin):
        written = False
        for j in range(instr.nin, instr.nop):
            written = written or instr.ops[j].chunk == instr.ops[k].chunk
        if not written or not needs >> k & 1:
            continue
        # The instruction only borrows its chunks, and recording the copy may run finalizers.
        for j in range(instr.nop):
            if instr.ops[j].chunk is not NULL:
                copies.append(new_tensor(instr.ops[j].chunk, D_F8))
        t = new_tensor(instr.ops[k].chunk, instr.kernel.dtypes[k])
        lay_out(instr[0], k, 0, t.v.layout)
        t = cast(t, t.v.dtype)
        copies.append(t)
        set_operand(instr, k, &t.v)
        for i in range(instr.ndim):
            instr.strides(k)[i] = t.v.layout.strides()[i]
    return copies


cdef int dtype_of(Instr* instr, int k) noexcept:
    """The dtype that an instruction sees its operand as."""
    if instr.kernel.kind == PYTHON:
        return instr.py.get().views[k].dtype
    return (<Kernel*>instr.kernel).dtypes[k]


cdef list tape(Instr* instr):
    """Notes an instruction that is about to run, if a gradient may be asked for.

    Gives arrays to be held until it is recorded.
    """
    cdef list held = None
    cdef uint32_t needs = 0
    cdef uint32_t wanted = 0
    cdef bint touched = False, partly = False, differentiable = False, all
    cdef int k
    cdef Chunk* c
    cdef vector[Node*] flat  # what it is made of but doesn't change with
    cdef Kernel* kernel = <Kernel*>instr.kernel
    # What no rule of an instruction can tell apart: which part of its operands it reads and writes.
    cdef bint opaque = kernel.kind == PYTHON or kernel.kind == GUFUNC and kernel.cores is NULL
    for k in range(instr.nop):
        c = instr.ops[k].chunk
        if c is NULL or history_of(c) is NULL or instr.ops[k].detached:
            continue
        if k >= instr.nin:
            refuse_leaf(c)
            touched = True
            partly = partly or writer_of(c) is not NULL and not instr.overwrites >> (k - instr.nin) & 1
        elif inexact(dtype_of(instr, k)) and writer_of(c) is not NULL:
            wanted |= 1u << min(k, 31)  # an opaque op may have more: some or none is all that counts
        else:
            flat.push_back(history_of(c))
    if not wanted and not touched and not flat.size():
        return None
    for k in range(instr.nin, instr.nop):
        if inexact(dtype_of(instr, k)) and not instr.ops[k].detached:
            differentiable = True
    if wanted and differentiable and not kernel.gradient_sought:
        kernel.gradient_sought = True
        ref = _gradients.get(kernel.name.decode())
        if ref is not None:
            kernel.gradient = (<_GradientRef>ref).g
    if (wanted and (kernel.gradient is NULL or opaque) or partly and opaque) and differentiable:
        raise NotImplementedError(
            f"autograd has no gradient rule for {kernel.name.decode()!r}: use x.detach() if it is meant "
            "as a constant, or write an autograd.Function")
    if wanted and differentiable:
        differentiable = False
        for k in range(instr.nin):
            if wanted >> k & 1 and kernel.gradient.inputs[k].function is not NULL:
                differentiable = True
    if wanted and not differentiable:  # comparisons, rounding
        for k in range(instr.nin):
            c = instr.ops[k].chunk
            if wanted >> min(k, 31) & 1 and c is not NULL and writer_of(c) is not NULL \
                    and not instr.ops[k].detached:
                flat.push_back(writer_of(c))
        wanted = 0
    if wanted and kernel.kind == ELEMENTWISE:
        for k in range(instr.nin):
            if wanted >> k & 1:
                needs |= kernel.gradient.inputs[k].needs
        held = set_apart(instr, needs)
    if wanted or touched:
        if capturing():
            for k in range(instr.nin, instr.nop):
                mode().capturing.keep_writer(instr.ops[k].chunk)
    if (wanted or partly) and kernel.kind == ELEMENTWISE:
        for k in range(instr.nin, instr.nop):
            if meets_twice(instr[0], k):
                raise NotImplementedError(
                    "autograd can't tell what stays where an assignment meets memory twice (a view by "
                    "as_strided or sliding_window_view): assign to a copy, or to one window after the other")
    if wanted:
        note_instruction(_recorder.tape, instr[0], wanted, flat)
        return held
    # Constants are written, or what doesn't change: the part's gradient ends here.
    for k in range(instr.nin, instr.nop):
        c = instr.ops[k].chunk
        if writer_of(c) is not NULL and not instr.ops[k].detached and inexact(dtype_of(instr, k)) \
                and not instr.overwrites >> (k - instr.nin) & 1:
            note_instruction(_recorder.tape, instr[0], 0, flat)
            return held
    for k in range(instr.nin, instr.nop):
        all = instr.overwrites >> (k - instr.nin) & 1
        if not instr.ops[k].detached:
            wrote_flat(instr.ops[k].chunk, _recorder.tape.reach_of(flat), all)
    return held


cdef void wrote_flat(Chunk* c, Leaves leaves, bint all) noexcept:
    """Notes that of a chunk all was written, or a part, with what doesn't change with `leaves`."""
    if lazy(c).resource:  # a stream's state: nobody differentiates it
        return
    if capturing() and not mode().capturing.bore(c):
        if all and writer_of(c) is not NULL:
            Tape_set_writer(c, NULL)
        return
    if all or writer_of(c) is NULL:
        note_flat(_recorder.tape, c, leaves, all)


cdef void issue(Chunk* c, uint64_t writes) noexcept:
    """Counts writes that were issued; notes the line, if a node has saved the values."""
    c.issued += writes
    if known_as(c) is not NULL and known_as(c).watched:
        note_write(known_as(c))


cdef void note_write(Memory* m) noexcept:
    """Where values that a node has saved are overwritten."""
    m.overwritten = sites().here()


cdef class RecordingScope:
    """Within the block this thread records, and trains, as is said; None: as before."""

    cdef int recording, training  # -1: as before
    cdef Entered[int, OfRecording] entered  # both bits

    def __init__(self, recording, training):
        self.recording = -1 if recording is None else recording
        self.training = -1 if training is None else training

    def __enter__(self):
        cdef Mode* m = &mode()
        self.entered.enter(m.recording << 1 | <int>m.training)
        if self.recording >= 0:
            set_recording(self.recording)
        if self.training >= 0:
            set_training(self.training)

    def __exit__(self, *exc):
        cdef int was = mode().recording << 1 | <int>mode().training
        if not self.entered.leave(&was):
            raise RuntimeError("a scope of autograd: left more often than entered, in this thread")
        set_recording(was >> 1)
        set_training(was & 1)

    def again(self):
        """A new scope like this one."""
        return type(self)(
            None if self.recording < 0 else bool(self.recording),
            None if self.training < 0 else bool(self.training))


cdef class paused:
    """Within the block this thread doesn't record for autograd: for ops that note a call instead."""

    cdef bint was

    def __enter__(self):
        self.was = set_recording(False)

    def __exit__(self, *exc):
        set_recording(self.was)


def note_call(str name, rule, inputs, outputs, saved=(), again=(), bint loose=False):
    """Notes one differentiable call: what was done, unrecorded, to make ``outputs`` of ``inputs``.

    ``rule(gradients, saved)`` gives the inputs' gradients (None: zero) for the outputs' (None: zero);
    ``saved`` are arrays that it needs, checked for not having been overwritten; ``again``, at their end,
    those that it needs only while it is recorded itself. An output may be an
    input, written in place. Does nothing where no input is tracked. Of ``loose`` calls others, noted
    later for its outputs, say which of the inputs each was made of: the rule gives the rest None.
    """
    cdef Tensor t
    cdef NodeRef made
    cdef Node* n
    cdef NodeOperand* o
    cdef int k = 0
    if not recording():
        return
    for x in outputs:
        t = x
        if not t.v.detached:
            refuse_leaf(t.v.chunk)
    for x in inputs:
        if isinstance(x, Tensor) and wants_gradient(<Tensor>x):
            break
    else:
        for x in outputs:
            t = x
            if writer_of(t.v.chunk) is not NULL and not t.v.detached:
                break
        else:
            note_constant(inputs, outputs)
            return
    made.n = n = new Node(NODE_CALL, _recorder.tape.seq + 1)
    _recorder.tape.seq += 1
    n.name = intern_name(name.encode())
    n.site = sites().here()
    n.payload = <void*>rule
    Py_INCREF(rule)
    n.nin = len(inputs)
    n.nout = len(outputs)
    n.again = len(again)
    n.loose = loose
    if not loose:
        n.zeros = leaves_of((*inputs, *saved), True)
    n.operands.resize(n.nin + n.nout + len(saved) + n.again)
    for x in (*inputs, *outputs, *saved, *again):
        o = &n.operands[k]
        k += 1
        if not isinstance(x, Tensor):  # a constant input
            continue
        t = x
        Tape_set_operand(o[0], t.v.chunk, t.v.dtype)
        o.layout = t.v.layout
        if k <= n.nin + n.nout:
            if k <= n.nin:
                follow(t)
            if (wants_gradient(t) if k <= n.nin else writer_of(t.v.chunk) is not NULL and not covers_chunk(&t.v)):
                o.from_ = writer_of(t.v.chunk)
                o.from_.ref()
        else:
            # To any order: a saved array is restored with its history.
            o.from_ = writer_of(t.v.chunk) if wants_gradient(t) else NULL
            if o.from_ is not NULL:
                o.from_.ref()
            Tape_save(o[0], t.v.chunk, t.v.chunk.issued)
    for x in outputs:
        t = x
        if inexact(t.v.dtype) and not t.v.detached:
            if capturing():
                mode().capturing.keep_writer(t.v.chunk)
            Tape_set_writer(t.v.chunk, n)


cdef Leaves leaves_of(arrays, bint flat):
    """The leaves behind arrays; with ``flat`` only behind those that don't change with them."""
    cdef Leaves all
    cdef Node* n
    for x in arrays:
        if isinstance(x, Tensor) and not (<Tensor>x).v.detached:
            n = history_of((<Tensor>x).v.chunk)
            if n is not NULL and (not flat or n.kind == NODE_FLAT):
                all = _recorder.tape.joined(all, _recorder.tape.reach_of(n))
    return all


cdef void follow(Tensor x) noexcept:
    """Tells a capture what a call reads: if it has no elements, no instruction does."""
    if capturing() and writer_of(x.v.chunk) is not NULL:
        mode().capturing.follow(x.v.chunk)


def made_of(Tensor y not None, list arrays not None):
    """Of which ``arrays`` ``y`` was made: those that a walk comes to, and those that it doesn't change with.

    Two lists of indices.
    """
    cdef vector[Node*] todo
    cdef Node* n = history_of(y.v.chunk)
    cdef list met = [], flat = [], behind = []
    cdef set leaves
    cdef uint64_t walk
    cdef size_t i
    if n is NULL:
        return met, flat
    leaves = numbers_of(_recorder.tape.reach_of(n))
    for x in arrays:
        n = history_of((<Tensor>x).v.chunk)
        behind.append(None if n is NULL else numbers_of(_recorder.tape.reach_of(n)))
    _recorder.tape.walks += 1
    walk = _recorder.tape.walks
    if writer_of(y.v.chunk) is not NULL:
        todo.push_back(writer_of(y.v.chunk))
    while todo.size():
        n = todo.back()
        todo.pop_back()
        if n.walk == walk:
            continue
        n.walk = walk
        for i in range(0 if n.loose else n.operands.size()):
            if n.operands[i].from_ is not NULL:
                todo.push_back(n.operands[i].from_)
    for k, x in enumerate(arrays):
        if behind[k] is None:
            continue
        if history_of((<Tensor>x).v.chunk).walk == walk:
            met.append(k)
        elif behind[k] <= leaves:
            flat.append(k)
    return met, flat


cdef set numbers_of(Leaves leaves):
    cdef set found = set()
    cdef size_t i
    if leaves:
        for i in range(dereference(leaves).size()):
            found.add(dereference(leaves)[i])
    return found


def note_constant(inputs, outputs):
    """Notes that new ``outputs`` were made of ``inputs`` too, but don't change with them."""
    cdef Leaves leaves
    cdef Node* n
    if recording():
        leaves = leaves_of(inputs, False)
        for x in inputs:
            if isinstance(x, Tensor):
                follow(<Tensor>x)
        for x in outputs:
            n = writer_of((<Tensor>x).v.chunk)
            if n is not NULL:
                n.zeros = _recorder.tape.joined(n.zeros, leaves)
            else:
                wrote_flat((<Tensor>x).v.chunk, leaves, False)


def attach_leaf(Tensor x not None, grad, str grad_req, bint keeps_history=False):
    """Makes ``x`` a leaf: what is recorded of it from now on, nothing before it; grad None: no more.

    With ``keeps_history``, what was recorded of it stays: the gradient is that of an intermediate.
    """
    cdef Chunk* c = x.v.chunk
    cdef NodeRef made
    cdef Node* n
    cdef NodeOperand* o
    cdef size_t i
    cdef list parts = []
    cdef Node* old = writer_of(c)
    cdef Node* op = NULL  # whose result ``x`` stays
    if keeps_history and old is not NULL and old.kind != NODE_LEAF and not old.freed:
        op, old = old, old.marks
    made.n = n = new Node(NODE_LEAF, _recorder.tape.seq + 1)
    _recorder.tape.seq += 1
    n.name = "attach_grad"
    n.site = sites().here()
    if old is not NULL and old.kind == NODE_LEAF:
        # Other views of the memory stay leaves.
        kept = <list>old.payload
        for i in range(old.operands.size()):
            if not old.operands[i].layout.same_view(x.v.layout) or old.operands[i].memory != known_as(c):
                n.operands.push_back(old.operands[i])
                n.operands.back().memory.ref()
                parts.append(kept[i])
    if grad is not None:
        n.operands.emplace_back()
        o = &n.operands.back()
        Tape_set_operand(o[0], c, x.v.dtype)
        o.layout = x.v.layout
        parts.append((grad, grad_req))
    if parts:
        Py_INCREF(parts)
        n.payload = <void*>parts
        _recorder.tape.list(n)
        n.ref()
    if op is not NULL:
        op.marks = n if parts else NULL
        if old is not NULL:
            old.unref()
    else:
        Tape_set_writer(c, n if parts else NULL)
        if parts:
            n.unref()


cdef int place_in(Node* leaf, Tensor x) noexcept:
    """Which of a leaf's gradients is that of ``x``; -1: none."""
    cdef size_t i
    if leaf is not NULL:
        for i in range(leaf.operands.size()):
            if leaf.operands[i].layout.same_view(x.v.layout) and leaf.operands[i].dtype == x.v.dtype \
                    and leaf.operands[i].memory == known_as(x.v.chunk):
                return <int>i
    return -1


def leaf_grad(Tensor x not None):
    """(the array that collects x's gradient, grad_req), or None if ``x`` has none."""
    cdef Node* leaf = leaf_of(x.v.chunk)
    cdef int i = place_in(leaf, x)
    return None if i < 0 else (<list>leaf.payload)[i]


cpdef bint is_leaf(Tensor x) except -1:
    """Whether ``x`` has a gradient, and no history."""
    cdef Node* n = writer_of(x.v.chunk)
    return n is not NULL and n.kind == NODE_LEAF and place_in(n, x) >= 0


def drop_leaf(Tensor x not None):
    """Takes x's gradient away, also from what was recorded already; its history stays, if it has one."""
    cdef Chunk* c = x.v.chunk
    cdef Node* leaf = leaf_of(c)
    cdef int i = place_in(leaf, x)
    if i < 0:
        return
    leaf.operands[i].memory.unref()
    leaf.operands.erase(leaf.operands.begin() + i)
    del (<list>leaf.payload)[i]
    if leaf.operands.size():
        return
    if leaf == writer_of(c):
        Tape_set_writer(c, NULL)
    else:
        writer_of(c).marks = NULL
        leaf.unref()


cdef class History:
    """Who wrote an array's memory, to be put back after it was a leaf of somebody else's."""

    cdef Chunk* chunk
    cdef Node* n

    def __cinit__(self, Tensor x not None):
        self.chunk = x.v.chunk
        self.n = history_of(self.chunk)
        self.chunk.ref()
        if self.n is not NULL:
            self.n.ref()

    def __dealloc__(self):
        self.chunk.unref()
        if self.n is not NULL:
            self.n.unref()

    def put_back(self):
        Tape_set_writer(self.chunk, self.n)


def of_its_own(Tensor x not None):
    """Makes a view by ``detach`` an array that may have a history: a copy, if there is one already."""
    cdef Node* n = history_of(x.v.chunk)
    if x.v.detached and n is not NULL and not n.freed:
        become(x, cast(x, x.v.dtype))
    x.v.detached = False


def detached(Tensor x not None):
    """A view of ``x`` whose values autograd takes for constants."""
    cdef Tensor t = typed_like(view_of(x), x)
    t.v.layout = x.v.layout
    t.v.detached = True
    return t


def undetached(Tensor x not None):
    """``x``; of one by ``detach`` a view whose values autograd takes for any array's."""
    if not x.v.detached:
        return x
    cdef Tensor t = typed_like(view_of(x), x)
    t.v.layout = x.v.layout
    t.v.detached = False
    return t


cdef object constant_of(const char* p, int dtype):
    """A constant of an instruction as a Python number (a NumPy scalar where there is none like it)."""
    cdef char code = info(dtype).code
    if code == b"d":
        return (<double*>p)[0]
    if code == b"f":
        return <double>(<float*>p)[0]
    cdef cnp.ndarray a = np.empty((), _dtypes[dtype])
    memcpy(cnp.PyArray_DATA(a), p, info(dtype).size)
    return a[()] if code in b"gG" else a.item()
