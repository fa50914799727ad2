// Errors: what variables hold after instructions ran, settled as if each had run alone.
#pragma once
#include <utility>
#include <vector>

#include "lazy/instr.h"

namespace lazyarray {

// What variables hold, instruction by instruction; apply() tells them. Until then they say what
// they said before. Keeps a reference to each error that it names.
//
// A failed instruction poisons only its own outputs, wherever it runs; one whose input is poisoned
// is skipped and hands the error on; one that overwrites a poisoned array in full heals it.
class Errors {
 public:
  explicit Errors(Engine* e) : engine_(e) {}
  Errors(const Errors&) = delete;
  ~Errors() {
    for (Error* e : kept_) e->unref();
  }
  // The error of an input, or null.
  Error* inherited(Instr& in);
  void settle(Instr& in, Error* error);
  void keep(Error* e);
  void apply() const {
    for (const auto& [chunk, error] : changed_) engine_->set_error(chunk, error);
  }

 private:
  Error* of(Chunk* c);
  void put(Chunk* c, Error* error);
  Engine* const engine_;
  std::vector<std::pair<Chunk*, Error*>> changed_;
  std::vector<Error*> kept_;
};

// A failure of the instruction itself gets its name and line, and is known to the engine.
void publish(Engine* engine, Instr& in, Error* error);
// There was no memory to run it, or to say how it had ended.
void starve(Engine* engine, Instr& in);

}  // namespace lazyarray
