// Errors: what variables hold after instructions ran, settled as if each had run alone.
#include "lazy/settle.h"

namespace lazyarray {

Error* Errors::inherited(Instr& in) {
  for (int k = 0; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    if (!c || in.overwritten(k)) continue;
    if (Error* e = of(c)) return e;
  }
  return nullptr;
}

void Errors::settle(Instr& in, Error* error) {
  for (int k = in.nin; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    if (error ? !lazy(c)->resource : in.overwritten(k) && of(c)) put(c, error);
  }
}

void Errors::keep(Error* e) {
  try {
    kept_.push_back(e);
  } catch (const std::bad_alloc&) {
    e->unref();
    throw;
  }
}

Error* Errors::of(Chunk* c) {
  for (const auto& [chunk, error] : changed_)
    if (chunk == c) return error;
  if (!c->error.load(std::memory_order_acquire)) return nullptr;
  Error* e = engine_->error_of(c);
  if (e) keep(e);
  return e;
}

void Errors::put(Chunk* c, Error* error) {
  for (auto& [chunk, old] : changed_)
    if (chunk == c) {
      old = error;
      return;
    }
  changed_.emplace_back(c, error);
}

void publish(Engine* engine, Instr& in, Error* error) {
  if (error->shared) return engine->report(error);
  if (!error->op) error->op = in.kernel->name;
  if (!error->site && !error->exception) {
    if (!in.site && !in.has_refs) in.site = interpreter().here();
    error->site = in.site;
  }
  engine->report(error);
}

void starve(Engine* engine, Instr& in) {
  Error* e = Error::no_memory();
  publish(engine, in, e);
  for (int k = in.nin; k < in.nop; ++k)
    if (!lazy(in.ops[k].chunk)->resource) engine->set_error(in.ops[k].chunk, e);
  e->unref();
}

}  // namespace lazyarray
