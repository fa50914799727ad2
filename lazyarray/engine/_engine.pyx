# distutils: language = c++
"""The engine's Python face: devices, variables, operators, the three engines, errors."""

import atexit
import contextlib
import enum
import os
import sys
import threading
import time
import types
import weakref
from opcode import opmap as _opmap

cimport cython

from cpython.object cimport Py_TPFLAGS_HEAPTYPE
from cpython.ref cimport Py_INCREF

from lazyarray.engine.settings import int_env


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int Py_AddPendingCall(int (*)(void*) except -1, void*)
    void PyErr_SetObject(object, object) noexcept
    void PyErr_WriteUnraisable(object) noexcept
    unsigned long PyThread_get_thread_ident() noexcept


include "device.pxi"
include "errors.pxi"
include "callables.pxi"
include "profiling.pxi"
include "engines.pxi"
include "scopes.pxi"
include "process.pxi"
include "methods.pxi"

check_methods(globals())
