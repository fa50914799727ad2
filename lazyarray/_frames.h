// The code that runs: what it names, and by which instruction it got here.
#pragma once
#include <Python.h>

namespace lazyarray {

// The code that runs; only to be compared, and looked at before it goes on.
inline PyObject* running() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return nullptr;
  PyObject* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  Py_DECREF(code);
  return code;
}
// What it names.
inline PyObject* names_of_caller() {
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(running());
  return code ? Py_NewRef(code->co_names) : PyTuple_New(0);
}
// The instruction that runs, and its argument; -1: there is none, or no memory to look (an error is raised).
inline int instruction(int* argument) {
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(running());
  PyObject* bytes = code ? PyCode_GetCode(code) : nullptr;
  if (!bytes) return -1;
  const unsigned char* text = reinterpret_cast<unsigned char*>(PyBytes_AS_STRING(bytes));
  const int at = PyFrame_GetLasti(PyEval_GetFrame());
  const bool inside = at >= 0 && at + 1 < PyBytes_GET_SIZE(bytes);
  const int found = inside ? text[at] : -1;
  *argument = inside ? text[at + 1] : 0;
  Py_DECREF(bytes);
  return found;
}
// Whether it is an operator: not `@`, nor one in place.
inline int is_operator(int binary, int matmul, int first_in_place, int compares) {
  int argument;
  const int found = instruction(&argument);
  if (found < 0) PyErr_Clear();
  return found == compares || (found == binary && argument < first_in_place && argument != matmul);
}

}  // namespace lazyarray
