// Python references held by native code that may run without the GIL.
#pragma once
#include <Python.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <unordered_set>
#include <vector>

#include "error.h"

namespace lazyarray {

// References dropped by a thread that doesn't hold the GIL wait here for one that does. A worker
// never takes the GIL just to drop something.
class Graveyard {
 public:
  Graveyard() {
    dead_.reserve(kRoom);
    spare_.reserve(kRoom);
  }
  void bury(PyObject* o) {
    if (!o) return;
    std::lock_guard<std::mutex> g(mu_);
    try {
      dead_.push_back(o);
    } catch (const std::bad_alloc&) {
      return;  // it lives for ever
    }
    any_.store(true, std::memory_order_release);
  }
  // With the GIL. Destructors of user objects run here, under no lock.
  void sweep() {
    if (!any_.load(std::memory_order_acquire)) return;
    std::vector<PyObject*> dead;
    {
      std::lock_guard<std::mutex> g(mu_);
      dead.swap(dead_);
      dead_.swap(spare_);
      any_.store(false, std::memory_order_relaxed);
    }
    for (PyObject* o : dead) Py_DECREF(o);
    dead.clear();
    std::lock_guard<std::mutex> g(mu_);
    if (spare_.capacity() < dead.capacity()) spare_.swap(dead);
  }

 private:
  static constexpr size_t kRoom = 1024;
  std::mutex mu_;
  std::atomic<bool> any_{false};
  std::vector<PyObject*> dead_;
  std::vector<PyObject*> spare_;  // empty: the room for the next, so that burying rarely needs memory
};

// Never destroyed: workers of a forgotten engine may outlive static destructors.
inline Graveyard& graveyard() {
  static Graveyard* g = new Graveyard;
  return *g;
}

inline void drop_ref(PyObject* o) {
  if (!o) return;
  if (PyGILState_Check()) Py_DECREF(o);
  else graveyard().bury(o);
}

inline void drop_error(Error* e) {
  // May run under the engine's mutex, where no Python code may: always buried.
  graveyard().bury(static_cast<PyObject*>(e->exception));
  graveyard().bury(static_cast<PyObject*>(e->site));
}

// Names live as long as the process, so a trace may be read after its ops are gone.
inline const char* intern_name(const std::string& name) {
  static std::mutex* mu = new std::mutex;
  static auto* names = new std::unordered_set<std::string>;
  std::lock_guard<std::mutex> g(*mu);
  return names->insert(name).first->c_str();
}

// Whether a code object's file belongs to the package. With the GIL.
inline bool is_library_file(PyObject* filename) {
  // Nearly always the same user file as last time; held, so that the address can't be another's.
  static PyObject* last_user_file = nullptr;
  if (filename == last_user_file) return false;
  static const std::string* prefix = [] {
    auto* found = new std::string;
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* package = PyDict_GetItemString(modules, "lazyarray");
    PyObject* file = package ? PyObject_GetAttrString(package, "__file__") : nullptr;
    const char* text = file ? PyUnicode_AsUTF8(file) : nullptr;
    if (text) *found = text;
    PyErr_Clear();
    Py_XDECREF(file);
    found->erase(found->find_last_of("/\\") + 1);  // npos + 1 is 0
    return found;
  }();
  Py_ssize_t n;
  const char* text = PyUnicode_AsUTF8AndSize(filename, &n);
  if (!text) PyErr_Clear();
  if (text && !prefix->empty() && static_cast<size_t>(n) > prefix->size() &&
      prefix->compare(0, prefix->size(), text, prefix->size()) == 0)
    return true;
  Py_INCREF(filename);
  Py_XDECREF(last_user_file);
  last_user_file = filename;
  return false;
}

// Where an op was pushed. The frame object is made once per frame and then cheap to ask.
struct Site {
  PyObject* code = nullptr;  // owned
  int lasti = -1;

  // The innermost frame that is not the package's own: ops are composed in Python, too, and it is
  // the user's line that matters.
  void capture() {
    PyFrameObject* f = PyEval_GetFrame();
    if (!f) return;
    PyCodeObject* c = PyFrame_GetCode(f);
    if (is_library_file(c->co_filename)) {
      Py_INCREF(f);
      while (PyFrameObject* back = PyFrame_GetBack(f)) {
        Py_DECREF(f);
        Py_DECREF(c);
        f = back;
        c = PyFrame_GetCode(f);
        if (!is_library_file(c->co_filename)) break;
      }
      Py_DECREF(f);  // its caller's frame keeps it
    }
    code = reinterpret_cast<PyObject*>(c);
    lasti = PyFrame_GetLasti(f);
  }
};

inline int site_line(PyObject* code, int lasti) {
  return PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code), lasti);
}

// A Python callable as an operator's payload.
struct PyTask {
  PyObject* fn = nullptr;
  Site site;

  void clear() {
    PyObject* f = fn;
    PyObject* c = site.code;
    fn = site.code = nullptr;
    drop_ref(f);
    drop_ref(c);
  }
};

// A worker keeps one Python thread state for its life: making one per op costs microseconds and
// would lose thread-local state between ops.
inline PyThreadState*& worker_thread_state() {
  static thread_local PyThreadState* state = nullptr;
  return state;
}
inline void adopt_worker_thread() {
  if (worker_thread_state() || PyGILState_GetThisThreadState()) return;
  PyGILState_Ensure();
  worker_thread_state() = PyEval_SaveThread();
}
inline void leave_worker_thread() {
  PyThreadState* state = worker_thread_state();
  if (!state) return;
  PyEval_RestoreThread(state);
  worker_thread_state() = nullptr;
  PyGILState_Release(PyGILState_UNLOCKED);
}

}  // namespace lazyarray
