// Handlers: whether the program could catch an exception in the line that runs now.
#pragma once
#include <Python.h>

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "interpreter.h"

namespace lazyarray {

// Opcodes of the running Python.
struct HandlerOps {
  int push_exc_info, with_except_start, check_exc_match, check_eg_match, pop_top, extended_arg;
  int load_name, load_global, load_attr, load_const;
  int load_method, kw_names;  // before 3.12 and 3.13
  int build_tuple, reraise, jump_if_false;
};

// One for the process, never destroyed. The GIL guards all of it.
class Handlers {
 public:
  // The package's folder, and that of the standard library; the names of what catches in a `with`, and of
  // arguments that make it do so; the names of errors that no operation raises.
  Handlers(const char* package, const char* standard, const HandlerOps& ops, PyObject* names, PyObject* keywords,
           PyObject* others)
      : package_(package), standard_(standard), ops_(ops), names_(Py_NewRef(names)),
        keywords_(Py_NewRef(keywords)), others_(Py_NewRef(others)) {}

  // Whether an `except`, or a `with` of those names, stands around the line, in its function or around a call of
  // it, as far up as the program's own files reach. Who called these (a runner of tests or of notebooks) catches
  // everything, and always: there only assertRaises(error, function) and its like count, and pools, which hand what is
  // raised to whoever asked for the result. (A worker of multiprocessing's that fails to send a result never answers.)
  bool around() {
    PyFrameObject* f = PyEval_GetFrame();
    if (!f) return false;
    const bool failed = PyErr_Occurred();
    Py_INCREF(f);
    bool found = false;
    for (int seen = 0, depth = 0; f && depth < kDeepest; ++depth) {
      PyCodeObject* code = PyFrame_GetCode(f);
      const Owner owner = owner_of(code->co_filename);
      const bool last = owner == FOREIGN && seen;
      if (owner != PACKAGE) {
        ++seen;
        found = owner == POOL || (owner == FOREIGN && PySet_Contains(names_, code->co_name) == 1) ||
                (!last && catches(code, PyFrame_GetLasti(f) / 2));
      }
      Py_DECREF(code);
      if (found || last) break;
      PyFrameObject* back = PyFrame_GetBack(f);
      Py_DECREF(f);
      f = back;
    }
    Py_XDECREF(f);
    if (!failed && PyErr_Occurred()) PyErr_Clear();  // no memory for the object of a frame
    return found;
  }

 private:
  static constexpr int kDeepest = 64;  // a deep recursion must not make each op slow
  enum Owner : uint8_t { PROGRAM, PACKAGE, FOREIGN, POOL };

  // A code object's table of exceptions: a handler for each range of its instructions. Numbers of six bits a
  // byte, the first byte of an entry marked (CPython's exception_handling_notes).
  struct Range {
    int start, target;  // -1: none
  };
  static Range range_of(PyCodeObject* code, int at) {
    return first(code, [at](int start, int length, int, bool& over) {
      over = at < start;
      return !over && at < start + length;
    });
  }
  // The first range of a handler. What stands in a block may cut its range in pieces: another block, say.
  static Range first_of(PyCodeObject* code, int handler) {
    return first(code, [handler](int, int, int target, bool&) { return target == handler; });
  }
  template <class Wanted>
  static Range first(PyCodeObject* code, Wanted wanted) {
    const auto* p = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(code->co_exceptiontable));
    const uint8_t* end = p + PyBytes_GET_SIZE(code->co_exceptiontable);
    while (p < end) {
      int n[4];  // start, length, target, the depth of the stack
      for (int& x : n) {
        x = *p & 63;
        while (*p++ & 64 && p < end) x = x << 6 | (*p & 63);
      }
      bool over = false;
      if (wanted(n[0], n[1], n[2], over)) return {n[0], n[2]};
      if (over) break;
    }
    return {-1, -1};
  }

  // Whether an exception of the instruction at `at` is caught in its function.
  bool catches(PyCodeObject* code, int at) {
    if (at < 0 || !PyBytes_GET_SIZE(code->co_exceptiontable) || range_of(code, at).target < 0) return false;
    Seen& s = seen_[((reinterpret_cast<uintptr_t>(code) >> 4) + static_cast<uint64_t>(at) * 7) % kSeen];
    if (s.code == code && s.at == at) return s.catches;
    PyObject* bytes = PyCode_GetCode(code);
    if (!bytes) return false;
    const auto* text = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes));
    const int n = static_cast<int>(PyBytes_GET_SIZE(bytes) / 2);
    bool found = false;
    // What is neither only tidies up (`finally`, the end of a handler), and hands the exception on.
    Range r = range_of(code, at);
    for (int depth = 0; r.target >= 0 && !found && depth < kDeepest; ++depth) {
      const uint8_t* handler = text + 2 * r.target;
      if (handler[0] == ops_.push_exc_info && r.target + 1 < n)
        found = handler[2] == ops_.with_except_start ? names_one(code, text, first_of(code, r.target).start)
                                                     : takes(code, text, r.target + 1, n);
      r = range_of(code, r.target);
    }
    Py_DECREF(bytes);
    try {
      graveyard().bury(s.code);
    } catch (const std::bad_alloc&) {  // it is not remembered
      return found;
    }
    Py_INCREF(code);
    s = {code, at, found};
    return found;
  }

  // The name that an instruction loads, as itself or as an attribute; null where it loads none.
  PyObject* loaded(PyCodeObject* code, int op, int arg) const {
    if (op != ops_.load_name && op != ops_.load_global && op != ops_.load_attr && op != ops_.load_method)
      return nullptr;
    // The lowest bit of some tells of something else.
    const bool flagged = op == ops_.load_global || (op == ops_.load_attr && PY_VERSION_HEX >= 0x030C0000);
    const Py_ssize_t k = flagged ? arg >> 1 : arg;
    return k < PyTuple_GET_SIZE(code->co_names) ? PyTuple_GET_ITEM(code->co_names, k) : nullptr;
  }

  // Whether a handler is an `except` that takes what an operation may raise. Each of its clauses asks for types
  // before anything else is done, or takes all. A program that only waits for KeyboardInterrupt takes none.
  bool takes(PyCodeObject* code, const uint8_t* text, int clause, int n) const {
    constexpr int kJumpCaches = PY_VERSION_HEX >= 0x030D0000 ? 1 : 0;
    PyObject* name = nullptr;  // loaded last: a type, unless an attribute of it follows
    bool others = true;
    for (int i = clause, arg = 0, seen = 0; i < n && seen < 4096; ++i, ++seen) {
      const int op = text[2 * i];
      arg = arg << 8 | text[2 * i + 1];
      if (op == ops_.extended_arg) continue;
      if (op == ops_.pop_top) return i == clause;
      if (op == ops_.check_eg_match) return true;  // except*, whatever it takes
      if (op == ops_.push_exc_info || op == ops_.reraise) return false;
      PyObject* next = loaded(code, op, arg);
      if (next || op == ops_.check_exc_match) {
        const bool attribute = op == ops_.load_attr || op == ops_.load_method;
        if (name && !attribute) others = others && PySet_Contains(others_, name) == 1;
        name = next;
      } else if (op != 0 && op != ops_.build_tuple) {  // 0: a cache
        others = false;
      }
      arg = 0;
      if (op != ops_.check_exc_match) continue;
      if (!others) return true;
      while (++i < n && text[2 * i] == ops_.extended_arg) arg = (arg | text[2 * i + 1]) << 8;
      if (i >= n || text[2 * i] != ops_.jump_if_false) return true;
      clause = i + 1 + kJumpCaches + (arg | text[2 * i + 1]);
      i = clause - 1;
      arg = 0;
      name = nullptr;
    }
    return false;
  }

  // Whether the `with` whose block begins at `start` has one of the names, or arguments: from its line on, as it may
  // take several.
  bool names_one(PyCodeObject* code, const uint8_t* text, int start) const {
    const int line = PyCode_Addr2Line(code, 2 * (start - 1));
    for (int i = 0, arg = 0; i < start; ++i) {
      const int op = text[2 * i];
      arg = arg << 8 | text[2 * i + 1];
      if (op == ops_.extended_arg) continue;
      if ((op == ops_.load_const || op == ops_.kw_names) && arg < PyTuple_GET_SIZE(code->co_consts) &&
          PyCode_Addr2Line(code, 2 * i) >= line) {
        PyObject* const_ = PyTuple_GET_ITEM(code->co_consts, arg);
        for (Py_ssize_t k = 0; PyTuple_CheckExact(const_) && k < PyTuple_GET_SIZE(const_); ++k)
          if (PyUnicode_CheckExact(PyTuple_GET_ITEM(const_, k)) &&
              PySet_Contains(keywords_, PyTuple_GET_ITEM(const_, k)) == 1)
            return true;
      }
      PyObject* name = loaded(code, op, arg);
      if (name && PyCode_Addr2Line(code, 2 * i) >= line && PySet_Contains(names_, name) == 1) return true;
      arg = 0;
    }
    return false;
  }

  static bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }

  Owner owner_of(PyObject* file) {
    Known& k = known_[(reinterpret_cast<uintptr_t>(file) >> 4) % kKnown];
    if (k.file == file) return k.owner;
    Py_ssize_t n;
    const char* text = PyUnicode_AsUTF8AndSize(file, &n);
    if (!text) {
      PyErr_Clear();
      return PROGRAM;
    }
    const std::string_view name(text, static_cast<size_t>(n));
    Py_INCREF(file);
    Py_XDECREF(k.file);
    k.file = file;
    const bool foreign = begins(name, standard_) || begins(name, "<frozen ") ||
                         name.find("site-packages") != name.npos || name.find("dist-packages") != name.npos;
    return k.owner = begins(name, package_) ? PACKAGE : is_pools(name) ? POOL : foreign ? FOREIGN : PROGRAM;
  }
  bool is_pools(std::string_view name) const {
    if (!begins(name, standard_)) return false;
    name.remove_prefix(standard_.size());
    return name == "multiprocessing/pool.py" || name == "concurrent/futures/thread.py" ||
           name == "concurrent/futures/process.py";
  }

  // Held, so that the address can't be another's.
  struct Known {
    PyObject* file;
    Owner owner;
  };
  static constexpr size_t kKnown = 256;
  Known known_[kKnown] = {};
  // The last instructions that were asked about.
  struct Seen {
    PyCodeObject* code;
    int at;
    bool catches;
  };
  static constexpr size_t kSeen = 512;
  Seen seen_[kSeen] = {};
  const std::string package_, standard_;
  const HandlerOps ops_;
  PyObject *const names_, *const keywords_, *const others_;
};

}  // namespace lazyarray
