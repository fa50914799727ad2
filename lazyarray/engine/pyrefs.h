// Python's side of the references and threads that native code has.
#pragma once
#include <Python.h>

#include "interpreter.h"

namespace lazyarray {

// What Interpreter names.
inline void* refer_to(void* o) { return Py_NewRef(static_cast<PyObject*>(o)); }
inline void release(void* o) { Py_DECREF(static_cast<PyObject*>(o)); }
inline void* copy_of_context(void* context) {
  PyObject* copy = PyContext_Copy(static_cast<PyObject*>(context));
  if (!copy) PyErr_Clear();
  return copy;
}

inline void drop_ref(PyObject* o) {
  if (!o) return;
  if (PyGILState_Check()) Py_DECREF(o);
  else graveyard().bury(o);
}

// A Python callable as an operator's payload.
struct PyTask {
  PyObject* fn = nullptr;
  uint32_t site = 0;

  void clear() {
    PyObject* f = fn;
    fn = nullptr;
    drop_ref(f);
  }
};

// A worker keeps one Python thread state for its life: making one per op costs microseconds and
// would lose thread-local state between ops.
inline void adopt_worker_thread() {
  if (worker_thread_state() || PyGILState_GetThisThreadState()) return;
  PyGILState_Ensure();
  worker_thread_state() = PyEval_SaveThread();
}
inline void leave_worker_thread() {
  void* state = worker_thread_state();
  if (!state) return;
  PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  worker_thread_state() = nullptr;
  PyGILState_Release(PyGILState_UNLOCKED);
}

}  // namespace lazyarray
