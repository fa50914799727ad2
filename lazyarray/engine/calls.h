// Native callables: a call brings a vector of its arguments, without a tuple and a dict made first.
#pragma once
#include <Python.h>

namespace lazyarray {

// Has the type's objects called through the vectorcallfunc that each has at `offset`. With `method` they are
// methods where they stand in a class: `x.f(y)` calls f(x, y) without an object for `x.f`.
inline void call_by_vector(PyTypeObject* t, Py_ssize_t offset, bool method) {
  t->tp_vectorcall_offset = offset;
  t->tp_call = PyVectorcall_Call;
  t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | (method ? Py_TPFLAGS_METHOD_DESCRIPTOR : 0);
  PyType_Modified(t);
}

}  // namespace lazyarray
