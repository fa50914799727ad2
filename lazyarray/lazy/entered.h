// Scopes that threads are inside.
#pragma once
#include <cstdint>
#include <vector>

namespace lazyarray {

// Kinds of scopes: what they change.
struct OfDevices {};
struct OfRecording {};
struct OfSyncs {};

// What a scope changes is its thread's, so who entered it leaves it. One scope may be entered by
// several threads, and by each of them again. Two tasks of an event loop, or two generators, may leave
// theirs in the order in which they entered them: then who entered last puts back what the first one had
// found, so that no scope stays open. The GIL guards this.
template <class T, class Kind>
class Entered {
  struct Inside {
    uint64_t number;
    T outer;  // what there was before
  };
  static std::vector<Inside>& stack() {  // of the thread, the last one entered at its end
    static thread_local std::vector<Inside> s;
    return s;
  }

 public:
  void enter(T outer) {
    static uint64_t last = 0;
    mine_.push_back({&stack(), ++last});
    stack().push_back({last, outer});
  }

  // Whether this thread was inside. `now` gets what there was before, if it was the last that was entered.
  bool leave(T* now) {
    std::vector<Inside>& all = stack();
    for (size_t i = mine_.size(); i-- > 0;) {
      if (mine_[i].stack != &all) continue;
      const uint64_t number = mine_[i].number;
      mine_.erase(mine_.begin() + i);
      for (size_t k = all.size(); k-- > 0;) {
        if (all[k].number != number) continue;
        (k + 1 < all.size() ? all[k + 1].outer : *now) = all[k].outer;
        all.erase(all.begin() + k);
        return true;
      }
    }
    return false;
  }

 private:
  struct Mine {
    const std::vector<Inside>* stack;  // whose: a later thread's may lie there, which knows no such number
    uint64_t number;
  };
  std::vector<Mine> mine_;
};

}  // namespace lazyarray
