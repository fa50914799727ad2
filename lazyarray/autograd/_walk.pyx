# distutils: language = c++
"""The backward pass: walks the tape from its heads to its leaves and adds up gradients.

Each chunk that a gradient reaches has a *shadow*: an array of as many bytes, laid out as the chunk is,
so the gradient of any view of the memory is the same view of its shadow. What an op wrote gets its
gradient from there (and is cleared, unless all was taken: before that op there was another value);
what it read gets a share added. That is reverse mode on programs that overwrite memory, as Enzyme has it
(Moses, Churavy: "Instead of Rewriting Foreign Code for Machine Learning", 2020).
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint64_t
from cython.operator cimport dereference
from libcpp.vector cimport vector

from lazyarray.engine._engine cimport new_device, site_text
from lazyarray.lazy._lazy cimport (
    D_F2,
    GradientInput,
    Layout,
    Leaves,
    Memory,
    NODE_CALL,
    NODE_LEAF,
    Node,
    NodeOperand,
    Tape_set_writer,
    constant_of,
    is_captured,
    last_first,
    known_as,
    Tensor,
    assign,
    become,
    cast,
    empty_like_shape,
    fill,
    history_of,
    info,
    new_tensor,
    np_dtype,
    npy_intp,
    recorder,
    shape_tuple,
    view_of,
    writer_of,
)
from lazyarray.ops._rows cimport Reduction, Ufunc, as_tensor_on, store
from lazyarray.storage._storage cimport Chunk

from lazyarray import functions, ops
from lazyarray.engine._engine import check_methods
from lazyarray.lazy._lazy import is_capturing, set_recording

cnp.import_array()

cdef Ufunc _add = ops.names.add
cdef Ufunc _multiply = ops.names.multiply
cdef Reduction _sum = ops.names.sum


cdef class Shadow:
    """The gradient of a chunk so far: a vector of its size. Only what is `owned` is written in place."""

    cdef Tensor flat
    cdef bint owned


cdef Tensor seen_as(Tensor flat, int dtype, Layout* l):
    """The view of a vector that `l` is of a chunk."""
    cdef Tensor t = view_of(flat)
    t.v.dtype = dtype
    t.v.readonly = False
    cdef npy_intp start = t.v.layout.offset
    t.v.layout = l[0]
    t.v.layout.offset += start
    return t


cdef Tensor vector_of(int dtype, npy_intp n, Tensor like):
    return empty_like_shape(dtype, 1, &n, like.v.device())


cdef void drop_axis(Layout& l, int axis) noexcept:
    """Takes an axis out of a layout."""
    cdef Layout kept
    cdef int i, n = 0
    kept.resize(l.ndim - 1)
    kept.offset = l.offset
    for i in range(l.ndim):
        if i != axis:
            kept.shape()[n] = l.shape()[i]
            kept.strides()[n] = l.strides()[i]
            n += 1
    l = kept


cdef void pick_index(Layout& l, int axis, npy_intp k) noexcept:
    """Leaves of a layout what has index ``k`` along an axis."""
    l.offset += k * l.strides()[axis]
    drop_axis(l, axis)


cdef Tensor indexed(Tensor x, int axis, npy_intp k):
    """The view of ``x`` at index ``k`` along an axis."""
    cdef Tensor t = view_of(x)
    t.v.layout = x.v.layout
    pick_index(t.v.layout, axis, k)
    return t


cdef bint meets_itself(Layout& l, npy_intp itemsize) noexcept:
    """Whether two elements may share bytes (sliding windows); false if each axis steps over the faster ones."""
    cdef int i, fastest, left = l.ndim
    cdef npy_intp reach = itemsize, step
    cdef uint64_t done = 0
    while left:
        fastest = -1
        for i in range(l.ndim):
            if not done >> i & 1 and (fastest < 0 or abs(l.strides()[i]) < abs(l.strides()[fastest])):
                fastest = i
        done |= <uint64_t>1 << fastest
        left -= 1
        if l.shape()[fastest] <= 1:
            continue
        step = abs(l.strides()[fastest])
        if step < reach:
            return True
        reach += step * (l.shape()[fastest] - 1)
    return False


cdef bint covers(Layout& l, npy_intp itemsize, size_t nbytes) noexcept:
    """Whether the view is all of a chunk of `nbytes`."""
    return <size_t>(l.size() * itemsize) == nbytes and not meets_itself(l, itemsize)


cdef bint fills(Layout& l, npy_intp itemsize, size_t nbytes) noexcept:
    """Whether the view is all of a chunk of `nbytes`, forwards."""
    cdef int i
    for i in range(l.ndim):
        if l.strides()[i] <= 0 and l.shape()[i] != 1:
            return False
    return l.offset == 0 and covers(l, itemsize, nbytes)


cdef bint same_steps(Layout& a, Layout& b) noexcept:
    cdef int i
    for i in range(a.ndim):
        if a.shape()[i] != 1 and a.strides()[i] != b.strides()[i]:
            return False
    return True


cdef tuple shape_of(Layout* l):
    return tuple([l.shape()[i] for i in range(l.ndim)])


cdef Tensor broadcast_as(Tensor x, Layout* l):
    """A view of ``x`` over l's shape; ValueError if it doesn't broadcast to that."""
    cdef Tensor t = view_of(x)
    cdef Layout* have = &x.v.layout
    cdef int lead = l.ndim - have.ndim, i
    t.v.layout.resize(l.ndim)
    for i in range(l.ndim):
        t.v.layout.shape()[i] = l.shape()[i]
        t.v.layout.strides()[i] = 0
        if lead >= 0 and i >= lead and have.shape()[i - lead] == l.shape()[i]:
            t.v.layout.strides()[i] = have.strides()[i - lead]
        elif lead < 0 or i >= lead and have.shape()[i - lead] != 1:
            raise ValueError(f"a gradient of shape {shape_tuple(&x.v)} for an array of shape {shape_of(l)}")
    return t


cdef bint replaces(Tensor g, Tensor grad) noexcept:
    """Whether nobody could tell ``grad`` made the array that ``g`` is from ``g`` copied into it."""
    cdef Chunk* new = g.v.chunk
    cdef Chunk* old = grad.v.chunk
    # The handles are g's and its shadow's; any more would be of an array that shares the memory.
    return new.handles.load() == 2 and new.nbytes == old.nbytes and old.handles.load() == 1 \
        and new.owner is NULL and old.owner is NULL and old.exports.load() == 0 and not is_captured(old) \
        and g.v.layout.offset == 0 and grad.v.layout.same_shape(g.v.layout) and not is_capturing()


cdef bint wrote(Node* n, Memory* m) noexcept:
    cdef int k
    for k in range(n.nin, n.nin + n.nout):
        if n.operands[k].memory == m:
            return True
    return False


# Called at the end of each pass that writes gradients, with these; changed under the GIL only.
cdef list _watchers = []


def watch(watcher):
    """Has ``watcher(gradients)`` be called after each backward pass, with the gradients that it wrote.

    They come in the order in which the pass had recorded the last of each: as the ops run in turn, that
    is the order in which they are ready. It does not depend on time. `unwatch` ends it.
    """
    _watchers.append(watcher)


def unwatch(watcher):
    """Ends what `watch` began."""
    if watcher in _watchers:
        _watchers.remove(watcher)


cdef class Walk:
    """One backward pass."""

    cdef dict shadows  # by the address of the Memory, which the nodes of the pass keep
    cdef vector[Node*] order
    cdef vector[Node*] untouched  # leaves whose gradients are zero, unless they are met
    cdef set met  # the leaves that were, by seq
    cdef dict turns  # when a shadow got its last share, by the address of the Memory; None: nobody asks
    cdef list written  # (address, gradient) of the leaves, where `turns` is kept
    cdef bint retain, create
    cdef set stops  # nodes, by address, behind which it doesn't go

    def __cinit__(self):
        self.shadows = {}
        self.met = set()
        self.stops = set()

    def __dealloc__(self):
        for i in range(self.order.size()):  # no copies, for which there might be no memory
            self.order[i].unref()
        for i in range(self.untouched.size()):
            self.untouched[i].unref()

    # -- the graph

    cdef int collect(self, list heads) except -1:
        """All nodes behind the heads, the last recorded first. Nothing has been changed if this raises."""
        cdef vector[Node*] todo
        cdef Node* n
        cdef Tensor t
        cdef uint64_t walk
        cdef Leaves zeros
        recorder().tape.walks += 1
        walk = recorder().tape.walks
        for head in heads:
            t = head
            n = writer_of(t.v.chunk)
            if n is not NULL:
                todo.push_back(n)
            else:  # it doesn't change with any leaf
                zeros = recorder().tape.joined(zeros, history_of(t.v.chunk).reach)
        while todo.size():
            n = todo.back()
            todo.pop_back()
            if n.walk == walk:
                continue
            n.walk = walk
            self.order.push_back(n)
            n.ref()
            self.check(n)
            zeros = recorder().tape.joined(zeros, n.zeros)
            for i in range(0 if n.loose or <size_t>n in self.stops else n.operands.size()):
                if n.operands[i].from_ is not NULL:
                    todo.push_back(n.operands[i].from_)
        if zeros:
            for i in range(dereference(zeros).size()):
                n = recorder().tape.leaf(dereference(zeros)[i])
                if n is not NULL:
                    self.untouched.push_back(n)
                    n.ref()
        last_first(self.order)
        return 0

    cdef int check_leaves(self) except -1:
        """That each gradient which is due can be written: before any is, and while the graph is there."""
        cdef Node* n
        cdef size_t i
        for i in range(self.order.size()):
            n = self.order[i]
            if n.kind == NODE_LEAF:
                self.check_leaf(n)
            if n.marks is not NULL:
                self.check_leaf(n.marks)
        for i in range(self.untouched.size()):
            self.check_leaf(self.untouched[i])
        return 0

    cdef int check_leaf(self, Node* leaf) except -1:
        cdef Tensor grad
        cdef size_t i
        for i in range(leaf.operands.size()):
            grad = (<list>leaf.payload)[i][0]
            if grad.v.readonly or not grad.v.layout.same_shape(leaf.operands[i].layout):
                where = "a read-only array" if grad.v.readonly else f"one of shape {shape_tuple(&grad.v)}"
                raise ValueError(
                    f"the gradient of an array of shape {shape_of(&leaf.operands[i].layout)} can't be written "
                    f"to {where}")
        return 0

    cdef int check(self, Node* n) except -1:
        """That what the node needs is there still."""
        cdef NodeOperand* o
        if n.freed:
            raise RuntimeError(
                f"the graph of {n.name.decode()!r}, recorded at {site_text(n.site)}, was freed by an "
                "earlier backward: pass retain_graph=True to that one to use it again")
        for i in range(n.operands.size() - (0 if self.create else n.again)):
            o = &n.operands[i]
            if o.saved is not NULL and o.saved.issued != o.version:
                raise RuntimeError(
                    f"the gradient of {n.name.decode()!r}, recorded at {site_text(n.site)}, needs an "
                    f"array that was overwritten later, at {site_text(o.memory.overwritten)}: use a "
                    "copy in one of the two places")
        return 0

    # -- shadows

    cdef Shadow shadow(self, Memory* m):
        return self.shadows.get(<size_t>m)

    cdef int add(self, NodeOperand* o, object result) except -1:
        """Adds a gradient, of the operand's shape or what broadcasts to it, to the operand's shadow."""
        cdef Layout kept = o.layout
        cdef Tensor r = as_tensor_on(result, o.memory.device)
        cdef int i
        cdef npy_intp times = 1
        if not (r.v.device() == o.memory.device):
            r = functions.memory.to_device(r, new_device(o.memory.device))
        if info(r.v.dtype).kind == b"c" and info(o.dtype).kind != b"c":
            r = functions.real(r)
        if r.v.dtype != o.dtype:
            r = cast(r, o.dtype)
        r = broadcast_as(r, &kept)
        # What was broadcast collects the sum. A gradient that is the same for all is not added up.
        axes = []
        for i in range(kept.ndim - 1, -1, -1):
            if kept.shape()[i] == 1:
                drop_axis(kept, i)
                drop_axis(r.v.layout, i)
            elif kept.strides()[i] == 0 and r.v.layout.strides()[i] == 0:
                times *= kept.shape()[i]
                drop_axis(kept, i)
                drop_axis(r.v.layout, i)
        for i in range(kept.ndim - 1, -1, -1):
            if kept.strides()[i] == 0:
                axes.append(i)
        for i in axes:
            drop_axis(kept, i)
        while axes:  # neighbouring axes at a time, the last first: each is a native reduction
            run = [axes.pop(0)]
            while axes and axes[0] == run[-1] - 1:
                run.append(axes.pop(0))
            # Halves end to count at 2048: they are summed as floats.
            r = _sum.reduce(r, tuple(run), np.float32 if r.v.dtype == D_F2 else None, None, False)
        if r.v.dtype != o.dtype:
            r = cast(r, o.dtype)
        if times != 1:
            r = _multiply.binary(r, times, None)
        if kept.size():
            self.place(o.memory, o.dtype, kept, r)
            if self.turns is not None:
                self.turns.pop(<size_t>o.memory, None)
                self.turns[<size_t>o.memory] = None  # the last one, now
        return 0

    cdef int place(self, Memory* m, int dtype, Layout& l, Tensor r) except -1:
        """Adds ``r`` to the part `l` of a shadow; elements that the view has twice collect both."""
        cdef npy_intp item = info(dtype).size
        cdef Shadow s = self.shadow(m)
        cdef Tensor flat, part
        cdef Layout rest
        cdef int i, shortest = -1
        cdef npy_intp k
        if meets_itself(l, item):
            for i in range(l.ndim):
                if shortest < 0 or l.shape()[i] < l.shape()[shortest]:
                    shortest = i
            for k in range(l.shape()[shortest]):
                rest = l
                pick_index(rest, shortest, k)
                self.place(m, dtype, rest, indexed(r, shortest, k))
            return 0
        if fills(l, item, m.nbytes) and (s is None or s.flat.v.dtype == dtype):
            if same_steps(l, r.v.layout):
                flat = view_of(r)
                flat.v.layout.resize(1)
                flat.v.layout.shape()[0] = l.size()
                flat.v.layout.strides()[0] = item
            else:
                flat = vector_of(dtype, l.size(), r)
                assign(seen_as(flat, dtype, &l), r)
            if s is None:
                s = Shadow.__new__(Shadow)
                s.flat = flat
                self.shadows[<size_t>m] = s
            else:
                s.flat = _add.binary(s.flat, flat, s.flat if s.owned else None)
                s.owned = True
            return 0
        if s is None:
            s = Shadow.__new__(Shadow)
            s.flat = vector_of(dtype, m.nbytes // item, r)
            s.owned = True
            fill(s.flat, 0)
            self.shadows[<size_t>m] = s
            assign(seen_as(s.flat, dtype, &l), r)
            return 0
        self.own(s)
        part = seen_as(s.flat, dtype, &l)
        _add.binary(part, r, part)
        return 0

    cdef int own(self, Shadow s) except -1:
        if not s.owned:
            s.flat = cast(s.flat, s.flat.v.dtype)
            s.owned = True
        return 0

    cdef Tensor take(self, NodeOperand* o, bint clears):
        """The gradient of what an op wrote, or None; `clears` if what was there before gets none of it."""
        cdef Shadow s = self.shadow(o.memory)
        cdef Layout kept = o.layout
        cdef Tensor t, part
        cdef int i, n = 0  # of the axes that step
        if s is None or not kept.size():
            return None
        for i in range(kept.ndim - 1, -1, -1):
            if kept.strides()[i] == 0:
                drop_axis(kept, i)
        if covers(kept, info(o.dtype).size, o.memory.nbytes):
            del self.shadows[<size_t>o.memory]
            return seen_as(s.flat, o.dtype, &o.layout)
        if not clears:
            return seen_as(s.flat, o.dtype, &o.layout)
        self.own(s)
        part = seen_as(s.flat, o.dtype, &kept)
        t = cast(part, o.dtype)
        fill(part, 0)
        part = view_of(t)
        part.v.layout.resize(o.layout.ndim)
        for i in range(o.layout.ndim):
            part.v.layout.shape()[i] = o.layout.shape()[i]
            part.v.layout.strides()[i] = 0
            if o.layout.strides()[i] != 0:
                part.v.layout.strides()[i] = t.v.layout.strides()[n]
                n += 1
        return part

    cdef Tensor take_once(self, NodeOperand* o):
        """As `take`, which clears; of what an output repeats, the first place gets the gradient, the rest zeros."""
        cdef Shadow s = self.shadow(o.memory)
        cdef Layout l = o.layout
        cdef Tensor t
        if s is None or not l.size() or not meets_itself(l, info(o.dtype).size):
            return self.take(o, True)
        self.own(s)
        t = empty_like_shape(o.dtype, l.ndim, l.shape(), s.flat.v.device())
        fill(t, 0)
        self.move(s, o.dtype, l, t)
        return t

    cdef int move(self, Shadow s, int dtype, Layout& l, Tensor to) except -1:
        """Moves the part `l` of a shadow to ``to``, element by element: what is met again is zero by then."""
        cdef Tensor part
        cdef Layout rest
        cdef int i, axis = -1
        cdef npy_intp k, n
        if not meets_itself(l, info(dtype).size):
            part = seen_as(s.flat, dtype, &l)
            assign(to, part)
            fill(part, 0)
            return 0
        for i in range(l.ndim):
            if l.strides()[i] == 0 and l.shape()[i] != 1:
                axis = i
                break
            if axis < 0 or l.shape()[i] < l.shape()[axis]:
                axis = i
        n = 1 if l.strides()[axis] == 0 else l.shape()[axis]
        for k in range(n):
            rest = l
            pick_index(rest, axis, k)
            self.move(s, dtype, rest, indexed(to, axis, k))
        return 0

    # -- nodes

    cdef object restored(self, Node* n, int k):
        """Operand k's value, as it was when the op ran."""
        cdef NodeOperand* o = &n.operands[k]
        cdef Node* writer
        cdef int i
        if o.constant >= 0:
            return constant_of(n.constants[o.constant], o.dtype)
        cdef Tensor t = new_tensor(o.saved, o.dtype)
        t.v.layout = o.layout
        if self.create and writer_of(o.saved) is NULL:
            # Nobody could use it any more, so its history was forgotten; now it is used again.
            writer = n if k >= n.nin and wrote(n, o.memory) else o.from_
            if writer is not NULL:
                Tape_set_writer(o.saved, writer)
        return t

    cdef int step(self, Node* n) except -1:
        cdef int i, k
        cdef list outs = []
        cdef bint any = False
        cdef NodeOperand* o
        for k in range(n.nin, n.nin + n.nout):
            o = &n.operands[k]
            if o.memory is NULL:
                g = None
            elif n.kind == NODE_CALL:  # its outputs may share memory
                g = self.take_once(o)
            else:
                g = self.take(o, o.from_ is not NULL)
            any = any or g is not None
            outs.append(g)
        for k in range(n.nin, n.nin + n.nout):
            # What was there before are constants, but earlier nodes may know the memory with others.
            o = &n.operands[k]
            if o.memory is not NULL and o.from_ is NULL:
                self.shadows.pop(<size_t>o.memory, None)
        if not any:
            return 0
        if n.kind == NODE_CALL:
            saved = [self.restored(n, k) for k in range(n.nin + n.nout, <int>n.operands.size())]
            results = (<object>n.payload)(outs, saved)
            if len(results) != n.nin:
                raise ValueError(f"{n.name.decode()}: {len(results)} gradients for {n.nin} inputs")
            for i in range(n.nin):
                if n.operands[i].from_ is not NULL and results[i] is not None:
                    self.add(&n.operands[i], results[i])
            return 0
        for i in range(n.nin):
            if n.operands[i].from_ is not NULL and n.gradient.inputs[i].function is not NULL:
                r = self.partial(n, &n.gradient.inputs[i], outs)
                if r is not None:
                    self.add(&n.operands[i], r)
        return 0

    cdef object partial(self, Node* n, const GradientInput* input, list outs):
        cdef size_t i, many = input.arguments.size()
        cdef int a
        cdef list arguments = []
        for i in range(many):
            a = input.arguments[i]
            if a >= 0:
                arguments.append(self.restored(n, a))
                continue
            g = outs[-1 - a]
            if g is None:
                g = broadcast_as(as_tensor_on(np_dtype(n.operands[n.nin - 1 - a].dtype).type(0),
                                              n.operands[n.nin].memory.device),
                                 &n.operands[n.nin].layout)
            arguments.append(g)
        return (<object>input.function)(*arguments)

    cdef int find(self, Node* leaf, bint shared, list found) except -1:
        """Adds to ``found`` the leaf's gradients now, where asked for: (to, how, gradient or None: zero).

        Those of an op's result are not `shared`: the shadow goes on to the op.
        """
        cdef size_t i
        cdef Shadow s
        cdef Tensor g
        cdef NodeOperand* o
        self.met.add(leaf.seq)
        for i in range(leaf.operands.size()):
            o = &leaf.operands[i]
            s = self.shadow(o.memory)
            g = None
            if s is not None:
                g = seen_as(s.flat, o.dtype, &o.layout)
                if not shared and s.owned:
                    g = cast(g, o.dtype)
            if self.turns is not None:
                self.written.append((<size_t>o.memory, (<list>leaf.payload)[i][0]))
            found.append((*(<list>leaf.payload)[i], g, shared))
        return 0

    cdef int deliver(self, Tensor grad, str grad_req, Tensor g, bint shared) except -1:
        """Writes a leaf's gradient where it was asked for."""
        if grad_req == "add":
            if g is not None:
                _add.binary(grad, g, grad)
        elif grad_req == "write":
            if g is None:
                fill(grad, 0)
            elif shared and not self.retain and replaces(g, grad):
                become(grad, g)
            else:
                store(grad, g)
        return 0

    cdef list run(self, list heads, list gradients, list variables):
        """The pass itself: gives the variables' gradients, or, if that is None, writes the leaves'."""
        cdef Tensor t, g
        cdef NodeOperand seed
        cdef Node* n
        cdef Shadow s
        cdef list due = []
        cdef size_t k
        cdef list found = [None] * (0 if variables is None else len(variables))
        wanted = {}
        for i, x in enumerate(found):
            t = variables[i]
            wanted.setdefault(<size_t>writer_of(t.v.chunk), []).append(i)
        self.collect(heads)
        if variables is None:
            self.check_leaves()
        for head, gradient in zip(heads, gradients):
            t = head
            if writer_of(t.v.chunk) is NULL:
                continue
            seed.memory = known_as(t.v.chunk)
            seed.dtype = t.v.dtype
            seed.layout = t.v.layout
            self.add(&seed, gradient)
        seed.memory = NULL
        for k in range(self.order.size()):
            n = self.order[k]
            for i in wanted.get(<size_t>n, ()):
                t = variables[i]
                s = self.shadow(known_as(t.v.chunk))
                if s is not None:
                    g = seen_as(s.flat, t.v.dtype, &t.v.layout)
                    found[i] = cast(g, g.v.dtype) if s.owned else g
            if <size_t>n in self.stops:
                continue
            if n.marks is not NULL and variables is None:
                self.find(n.marks, False, due)
            if n.kind == NODE_LEAF:
                if variables is None:
                    self.find(n, True, due)
                continue
            if n.freed:
                self.check(n)
            n.busy += 1
            if not self.retain:
                n.freed = True
            try:
                self.step(n)
            except BaseException:
                if not self.retain:
                    n.freed = False
                raise
            finally:
                n.busy -= 1
                if n.freed and not n.busy:
                    n.release()
        if variables is None:
            # At the end, so that a rule that fails leaves every gradient as it was.
            for k in range(self.untouched.size()):
                n = self.untouched[k]
                if n.seq not in self.met:
                    self.find(n, True, due)
            for grad, grad_req, given, shared in due:
                self.deliver(grad, grad_req, given, shared)
        return found

    cdef int tell(self) except -1:
        """Tells who watches which gradients were written."""
        places = {address: place for place, address in enumerate(self.turns)}
        turns = [(places[address], k) for k, (address, _) in enumerate(self.written) if address in places]
        written = [self.written[k][1] for _, k in sorted(turns)]
        for watcher in list(_watchers):
            watcher(written)
        return 0


def walk(list heads, list gradients, variables, bint retain, bint create, bint stops=False):
    """One backward pass from ``heads``, which are tracked, with their ``gradients``.

    With ``variables`` (a list of tracked arrays) it gives their gradients, None where nothing reaches
    one; else it writes the gradients of the leaves. ``retain`` keeps the graph; ``create`` records the
    pass itself. With ``stops`` it doesn't go on to what a variable was made of.
    """
    cdef Walk w = Walk.__new__(Walk)
    w.retain, w.create = retain, create
    if stops:
        w.stops = {<size_t>writer_of((<Tensor>x).v.chunk) for x in variables}
    if _watchers and variables is None:
        w.turns, w.written = {}, []
    old = set_recording(create)
    try:
        found = w.run(heads, gradients, variables)
        if w.turns is not None:
            w.tell()
        return found
    finally:
        set_recording(old)

check_methods(globals())
