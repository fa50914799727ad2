// An array's memory for those who ask by Python's buffers or by __array_interface__, and not for NumPy.
#pragma once
#include "_frames.h"

namespace lazyarray {

// Whether a name is among those of code; they are interned.
inline bool is_among(PyObject* names, PyObject* name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
    if (PyTuple_GET_ITEM(names, i) == name) return true;
  return false;
}

// Whether it names what makes a memoryview, or asks as that does. All but NumPy do so by a name of these.
static PyObject* const takers[] = {
    PyUnicode_InternFromString("memoryview"), PyUnicode_InternFromString("bytearray"),
    PyUnicode_InternFromString("frombuffer"), PyUnicode_InternFromString("from_buffer"),
    PyUnicode_InternFromString("PickleBuffer")};
inline bool names_taker() {
  PyObject* names = names_of_caller();
  bool found = false;
  for (PyObject* name : takers) found = found || names && is_among(names, name);
  Py_XDECREF(names);
  return found;
}
// Bytes of the memory are lent to who gives them back: files, hashes, sockets, struct. Not to NumPy. It takes a
// buffer rather than ask __array__, so np.asarray(x) were no copy any more, and all ops on x synchronous for as
// long as it lived; and np.frombuffer and np.ndarray give back what they go on using. The first asks as
// memoryview() does, the last for any order; the second looks whether there is something to give back by, and
// else asks as memoryview() does. So that is told by the names in the code that runs.
static getbufferproc lent_by_array;
inline int lent_to_others(PyObject* x, Py_buffer* view, int flags) {
  bool as_memoryview = (flags & PyBUF_FULL_RO) == PyBUF_FULL_RO;
  bool in_any_order = (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  if (in_any_order || as_memoryview && !names_taker()) {
    view->obj = nullptr;
    // NumPy asks whenever it converts an array.
    static PyObject* const why = PyUnicode_FromString("an NDArray lends no buffer here: x.data is a memoryview of it");
    PyErr_SetObject(PyExc_BufferError, why);
    return -1;
  }
  return lent_by_array(x, view, flags);
}
inline void given_back(PyObject*, Py_buffer*) {}  // never called: `obj` of a view is an array of NumPy's
inline void lend_arrays(PyObject* type) {
  PyBufferProcs* own = reinterpret_cast<PyTypeObject*>(type)->tp_as_buffer;
  lent_by_array = own->bf_getbuffer;
  own->bf_getbuffer = lent_to_others;
  own->bf_releasebuffer = given_back;
}
// `x.__array_interface__` is there for code that reads it by this name. Not for NumPy, which would take it rather
// than ask __array__; it looks for it whenever an array is converted, so no Python runs for that.
static getter interface_of;
static PyObject* interface_name;
static int load_attr;
inline int is_read_by_name() {
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(running());
  if (!code || !is_among(code->co_names, interface_name)) return 0;
  int argument;
  return instruction(&argument) == load_attr;
}
inline PyObject* interface_by_name(PyObject* x, void* closure) {
  if (is_read_by_name()) return interface_of(x, closure);
  if (!PyErr_Occurred()) PyErr_SetObject(PyExc_AttributeError, interface_name);
  return nullptr;
}
inline void guard_interface(PyObject* type, int opcode) {
  load_attr = opcode;
  interface_name = PyUnicode_InternFromString("__array_interface__");
  PyObject* found = PyDict_GetItem(reinterpret_cast<PyTypeObject*>(type)->tp_dict, interface_name);
  PyGetSetDef* own = reinterpret_cast<PyGetSetDescrObject*>(found)->d_getset;
  interface_of = own->get;
  own->get = interface_by_name;
}
inline int lend(PyObject* exported, Py_buffer* view, int flags) {
  Py_CLEAR(view->obj);  // Cython's None
  return PyObject_GetBuffer(exported, view, flags);
}

}  // namespace lazyarray
