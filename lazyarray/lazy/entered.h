// Scopes that threads are inside.
#pragma once
#include <utility>
#include <vector>

#include "lazy/mode.h"

namespace lazyarray {

// What a scope changes is its thread's, so who entered it leaves it. One scope may be entered by
// several threads, and by each of them again. The GIL guards this.
template <class T>
class Entered {
 public:
  void enter(T outer) { inside_.emplace_back(&mode(), outer); }

  // Gives what this thread put aside as it entered last; false: it is not inside.
  bool leave(T* outer) {
    for (size_t i = inside_.size(); i-- > 0;) {
      if (inside_[i].first != &mode()) continue;
      *outer = inside_[i].second;
      inside_.erase(inside_.begin() + i);
      return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<const Mode*, T>> inside_;
};

}  // namespace lazyarray
