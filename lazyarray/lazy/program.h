// Program: instructions that were captured instead of run, planned once and pushed many times.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lazy/memory_plan.h"
#include "lazy/recorder.h"

namespace lazyarray {

// For one call: another chunk in the place of one, this many bytes further on.
struct Substitution {
  Chunk* from;
  Chunk* to;
  npy_intp delta;
};

// Those of a call, one for a chunk.
class Substitutions {
  static constexpr size_t kFew = 16;  // are looked through

 public:
  void add(Chunk* from, Chunk* to, npy_intp delta) {
    all_.push_back({from, to, delta});
    if (all_.size() > kFew)
      for (size_t i = at_.size(); i < all_.size(); ++i) at_[all_[i].from] = i;
  }
  const Substitution* find(const Var* c) const {  // null: none
    if (all_.size() > kFew) {
      const auto found = at_.find(c);
      return found == at_.end() ? nullptr : &all_[found->second];
    }
    for (const Substitution& s : all_)
      if (s.from == c) return &s;
    return nullptr;
  }
  // By name, as Cython catches no exception of an assignment.
  void copy(const Substitutions& o) { *this = o; }
  void swap(Substitutions& o) noexcept { std::swap(*this, o); }
  size_t size() const { return all_.size(); }
  const Substitution& operator[](size_t i) const { return all_[i]; }

 private:
  std::vector<Substitution> all_;
  std::unordered_map<const Var*, size_t> at_;
};

// Life: capture() while ops are recorded, finish() once, then push() any number of times. All with the
// GIL held; what runs later, without it, only reads. A pushed operator holds a reference, so a program
// that is dropped lives until its last run is over.
//
// The instructions own their chunks: intermediates lie in the arena (memory_plan.h) or have memory of
// their own, and keep it from run to run. Two runs may be pending: they share intermediates, and so
// follow each other where they do, by the variables, as any ops on the same arrays.
class Program {
  // What is captured is taken to run so often: loops that are worth it are compiled before it does.
  static constexpr double kRuns = 1000;

 public:
  struct Role {
    Chunk* chunk;
    uint32_t writes;   // in one run
  };
  // What an operator of the program uses, found once.
  struct Pushed {
    Bundle* bundle;
    std::vector<Use> uses;   // op is null
    std::unordered_map<const Chunk*, size_t> places;  // in `uses`; until all are known
    bool native = true;
    Prop prop = Prop::NORMAL;
    const char* name;
    bool substituted = false;  // some of it differs from call to call: see push()
  };
  struct Phase {
    size_t begin = 0, end = 0;   // instructions
    std::vector<Pushed> operators;
    std::vector<Role> visible;   // chunks that others may see it write
    std::shared_ptr<Report> report;  // null: nothing in it is fused
  };
  Program(Recorder* r, ChunkStore* store) : recorder_(r), store_(store), born_(store->births) {}
  Program(const Program&) = delete;
  ~Program();

  std::vector<Instr*> instrs;
  std::vector<size_t> splits;
  std::vector<Chunk*> followed;  // owned: what calls that were noted for gradients read
  std::vector<Phase> phases;
  Arena* arena = nullptr;
  size_t planned = 0, unplanned = 0, bound = 0;
  int temporaries = 0;
  bool finished = false;

  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Whether the chunk was made while capturing: its values are then not known yet.
  bool bore(const Chunk* c) const { return c->born > born_; }

  // For one more instruction with so many outputs: what follows needs no memory.
  void reserve(size_t outputs);

  // Takes the instruction over.
  void capture(Instr* in);
  // ... to run before all that was captured.
  void capture_first(Instr* in);

  // Before the tape makes a captured op the writer of what was there before: nothing is written yet,
  // so the tape is put back when the capture ends.
  void keep_writer(Chunk* c);
  // A call that was noted for gradients reads it, if by no instruction.
  void follow(Chunk* c);
  bool writers_changed() const;
  void restore_writers();
  // Whether its first phase, run again, would do something else: it draws, or writes what was there before.
  bool impure() const;

  // What one phase makes and a later one reads, but for `given`.
  std::vector<Chunk*> carried(const std::unordered_set<Chunk*>& given) const;

  // What instructions `begin` .. `end` use and the capture didn't make.
  std::vector<Chunk*> outside(size_t begin, size_t end) const;

  // And what only calls that were noted for gradients use: arrays without elements.
  std::vector<Chunk*> outside() const;

  // The chunks made while capturing whose first use reads what the host put there, and that are
  // written later: each run must find the same values again.
  std::vector<Chunk*> initialised() const;

  // Where a plan put a chunk: bytes from the block's start, or that it is a temporary or has memory of its own.
  enum : int64_t { kOwnMemory = -1, kTemporary = -2 };
  int64_t place_of(const Chunk* c) const;

  // Whether the host gave the chunk values that it is to have at first, unless `initialised` says so.
  bool constant(Chunk* c) const;

  // Plans it all. `substituted`: what will be another chunk in each call. With `sharing`, intermediates
  // lie in that program's block if they fit. False if there is no memory.
  bool finish(const std::unordered_set<Chunk*>& substituted, Program* sharing);

  // Makes the ops of a phase (-1: all of them), for push(). Without memory it throws, and nothing happened.
  void prepare(int phase, const Substitutions& substitutions);
  // Pushes what was prepared for that phase; needs no memory. The GIL was held since.
  Status push(int phase);

 private:
  // One run of an operator.
  struct Run {
    Program* program;
    Bundle* bundle;
    bool own;   // made for this run
  };

  // Cuts the instructions into operators, and says where their intermediates are to lie.
  void arrange(const std::unordered_set<Chunk*>& substituted, MemoryPlan& plan);

  // Nobody but the program's instructions can come to it.
  bool is_private(Chunk* c, int count, const std::unordered_set<Chunk*>& substituted) const;

  static void use(Pushed& o, Chunk* c, bool write, uint32_t bumps);

  Pushed describe(Bundle* bundle, const std::unordered_set<Chunk*>& substituted);

  bool settle_arena(const MemoryPlan& plan, Program* sharing);

  void unprepare();
  // A new op, prepared.
  Operator* new_op();

  // An op that does nothing, after all that ran in the block and before all that will.
  void prepare_turn();

  void prepare(Pushed& o, const Substitutions& substitutions);

  // Two such runs may go on at once. Where a GPU can't run a fused stage as such its temporaries get
  // memory, so each run has its own.
  Bundle* copy_of(const Bundle& bundle, const Substitutions& given);

  Instr* copy_of(Instr& in, const Substitutions& given, const Substitutions& own);

  struct Writer {
    Chunk* chunk;
    Node* node;
  };
  std::vector<Writer> writers_;
  std::vector<Operator*> prepared_;
  Recorder* const recorder_;
  ChunkStore* const store_;
  const uint64_t born_;
  std::atomic<int32_t> refs_{1};
};

}  // namespace lazyarray
