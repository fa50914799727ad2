// Pass: runs a plan's instructions tile by tile, on as many threads as take part.
#pragma once
#include <memory>

#include "lazy/cpu/run.h"
#include "lazy/cpu/pairwise.h"

namespace lazyarray {

// A thread's own scratch, kept from pass to pass. A pass that begins inside another on the same thread
// (a cast that takes the GIL may let the collector run anything) gets memory of its own.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  char* data() const { return data_; }

 private:
  struct Block {
    char* data = nullptr;
    size_t size = 0;
    bool busy = false;
    ~Block() { std::free(data); }
  };
  static Block& mine();
  static char* allocate(size_t bytes) {
    return static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  }
  Block& block_;
  const bool own_;
  char* data_ = nullptr;
};

// One execution of a plan. Threads claim tasks (runs of tiles) from a counter; what a tile computes
// depends on nothing but the tile, so any number of threads gives the same bits.
class Pass {
 public:
  // `runs[m]`: whether the instruction runs at all (an input of a skipped one is poisoned).
  Pass(Runtime& rt, const Plan& plan, Instr* const* instrs, const uint8_t* runs);

  ~Pass();

  // Runs tasks until none is left. Any thread: nothing is thrown past it.
  void work() noexcept;

  // After all threads: what is left to do for one.
  void finish();

  int flags(size_t m) const { return results_[m].flags.load(std::memory_order_relaxed); }
  Error* take_error(size_t m) { return results_[m].error.exchange(nullptr); }
  int threads() const { return threads_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kItem = 32;  // the widest dtype

  struct Pointers {  // copied as a whole: some loops move their arguments
    char* p[kPassOps];
  };
  struct Result {
    std::atomic<int> flags{0};
    std::atomic<Error*> error{nullptr};
  };

  void work(bool& claimed);

  void fail(size_t m, Error* error);

  // What the next tile will read and write comes into the cache while this one is computed, an equal
  // part before each instruction: few enough lines at a time that none has to wait for another.
  class Ahead {
   public:
    Ahead(const Pass& pass, const Pointers* begin, const npy_intp* index, npy_intp length);
    void fetch();

   private:
    void open(size_t operand);
    const Pass& pass_;
    const Pointers* const begin_;
    const npy_intp* const index_;
    const npy_intp length_;
    npy_intp share_ = 0;
    size_t operand_ = 0;
    const char *at_ = nullptr, *end_ = nullptr;
  };

  // Where a tile lies: how many steps along the axes up to the one that is cut, and its length there. A thread has one.
  struct Spot {
    npy_intp tile;
    npy_intp index[kAxes];
    npy_intp length;
    char* scratch;
    uint64_t written_out = 0;  // of the plan's expansions, a bit each
  };
  void tile(npy_intp t, const Pointers* begin, int* flags, Spot& spot);

  // Where an operand begins that is written out besides.
  char* origin(size_t m, int k, const Spot& spot) const {
    const int from = plan_.origin(plan_.members[m], k);
    return from < 0 ? base_[m * kPassOps + k] : spot.scratch + from;
  }
  // Writes out what the operand reads, unless that is done.
  void expand(size_t m, int k, Spot& spot);
  // A member on a tile, by NumPy's loops.
  void step(size_t m, const Pointers* begin, Spot& spot, int* flags);

  // ---- compiled chains (pass_chains.cpp)
  // Along an axis of the pass an operand is read as many bytes further as this says, up to `by` and from there on.
  struct Turned {
    int place, axis;
    npy_intp by, before, after;
    npy_intp at(npy_intp index) const { return index < by ? before : after; }
  };
  struct ChainRun {
    bool runs = false;           // all of its instructions do, and it writes no memory that it reads
    int heard = 0;               // the flags that somebody hears of
    std::vector<Turned> turned;  // of what it reads turned: along axes up to the one that tiles cut, then along others
    size_t outer = 0;            // ... so many of them along axes before that
  };
  struct Trial;
  void prepare_chains();
  const Chunk* chunk_at(const Place& p) const;  // null: it is a constant, or in scratch
  bool overwrites(const Chain& chain) const;
  // Where its operands are, and where those begin that lie in the scratch in a row (a bit each).
  uint64_t locate(size_t chain, const Pointers* begin, Spot& spot, char** ptrs);
  void note_turned(const Chain& chain, ChainRun& run) const;
  // Calls f(pointers, counts of the nest's loops) for all pieces of `length` of a tile, the first of which has `begin`
  // before it along the axis that tiles cut: it is cut wherever something turned begins anew. `steps`: the loops'.
  template <class F>
  void pieces(size_t chain, const Spot& spot, npy_intp begin, npy_intp length, char* const* ptrs,
              npy_intp const (*steps)[kAxes], F f) const;
  // Calls f(pointers, counts of the nest's loops, elements before) for all that a tile has: at once, but of a piece of a
  // line first for what is left of a row, and last for what there is of another. `in_row`: see locate(); `steps`: the loops'.
  template <class F>
  void stretches(const Chain& chain, const Spot& spot, char* const* ptrs, uint64_t in_row,
                 npy_intp const (*steps)[kAxes], F f) const;
  // Whether the chain is done; if not, NumPy's loops can do it.
  bool compiled(size_t chain, const Pointers* begin, Spot& spot, Ahead& ahead);
  // A piece of a tree, in parts, cut where NumPy's sum cuts it: between them the next tile comes.
  void add_up(const Chain& chain, CompiledLoop::Function loop, char* const* at, npy_intp length, npy_intp parts,
              Ahead& ahead) const;
  // Columns' sums, which lie in a row at `to`, begin with the first rows; and how many bytes they have.
  void begin_columns(const Place& p, const Spot& spot, char* to) const;
  size_t columns_bytes(const Place& p) const;
  // The same where the loop was never used: NumPy's loops do the tile as well, and the two are compared.
  bool tried(size_t chain, const Pointers* begin, Spot& spot, int* flags);

  // A nest's loops over one tile, `length` long, as they are run.
  struct Tile : Block {
    Tile(const Nest& nest, int operands, npy_intp length, const Pointers& at);
    Tile(const Tile&) = delete;
    npy_intp counts[kAxes];
  };

  // A piece of a line through several axes, a row of the last one (or the rest of it) at a time.
  void walk(size_t m, const Member& member, const Pointers& begin, npy_intp start, npy_intp length,
            int* flags);

  void map(size_t m, const Member& member, const Pointers& at, npy_intp length, int* flags);

  // A tile is a part of the line of all elements.
  void line(size_t m, const Member& member, const Pointers& at, const Spot& spot);

  void rows(size_t m, const Member& member, const Pointers& at, npy_intp length);

  // The binary loop with its first input and its output on the accumulators, row after row.
  void columns(size_t m, const Member& member, const Pointers& at, npy_intp length,
               const npy_intp* index);
  // Whether a tile has the first of the rows.
  bool has_first_rows(const Member& member, const npy_intp* index) const;

  char* partial(const Member& member, npy_intp tile) const {
    return partials_.get() + (static_cast<size_t>(member.partial) * plan_.tiles + tile) * kItem;
  }

  void leaf(size_t m, const Member& member, const Pointers& at, npy_intp t, npy_intp length);

  // What a piece starts from, so that the loop leaves the piece's own sum: -0.0 changes no sum, not
  // even one of -0.0, which the identity would.
  static void neutral(const Kernel& kernel, const char* first, char* to);
  template <class T>
  static void put(char* to, T x, bool twice) {
    std::memcpy(to, &x, sizeof x);
    if (twice) std::memcpy(to + sizeof x, &x, sizeof x);
  }

  // Adds the pieces up in the order of NumPy's recursion.
  void combine(size_t m);
  // The sum of the next pieces, `n` elements in all, into the first of them.
  void fold(const Kernel& kernel, char* pieces, npy_intp n, npy_intp& used);
  static void add(const Kernel& kernel, const char* a, const char* b, char* to);

  Runtime& rt_;
  const Plan& plan_;
  Instr* const* const instrs_;
  const uint8_t* const runs_;
  std::vector<char*> base_;  // of each member's operands
  std::vector<Result> results_;
  std::vector<ChainRun> chains_;
  std::unique_ptr<char[]> partials_;
  std::atomic<npy_intp> next_{0};
  std::atomic<int> threads_{0};
  std::atomic<bool> starved_{false};  // a task was left undone, for want of memory
};

}  // namespace lazyarray
