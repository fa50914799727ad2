// Sites: numbers for the lines that push, so that a trace holds no references.
#pragma once
#include <Python.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/pyrefs.h"

namespace lazyarray {

// One for the process, never destroyed. With the GIL held, which guards all of it. It keeps the code
// objects that it has numbers for.
class Sites {
 public:
  static constexpr size_t kMost = 1 << 20;  // a program that makes code for ever must not fill memory

  uint32_t of(PyObject* code, int lasti) {
    if (!code) return 0;
    const uint64_t h = (reinterpret_cast<uintptr_t>(code) >> 4) + static_cast<uint64_t>(lasti) * 7;
    Seen& s = seen_[h % kSeen];
    if (s.code == code && s.lasti == lasti) return s.number;
    const auto key = std::make_pair(code, lasti);
    auto found = numbers_.find(key);
    if (found == numbers_.end()) {
      if (places_.size() >= kMost) return 0;
      try {
        places_.reserve(places_.size() + 1 > places_.capacity() ? 2 * places_.capacity() + 64 : 0);
        found = numbers_.emplace(key, static_cast<uint32_t>(places_.size()) + 1).first;
      } catch (const std::bad_alloc&) {
        return 0;  // as a line that is not known
      }
      places_.push_back(key);
      Py_INCREF(code);
    }
    s = {code, lasti, found->second};
    return s.number;
  }
  // The user's line that runs now.
  uint32_t here() {
    Site site;
    site.capture();
    const uint32_t number = of(site.code, site.lasti);
    Py_XDECREF(site.code);
    return number;
  }

  // Sites are numbered from 1 to size().
  uint32_t size() const { return static_cast<uint32_t>(places_.size()); }
  PyObject* code(uint32_t number) const { return places_[number - 1].first; }
  int line(uint32_t number) const { return site_line(code(number), places_[number - 1].second); }

 private:
  struct Hash {
    size_t operator()(const std::pair<PyObject*, int>& k) const {
      return (reinterpret_cast<uintptr_t>(k.first) >> 4) * 31 + static_cast<size_t>(k.second);
    }
  };
  struct Seen {
    PyObject* code;
    int lasti;
    uint32_t number;
  };
  static constexpr size_t kSeen = 1024;
  Seen seen_[kSeen] = {};
  std::unordered_map<std::pair<PyObject*, int>, uint32_t, Hash> numbers_;
  std::vector<std::pair<PyObject*, int>> places_;
};

}  // namespace lazyarray
