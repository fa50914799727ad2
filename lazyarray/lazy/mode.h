// Mode: what a thread does, which is its own affair.
#pragma once
#include <Python.h>

#include "lazy/program.h"

namespace lazyarray {

struct Mode {
  bool recording = false, training = false;
  Program* capturing = nullptr;  // takes what would run
  PyObject* notes = nullptr;     // is told of calls of public functions meanwhile: see note_calls
  Device device;                 // that new arrays are made on
  int no_sync = 0;               // how many such blocks it is in
  // The instruction that calls Python now, and what becomes of it by a warning that is an error.
  struct Called {
    Instr* instr = nullptr;
    Error** refusal = nullptr;
    int* told = nullptr;  // of a call in pieces: the flags of which one has told
    PyObject* given = nullptr;  // a list: what its calls by `once` gave, also where it is made again
    int next = 0;               // of these
  } called;
};
static Mode& mode() {
  static thread_local Mode m;
  return m;
}

}  // namespace lazyarray
