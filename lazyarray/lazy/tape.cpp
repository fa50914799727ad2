// Tape: what autograd remembers of the ops that it records, as a graph that arrays keep alive.
#include "lazy/tape.h"

namespace lazyarray {

void Node::unref() {
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

void Node::release() {
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

void LazyChunk::last_handle_dropped() {
  if (!noted()) pin();  // what a tape or a program keeps goes with it, not with the ops
  if (!node) return;
  Node* const old = node;
  node = nullptr;
  old->unref();
}

void LazyChunk::clear() {
  last_handle_dropped();  // a chunk dies with its last handle, or had none, and then no node
  if (memory) memory->unref();
  memory = nullptr;
  at_once = captured = immutable = resource = false;
  Chunk::clear();
}

void teach_store(ChunkStore* store) {
  store->make = [](Engine* e) -> Chunk* { return new LazyChunk(e); };
  store->lay_in();
  View::home = store;
}

void last_first(std::vector<Node*>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->seq > b->seq; });
}

Memory* Tape::memory_of(Chunk* c) {
  Memory*& memory = lazy(c)->memory;
  if (!memory) memory = new Memory(c->nbytes, c->device);
  return memory;
}

void Tape::save(Node::Operand& o, Chunk* c, uint64_t version) {
  c->ref();
  o.saved = c;
  o.version = version;
  o.memory->watched = true;
}

void Tape::set_writer(Chunk* c, Node* node) {
  Node* old = history_of(c);
  if (node) node->ref();
  lazy(c)->node = node;
  if (old) old->unref();
}

void Tape::list(Node* leaf) {
  leaves[leaf->seq] = leaf;
  leaf->listed = &leaves;
  leaf->reach = std::make_shared<std::vector<uint64_t>>(1, leaf->seq);
}

Node* Tape::leaf(uint64_t seq) const {  // null: it is gone
  auto found = leaves.find(seq);
  return found == leaves.end() ? nullptr : found->second;
}

Leaves Tape::joined(const Leaves& a, const Leaves& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto all = std::make_shared<std::vector<uint64_t>>();
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*all));
  if (all->size() > 2 * leaves.size() + 16)  // most of them are gone
    all->erase(std::remove_if(all->begin(), all->end(), [&](uint64_t l) { return !leaves.count(l); }),
               all->end());
  return all;
}

Leaves Tape::reach_of(Node* n) {
  if (n->reach || n->kind == Node::LEAF || n->kind == Node::FLAT) return n->reach;
  Leaves all = beside(n);
  for (Node::Operand& o : n->operands)
    if (o.from && !n->loose) {
      if (!o.from->reach) o.from->reach = behind(o.from);
      all = joined(all, o.from->reach);
    }
  return n->reach = all;
}

Leaves Tape::behind(Node* n) {
  const uint64_t walk = ++walks;
  Leaves all;
  std::vector<Node*> todo{n};
  while (!todo.empty()) {
    Node* m = todo.back();
    todo.pop_back();
    if (m->walk == walk) continue;
    m->walk = walk;
    all = joined(all, m->reach ? m->reach : beside(m));
    if (!m->reach && !m->loose)
      for (Node::Operand& o : m->operands)
        if (o.from) todo.push_back(o.from);
  }
  return all;
}

Leaves Tape::reach_of(const std::vector<Node*>& several) {
  Leaves all;
  for (Node* n : several) all = joined(all, reach_of(n));
  return all;
}

void Tape::set_operand(Node::Operand& o, Chunk* c, int dtype) {
  o.memory = memory_of(c);
  o.memory->ref();
  o.dtype = dtype;
}

void lay_out(Instr& in, int k, int step, Layout& l) {
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

void note_instruction(Tape& tape, Instr& in, uint32_t tracked, const std::vector<Node*>& flat) {
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
    if (Node* const old = history_of(c); output && old && !o.from && !in.overwritten(k))
      n->zeros = tape.joined(n->zeros, old->reach);
    if (needs >> k & 1) Tape::save(o, c, c->issued + output);
  }
  for (int k = in.nin; k < in.nop; ++k)
    if (!in.ops[k].detached) Tape::set_writer(in.ops[k].chunk, n);
}

void note_flat(Tape& tape, Chunk* c, Leaves leaves, bool all) {
  const Node* const old = history_of(c);
  if (!all && old) leaves = tape.joined(leaves, old->reach);
  if (old && old->kind == Node::FLAT && old->reach == leaves) return;
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
