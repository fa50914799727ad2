// Scheduler: turns a segment into stages, the stages into operators, and pushes them.
#pragma once
#include <algorithm>
#include <climits>
#include <mutex>
#include <vector>

#include "lazy/executor.h"
#include "lazy/report.h"
#include "lazy/profiled.h"

namespace lazyarray {

// What one operator runs: stages in order, each some of `instrs`.
struct Bundle {
  struct Step {
    size_t begin, end;
    std::shared_ptr<const FusedPlan> plan;  // null: the instructions run one after the other
  };
  class Scheduler* scheduler = nullptr;
  std::vector<Instr*> instrs;
  std::vector<Step> steps;
  Device device;
  Backend* backend = nullptr;
  double ns = 0;
  int64_t bytes = 0;
  bool open = true;  // may take more
  std::shared_ptr<Report> report;
  size_t line = 0;   // of the report
  std::shared_ptr<Kept> kept;  // of a program's: by the backend, for all its runs

  // What the engine knows the operator by.
  const char* name() const;
  // ... and which queue it waits in. `tiny`: if it is ready, its pusher may as well run it.
  Prop prop(bool tiny) const;
  // Whether an operand's memory is the op's own affair: an output that lives and dies in its registers, or
  // in the scratch of its tiles.
  bool in_scratch(size_t instr, int op) const;
};

// All but run() and drop() happens under Recorder::push_mu_.
class Scheduler {
 public:
  Scheduler(Engine* e, Executor* executor, InstrPool* pool, const FlushPolicy* policy, const TilePolicy* tiles,
            ChunkStore* store)
      : engine_(e), executor_(executor), pool_(pool), policy_(policy), tiles_(tiles), store_(store),
        fuser_(*policy, *tiles) {}

  bool fuses = true;         // tests compare with and without
  bool keeps_reports = false;  // of every segment, not only of those with a fused pass
  void (*on_report)(const std::shared_ptr<Report>&) = nullptr;

  std::shared_ptr<Report> report();

  // Cuts a segment into bundles, in an order that keeps program order on every chunk; whether any of it
  // is fused. They are the caller's; what a chunk's notes say holds until the next call.
  // `often`: they run again and again.
  bool arrange(const std::vector<Instr*>& segment, bool often = false);
  const std::vector<Bundle*>& arranged() const { return bundles_; }

  // Pushes a segment and empties it. Without memory (std::bad_alloc) what is not pushed stays in it, in
  // its order.
  Status push(std::vector<Instr*>& segment, Engine::After& after);

  // What was arranged, for la.explain(); the bundles will tell it when they run.
  std::shared_ptr<Report> report_of(const std::vector<Instr*>& segment);
  void keep(const std::shared_ptr<Report>& report);

  // Runs a bundle.
  static Error* run(void* arg, RunContext& ctx);
  static void describe(void* arg, ProfileNote& to);

 private:
  static void drop(void* arg);

  // A stage joins the youngest bundle that it depends on (it reads what the bundle writes, or writes
  // what it reads or writes) if both are cheap; otherwise it opens a bundle. So an edge always leads
  // from an older bundle to a younger one, bundles pushed by age keep program order on every chunk, and
  // bundles with no edge between them are separate operators: a wait on one never waits for the other.
  void add(Instr* const* instrs, size_t n, Stage* stage, bool often);

  // An output is a temporary of its stage if nobody can ever use it outside: no handle is left
  // (the deletion was recorded, in effect, before this flush), and every reference is one of the
  // stage's own instructions. It must be written in full before it is read, and its values be
  // wanted tile by tile only, which those of an open reduction are not.
  void find_temporaries(Stage& stage);

  // All that may fail comes before anything else knows of the bundle.
  Status push_bundle(Bundle* bundle, int index, std::vector<Instr*>& segment, Engine::After& after);

  static Error* refusal();

  // A value of Chunk::use_group that no chunk has.
  int new_mark() { return last_mark_ = last_mark_ == INT_MIN ? -2 : last_mark_ - 1; }

  void describe(Bundle& bundle, const std::shared_ptr<Report>& report, size_t line);

  Engine* const engine_;
  Executor* const executor_;
  InstrPool* const pool_;
  const FlushPolicy* const policy_;
  const TilePolicy* const tiles_;
  ChunkStore* const store_;
  Fuser fuser_;
  std::vector<Bundle*> bundles_;
  uint64_t plan_ = 0;
  int last_mark_ = -2;
  std::mutex report_mu_;  // guards report_ alone
  std::shared_ptr<Report> report_;
};

}  // namespace lazyarray
