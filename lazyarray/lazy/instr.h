// Kernel and Instr: what one recorded instruction does, and to which memory.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "interpreter.h"
#include "lazy/loop.h"
#include "lazy/view.h"

namespace lazyarray {

struct Instr;
struct Gradient;   // see lazy/tape.h
struct LineLoops;  // see lazy/cpu/lines.h

// The core axes of a generalised ufunc's operands, as indices of Instr::core; their steps lie one after
// the other in Instr::core_steps.
struct Cores {
  int8_t n[4] = {};
  int8_t axes[4][2] = {};
};

// Loops over operands in memory, the slowest first: how often each runs, and how far it takes each operand.
struct Block {
  int ndim = 0, nop = 0;
  const npy_intp* shape = nullptr;
  const npy_intp* strides[kMaxOperands];
  char* ptrs[kMaxOperands];
};

// One row of the op table at one dtype signature. Made once, lives as long as the process.
struct Kernel {
  // A ROLL moves elements along axes, round (cpu/roll.h), a PICK takes those that indices name (cpu/gather.h): the output
  // and the indices lie together in the order of the axes, the source is read anywhere. A TRANSFER moves the bytes of
  // its input, which lie together, to another device.
  enum Kind : uint8_t { ELEMENTWISE, ROLL, PICK, REDUCE, GUFUNC, PYTHON, TRANSFER };
  // How a long run of a REDUCE may be cut with the bits of the whole: not at all; anywhere (exact
  // arithmetic); or where NumPy's pairwise sum of real or complex numbers cuts it.
  enum class Split : uint8_t { NONE, ANY, PAIRWISE, PAIRWISE_COMPLEX };
  Kind kind = ELEMENTWISE;
  const char* name = "";  // interned; "" of what only moves bytes
  const char* shown() const { return name[0] ? name : "copy"; }
  Loop fn = nullptr;
  void* data = nullptr;
  int8_t nin = 0, nout = 0;
  int8_t dtypes[kMaxOperands] = {};  // inputs, then outputs
  float cost = 1;          // nanoseconds an element, roughly
  bool checks_flags = false;  // may raise floating-point flags that the user hears of
  bool long_double = false;   // ... in the x87 unit, too
  const char* invalid = nullptr;  // what the invalid flag means, as a LinAlgError; else a flag
  const char* warning = nullptr;  // what it means, as a RuntimeWarning whatever np.errstate says; interned
  // ELEMENTWISE and GUFUNC: looks at the values of operand `checked` before anything is written; the error
  // (owned) that the loop can't report, or null.
  Error* (*check)(const Instr&, const Block&) = nullptr;
  int8_t checked = 1;
  const char* told_of = nullptr;  // the op that flags are told of, if not this one: NumPy's name of many
  bool gathers = false;       // GUFUNC without a loop, or PICK: see cpu/gather.h
  bool casts_range = false;   // a cast whose out-of-range values are left to NumPy
  Split split = Split::NONE;
  const LineLoops* lines = nullptr;  // for many short rows at once
  bool any_order = false;     // an element's bits don't depend on the loop's steps; REDUCE: nor do a short row's
  bool no_minus_zero = false;  // ELEMENTWISE: none of its results is -0.0
  bool slow_still = false;    // ELEMENTWISE, in any order: its loop is slow where an input has no step
  bool minds_still = false;   // ELEMENTWISE: does something else where its second input has no step
  bool copies = false;        // moves elements as they are
  const char* code = nullptr;  // the op's name for the compiled tier, if it has the op (cpu/jit/)
  const Gradient* gradient = nullptr;  // found when autograd first meets the kernel
  bool gradient_sought = false;
  bool product = false;       // GUFUNC: of stacks of matrices
  bool rows_apart = false;    // ... whose rows threads may share, too
  bool blas = false;          // ... each of which is a call of BLAS
  // GUFUNC: NumPy's sorts of a line, of which threads may sort parts (see cpu/sorting.h), and whether equals stay in
  // order.
  int (*sort)(void* line, npy_intp n, void*) = nullptr;
  int (*argsort)(void* line, npy_intp* order, npy_intp n, void*) = nullptr;
  bool stable = false;
  bool apart = false;         // GUFUNC: no place of the batch reads what another one writes: threads may share them
  npy_intp apart_from = 0;    // ... if the first core length is this or more
  const Cores* cores = nullptr;  // GUFUNC: the core axes of each operand, where each has a step
  RowsLoop add_rows = nullptr;  // REDUCE, of which it is the op: for many rows at once
  Loop join = nullptr;  // REDUCE of narrower elements than its results: the op on two results
  // REDUCE: the first element starts the result, or else `identity` does.
  bool starts_with_first = false;
  // REDUCE to the largest or smallest: the same for inputs without -0.0. Which zero it is depends on the order else.
  const Kernel* of_plus_zeros = nullptr;
  alignas(16) char identity[32] = {};
};

// What a Python instruction (one that takes the GIL and calls NumPy) needs besides.
struct PyCall {
  void* fn = nullptr;       // the interpreter's: fn(outputs, inputs), lists of NumPy views
  void* context = nullptr;  // ... and the recorder's contextvars: np.errstate is one
  bool gives = false;       // it makes the outputs itself: large ones have no memory before
  std::vector<View> views;      // in operand order; references are the instruction's
  ~PyCall();
};

struct Operand {
  Chunk* chunk = nullptr;  // null: a constant of the instruction
  npy_intp offset = 0;
  bool detached = false;  // see View
};

// What np.errstate said when the op was recorded: NumPy's modes for each kind of error.
struct ErrState {
  enum Mode : uint8_t { IGNORE, WARN, RAISE, CALL, PRINT, LOG };
  uint8_t divide = WARN, over = WARN, under = IGNORE, invalid = WARN;
  uint32_t handler = 0;  // whom CALL and LOG tell: its number (see lazy/filters.pxi); 0: nobody
};

// An instruction owns counted references to its chunks and never a Python array.
struct Instr {
  static constexpr int kInline = 20;

  const Kernel* kernel = nullptr;
  int nin = 0, nop = 0;     // inputs come first
  bool wide = false;        // a product that BLAS runs on threads of its own
  bool has_refs = false;    // on the heap: owns chunk references and marks their counters
  bool zeros = false;       // fills memory that nobody has written with zeros, so fresh pages will do
  bool put_off = false;     // tried inline, but needs NumPy: nothing of it counts
  ErrState errstate;
  uint32_t filters = 0;     // the state of Python's warning filters; 0: those of the wait
  uint32_t site = 0;        // where it was recorded (see ProfileEvent)
  double cost_ns = 0;
  int64_t bytes = 0;        // of its outputs
  Operand* ops = inline_ops_;  // more than kMaxOperands only in PYTHON instructions
  alignas(16) char constants[3][32];
  std::unique_ptr<PyCall> py;
  // Bit per output: written whole without being read, which heals a poisoned array.
  uint32_t overwrites = 0;
  uint32_t reduced = 0;  // REDUCE: bit per iteration axis
  int ncore = 0, ncore_steps = 0;  // GUFUNC: the core dimensions, and each operand's steps
  npy_intp core[4] = {};  // ROLL: by how many places along each axis
  npy_intp core_steps[8] = {};
  int index = -1;        // in its segment; the planner's
  Instr* next = nullptr;  // in the open segment, or among those to be used again

  int ndim = 0;  // iteration axes, slowest first
  npy_intp* shape() { return buf(); }
  npy_intp* strides(int op) { return buf() + static_cast<npy_intp>(1 + op) * ndim; }
  void set_operands(int inputs, int outputs) {
    nin = inputs;
    nop = inputs + outputs;
    ops = inline_ops_;
    if (nop > kMaxOperands) {
      many_ops_.resize(nop);  // or it throws
      ops = many_ops_.data();
    }
  }
  void set_ndim(int n) {
    ndim = n;
    const size_t need = static_cast<size_t>(n) * (1 + nop);
    if (need > kInline) heap_.resize(need);
  }

  Instr() = default;
  Instr(const Instr&) = delete;
  Instr& operator=(const Instr&) = delete;

  // Takes over what the other says, but for its Python part. The references are the caller's affair.
  void copy_from(Instr& o);
  bool writes(int op) const { return op >= nin; }
  npy_intp size() {
    npy_intp n = 1;
    for (int i = 0; i < ndim; ++i) n *= shape()[i];
    return n;
  }
  // REDUCE: whether the fastest axis is reduced (else the slowest ones are), and how long it is.
  bool reduces_last() const { return reduced >> (ndim - 1) & 1; }
  npy_intp last() { return shape()[ndim - 1]; }
  // Whether its operands but the source lie together in the order of the axes, so that any part of that line is a tile.
  bool in_line() const { return kernel->kind == Kernel::ROLL || kernel->kind == Kernel::PICK; }
  // Whether it may touch all of an operand's memory for a part of its output, and not what the iteration axes say alone: it
  // reads it at other places than it writes, or is no loop over elements (whose axes are some of its own, or none).
  bool touches_all(int op) const { return kernel->kind > Kernel::REDUCE || (in_line() && op == 0); }
  // Whether it is a TRANSFER into the host's memory.
  bool fetches() const { return kernel->kind == Kernel::TRANSFER && ops[1].chunk->device.on_host(); }
  // A copy between devices runs where it writes, but for these.
  Device device() const {
    if (fetches()) return ops[0].chunk->device;
    return nop > nin ? ops[nin].chunk->device : nop ? ops[0].chunk->device : Device();
  }
  bool overwritten(int op) const { return op >= nin && (overwrites >> (op - nin) & 1); }

 private:
  npy_intp* buf() { return static_cast<size_t>(ndim) * (1 + nop) > kInline ? heap_.data() : inline_; }
  Operand inline_ops_[kMaxOperands];
  std::vector<Operand> many_ops_;
  npy_intp inline_[kInline];
  std::vector<npy_intp> heap_;
};

// Blocks of instructions, used again.
class InstrPool {
 public:
  Instr* take();
  // Lets go of what the instruction holds.
  void drop(Instr* in);

 private:
  SpinLock lock_;
  Instr* free_ = nullptr;
  int count_ = 0;
};

// Merges iteration axes that step alike and drops those of length one; `shape` and `strides` are
// in iteration order, slowest first, and are rewritten. Returns the number of axes left.
int coalesce(int ndim, int nop, npy_intp* shape, npy_intp (*strides)[kMaxDims]);

// The strides of `l` over the broadcast shape of `ndim` axes.
void broadcast_strides(const Layout& l, int ndim, npy_intp* out);

// NumPy's iterator hands a loop an operand that steps unevenly by way of a buffer, in order, where
// that pays: npyiter_find_buffering_setup in nditer_constr.c (since 2.3). How many axes, the fastest
// first, one call of the loop then goes over; an operand that takes them in one step needs no buffer.
int buffered_axes(Instr& in);

// Whether the operand's fastest `axes + 1` axes are one run of equal steps.
bool steps_evenly(Instr& in, int k, int axes);

// Turns round each axis that all operands walk backwards, as NumPy's iterator does where none of them is
// its to allocate (npyiter_flip_negative_strides). Operands are set.
void turn_round(Instr& in);

// Fills in the iteration space of an elementwise instruction: `views` in operand order (null for
// a constant), all broadcast to `space`'s shape.
void set_space(Instr& in, const Layout& space, View const* const* views);

// The layout of a fresh output over `out`'s shape, as NumPy's iterator would order it.
void set_k_layout(Layout& out, npy_intp itemsize, int nin, View const* const* views);

}  // namespace lazyarray
