// Spares: scalars that died, kept for the next ones.
#pragma once
#include <Python.h>

#include <algorithm>
#include <functional>

#include "lazy/view.h"

namespace lazyarray {

// Loops over single numbers make and drop one after the other. The GIL guards these.
struct Spares {
  static constexpr int kMost = 262144;  // of 128 bytes each: 32 MB, of a program that had so many
  static constexpr int kMany = 1024;    // more than a cache holds
  PyObject* kept[kMost];
  int n = 0;
  int wanted = kMany;  // not more are kept than were ever missed: results of reductions die, too, but take none
  int in_order = 0;  // so many of them came before the last that were sorted

  void miss() {
    if (wanted < kMost) wanted++;
  }

  // Many that died in an order of their own, of groups in a dict, say, would be written and read
  // all over the memory ever after. In the order of their addresses they come line by line.
  PyObject* take() {
    if (n - in_order >= kMany) std::sort(kept + in_order, kept + n, std::greater<PyObject*>());
    else if (n > in_order) return kept[--n];
    in_order = --n;
    return kept[n];
  }
};
static Spares spares;
static struct { Py_ssize_t view, weak; } tensor_parts;
static PyTypeObject** types_of_scalars;
static destructor plain_dealloc;

static HeldView& view_in(PyObject* o) {
  return *reinterpret_cast<HeldView*>(reinterpret_cast<char*>(o) + tensor_parts.view);
}
static void keep_or_dealloc(PyObject* o) {
  HeldView& v = view_in(o);
  // A scalar, not an object of a class derived from its: such a class has a dealloc of its own.
  if (Py_TYPE(o) == types_of_scalars[v.dtype] &&
      !*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(o) + tensor_parts.weak)) {
    v.let_go();
    if (spares.n < spares.wanted) {
      spares.kept[spares.n++] = o;
      return;
    }
  }
  plain_dealloc(o);
}
// A scalar whose value is the caller's to write. There must be a spare one.
static PyObject* spare_scalar(int dtype) {
  PyObject* o = spares.take();
  HeldView& v = view_in(o);
  v.dtype = dtype;
  v.readonly = true;
  v.detached = false;
  v.drawn = false;
  v.stand_alone();
  return PyObject_Init(o, types_of_scalars[dtype]);
}
static destructor take_over(PyTypeObject* t, Py_ssize_t view, PyTypeObject** scalars) {
  if (t->tp_dealloc == keep_or_dealloc) return keep_or_dealloc;
  if (!View::aligns(view)) return nullptr;
  if (!plain_dealloc) plain_dealloc = t->tp_dealloc;
  tensor_parts.view = view;
  tensor_parts.weak = t->tp_weaklistoffset;
  types_of_scalars = scalars;
  return t->tp_dealloc == plain_dealloc ? t->tp_dealloc = keep_or_dealloc : nullptr;
}

}  // namespace lazyarray
