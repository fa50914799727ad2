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
  void unref() {
    if (--refs) return;
    // Not by recursion: a graph may be a million nodes deep.
    static Node* doomed = nullptr;
    static bool busy = false;
    next_doomed = doomed;
    doomed = this;
    if (busy) return;
    busy = true;
    while (Node* d = doomed) {
      doomed = d->next_doomed;
      d->release();
      if (d->marks) d->marks->unref();
      if (d->listed) d->listed->erase(d->seq);
      delete d;
    }
    busy = false;
  }
  // Lets go of all that it holds.
  void release() {
    std::vector<Operand> all;
    all.swap(operands);
    for (Operand& o : all) {
      if (o.memory) o.memory->unref();
      if (o.saved) o.saved->unref();
      if (o.from) o.from->unref();
    }
    graveyard().bury(payload);
    payload = nullptr;
  }
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

inline Node* history_of(Chunk* c) { return c->node; }
// Whom gradients of the chunk's values flow to.
inline Node* writer_of(Chunk* c) { return c->node && c->node->kind != Node::FLAT ? c->node : nullptr; }
inline Memory* known_as(Chunk* c) { return c->memory; }
inline void teach_store(ChunkStore* store) {
  store->drop_node = [](Node* n) { n->unref(); };
  store->drop_memory = [](Memory* m) { m->unref(); };
}

// One for the process; guarded by the GIL.
struct Tape {
  uint64_t seq = 0, walks = 0;
  int scopes = 0;  // threads that are recording now
  std::unordered_map<uint64_t, Node*> leaves;  // those that are left

  static Memory* memory_of(Chunk* c) {
    if (!c->memory) c->memory = new Memory(c->nbytes, c->device);
    return c->memory;
  }
  static void save(Node::Operand& o, Chunk* c, uint64_t version) {
    c->ref();
    o.saved = c;
    o.version = version;
    o.memory->watched = true;
  }
  // Makes `node` (null: nobody) the last writer of the chunk.
  static void set_writer(Chunk* c, Node* node) {
    Node* old = c->node;
    if (node) node->ref();
    c->node = node;
    if (old) old->unref();
  }
  void list(Node* leaf) {
    leaves[leaf->seq] = leaf;
    leaf->listed = &leaves;
    leaf->reach = std::make_shared<std::vector<uint64_t>>(1, leaf->seq);
  }
  Node* leaf(uint64_t seq) const {  // null: it is gone
    auto found = leaves.find(seq);
    return found == leaves.end() ? nullptr : found->second;
  }
  Leaves joined(const Leaves& a, const Leaves& b) {
    if (!a || a == b) return b;
    if (!b) return a;
    auto all = std::make_shared<std::vector<uint64_t>>();
    std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*all));
    if (all->size() > 2 * leaves.size() + 16)  // most of them are gone
      all->erase(std::remove_if(all->begin(), all->end(), [&](uint64_t l) { return !leaves.count(l); }),
                 all->end());
    return all;
  }
  // All leaves behind a node. Kept by it, and by those just before it: what is asked for next is mostly
  // made of these.
  Leaves reach_of(Node* n) {
    if (n->reach || n->kind == Node::LEAF || n->kind == Node::FLAT) return n->reach;
    Leaves all = beside(n);
    for (Node::Operand& o : n->operands)
      if (o.from) {
        if (!o.from->reach) o.from->reach = behind(o.from);
        all = joined(all, o.from->reach);
      }
    return n->reach = all;
  }
  Leaves beside(Node* n) { return n->marks ? joined(n->zeros, n->marks->reach) : n->zeros; }
  Leaves behind(Node* n) {
    const uint64_t walk = ++walks;
    Leaves all;
    std::vector<Node*> todo{n};
    while (!todo.empty()) {
      Node* m = todo.back();
      todo.pop_back();
      if (m->walk == walk) continue;
      m->walk = walk;
      all = joined(all, m->reach ? m->reach : beside(m));
      if (!m->reach)
        for (Node::Operand& o : m->operands)
          if (o.from) todo.push_back(o.from);
    }
    return all;
  }
  Leaves reach_of(const std::vector<Node*>& several) {
    Leaves all;
    for (Node* n : several) all = joined(all, reach_of(n));
    return all;
  }
  static void set_operand(Node::Operand& o, Chunk* c, int dtype) {
    o.memory = memory_of(c);
    o.memory->ref();
    o.dtype = dtype;
  }
};

// The view of operand k over the instruction's space, core axes last.
inline void lay_out(Instr& in, int k, int step, Layout& l) {
  const Cores* cores = in.kernel->cores;
  const int extra = cores ? cores->n[k] : 0;
  l.resize(in.ndim + extra);
  l.offset = in.ops[k].offset;
  for (int i = 0; i < in.ndim; ++i) {
    l.shape()[i] = in.shape()[i];
    l.strides()[i] = in.shape()[i] == 1 ? 0 : in.strides(k)[i];
  }
  for (int i = 0; i < extra; ++i) {
    l.shape()[in.ndim + i] = in.core[cores->axes[k][i]];
    l.strides()[in.ndim + i] = in.core_steps[step + i];
  }
}

// Notes a recorded instruction. `record` has found that its gradient is wanted: some input has a
// writer (bit by bit in `tracked`), or part of an output that has one is overwritten.
// It depends on `flat`, too, but doesn't change with it. Without memory (std::bad_alloc) nothing is noted.
inline void note_instruction(Tape& tape, Instr& in, uint32_t tracked, const std::vector<Node*>& flat) {
  const NodeRef made(new Node(Node::INSTRUCTION, ++tape.seq));
  Node* const n = made.n;
  n->name = in.kernel->name;
  n->gradient = in.kernel->gradient;
  n->nin = in.nin;
  n->nout = in.nop - in.nin;
  n->operands.resize(in.nop);
  n->site = interpreter().here();
  n->zeros = tape.reach_of(flat);
  uint32_t needs = 0;
  for (int k = 0; k < in.nin; ++k)
    if (tracked >> k & 1) needs |= n->gradient->inputs[k].needs;
  int step = 0, constants = 0;
  for (int k = 0; k < in.nop; ++k) {
    Node::Operand& o = n->operands[k];
    Chunk* c = in.ops[k].chunk;
    o.dtype = in.kernel->dtypes[k];
    lay_out(in, k, step, o.layout);
    if (in.kernel->cores) step += in.kernel->cores->n[k];
    if (!c) {
      o.constant = constants++;
      std::memcpy(n->constants[o.constant], in.constants[o.constant], 32);
      continue;
    }
    const bool output = k >= in.nin;
    if (!output && !(tracked >> k & 1) && !(needs >> k & 1)) continue;
    Tape::set_operand(o, c, o.dtype);
    if (output ? !in.overwritten(k) : tracked >> k & 1) {
      o.from = writer_of(c);
      if (o.from) o.from->ref();
    }
    if (output && c->node && !o.from && !in.overwritten(k)) n->zeros = tape.joined(n->zeros, c->node->reach);
    if (needs >> k & 1) Tape::save(o, c, c->issued + output);
  }
  for (int k = in.nin; k < in.nop; ++k)
    if (!in.ops[k].detached) Tape::set_writer(in.ops[k].chunk, n);
}

// Notes a write, of all of a chunk that has no writer or of a part, of what doesn't change with `leaves`.
inline void note_flat(Tape& tape, Chunk* c, Leaves leaves, bool all) {
  if (!all && c->node) leaves = tape.joined(leaves, c->node->reach);
  if (c->node && c->node->kind == Node::FLAT && c->node->reach == leaves) return;
  Node* n = nullptr;
  if (leaves) {
    n = new Node(Node::FLAT, ++tape.seq);
    n->name = "flat";
    n->reach = leaves;
  }
  Tape::set_writer(c, n);
  if (n) n->unref();
}

}  // namespace lazyarray
