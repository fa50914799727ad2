// Tape: what autograd remembers of the ops that it records, as a graph that arrays keep alive.
#pragma once
#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lazy/instr.h"

namespace lazyarray {

// How an op's gradient is computed: for each input a Python function of the outputs' gradients, the
// inputs and the outputs. Made once for each name, lives as long as the process.
struct Gradient {
  enum : int8_t { kOutputGradient = -1 };  // of output k: kOutputGradient - k
  struct Input {
    void* function = nullptr;  // null: the gradient is zero everywhere
    std::vector<int8_t> arguments;  // operands by index, or gradients of outputs
    uint32_t needs = 0;             // the operands among them, as bits
  };
  std::vector<Input> inputs;
};

// A chunk as nodes know it: they may outlive it, and another chunk may come to live at its address.
struct Memory {
  std::atomic<int32_t> refs{1};
  const size_t nbytes;
  const Device device;
  // With the GIL: whether a node has saved its values, and if so what overwrote them last.
  bool watched = false;
  uint32_t overwritten = 0;  // a site

  Memory(size_t n, Device d) : nbytes(n), device(d) {}
  void ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// One recorded op, a leaf (an array with attach_grad), a call with a rule of its own, or FLAT: what was
// made of recorded arrays, but doesn't change with them (a comparison, floor). Nothing flows through a
// flat one; it tells which leaves get zeros. It names them by number, and holds no graph: so an array that
// counts hits for hours keeps nothing.
//
// Invariants (all guarded by the GIL):
//  * Edges (`from`) lead from a node to nodes of smaller `seq`: there is no cycle of nodes.
//  * A chunk holds its last writer only while an array can be used in a new op (Chunk::handles), and a
//    node holds the chunks that it needs the values of: so a node and its output don't keep each other.
//  * A node without `from` on any input and output is never made, but for leaves and flat ones.
using Leaves = std::shared_ptr<const std::vector<uint64_t>>;  // by their seq, in order; null: none
struct Node {
  enum Kind : uint8_t { INSTRUCTION, CALL, LEAF, FLAT };
  struct Operand {
    Memory* memory = nullptr;  // owned; null: a constant
    // Owned. Of an input: who wrote it; null if nothing is to be differentiated. Of an output: who
    // wrote the chunk before, unless all of it is overwritten.
    Node* from = nullptr;
    Chunk* saved = nullptr;    // owned, if the gradient needs the values
    uint64_t version = 0;      // ... and what its version was
    int dtype = 0;
    int constant = -1;         // which of Node::constants it is
    Layout layout;             // over the op's space: a broadcast axis has no step
  };

  int refs = 1;
  Kind kind;
  bool freed = false;      // a backward has let go of all that it held, or will when it is done
  int busy = 0;            // backwards that are at it now: a rule may let other threads run
  int nin = 0, nout = 0;   // of `operands`; what follows is what a CALL saved besides
  int again = 0;           // of that the last, which only gradients of higher order need
  bool loose = false;      // a CALL: walks come to what it is made of by way of nodes after it only
  uint64_t seq;
  uint64_t walk = 0;       // the last backward that met it
  Node* next_doomed = nullptr;
  const char* name = "";
  const Gradient* gradient = nullptr;
  void* payload = nullptr;  // owned. CALL: its rule; LEAF: a list of (grad, grad_req), as operands
  uint32_t site = 0;
  std::vector<Operand> operands;
  Leaves zeros;                 // on which it depends with derivative zero, by way of flat arrays
  Leaves reach;                 // all on which it depends; null: not asked for yet, or none
  Node* marks = nullptr;        // owned. Of an op: a LEAF for results of it that have attach_grad, too
  std::unordered_map<uint64_t, Node*>* listed = nullptr;  // LEAF: where it can be found by its seq
  alignas(16) char constants[3][32];  // INSTRUCTION: in the order of inputs without memory

  Node(Kind k, uint64_t s) : kind(k), seq(s) {}
  Node(const Node&) = delete;

  void ref() { refs++; }
  void unref();
  // Lets go of all that it holds.
  void release();
};

// A reference that goes with its scope, however that is left.
struct NodeRef {
  Node* n = nullptr;
  NodeRef() = default;
  explicit NodeRef(Node* node) : n(node) {}
  NodeRef(const NodeRef&) = delete;
  ~NodeRef() {
    if (n) n->unref();
  }
};

inline Node* history_of(Chunk* c) { return lazy(c)->node; }
// Whom gradients of the chunk's values flow to.
inline Node* writer_of(Chunk* c) {
  Node* const n = history_of(c);
  return n && n->kind != Node::FLAT ? n : nullptr;
}
inline Memory* known_as(Chunk* c) { return lazy(c)->memory; }
void teach_store(ChunkStore* store);
// The nodes in the order in which gradients flow.
void last_first(std::vector<Node*>& nodes);

// One for the process; guarded by the GIL.
struct Tape {
  uint64_t seq = 0, walks = 0;
  int scopes = 0;  // threads that are recording now
  std::unordered_map<uint64_t, Node*> leaves;  // those that are left

  static Memory* memory_of(Chunk* c);
  static void save(Node::Operand& o, Chunk* c, uint64_t version);
  // Makes `node` (null: nobody) the last writer of the chunk.
  static void set_writer(Chunk* c, Node* node);
  void list(Node* leaf);
  Node* leaf(uint64_t seq) const;
  Leaves joined(const Leaves& a, const Leaves& b);
  // All leaves behind a node. Kept by it, and by those just before it: what is asked for next is mostly
  // made of these.
  Leaves reach_of(Node* n);
  Leaves beside(Node* n) { return n->marks ? joined(n->zeros, n->marks->reach) : n->zeros; }
  Leaves behind(Node* n);
  Leaves reach_of(const std::vector<Node*>& several);
  static void set_operand(Node::Operand& o, Chunk* c, int dtype);
};

// The view of operand k over the instruction's space, core axes last.
void lay_out(Instr& in, int k, int step, Layout& l);

// Notes a recorded instruction. `record` has found that its gradient is wanted: some input has a
// writer (bit by bit in `tracked`), or part of an output that has one is overwritten.
// It depends on `flat`, too, but doesn't change with it. Without memory (std::bad_alloc) nothing is noted.
void note_instruction(Tape& tape, Instr& in, uint32_t tracked, const std::vector<Node*>& flat);

// Notes a write, of all of a chunk that has no writer or of a part, of what doesn't change with `leaves`.
void note_flat(Tape& tape, Chunk* c, Leaves leaves, bool all);

}  // namespace lazyarray
