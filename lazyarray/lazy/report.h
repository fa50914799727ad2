// Report: what became of a segment, for la.explain() and LAZYARRAY_DEBUG=plan.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lazy/backend.h"

namespace lazyarray {

class Report {
 public:
  struct Note {
    const char* name;
    int dtype;
    bool temporary, reduction;
    std::vector<npy_intp> shape;
  };
  struct Stage {
    std::vector<Note> notes;
    std::shared_ptr<const FusedPlan> plan;  // null: the instructions run one after the other
    int64_t moved = 0;
    std::atomic<int> threads{0};

    Stage(const std::vector<Instr*>& instrs, size_t begin, size_t end,
          std::shared_ptr<const FusedPlan> p);
  };
  struct Line {
    Device device;
    std::deque<Stage> stages;  // which never move
    std::atomic<int64_t> begun{0}, ended{0};
  };

  const size_t instructions;
  std::deque<Line> lines;
  int64_t least = 0, unfused = 0;  // bytes

  Report(size_t n, size_t operators) : instructions(n), lines(operators) {}

  void begins(size_t line, int64_t now) { lines[line].begun.store(now, std::memory_order_relaxed); }
  void ends(size_t line, int64_t now) { lines[line].ended.store(now, std::memory_order_relaxed); }

  // The least that must be moved: what comes from outside, and what somebody can still see.
  void total(const std::vector<Instr*>& segment);

  std::string text() const;

 private:
  // When operators ran, and on how many threads at most.
  std::string when(size_t begin, size_t end) const;
  static std::string stages(const Line& l);
  static void stage(std::string& s, const Stage& st);
};

}  // namespace lazyarray
