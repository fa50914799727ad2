# distutils: language = c++
"""The native classes of the op table's rows: what an op's call does before it is recorded.

A row looks up the loop for the operands' dtypes (once for each combination), casts what the loop
needs cast, infers shape and layout, keeps overlapping operands apart, and emits an instruction.
"""

import functools
import inspect
import math
import os
import sys

import numpy as np
from numpy._core import multiarray
from numpy._core import _methods
from numpy.linalg import _umath_linalg

from lazyarray import _public
from lazyarray.lazy.cpu.jit import _tier  # first: kernels say what they are when they are made

cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport INFINITY, ceil, floor, isfinite, isinf, rint, signbit, sqrt, sqrtf
from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from lazyarray.engine._engine cimport CDevice, Device, intern_name, sites
from lazyarray.lazy._lazy cimport (
    is_known,
    is_of,
    is_on_chunk,
    quick_part,
    real_now,
    lazy,
    D_BOOL,
    D_C16,
    D_F4,
    D_F8,
    D_IL,
    ELEMENTWISE,
    Cores,
    GUFUNC,
    REDUCE,
    PICK,
    ROLL,
    SPLIT_ANY,
    SPLIT_NONE,
    SPLIT_PAIRWISE,
    SPLIT_PAIRWISE_COMPLEX,
    Instr,
    Kernel,
    KernelKind,
    Py_TYPE,
    PyTypeObject,
    Layout,
    Loop,
    Split,
    View,
    array_of,
    as_array,
    at_hand,
    as_scalar,
    code_of,
    code_of_scalar,
    assign,
    capturing,
    cast,
    cast_kernel,
    count_true,
    cpu0,
    covers_chunk,
    current_device,
    dtype_code,
    dtype_of_type_num,
    emit,
    emit_elementwise,
    empty_like_shape,
    fill,
    finish_open,
    flagged,
    fresh,
    get_element,
    set_element,
    handed,
    drop_owner,
    from_elsewhere,
    from_numpy,
    inexact,
    double_at_hand,
    drawn_number,
    index_of,
    known_integer,
    info,
    is_scalar,
    is_tensor,
    is_wide,
    issue,
    kDtypes,
    kMaxDims,
    misfit,
    misfit_rows,
    negative_exponent,
    weights_of_zero,
    out_of_bounds,
    kMaxOperands,
    kOperandKinds,
    kWeakComplex,
    kWeakFloat,
    kWeakInt,
    LineLoops,
    line_loops,
    RowsLoop,
    lone_op,
    lone_ops,
    moved,
    new_element,
    no_sync_now,
    nests,
    new_kernel,
    new_tensor,
    Number,
    number_tensor,
    fill_of_size,
    pick_of_size,
    place_of_size,
    place_rows_of_size,
    places_of_true,
    np_dtype,
    npy_intp,
    noting,
    numpy_view,
    put_number,
    put_scalar,
    py_call,
    recorder,
    recording,
    refuse_leaf,
    returned,
    scalars_are_read,
    seen_as_wait,
    same_device,
    self_overlaps,
    set_k_layout,
    set_operand,
    shape_text,
    shape_tuple,
    broadcast_strides,
    take_flags,
    type_of_arrays,
    unshared,
    value_now,
    view_of,
    settled,
    wants_gradient,
    wait,
    warning_of_size,
    where_of_size,
    while_held,
    whole_at_hand,
    written_once,
)

from lazyarray.storage._storage cimport Chunk, need_memory

from lazyarray import _numpy_facts
from lazyarray.engine._engine import check_methods
from lazyarray.lazy import _share, formulas
from lazyarray.lazy._lazy import Pieces, Unheld, note_call, note_constant, paused

cnp.import_array()


cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin, nout, nargs, ntypes
        Loop* functions
        void** data
        char* types

cdef extern from "ops/mended.h" namespace "lazyarray":
    int kExpm1, kNegative, kScalarPower, kScalarProduct, kScalarMagnitude, kHypot, kSine, kCosine, kExp, kPower
    int kFmod, kRemainder, kFloorDivide, kDivmod
    void mend(Kernel*, int, char, char, int)
    void put_before(Kernel*, Loop)
    void mend_remainder(Kernel*, const Kernel*, char, int)

# Which of NumPy's loops are mended, for rows.
COSINE, EXP, EXPM1, HYPOT, NEGATIVE = kCosine, kExp, kExpm1, kHypot, kNegative
POWER, SCALAR_POWER, SINE = kPower, kScalarPower, kSine
SCALAR_PRODUCT, SCALAR_MAGNITUDE = kScalarProduct, kScalarMagnitude
FMOD, REMAINDER, FLOOR_DIVIDE, DIVMOD = kFmod, kRemainder, kFloorDivide, kDivmod

# What a function that stands for another takes over of it: all but the docstring.
cdef tuple COPIED = tuple([name for name in functools.WRAPPER_ASSIGNMENTS if name != "__doc__"])


cdef object documented(doc, function, like=None):
    """A docstring with what many have in common (_docstrings.py): made when somebody reads it."""
    from inspect import unwrap
    from lazyarray._docstrings import completed
    if like is not None:
        like = (<Row>like).doc if isinstance(like, Row) else unwrap(like).__doc__
    return completed(doc, function, like)


# What files above do for the rows, by the names under which they teach it here.
cdef dict _taught = {}


def teach(**things):
    """Takes what rows call that lies above them: ``array=``, ``rules=``, ..."""
    _taught.update(things)


cdef object _no_value = np._NoValue  # what NumPy's functions hand on for what they were not given

include "operands.pxi"
include "row.pxi"
include "ufunc_methods.pxi"
include "ufunc.pxi"
include "arrays.pxi"
include "reduction_order.pxi"
include "reduction.pxi"
include "product.pxi"
include "select.pxi"
include "gufunc.pxi"
include "gather.pxi"
include "places.pxi"
include "masks.pxi"
include "along.pxi"
include "bins.pxi"
include "ranks.pxi"
include "search.pxi"
include "direct.pxi"
include "others.pxi"
include "public.pxi"
include "direct_calls.pxi"
include "lending.pxi"
include "quick.pxi"
include "quick_calculus.pxi"
include "quick_creation.pxi"
include "quick_linalg.pxi"
include "quick_lists.pxi"
include "quick_nonzero.pxi"
include "quick_patterns.pxi"
include "quick_places.pxi"
include "quick_statistics.pxi"
include "quick_views.pxi"

check_methods(globals())
