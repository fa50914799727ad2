// PlanCache: a backend's plans, and what it keeps of launches, by the structure that they were made for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lazyarray {

// The least recently used plans go first, when there are more than `most`, or their weights add up to more
// than `most_weight`. Whoever uses it guards it.
template <class Plan>
class PlanCache {
 public:
  using Key = std::vector<uint64_t>;
  using Ptr = std::shared_ptr<Plan>;

  PlanCache(size_t most, size_t most_weight) : most_(most), most_weight_(most_weight) {}

  // Null if there is none.
  Ptr find(const Key& key) {
    const auto found = known_.find(hash(key));
    if (found == known_.end() || found->second->key != key) return nullptr;
    recent_.splice(recent_.begin(), recent_, found->second);
    return recent_.front().plan;
  }
  // Another structure of the same hash gives way.
  void add(const Key& key, Ptr plan, size_t weight) {
    const uint64_t h = hash(key);
    if (const auto found = known_.find(h); found != known_.end()) drop(found->second);
    recent_.push_front({key, h, weight, std::move(plan)});
    try {
      known_[h] = recent_.begin();
    } catch (const std::bad_alloc&) {
      recent_.pop_front();
      throw;
    }
    weight_ += weight;
    while (recent_.size() > 1 && (recent_.size() > most_ || weight_ > most_weight_)) drop(std::prev(recent_.end()));
  }
  void clear() {
    known_.clear();
    recent_.clear();
    weight_ = 0;
  }

 private:
  struct Entry {
    Key key;
    uint64_t hash;
    size_t weight;
    Ptr plan;
  };
  using Entries = std::list<Entry>;

  static uint64_t hash(const Key& key) {
    uint64_t h = 0xcbf29ce484222325u;
    for (uint64_t w : key) h = (h ^ w) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h;
  }
  void drop(typename Entries::iterator e) {
    weight_ -= e->weight;
    known_.erase(e->hash);
    recent_.erase(e);
  }

  const size_t most_, most_weight_;
  size_t weight_ = 0;
  Entries recent_;  // most recently used first
  std::unordered_map<uint64_t, typename Entries::iterator> known_;
};

}  // namespace lazyarray
