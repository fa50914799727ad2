// Totals: how often and how long, by name and line; what threads and workers did.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile.h"

namespace lazyarray {

struct Sum {
  int64_t count = 0, ns = 0, least = INT64_MAX, most = 0;
  int64_t moved = 0;  // bytes
  int64_t ops = 0;    // instructions, of operators

  void add(int64_t took, int64_t bytes, int64_t n);
};

struct CounterSum {
  int64_t count = 0;
  double last = 0, least = 0, most = 0;
  void add(double value);
};

// What one thread that is no worker did.
struct ThreadSum {
  int64_t waited = 0;        // what of it lies in another wait counts once
  int64_t ran_in_waits = 0;  // operators that it ran or took part in meanwhile
  int64_t ran = 0;           // operators that it ran otherwise
  int64_t inline_ns = 0, inlined = 0;

  // Operators and waits come in the order in which they ended.
  void op(int64_t start, int64_t end);
  void wait(int64_t start, int64_t end);

 private:
  struct Interval {
    int64_t start, ns;
  };
  std::vector<Interval> recent_, waits_;
};

struct WorkerSum {
  int64_t busy = 0, ran = 0, joined = 0;
};

struct Totals {
  enum Kind : int { OPERATOR, INLINE, WAIT, EVENT, TASK, FRAME };
  struct Key {
    const char* name;  // interned
    uint32_t site;
    int kind;
    bool operator==(const Key& o) const { return name == o.name && site == o.site && kind == o.kind; }
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return (reinterpret_cast<uintptr_t>(k.name) >> 3) * 31 + k.site * 7 + static_cast<size_t>(k.kind);
    }
  };

  std::unordered_map<Key, Sum, Hash> sums;
  std::map<std::string, CounterSum> counters;
  std::map<uint64_t, ThreadSum> threads;
  std::map<int, WorkerSum> workers;
  Sum inputs, workers_wait;  // from the push until ready; from then until started
  uint64_t markers = 0;

  // The tables, for Cython, which can't walk maps of structures.
  std::vector<std::pair<Key, Sum>> rows() const { return {sums.begin(), sums.end()}; }
  std::vector<std::pair<std::string, CounterSum>> counter_rows() const {
    return {counters.begin(), counters.end()};
  }
  std::vector<std::pair<uint64_t, ThreadSum>> thread_rows() const {
    return {threads.begin(), threads.end()};
  }
  std::vector<std::pair<int, WorkerSum>> worker_rows() const { return {workers.begin(), workers.end()}; }
};

}  // namespace lazyarray
