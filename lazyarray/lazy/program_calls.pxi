# Calls of programs: other arrays in the place of those captured, and what decides which program fits.


cdef Chunk* replaced(Chunk* c, const Substitutions& substitutions) noexcept:
    cdef const Substitution* s = substitutions.find(c)
    return c if s is NULL else s.to


cdef uint64_t standing(Chunk* c) noexcept:
    """Whether gradients reach what is in memory now: 0, 1, or as which leaf."""
    cdef Node* n = writer_of(c)
    if n is NULL:
        return 0
    return n.seq + 1 if n.kind == NODE_LEAF else 1


cdef class ProgramCall:
    """One call of a program with inputs, phase by phase; the last may be run again."""

    cdef Program program
    cdef Substitutions substitutions
    # What is put in others' place. No handles: a node that keeps the call must not keep its own outputs.
    cdef vector[Chunk*] held
    cdef int phase

    def __dealloc__(self):
        for i in range(self.held.size()):  # no copy, for which there might be no memory
            self.held[i].unref()

    cdef int hold(self, Chunk* c) except -1:
        self.held.push_back(c)
        c.ref()
        return 0

    cdef Tensor renew(self, Tensor like, Substitutions& substitutions):
        """A new array in the place of one."""
        cdef Tensor fresh = typed_like(blank_tensor(like.v.dtype), like)
        fresh.v.set_chunk(_recorder.store().create(like.v.chunk.nbytes, like.v.device()))
        fresh.v.chunk.adopt_handle()
        fresh.v.layout = like.v.layout
        fresh.v.readonly, fresh.v.detached = like.v.readonly, like.v.detached
        substitutions.add(like.v.chunk, fresh.v.chunk, 0)
        if &substitutions == &self.substitutions:
            self.hold(fresh.v.chunk)
        return fresh

    def go_on(self, list arrays not None):
        """Runs the next phase on ``arrays``; gives its outputs.

        An output that is (a view of) an input or of an array used by reference is given as that.
        """
        cdef Substitutions substitutions
        cdef const Substitution* s
        cdef Tensor like, t, given
        cdef list results = []
        cdef bint known
        cdef size_t i
        cdef int phase = self.phase
        substitutions.copy(self.substitutions)
        for like, t in zip(self.program.inputs[phase], arrays, strict=True):
            substitutions.add(like.v.chunk, t.v.chunk, t.v.layout.offset - like.v.layout.offset)
        for x in self.program.outputs[phase]:
            like = x
            s = substitutions.find(like.v.chunk)
            known = s is not NULL
            if known:
                t = typed_like(new_tensor(s.to, like.v.dtype), like)
                t.v.layout = like.v.layout
                t.v.layout.offset += s.delta
                t.v.readonly, t.v.detached = like.v.readonly, like.v.detached
                for x, given in zip(self.program.inputs[phase], arrays):
                    if (<Tensor>x).v.chunk == like.v.chunk:
                        t.v.readonly = t.v.readonly or given.v.readonly
                        t.v.detached = t.v.detached or given.v.detached
            if not known and not self.program.p.bore(like.v.chunk):
                t = typed_like(view_of(like), like)
                t.v.layout = like.v.layout
                known = True
            results.append(t if known else self.renew(like, substitutions))
        self.held.reserve(self.held.size() + substitutions.size())
        self.program.push(phase, substitutions)
        if phase + 1 < <int>self.program.p.splits.size():
            for i in range(self.substitutions.size(), substitutions.size()):
                self.hold(substitutions[i].to)
            self.substitutions.swap(substitutions)
            self.phase += 1
        return results


cdef bint dense(Tensor x) noexcept:
    """Whether the elements lie without gaps, forwards, in whatever order of axes."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp step = x.v.itemsize(), next
    cdef int i, k
    if l.c_contiguous(step):
        return True
    if l.ndim > 32:
        return False
    cdef unsigned int done = 0
    for k in range(l.ndim):
        next = -1
        for i in range(l.ndim):
            if not done >> i & 1 and (l.strides()[i] == step or l.shape()[i] == 1):
                next = i
                break
        if next < 0:
            return False
        done |= 1u << next
        step *= l.shape()[next]
    return True


def is_dense(Tensor x not None):
    """Whether x's elements lie without gaps, forwards, in whatever order of axes."""
    return dense(x)


def call_key(arrays):
    """What of a call with ``arrays``, a list or tuple, decides which ops it records; None if one isn't a dense array.

    Of an array that collects a gradient that is the array itself; of the thread what it records, and
    what becomes of floating-point errors and warnings.
    """
    cdef string key
    cdef Tensor t
    cdef Layout* l
    cdef Mode* m = &mode()
    cdef npy_intp word[4]
    cdef ErrState errors = current_errstate()
    word[0] = recording() + 2 * m.training + 4 * (
        errors.divide + 8 * (errors.over + 8 * (errors.under + 8 * (errors.invalid + 8 * <npy_intp>errors.handler))))
    word[1] = current_device().number()
    word[2] = plain_filters()
    key.append(<char*>word, 3 * sizeof(npy_intp))
    for x in arrays:
        if not isinstance(x, Tensor):
            return None
        t = <Tensor>x
        l = &t.v.layout
        word[0] = t.v.dtype
        word[1] = l.ndim
        word[2] = t.v.device().number()
        word[3] = (recording() and wants_gradient(t)) + 2 * t.v.readonly + 4 * is_scalar(t)
        if is_leaf(t):
            word[3] = <npy_intp><void*>t
        elif not dense(t):
            return None
        key.append(<char*>word, 4 * sizeof(npy_intp))
        key.append(<char*>l.dims(), 2 * l.ndim * sizeof(npy_intp))
    return <bytes>key
