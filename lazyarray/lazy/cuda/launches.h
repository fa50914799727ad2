// Launches: what an operator gives to a stream, as words that can be compared; Graphs: launches that the device keeps.
#pragma once
#include <mutex>
#include <vector>

#include "lazy/backend.h"
#include "lazy/cuda/blas.h"
#include "lazy/cuda/gpu.h"

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
  void clear() {
    words_.clear();
    count_ = 0;
  }
  bool operator==(const Launches& other) const { return words_ == other.words_; }

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
  size_t count_ = 0;
};

// What is kept of one operator of a program: its launches, made graphs of. A launch takes the driver some 5 us, a
// graph of twenty 10. Addresses are part of a graph: a program's own memory stays where it is, but what it is
// given and what it gives lie in one of a few places, as a rule, so some graphs are kept. (NVIDIA, "CUDA Graphs")
//
// Any thread; mu_ guards all of it, and is held while one launches.
class Graphs final : public Kept {
 public:
  ~Graphs() override;
  // Gives them to the stream.
  Error* give(const Launches& launches, const Stream& stream, Blas& blas);
  static std::atomic<uint64_t> launched;  // graphs, by all

 private:
  static constexpr size_t kKept = 16, kLeast = 3;  // graphs; launches that are worth one
  static constexpr int kVain = 64;                // so often without a graph that served, and no more are made

  struct Known {
    Launches launches;
    const Gpu* gpu;
    GraphExec_t graph = nullptr;  // made when they come the second time
    Event* last = nullptr;        // after its last launch
    uint64_t used = 0;            // when
  };
  static GraphExec_t capture(const Launches& launches, const Stream& stream, Blas& blas);
  static void forget(Known& known);

  std::mutex mu_;
  std::vector<Known> known_;
  uint64_t turn_ = 0;
  int vain_ = 0;
};

}  // namespace lazyarray::cuda
