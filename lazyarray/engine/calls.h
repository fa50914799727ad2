// Native callables: a call brings a vector of its arguments, without a tuple and a dict made first.
#pragma once
#include <Python.h>

namespace lazyarray {

// Has the type's objects called through the vectorcallfunc that each has at `offset`. With `method` they are
// methods where they stand in a class: `x.f(y)` calls f(x, y) without an object for `x.f`. Returns how they were
// called before.
inline ternaryfunc call_by_vector(PyTypeObject* t, Py_ssize_t offset, bool method) {
  const ternaryfunc before = t->tp_call;
  t->tp_vectorcall_offset = offset;
  t->tp_call = PyVectorcall_Call;
  t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | (method ? Py_TPFLAGS_METHOD_DESCRIPTOR : 0);
  PyType_Modified(t);
  return before;
}

inline PyObject** items_of(PyObject* tuple) { return reinterpret_cast<PyTupleObject*>(tuple)->ob_item; }

// Calls what takes a tuple and a dict, with the vector's arguments.
inline PyObject* call_packed(ternaryfunc f, PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  PyObject* rest = PyTuple_New(n);
  PyObject* keywords = named ? PyDict_New() : nullptr;
  bool packed = rest && (keywords || !named);
  for (Py_ssize_t i = 0; packed && i < n; ++i) PyTuple_SET_ITEM(rest, i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; packed && i < named; ++i)
    packed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[n + i]) == 0;
  PyObject* result = packed ? f(self, rest, keywords) : nullptr;
  Py_XDECREF(rest);
  Py_XDECREF(keywords);
  return result;
}

// Has `failed` called, with the call's arguments, where a call of the type's objects fails. Each type has a number of
// its own.
template <int Type>
struct Failing {
  inline static ternaryfunc before, failed;
  static PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
    PyObject* result = before(self, args, keywords);
    return result ? result : failed(self, args, keywords);
  }
  static void tell(PyTypeObject* t, ternaryfunc f) {
    before = t->tp_call;
    failed = f;
    t->tp_call = call;
    PyType_Modified(t);
  }
};

// The error that was raised, if it is of this type: then it is no longer raised. Else null.
inline PyObject* taken_error(PyObject* type) {
  if (!PyErr_ExceptionMatches(type)) return nullptr;
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  PyErr_NormalizeException(&kind, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(kind);
  Py_XDECREF(trace);
  return value;
}

}  // namespace lazyarray
