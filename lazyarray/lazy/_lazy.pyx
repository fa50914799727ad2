# distutils: language = c++
"""Tensors (views of chunks), and how instructions on them reach the recorder."""

import contextvars
import operator
import os
import sys
import threading
import time
import warnings

import numpy as np

from lazyarray.engine._engine import native_files

cimport cython
cimport numpy as cnp
from cpython.complex cimport PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble
from cpython.number cimport PyNumber_Float
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongAndOverflow
from cpython.object cimport Py_EQ, Py_NE
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_DECREF, Py_INCREF
from cython.operator cimport dereference
from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport fabs
from libc.stdint cimport INT64_MIN
from libcpp.map cimport map as cppmap
from libc.stdio cimport fprintf, stderr
from libc.string cimport memcpy, memmove, memset

from lazyarray.engine._engine cimport (
    CPU,
    COp,
    CPU_PINNED,
    CRunContext,
    OK,
    PROP_ASYNC,
    INTERRUPTED,
    SELF_WAIT,
    TIMEOUT,
    adopt_worker_thread,
    bulk_is_explicit,
    check_status,
    drop_ref,
    error_from_exception,
    get_bulk,
    graveyard,
    handlers_around,
    intern_name,
    new_device,
    poll_signals,
    process_engine,
    raise_error,
    raise_later,
    note_wait,
    set_flush_hook,
    site_text,
    sites,
    NAIVE, step_aside,
)
from lazyarray.storage._storage cimport MemoryPool, kMapped, need_memory, set_make_room, store

from lazyarray.engine._engine import check_methods, set_gpu_scope
from lazyarray.engine.settings import int_env
from lazyarray.lazy import captured

cnp.import_array()


cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX
    void Py_SET_TYPE(object, PyTypeObject*)
    PyObject* PyEval_GetGlobals()
    int PyContextVar_Get(object, PyObject*, PyObject**) except -1


cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyTypeObject*, cnp.dtype, int, npy_intp*, npy_intp*, void*, int,
                                object)
    PyTypeObject PyArray_Type
    PyObject* PyArray_BASE(cnp.ndarray)
    int NPY_ARRAY_WRITEABLE, NPY_ARRAY_ALIGNED


cdef extern from "lazy/mode.h" namespace "lazyarray":
    cdef cppclass Called "lazyarray::Mode::Called":
        Instr* instr
        CError** refusal
        int* told
        PyObject* given
        int next
    cdef cppclass Mode:
        cbool recording, training
        CProgram* capturing
        PyObject* notes
        CDevice device
        int no_sync
        Called called
    Mode& mode() noexcept

cdef extern from "lazy/held.h" namespace "lazyarray":
    cdef cppclass Held:
        vector[Chunk*] chunks
        void add(Chunk*) except +


cdef extern from "lazy/entered.h" namespace "lazyarray":
    cdef cppclass OfDevices:
        pass
    cdef cppclass OfRecording:
        pass
    cdef cppclass OfSyncs:
        pass
    cdef cppclass Entered[T, Kind]:
        void enter(T) except +
        cbool leave(T*)


include "tensor.pxi"
include "tape.pxi"
include "program.pxi"
include "program_calls.pxi"
include "captured.pxi"
include "guard.pxi"
include "filters.pxi"
include "record.pxi"
include "wait.pxi"
include "convert.pxi"
include "elements.pxi"
include "arithmetic.pxi"
include "instant.pxi"
include "scalars.pxi"
include "copies.pxi"
include "number.pxi"
include "python_ops.pxi"
include "cuda.pxi"
include "explain.pxi"


cdef int (*_openblas_threads)() noexcept nogil
_openblas_threads = NULL


cdef int _blas_threads() noexcept nogil:
    return _openblas_threads() if _openblas_threads is not NULL else 2


def blas_threads():
    """How many threads NumPy's BLAS runs a large product on."""
    return _blas_threads()


def _find_blas():
    # NumPy's wheels bring their own OpenBLAS; asking it is one call. Elsewhere: assume threads.
    global _openblas_threads
    import ctypes

    root = os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs")
    for file in os.listdir(root) if os.path.isdir(root) else ():
        if "openblas" not in file:
            continue
        try:
            lib = ctypes.CDLL(os.path.join(root, file))
        except OSError:
            continue
        for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_",
                     "scipy_openblas_get_num_threads", "openblas_get_num_threads"):
            if hasattr(lib, name):
                address = ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
                _openblas_threads = <int (*)() noexcept nogil><size_t>address
                return


def _stats():
    return {"ops": _recorder.recorded + _recorder.inlined, "recorded": _recorder.recorded,
            "inlined": _recorder.inlined, "plans_made": _host_backend.planner.misses,
            "plans_found": _host_backend.planner.hits}


cdef dict _figures = {}  # name: (its address, whether it is a double; else an int64_t)


cdef int _list_figures() except -1:
    cdef FlushPolicy* f = &_recorder.policy
    cdef TilePolicy* t = &_recorder.tiles
    _figures.update({
        "inline_ns": (<size_t>&f.inline_ns, True),
        "cheap_ns": (<size_t>&f.cheap_ns, True),
        "group_ns": (<size_t>&f.group_ns, True),
        "gil_ns": (<size_t>&f.gil_ns, True),
        "fuse_ns": (<size_t>&f.fuse_ns, True),
        "mid_ns": (<size_t>&f.mid_ns, True),
        "stretch_ns": (<size_t>&f.stretch_ns, True),
        "cold_stretches": (<size_t>&f.cold_stretches, False),
        "new_stretches": (<size_t>&f.new_stretches, False),
        "flush_ns": (<size_t>&f.flush_ns, True),
        "age_ns": (<size_t>&f.age_ns, False),
        "call_age_ns": (<size_t>&f.call_age_ns, False),
        "age_share": (<size_t>&f.age_share, True),
        "even_ns": (<size_t>&f.even_ns, True),
        "catch_up": (<size_t>&f.catch_up, False),
        "late_ops": (<size_t>&f.late_ops, False),
        "late_ns": (<size_t>&f.late_ns, True),
        "catch_up_ns": (<size_t>&f.catch_up_ns, True),
        "direct_bytes": (<size_t>&f.direct_bytes, False),
        "hosted_bytes": (<size_t>&f.hosted_bytes, False),
        "lent_bytes": (<size_t>&f.lent_bytes, False),
        "draws": (<size_t>&f.draws, False),
        "run_ahead_bytes": (<size_t>&f.ahead_bytes, False),
        "few_ops": (<size_t>&f.few_ops, False),
        "gpu_ops": (<size_t>&f.gpu_ops, False),
        "gpu_age_ns": (<size_t>&f.gpu_age_ns, False),
        "tile_bytes": (<size_t>&t.tile_bytes, False),
        "stream_bytes": (<size_t>&t.stream_bytes, False),
        "ahead_bytes": (<size_t>&t.ahead_bytes, False),
        "stream": (<size_t>&t.stream, False),
        "ns_per_byte": (<size_t>&t.ns_per_byte, True),
        "least": (<size_t>&t.least, False),
        "most": (<size_t>&t.most, False),
        "ahead_least": (<size_t>&t.ahead_least, False),
        "row": (<size_t>&t.row, False),
        "panels": (<size_t>&t.panels, False),
        "panel": (<size_t>&t.panel, False),
        "widest": (<size_t>&t.widest, False),
        "split_ns": (<size_t>&t.split_ns, True),
        "compile_ns": (<size_t>&t.compile_ns, True),
        "task_ns": (<size_t>&t.task_ns, True),
        "call_ns": (<size_t>&t.call_ns, True),
        "max_pending_bytes": (<size_t>&_recorder.max_pending_bytes, False),
        "max_pending_ops": (<size_t>&_recorder.max_pending_ops, False),
    })
    return 0


def _set_policy(name, double value):
    """Changes one figure of the policies; for tests and measurements. Returns the old one."""
    cdef size_t address
    if name == "fuses":
        old, _recorder.scheduler.fuses = _recorder.scheduler.fuses, value != 0
    elif name not in _figures:
        raise ValueError(f"no such figure: {name}")
    else:
        address, real = _figures[name]
        if real:
            old, (<double*>address)[0] = (<double*>address)[0], value
        else:
            old, (<int64_t*>address)[0] = (<int64_t*>address)[0], <int64_t>value
    _recorder.replan()
    return old


def _policy():
    """The policies' figures by name, as they are; the oracle fuzzer draws its shapes from them."""
    found = {}
    for name, (address, real) in _figures.items():
        found[name] = (<double*><size_t>address)[0] if real else (<int64_t*><size_t>address)[0]
    return found


def _memory():
    """The machine's, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 8 << 30


cdef int _set_up() except -1:
    global _recorder, _engine, _host_backend
    from lazyarray.engine import _engine as engine_module

    _engine = process_engine()
    teach_store(store())
    _recorder = new Recorder(_engine.c, store())
    _host_backend = new CpuBackend(&_recorder.executor.runtime, &_recorder.tiles)
    _recorder.executor.backends[<int>CPU] = _recorder.executor.backends[<int>CPU_PINNED] = _host_backend
    _recorder.executor.runtime.hooks.python = _run_python
    _recorder.executor.runtime.hooks.recast = _recast
    _recorder.executor.runtime.hooks.blas_threads = _blas_threads
    _recorder.executor.runtime.hooks.filters = _filters_of_inline
    _recorder.executor.runtime.hooks.refuse = _refuse
    _recorder.memory = _memory()
    _recorder.max_pending_bytes = int_env("LAZYARRAY_MAX_PENDING_BYTES", min(1 << 30, _recorder.memory // 8))
    _recorder.limited = "LAZYARRAY_MAX_PENDING_BYTES" in os.environ
    set_flush_hook(_flush_hook)
    os.register_at_fork(after_in_child=_forked)
    set_make_room(_make_room)
    engine_module.stat_sources.append(_stats)
    _find_blas()
    _list_figures()
    for word in os.environ.get("LAZYARRAY_DEBUG", "").split(","):
        if word == "plan":
            _debug_plans()
        elif word and word != "jit":
            raise ValueError(f"LAZYARRAY_DEBUG knows 'plan' and 'jit', not {word!r}")
    return 0


_set_up()

check_methods(globals())
