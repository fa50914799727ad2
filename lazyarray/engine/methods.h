// Methods of native classes, checked: called on an object of another class they raise TypeError.
#pragma once
#include "engine/calls.h"

namespace lazyarray {

// The methods' ways to be called, of which Cython has a handful, and which every module has alike.
struct CallWay {
  int flags;
  vectorcallfunc call;
};
static CallWay call_ways[8];

static bool fits(PyObject* method, PyObject* const* args, size_t n) {
  PyTypeObject* owner = reinterpret_cast<PyCMethodObject*>(method)->mm_class;
  if (!PyVectorcall_NARGS(n) || PyObject_TypeCheck(args[0], owner)) return true;
  PyErr_Format(PyExc_TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
               reinterpret_cast<PyCFunctionObject*>(method)->m_ml->ml_name, owner->tp_name,
               Py_TYPE(args[0])->tp_name);
  return false;
}
template <int way>
static PyObject* call_checked(PyObject* method, PyObject* const* args, size_t n, PyObject* names) {
  return fits(method, args, n) ? call_ways[way].call(method, args, n, names) : nullptr;
}
// Those that take a tuple: what a call of the type's does, after it has packed its arguments.
static PyObject* call_with_tuple(PyObject* method, PyObject* const* args, size_t n, PyObject* names) {
  const PyMethodDef* def = reinterpret_cast<PyCFunctionObject*>(method)->m_ml;
  const Py_ssize_t count = PyVectorcall_NARGS(n);
  if (!fits(method, args, n)) return nullptr;
  if (!count) return PyErr_Format(PyExc_TypeError, "unbound method %s() needs an argument", def->ml_name);
  const auto f = reinterpret_cast<ternaryfunc>(reinterpret_cast<void (*)()>(def->ml_meth));
  return call_packed(f, args[0], args + 1, count - 1, names);
}
static const vectorcallfunc checked_ways[8] = {
    call_checked<0>, call_checked<1>, call_checked<2>, call_checked<3>,
    call_checked<4>, call_checked<5>, call_checked<6>, call_checked<7>};

// Whether the method is checked from now on: the first with flags of its kind shows how these are called.
static int check_method(PyObject* method, PyTypeObject* owner) {
  auto* f = reinterpret_cast<PyCMethodObject*>(method);
  const int flags = f->func.m_ml->ml_flags;
  if (f->mm_class) return 0;
  if (!f->func.vectorcall && flags == (METH_VARARGS | METH_KEYWORDS)) {
    f->mm_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(owner));
    f->func.vectorcall = call_with_tuple;
    return 1;
  }
  if (!f->func.vectorcall) return 0;
  for (int way = 0; way < 8; ++way) {
    if (!call_ways[way].call) call_ways[way] = {flags, f->func.vectorcall};
    if (call_ways[way].flags != flags) continue;
    f->mm_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(owner));
    f->func.vectorcall = checked_ways[way];
    return 1;
  }
  return 0;
}

}  // namespace lazyarray
