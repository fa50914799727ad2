// What of the interpreter is one for the process. Never destroyed: workers of a forgotten engine may
// outlive static destructors.
#include "interpreter.h"

#include <new>
#include <unordered_set>

namespace lazyarray {

Interpreter& interpreter() {
  static Interpreter* i = new Interpreter;
  return *i;
}

void*& worker_thread_state() {
  static thread_local void* state = nullptr;
  return state;
}

Graveyard& graveyard() {
  static Graveyard* g = new Graveyard;
  return *g;
}

Graveyard::Graveyard() {
  dead_.reserve(kReserved);
  spare_.reserve(kReserved);
}

void Graveyard::bury(void* object) {
  if (!object) return;
  std::lock_guard<std::mutex> g(mu_);
  try {
    dead_.push_back(object);
  } catch (const std::bad_alloc&) {
    return;  // it lives for ever
  }
  any_.store(true, std::memory_order_release);
}

void Graveyard::release_all() {
  std::vector<void*> dead;
  {
    std::lock_guard<std::mutex> g(mu_);
    dead.swap(dead_);
    dead_.swap(spare_);
    any_.store(false, std::memory_order_relaxed);
  }
  for (void* o : dead) interpreter().release(o);
  dead.clear();
  std::lock_guard<std::mutex> g(mu_);
  if (spare_.capacity() < dead.capacity()) spare_.swap(dead);
}

const char* intern_name(const std::string& name) {
  static std::mutex* mu = new std::mutex;
  static auto* names = new std::unordered_set<std::string>;
  std::lock_guard<std::mutex> g(*mu);
  return names->insert(name).first->c_str();
}

}  // namespace lazyarray
