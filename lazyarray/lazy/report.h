// Report: what became of a segment, for la.explain() and LAZYARRAY_DEBUG=plan.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lazy/backend.h"

namespace lazyarray {

// Made for each segment that may be asked for, so only what is gone afterwards is noted; text() does the rest.
class Report {
 public:
  struct Stage {
    std::shared_ptr<const FusedPlan> plan;  // null: the instructions run one after the other
    size_t begin = 0, end = 0;              // of the notes
    std::atomic<int> threads{0};
  };
  struct Line {
    Device device;
    std::vector<Stage> stages;  // as many as there will be: they never move
    std::atomic<int64_t> begun{0}, ended{0};
  };

  std::vector<Line> lines;  // operators; they never move

  Report(size_t instructions, size_t operators);

  // Notes instructions `begin` .. `end` of an operator, which are one of its stages. Before they are pushed.
  void note(Stage& stage, const std::vector<Instr*>& instrs, size_t begin, size_t end, std::shared_ptr<const FusedPlan> plan);
  void begins(size_t line, int64_t now) { lines[line].begun.store(now, std::memory_order_relaxed); }
  void ends(size_t line, int64_t now) { lines[line].ended.store(now, std::memory_order_relaxed); }

  std::string text() const;

 private:
  struct Note {
    const char* name;
    int dtype;
    bool shown, temporary;
    size_t lengths, uses;  // where its own end
  };
  struct Use {
    const void* chunk;  // which one; it may be gone
    npy_intp offset;
    int64_t reached, all;  // bytes: of the operand, and of its chunk if that is seen from outside
  };
  struct Moved {
    int64_t least = 0, unfused = 0;  // bytes
  };

  // The least that must be moved: what comes from outside, and what somebody can still see.
  Moved moved() const;
  int64_t moved(const Stage& st) const;
  // When operators ran, and on how many threads at most.
  std::string when(size_t begin, size_t end) const;
  std::string stages(const Line& l) const;
  void stage(std::string& s, const Stage& st) const;
  size_t first_use(size_t note) const { return note ? notes_[note - 1].uses : 0; }

  const size_t instructions_;
  std::vector<Note> notes_;
  std::vector<npy_intp> lengths_;
  std::vector<Use> uses_;
};

}  // namespace lazyarray
