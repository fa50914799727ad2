# distutils: language = c++
"""Native instructions of neural networks: windows as columns, maxima of windows, choices by index.

Arrays are of float32 or float64; callers see to that, and to shapes. Nothing here is noted for autograd:
callers do, for a whole call.
"""

import numpy as np

cimport numpy as cnp

from lazyarray.engine._engine cimport CError
from lazyarray.lazy._lazy cimport (
    Block,
    D_F4,
    D_F8,
    D_IL,
    ELEMENTWISE,
    GUFUNC,
    Instr,
    Kernel,
    Layout,
    Loop,
    Tensor,
    View,
    assign,
    cast,
    dtype_code,
    emit,
    emit_elementwise,
    empty_like_shape,
    fresh,
    info,
    is_scalar,
    is_tensor,
    new_kernel,
    npy_intp,
    put_scalar,
    recorder,
    same_device,
    set_k_layout,
    set_operand,
    view_of,
)

from lazyarray.engine._engine import check_methods
from lazyarray.lazy._lazy import leaf_grad

cnp.import_array()


cdef extern from "nn/windows.h" namespace "lazyarray" nogil:
    Loop unfold_f4 "lazyarray::unfold_loop<float>"
    Loop unfold_f8 "lazyarray::unfold_loop<double>"
    Loop fold_f4 "lazyarray::fold_loop<float>"
    Loop fold_f8 "lazyarray::fold_loop<double>"
    Loop maxima_f4 "lazyarray::maxima_loop<float>"
    Loop maxima_f8 "lazyarray::maxima_loop<double>"


cdef extern from "nn/picks.h" namespace "lazyarray" nogil:
    Loop pick_f4 "lazyarray::pick_loop<float, npy_intp>"
    Loop pick_f8 "lazyarray::pick_loop<double, npy_intp>"
    Loop pick_f4_i4 "lazyarray::pick_loop<float, int32_t>"
    Loop pick_f8_i4 "lazyarray::pick_loop<double, int32_t>"
    Loop spread_f4 "lazyarray::spread_loop<float, npy_intp>"
    Loop spread_f8 "lazyarray::spread_loop<double, npy_intp>"
    Loop spread_f4_i4 "lazyarray::spread_loop<float, int32_t>"
    Loop spread_f8_i4 "lazyarray::spread_loop<double, int32_t>"
    Loop add_rows_f4 "lazyarray::add_rows_loop<float>"
    Loop add_rows_f8 "lazyarray::add_rows_loop<double>"
    Loop chosen_f4 "lazyarray::chosen_loop<float>"
    Loop chosen_f8 "lazyarray::chosen_loop<double>"
    Loop erf_f4 "lazyarray::erf_loop<float>"
    Loop erf_f8 "lazyarray::erf_loop<double>"
    CError* no_such_class(const Instr&, const Block&) noexcept


cdef int D_I4 = dtype_code(np.int32)


cdef Kernel* kernel(str name, Loop fn, list inputs, list outputs) except NULL:
    cdef Kernel* k = new_kernel(name, GUFUNC, len(inputs), len(outputs))
    k.fn = fn
    for i, dtype in enumerate(inputs + outputs):
        k.dtypes[i] = dtype
    return k


# By dtype: float32, float64.
cdef Kernel* _unfold[2]
cdef Kernel* _fold[2]
cdef Kernel* _maxima[2]
cdef Kernel* _pick[2][2]  # and by the indices': int32, intp
cdef Kernel* _spread[2][2]
cdef Kernel* _add_rows[2]
cdef Kernel* _chosen[2]
cdef Kernel* _erf[2]


cdef int fill_tables() except -1:
    cdef int t, i, d, index
    for t in range(2):
        d = D_F8 if t else D_F4
        _unfold[t] = kernel("unfold", unfold_f8 if t else unfold_f4, [d], [d])
        _fold[t] = kernel("fold", fold_f8 if t else fold_f4, [d], [d])
        _maxima[t] = kernel("max_pool", maxima_f8 if t else maxima_f4, [d], [d, D_I4])
        for i in range(2):
            index = D_IL if i else D_I4
            if i:
                _pick[t][i] = kernel("pick", pick_f8 if t else pick_f4, [d, index], [d])
                _spread[t][i] = kernel("spread", spread_f8 if t else spread_f4, [d, index], [d])
            else:
                _pick[t][i] = kernel("pick", pick_f8_i4 if t else pick_f4_i4, [d, index], [d])
                _spread[t][i] = kernel("spread", spread_f8_i4 if t else spread_f4_i4, [d, index], [d])
        _add_rows[t] = kernel("add_rows", add_rows_f8 if t else add_rows_f4, [d, D_IL], [d])
        _chosen[t] = kernel("cross_entropy", chosen_f8 if t else chosen_f4, [d, d, d, D_IL], [d, d])
        _chosen[t].check = no_such_class
        _chosen[t].checked = 3
        _erf[t] = new_kernel("erf", ELEMENTWISE, 1, 1)
        _erf[t].fn = erf_f8 if t else erf_f4
        _erf[t].dtypes[0] = _erf[t].dtypes[1] = d
        _erf[t].cost = 15
        _erf[t].any_order = True
    return 0


fill_tables()


cdef Tensor in_c_order(Tensor x, int dtype):
    """``x``, or a copy of it, as a dtype in C order."""
    cdef Tensor t
    if x.v.dtype == dtype and x.v.layout.c_contiguous(x.v.itemsize()):
        return x
    t = empty_like_shape(dtype, x.v.layout.ndim, x.v.layout.shape(), x.v.device())
    assign(t, x)
    return t


cdef inline int number(Tensor x) noexcept:
    return x.v.dtype == D_F8


# ---- windows ------------------------------------------------------------------------------------


cdef npy_intp pair(tuple both) except -1:
    cdef npy_intp high = both[0], low = both[1]
    return high << 32 | low


cdef int set_windows(Instr* instr, npy_intp h, npy_intp w, geometry, npy_intp row, npy_intp tap) except -1:
    """The core of an instruction over windows; `geometry`: see Windows in la.nn's convolution.py."""
    instr.ncore = 4
    instr.core[0], instr.core[1] = h, w
    instr.core[2], instr.core[3] = geometry.shape
    instr.ncore_steps = 6
    instr.core_steps[0] = pair(geometry.kernel)
    instr.core_steps[1] = pair(geometry.stride)
    instr.core_steps[2] = pair(geometry.padding)
    instr.core_steps[3] = pair(geometry.dilation)
    instr.core_steps[4] = row
    instr.core_steps[5] = tap
    return 0


cdef int emit_windows(Kernel* k, Tensor x, Layout* planes, Tensor columns, geometry, bint back) except -1:
    """Unfolds the planes (n, c) of ``x`` into columns (c, windows' elements, n, windows), or folds them."""
    cdef npy_intp item = x.v.itemsize(), taps = geometry.kernel[0] * geometry.kernel[1]
    cdef npy_intp many = geometry.shape[0] * geometry.shape[1]
    cdef npy_intp n = planes.shape()[0], tap = n * many * item
    cdef int a = 1 if back else 0
    cdef Tensor out = x if back else columns
    cdef Instr* instr
    if out.v.layout.size() == 0:
        return 0
    instr = recorder().begin(k, 1, 1)
    set_operand(instr, a, &x.v)
    set_operand(instr, 1 - a, &columns.v)
    instr.set_ndim(2)
    instr.shape()[0] = planes.shape()[1]
    instr.shape()[1] = n
    instr.strides(a)[0] = planes.strides()[1]
    instr.strides(a)[1] = planes.strides()[0]
    instr.strides(1 - a)[0] = taps * tap
    instr.strides(1 - a)[1] = many * item
    set_windows(instr, planes.shape()[2], planes.shape()[3], geometry, planes.strides()[2], tap)
    instr.overwrites = 1
    instr.bytes = out.v.layout.size() * item
    instr.cost_ns = 100 + columns.v.layout.size() * (0.5 if item == 4 else 0.8)
    emit(instr)
    return 0


def unfold(Tensor x not None, geometry):
    """The windows of planes (n, c, h, w) as columns (c * elements of a window, n * windows)."""
    cdef Layout* l = &x.v.layout
    if l.shape()[3] > 1 and l.strides()[3] != x.v.itemsize():
        x = in_c_order(x, x.v.dtype)
        l = &x.v.layout
    cdef npy_intp shape[2]
    shape[0] = l.shape()[1] * geometry.kernel[0] * geometry.kernel[1]
    shape[1] = l.shape()[0] * geometry.shape[0] * geometry.shape[1]
    cdef Tensor out = empty_like_shape(x.v.dtype, 2, shape, x.v.device())
    emit_windows(_unfold[number(x)], x, l, out, geometry, False)
    return out


def fold(Tensor columns not None, geometry, tuple shape, bint channels_first):
    """The adjoint of `unfold`: planes of `shape`, in memory by channels first or by images first."""
    cdef npy_intp lengths[4]
    cdef int i
    columns = in_c_order(columns, columns.v.dtype)
    for i in range(4):
        lengths[i] = shape[(1 - i if channels_first else i) if i < 2 else i]
    cdef Tensor out = empty_like_shape(columns.v.dtype, 4, lengths, columns.v.device())
    cdef npy_intp step
    if channels_first:
        out.v.layout.shape()[0], out.v.layout.shape()[1] = lengths[1], lengths[0]
        step = out.v.layout.strides()[0]
        out.v.layout.strides()[0] = out.v.layout.strides()[1]
        out.v.layout.strides()[1] = step
    emit_windows(_fold[number(columns)], out, &out.v.layout, columns, geometry, True)
    return out


def maxima(Tensor x not None, geometry):
    """Of planes (b, h, w) the windows' maxima (b, oh, ow), and where in the plane they are, as int32."""
    x = in_c_order(x, x.v.dtype)
    cdef Layout* l = &x.v.layout
    cdef npy_intp shape[3]
    cdef int k
    shape[0] = l.shape()[0]
    shape[1], shape[2] = geometry.shape
    cdef Tensor values = empty_like_shape(x.v.dtype, 3, shape, x.v.device())
    cdef Tensor places = empty_like_shape(D_I4, 3, shape, x.v.device())
    if values.v.layout.size() == 0:
        return values, places
    cdef Instr* instr = recorder().begin(_maxima[number(x)], 1, 2)
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &values.v)
    set_operand(instr, 2, &places.v)
    instr.set_ndim(1)
    instr.shape()[0] = l.shape()[0]
    instr.strides(0)[0] = l.strides()[0]
    instr.strides(1)[0] = values.v.layout.strides()[0]
    instr.strides(2)[0] = places.v.layout.strides()[0]
    set_windows(instr, l.shape()[1], l.shape()[2], geometry, l.strides()[1], 0)
    instr.overwrites = 3
    instr.bytes = values.v.layout.size() * (x.v.itemsize() + 4)
    k = geometry.kernel[0] * geometry.kernel[1]
    instr.cost_ns = 100 + values.v.layout.size() * (1.0 + k * 0.8)
    emit(instr)
    return values, places


# ---- optimisers ---------------------------------------------------------------------------------


cdef bint fits(Tensor weight, Tensor t, bint written) noexcept:
    """Whether an array can take part in a weight's update: the gradient, or what is `written`, of floats.

    Both are of the weight's shape and on its device. A state is real or complex as the weight is, and the
    gradient of a real weight is real.
    """
    cdef char kind = info(t.v.dtype).kind, own = info(weight.v.dtype).kind
    if not t.v.layout.same_shape(weight.v.layout) or not (t.v.device() == weight.v.device()):
        return False
    if not written:
        return kind != b"c" or own == b"c"
    return not t.v.readonly and not is_scalar(t) and kind == own and (kind == b"f" or kind == b"c")


def gradients_of(list params not None, list state not None):
    """The gradients of ``params``; None if one has none, or an update of it would be refused."""
    cdef Tensor p
    cdef list found = []
    for i in range(len(params)):
        p = params[i]
        leaf = leaf_grad(p)
        if leaf is None or not fits(p, p, True) or not fits(p, leaf[0], False):
            return None
        for x in <list>state[i]:
            if not fits(p, x, True):
                return None
        found.append(leaf[0])
    return found


def updatable(tuple arrays not None):
    """Whether these are a weight, its gradient, and the arrays of its state, of which an update can be made."""
    cdef int i
    for i in range(len(arrays)):
        if not is_tensor(arrays[i]) or not fits(arrays[0], arrays[i], i != 1):
            return False
    return True


# ---- choices ------------------------------------------------------------------------------------


cdef Tensor chosen(Kernel* k, Tensor x, Tensor index, npy_intp n, npy_intp to):
    """An instruction on rows and indices (b, m) into rows of n, with result (b, to)."""
    cdef npy_intp shape[2]
    shape[0], shape[1] = x.v.layout.shape()[0], to
    cdef Tensor out = empty_like_shape(x.v.dtype, 2, shape, x.v.device())
    if out.v.layout.size() == 0:
        return out
    cdef Instr* instr = recorder().begin(k, 2, 1)
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &index.v)
    set_operand(instr, 2, &out.v)
    instr.set_ndim(1)
    instr.shape()[0] = shape[0]
    instr.strides(0)[0] = x.v.layout.strides()[0]
    instr.strides(1)[0] = index.v.layout.strides()[0]
    instr.strides(2)[0] = out.v.layout.strides()[0]
    instr.ncore = 2
    instr.core[0] = n
    instr.core[1] = index.v.layout.shape()[1]
    instr.ncore_steps = 0
    instr.overwrites = 1
    instr.bytes = out.v.layout.size() * x.v.itemsize()
    instr.cost_ns = 50 + index.v.layout.size() * 1.5 + instr.bytes * 0.1
    emit(instr)
    return out


def pick(Tensor x not None, Tensor index not None):
    """``x[b, index[b, j]]`` of x (b, n) and int32 or intp indices (b, m); 0 where one is outside."""
    cdef int i = index.v.dtype != D_I4
    same_device(x, index)
    x = in_c_order(x, x.v.dtype)
    index = in_c_order(index, D_IL if i else D_I4)
    return chosen(_pick[number(x)][i], x, index, x.v.layout.shape()[1], index.v.layout.shape()[1])


def spread(Tensor values not None, Tensor index not None, npy_intp n):
    """The adjoint of `pick`: rows of n, to whose elements ``index[b, j]`` values (b, m) are added."""
    cdef int i = index.v.dtype != D_I4
    same_device(values, index)
    values = in_c_order(values, values.v.dtype)
    index = in_c_order(index, D_IL if i else D_I4)
    return chosen(_spread[number(values)][i], values, index, n, n)


def add_rows(Tensor rows not None, Tensor index not None, npy_intp n):
    """An array (n, k) of zeros to whose rows ``index[j]`` the rows (m, k) are added, in order."""
    cdef npy_intp shape[2]
    same_device(rows, index)
    rows = in_c_order(rows, rows.v.dtype)
    index = in_c_order(index, D_IL)
    shape[0], shape[1] = n, rows.v.layout.shape()[1]
    cdef Tensor out = empty_like_shape(rows.v.dtype, 2, shape, rows.v.device())
    if out.v.layout.size() == 0:
        return out
    cdef Instr* instr = recorder().begin(_add_rows[number(rows)], 2, 1)
    set_operand(instr, 0, &rows.v)
    set_operand(instr, 1, &index.v)
    set_operand(instr, 2, &out.v)
    instr.set_ndim(0)
    instr.ncore = 3
    instr.core[0], instr.core[1], instr.core[2] = n, rows.v.layout.shape()[0], shape[1]
    instr.ncore_steps = 0
    instr.overwrites = 1
    instr.bytes = out.v.layout.size() * rows.v.itemsize()
    instr.cost_ns = 50 + 0.1 * instr.bytes + rows.v.layout.size() * 0.5
    emit(instr)
    return out


def class_losses(Tensor x not None, top, total, Tensor target not None, npy_intp ignored):
    """Of rows (b, n) the losses ``total - (x[b, target[b]] - top)`` (b), and which of them count: 1 or 0.

    ``top`` and ``total`` are (b, 1), or both 0. An IndexError at the wait for a target outside 0 to
    n - 1 that is not the ignored one.
    """
    cdef npy_intp b = x.v.layout.shape()[0]
    cdef Tensor t
    cdef int i = 0
    same_device(x, target)
    x = in_c_order(x, x.v.dtype)
    target = in_c_order(target, D_IL)
    cdef Tensor losses = empty_like_shape(x.v.dtype, 1, &b, x.v.device())
    cdef Tensor counted = empty_like_shape(x.v.dtype, 1, &b, x.v.device())
    if b == 0:
        return losses, counted
    cdef Instr* instr = recorder().begin(_chosen[number(x)], 4, 2)
    instr.set_ndim(1)
    instr.shape()[0] = b
    set_operand(instr, 0, &x.v)
    instr.strides(0)[0] = x.v.layout.strides()[0]
    for i in range(2):
        o = total if i else top
        if isinstance(o, Tensor):
            t = o
            set_operand(instr, 1 + i, &t.v)
            instr.strides(1 + i)[0] = t.v.layout.strides()[0]
        else:
            set_operand(instr, 1 + i, NULL)
            put_scalar(instr.constants[i], 0.0, x.v.dtype)
            instr.strides(1 + i)[0] = 0
    set_operand(instr, 3, &target.v)
    set_operand(instr, 4, &losses.v)
    set_operand(instr, 5, &counted.v)
    instr.strides(3)[0] = sizeof(npy_intp)
    instr.strides(4)[0] = instr.strides(5)[0] = x.v.itemsize()
    instr.ncore = 2
    instr.core[0] = x.v.layout.shape()[1]
    instr.core[1] = ignored
    instr.ncore_steps = 0
    instr.overwrites = 3
    instr.bytes = 2 * b * x.v.itemsize()
    instr.cost_ns = 50 + 4.0 * b
    emit(instr)
    return losses, counted


def erf(Tensor x not None):
    """The error function of each element."""
    cdef const View* views[2]
    cdef Tensor out = fresh(x.v.dtype, x.v.layout.size(), x.v.device())
    out.v.layout = x.v.layout
    views[0] = &x.v
    set_k_layout(out.v.layout, x.v.itemsize(), 1, views)
    views[1] = &out.v
    emit_elementwise(recorder().begin(_erf[number(x)], 1, 1), &out.v.layout, views, True)
    return out

check_methods(globals())
