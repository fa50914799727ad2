// Native types, changed in ways that Python's own assignments refuse.
#pragma once
#include <Python.h>

namespace lazyarray {

// A name of a class, also of a native one, which takes none by assignment.
inline int put_in_type(PyTypeObject* t, PyObject* name, PyObject* value) {
  const int failed = PyDict_SetItem(t->tp_dict, name, value);
  PyType_Modified(t);
  return failed;
}
inline void set_metatype(PyTypeObject* t, PyObject* metatype) {
  Py_INCREF(metatype);
  Py_SET_TYPE(t, reinterpret_cast<PyTypeObject*>(metatype));
  PyType_Modified(t);
}
// Before `t` makes an object of arguments `instead` is called with them: what it gives is the object, unless that is None.
// (GIL; once a process, for one type.)
inline void set_instead(PyTypeObject* t, PyObject* instead) {
  static PyTypeObject* type = t;
  static PyObject* function = instead;
  static newfunc own = t->tp_new;
  Py_INCREF(function);
  t->tp_new = [](PyTypeObject* kind, PyObject* args, PyObject* kwargs) -> PyObject* {
    if (kind == type && (PyTuple_GET_SIZE(args) > 0 || (kwargs && kwargs != Py_None))) {
      PyObject* found = PyObject_Call(function, args, kwargs);
      if (found != Py_None) return found;
      Py_DECREF(found);
    }
    return own(kind, args, kwargs);
  };
}
// Cython makes one of __getitem__, and by it iter(s) would go along the elements.
inline void tell_no_sequence(PyTypeObject* t) {
  if (PySequenceMethods* own = t->tp_as_sequence) own->sq_item = nullptr;
}

}  // namespace lazyarray
