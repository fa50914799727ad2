// GpuPlan: which kernels run a fused stage (or one instruction) on a GPU, and what each is told.
#pragma once
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "lazy/cuda/gpu.h"
#include "lazy/backend.h"
#include "lazy/plan_cache.h"
#include "lazy/words.h"

namespace lazyarray::cuda {

using Steps = std::vector<npy_intp>;

// An operand of a kernel, in memory: of which instruction's operand, and how it walks the kernel's axes.
struct Operand {
  enum Kind : uint8_t { DENSE, ONE, STRIDED };
  int member, op;
  int dtype;
  Kind kind = STRIDED;
  bool reduced_to = false;  // a reduction's result, or what steps as one: it has only the kept axes
  Steps steps;
  size_t word = 0;          // where its address goes
};
struct Constant {
  int member, index;        // Instr::constants[index]
  int dtype;
  size_t word = 0;
};
struct Statement {
  enum What : uint8_t { LOAD, CONST, OP, STORE, REDUCE } what;
  const Kernel* kernel = nullptr;  // OP, REDUCE
  int operand = -1;                // LOAD, STORE, REDUCE; CONST: which constant
  std::vector<int> in, out;        // values, each assigned once; of REDUCE one only where rows are kept
};

// What was compiled for one device; see Compiler.
struct Functions {
  Function_t kernel = nullptr, combine = nullptr;
  bool known = false;
};

// One kernel, and the words of its argument but for addresses and constants: see lazy/cuda/source.py.
struct Launch {
  int kept = 0, reduced = 0;     // axes
  npy_intp n_kept = 1, n_reduced = 1;
  bool lanes_kept = false;       // neighbouring threads take neighbouring results, not elements of one
  int elements = 0;              // of a row that a thread keeps, from its reductions to what needs them; 0: none
  bool wide = false;
  int reductions = 0;
  std::vector<Operand> operands;
  std::vector<Constant> constants;
  std::vector<Statement> body;
  std::vector<int64_t> words;
  // A grid's shape depends on sizes alone, so the bits of a sum do, too.
  unsigned block_x = 256, block_y = 1;
  npy_intp grid_x = 1, splits = 1;

  static constexpr int kUnroll = 4;  // elements of a thread; source.py's
  // So many blocks are needed to draw on all of the memory's bandwidth (sums of 64M float32 on an H100: 109 us
  // with 512, 99 with 2048, 96 with 8192).
  static constexpr npy_intp kThreads = 256, kBlocks = 2048, kLeastRun = 16;
  static constexpr npy_intp kRow = 4096;  // elements of a row that a block keeps: 16 a thread

  void shape_grid();

  Functions functions(int gpu) const;
  void set_functions(int gpu, Functions f) const;

 private:
  mutable std::mutex mu_;
  mutable std::map<int, Functions> functions_;
};

struct GpuPlan final : FusedPlan {
  std::vector<std::unique_ptr<Launch>> launches;
  // Per instruction and operand: whether it lies in memory (else it lives and dies in one kernel).
  std::vector<std::array<bool, kMaxOperands>> memory;
  bool possible = true;

  bool in_memory(size_t instr, int op) const override { return memory[instr][op]; }
  bool may_fall_back() const override { return true; }
  bool writes_early() const override { return false; }
  std::string text() const override { return "fused into " + words::count(launches.size(), "kernel"); }
  const char* place() const override { return "in registers"; }
};

// Makes plans, once for each structure. Any thread; mu_ guards what is known.
class GpuPlanner {
 public:
  // Of a stage, whose chunks' `temporary` is set; `axes` is what its instructions share.
  std::shared_ptr<const GpuPlan> plan(Instr* const* instrs, size_t n, const Axes* axes);

 private:
  using Ids = std::unordered_map<const Chunk*, int>;

  // All that the builder looks at: the data themselves, and where chunks lie, are not in it.
  void describe(Instr* const* instrs, size_t n, bool fused);

  // Cuts the instructions into kernels. One kernel's are of one size; its reductions reduce the same axes
  // and nothing in it touches their results. What lives only inside a kernel stays in registers; other
  // temporaries get memory.
  class Builder {
   public:
    Builder(GpuPlan& plan, Instr* const* instrs, size_t n, const Axes* axes, const Ids& ids);

    void build();

   private:
    // Of a kernel, instructions: it has only so many registers, fewest where rows are kept.
    static constexpr size_t kMembers = 96, kRowMembers = 48;
    static constexpr size_t kWords = 480;    // of an argument: CUDA takes 4 KiB

    // Operands that are the same to a kernel: one place in its argument.
    struct View {
      int chunk;
      npy_intp offset;
      int dtype;
      Steps steps;
      bool made = false;  // there, and maybe used there only
      // What is only a register has one place, however it is walked.
      bool same(const View& v, bool memory) const {
        return chunk == v.chunk && dtype == v.dtype && (!memory || (offset == v.offset && steps == v.steps));
      }
    };

    struct Group {
      std::vector<size_t> members;
      int level = 0;                 // axes
      std::vector<bool> reduced;     // of them; empty without a reduction
      size_t words = 0;              // of its argument, at most, were it closed now
      std::vector<View> views;
      bool rows = false;             // see join_rows()
    };

    int level_of(Instr& in) const;
    // What operand k steps by along the first `level` axes.
    Steps steps_of(Instr& in, int k, int level) const;
    // Which of the first `level` axes the instruction reduces.
    std::vector<bool> reduced_of(Instr& in, int level) const;
    static bool is_reduce(const Instr& in) { return in.kernel->kind == Kernel::REDUCE; }

    // Whether an operand may be a register: a temporary that no reduction makes.
    bool may_be_register(Instr& in, int k) const {
      return fused_ && is_temporary(in.ops[k].chunk) && !(is_reduce(in) && in.writes(k));
    }
    View view_of(Instr& in, int k, int level) const;
    // The place of operand k among a kernel's views; where it is to come, if it is none of them.
    size_t place_of(const Group& g, Instr& in, int k, int level) const;
    bool fits(const Group& g, size_t m, int level, const std::vector<bool>& reduced) const;
    // Adds an instruction, its operands to the views and words. What is made there and not used later has no word.
    void add(Group& g, size_t m, int level) const;

    void place(size_t m);

    // Makes one kernel of neighbouring ones that reduce the same short rows, and of what needs their results: a
    // softmax is one, and its rows are read once. Each block keeps rows in registers, and each thread has the
    // results of its row. (16384 x 1024 float32 on an H100, with the
    // wait: 117 us, as three kernels 239.)
    void join_rows();
    // Whether a kernel that keeps rows of the last axes of `rows`, from `kept` on, has a place for the group.
    bool joins(const Group& rows, int kept, const Group& g) const;

    // A temporary has memory if more than one kernel uses it, or a reduction makes it.
    void find_memory();

    // The value in which a view's element is now.
    struct Seen : View {
      int operand = -1, value = -1, store = -1;
    };

    void write(const Group& g, Launch& l);

    // Puts the kept axes before the reduced ones, merges those that all step through alike, and lays the
    // argument out.
    void arrange(const Group& g, Launch& l);

    GpuPlan& plan_;
    Instr* const* const instrs_;
    const size_t n_;
    const Ids& ids_;
    std::vector<size_t> last_;  // the last instruction that uses a chunk
    const bool fused_;
    Axes shared_;
    std::vector<npy_intp> axes_;
    std::vector<Group> groups_;
  };

  std::mutex mu_;
  std::vector<uint64_t> key_;
  Ids ids_;
  PlanCache<const GpuPlan> plans_{4096, 16384};  // by their kernels
};

}  // namespace lazyarray::cuda
