// Fuser: cuts a segment into stages. A stage is one instruction, or several fused into one pass.
#pragma once
#include <climits>
#include <vector>

#include "lazy/policy.h"
#include "lazy/space.h"

namespace lazyarray {

// What instructions of one pass share: the axes, and what its reductions ask of the tiles.
//
// A reduction over trailing axes whose rows fit in a tile is *closed*: when a tile has run, the
// results for its rows are final, so later instructions of the pass may use them, row by row
// (softmax, layer norm). Any other reduction is *open*: its result is final when the pass is over,
// and nothing else in the pass may touch it.
struct Form {
  // A reduction of long rows cuts them where NumPy's pairwise sum does; one over leading axes takes
  // the rows in order.
  enum Open : uint8_t { NONE, TREE, COLUMNS };
  static constexpr int kClosed = 3;

  npy_intp row;                  // TilePolicy::row
  Axes axes;
  npy_intp size = 0;             // 0: nothing is in it yet
  npy_intp closed[kClosed];      // the sizes of the closed reductions' results
  int nclosed = 0;
  Open open = NONE;
  Kernel::Split tree = Kernel::Split::NONE;
  npy_intp rows = 0;             // TREE: how many rows there are

  explicit Form(npy_intp row = 0) : row(row) {}

  // Whether a reduction that is in the pass is final only when that is over.
  bool opens(Instr& in) const;

  // Takes in an instruction that is fusable; false if it doesn't fit (what is then left is of no use).
  bool add(Instr& in);

  // Takes in all of another form of the same size.
  bool merge(const Form& o);

 private:
  void start(Instr& in);
  bool close(npy_intp n);
  bool add_reduction(Instr& in);
  // Rows that must be whole and rows that must be cut don't go together. Where several rows are cut
  // each is one axis, so that a piece of it is a tile.
  bool sound() const;
};

struct Stage {
  std::vector<Instr*> instrs;
  Form form;
  bool fused = false;        // else one instruction that runs by itself
  Device device;
  int mark = 0;              // a value of Chunk::use_group that no chunk has, for who plans it
  int first_after = INT_MAX;  // the oldest stage that depends on this one
  int merged_into = -1;
};

// Invariants:
//  * An edge (a conflict on a chunk: one of the two writes it) always leads from an older stage to
//    a younger one, so stages run in order of age are in program order on every chunk.
//  * A stage may move into a younger one only if nothing in between depends on it.
//  * Within a pass all instructions see a tile before the next tile is begun. So two that conflict
//    on a chunk may share a pass only if they have each element at the same address in the shared
//    space (`same_walk`: then program order holds element by element) or touch no common byte.
//    Anything else is a hazard and keeps them in separate stages: a value read at another offset
//    than it is written (RAW: b = a[1:] after a write to a; WAR: a[1:] = f(a[:-1])), overlapping
//    writes (WAW), a broadcast read of what is written.
class Fuser {
 public:
  Fuser(const FlushPolicy& flush, const TilePolicy& tiles) : flush_(flush), tiles_(tiles) {}

  bool fusable(Instr& in) const;

  // The stages in an order that keeps program order on every chunk; those merged away are empty.
  std::vector<Stage>& cut(const std::vector<Instr*>& segment, uint64_t plan);

 private:
  static constexpr int kMergers = 16;  // stages that one instruction may bring together

  // One way in which a stage walks a chunk. Listed for each chunk, the youngest first: a write has a
  // younger place than all that it depends on, so looking back ends at the first one. (What sinks adds its
  // reads at the front, once nobody looks so any more.)
  struct Entry {
    Instr* in;
    int op, stage, next;
    bool written, open;
    npy_intp low, high;  // its bytes lie between
    Instr* writer;  // in the youngest entry of a chunk: who wrote to that last, and by which operand
    int writer_op;
    int uses = 1;   // operands that it stands for
    int last_write = -1;  // the index of the youngest instruction that writes so
  };

  int resolve(int s);  // the stage that this one has become part of
  int& entries_of(Chunk* c);

  void place(Instr* in);

  // Whether what it reduces was made by an op that gives no -0.0.
  bool has_plus_zeros(Instr& in);

  int open_stage(Device device);

  // The stage that it joined, others merged into that if they could be; -1 if it fits nowhere.
  int fuse(Instr* in, Device device);

  bool conflicts(Instr* in, int stage);

  // Lists one more way in which a stage walks a chunk, that of an operand.
  Entry& enter(Instr* in, int k, int stage, bool open);

  // The entry that stands for an operand, as one of a stage's, among the `most` youngest.
  Entry* entry_like(Instr& in, int k, int stage, int most = INT_MAX);

  void note(Instr* in, int stage);

  // See sink.cpp.
  void sink(const std::vector<Instr*>& segment);
  int later_reader_of(Instr& in);
  int64_t price_of_sinking(Instr* in, int to, int depth);
  struct Met;
  bool look(Instr& in, int k, int from, int to, Met& met);
  void move(Instr* in, int to);

  const FlushPolicy& flush_;
  const TilePolicy& tiles_;
  uint64_t plan_ = 0;
  std::vector<Stage> stages_;
  std::vector<Entry> entries_;
  std::vector<int> needs_;
  std::vector<int> placed_;  // by instruction: the stage that it was put in, which may have been merged since
  std::vector<Instr*> sinking_;  // with one that is looked at, and the form of its readers' stage with them
  Form sunk_;
};

}  // namespace lazyarray
