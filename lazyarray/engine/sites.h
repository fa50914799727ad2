// Sites: numbers for the lines that push, so that nothing recorded holds a reference.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter.h"

namespace lazyarray {

// One for the process, never destroyed. The GIL guards all of it.
class Sites {
 public:
  // Some 260 bytes each, for a program that makes code for ever. What code pushes that came later has no line.
  static constexpr Py_ssize_t kMost = 1 << 16;

  explicit Sites(const char* package) : passed_over_{package}, numbers_(PyDict_New()), places_(PyList_New(0)) {}

  // The user's line that runs now: the innermost frame that is not the package's own, for ops are composed
  // in Python, too. 0 if there is none, or no memory for a number.
  uint32_t here() {
    PyFrameObject* f = PyEval_GetFrame();
    if (!f) return 0;
    PyCodeObject* code = PyFrame_GetCode(f);
    if (is_library_file(code->co_filename)) {
      const bool failed = PyErr_Occurred();
      Py_INCREF(f);
      while (PyFrameObject* back = PyFrame_GetBack(f)) {
        Py_DECREF(f);
        Py_DECREF(code);
        f = back;
        code = PyFrame_GetCode(f);
        if (!is_library_file(code->co_filename)) break;
      }
      Py_DECREF(f);  // its caller's frame keeps it
      if (!failed && PyErr_Occurred()) PyErr_Clear();  // no memory for the object of a frame
    }
    const int lasti = PyFrame_GetLasti(f);
    const Seen& s = seen_[hash(code, lasti)];
    const uint32_t number = s.code == code && s.lasti == lasti ? s.number : look_up(code, lasti);
    Py_DECREF(code);
    return number;
  }

  // The lines of another package are nobody's either: those of what calls a program's code and shows its values.
  void pass_over(const char* folder) {
    passed_over_.emplace_back(folder);
    Py_CLEAR(last_user_file_);
  }

  // Sites are numbered from 1 to size(). (file, line, function), borrowed.
  uint32_t size() const { return static_cast<uint32_t>(PyList_GET_SIZE(places_)); }
  PyObject* place(uint32_t number) const { return PyList_GET_ITEM(places_, number - 1); }

 private:
  // The last sites that were asked for. It holds the code, so that the address can't be another's.
  struct Seen {
    PyCodeObject* code;
    int lasti;
    uint32_t number;
  };
  static constexpr size_t kSeen = 2048;
  static size_t hash(PyCodeObject* code, int lasti) {
    return ((reinterpret_cast<uintptr_t>(code) >> 4) + static_cast<uint64_t>(lasti) * 7) % kSeen;
  }

  uint32_t look_up(PyCodeObject* code, int lasti) {
    // Nothing of Python's may run here: an instruction that is being made may only borrow its chunks.
    const int collects = PyGC_Disable();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    uint32_t number = 0;
    PyObject* place = Py_BuildValue("(OiO)", code->co_filename, PyCode_Addr2Line(code, lasti), code->co_name);
    PyObject* known = place ? PyDict_GetItemWithError(numbers_, place) : nullptr;
    if (known) number = static_cast<uint32_t>(PyLong_AsLong(known));
    else if (place && size() < kMost) number = add(place);
    Py_XDECREF(place);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    if (collects) PyGC_Enable();
    if (!number) return 0;
    Seen& s = seen_[hash(code, lasti)];
    graveyard().bury(s.code);
    Py_INCREF(code);
    s = {code, lasti, number};
    return number;
  }
  uint32_t add(PyObject* place) {
    if (PyList_Append(places_, place)) return 0;
    PyObject* number = PyLong_FromSsize_t(PyList_GET_SIZE(places_));
    const bool kept = number && PyDict_SetItem(numbers_, place, number) == 0;
    Py_XDECREF(number);
    if (kept) return size();
    PyErr_Clear();
    PyList_SetSlice(places_, size() - 1, size(), nullptr);
    return 0;
  }

  // Whether a code object's file belongs to the package, or to what is passed over as it is.
  bool is_library_file(PyObject* filename) {
    if (filename == last_user_file_) return false;
    Py_ssize_t n;
    const char* text = PyUnicode_AsUTF8AndSize(filename, &n);
    if (!text) PyErr_Clear();
    else
      for (const std::string& folder : passed_over_)
        if (!folder.empty() && static_cast<size_t>(n) > folder.size() && !folder.compare(0, folder.size(), text, folder.size()))
          return true;
    Py_INCREF(filename);
    Py_XDECREF(last_user_file_);
    last_user_file_ = filename;
    return false;
  }

  std::vector<std::string> passed_over_;  // folders, with a slash: the package's is the first
  // Nearly always the same user file as last time; held, so that the address can't be another's.
  PyObject* last_user_file_ = nullptr;
  Seen seen_[kSeen] = {};
  PyObject* const numbers_;  // of places
  PyObject* const places_;
};

}  // namespace lazyarray
