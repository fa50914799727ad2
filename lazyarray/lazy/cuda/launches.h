// Launches: what an operator gives to a stream, as words that can be compared; Graphs, Loops: launches that the device keeps.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "lazy/backend.h"
#include "lazy/cuda/blas.h"
#include "lazy/cuda/gpu.h"
#include "lazy/plan_cache.h"

namespace lazyarray::cuda {

// A kernel to launch.
struct Call {
  Function_t function;
  unsigned grid_x, grid_y, block_x, block_y, shared, none = 0;
  Error* on(const Stream& stream, const int64_t* words) const;
};

// Kernels and products in the order in which they are launched, with all that they are told. Two that are equal
// do the same to the same memory.
class Launches {
 public:
  void add(const Call& call, const int64_t* words, size_t n);
  void add(const Product& product);
  Error* play(const Stream& stream, Blas& blas) const;
  size_t size() const { return count_; }
  bool multiplies() const { return products_; }
  void clear() {
    words_.clear();
    kind_.clear();
    count_ = 0;
    products_ = false;
  }
  bool operator==(const Launches& other) const { return words_ == other.words_; }
  // The same for launches of the same kernels, whatever they are told.
  const std::vector<uint64_t>& kind() const { return kind_; }
  bool worth_keeping() const { return !parted && count_ >= 3 && driver().has_graphs(); }

  // What has to live until they are launched, and is then let go of.
  struct Space {
    char* data;
    size_t bytes;
  };
  std::vector<Space> spaces;
  MemoryPool* pool = nullptr;  // theirs
  // Something was launched at once, in between: they are not all that the operator does.
  bool parted = false;

 private:
  template <class T>
  void put(const T& what, int64_t tag);
  std::vector<int64_t> words_;
  std::vector<uint64_t> kind_;
  size_t count_ = 0;
  bool products_ = false;  // there is one
};

struct KeptLaunches : Kept {
  // Gives the stream what is worth keeping.
  virtual Error* give(const Launches& launches, const Stream& stream, Blas& blas) = 0;
};

// What is kept of one operator of a program: its launches, made graphs of. A launch takes the driver some 5 us, a
// graph of twenty 10. Addresses are part of a graph: a program's own memory stays where it is, but what it is
// given and what it gives lie in one of a few places, as a rule, so some graphs are kept. (NVIDIA, "CUDA Graphs")
//
// Any thread; mu_ guards all of it, and is held while one launches.
class Graphs final : public KeptLaunches {
 public:
  // At most so many, of what comes the `after`th time.
  explicit Graphs(size_t most = 16, int after = 2) : most_(most), after_(after) {}
  ~Graphs() override;
  Error* give(const Launches& launches, const Stream& stream, Blas& blas) override;
  static std::atomic<uint64_t> launched;  // graphs, by all

 private:
  static constexpr int kVain = 64;  // so often without one that served, and no more are made

  struct Known {
    Launches launches;
    const Gpu* gpu;
    uint32_t stream;              // the number of the one that is captured
    int times = 1;                // they came
    GraphExec_t graph = nullptr;
    Event* last = nullptr;        // after its last launch
    uint64_t used = 0;            // when
  };
  static GraphExec_t capture(const Launches& launches, const Stream& stream, Blas& blas);
  static void forget(Known& known);

  const size_t most_;
  const int after_;
  std::mutex mu_;
  std::vector<Known> known_;
  uint64_t turn_ = 0;
  int vain_ = 0;
};

// The same for operators that are no program's. A loop makes them anew each time, with the same kernels and, as memory
// comes from a pool, often at the same addresses.
//
// Any thread; mu_ guards what is known. A kind that gives way under it waits for its last launch, the oldest of all.
class Loops final : public KeptLaunches {
 public:
  Error* give(const Launches& launches, const Stream& stream, Blas& blas) override;

 private:
  static constexpr size_t kKinds = 64, kGraphs = 4;  // of a kind
  static constexpr int kTimes = 3;  // so often the same launches come before they are a graph: it takes 0.1 ms to make
  std::mutex mu_;
  PlanCache<Graphs> known_{kKinds, kKinds};
};

}  // namespace lazyarray::cuda
