// Engine: what a profile notes of an op, besides the times.
#include "internal.h"

namespace lazyarray {

int Engine::current_worker() { return tls.engine == this ? tls.worker : -1; }

void Engine::note(Operator* op) {
  if (!op->note) op->note = std::make_unique<ProfileNote>();
  op->profiled = op->note.get();
  ProfileEvent& t = op->profiled->event;
  t = ProfileEvent();
  op->profiled->steps.clear();
  t.name = op->name;
  t.pusher = this_thread();
  t.site = op->site;
  t.device = op->device;
  t.async = op->payload.async;
  if (op->payload.describe) op->payload.describe(op->payload.arg, *op->profiled);
  t.queued = now_ns();
}

// What it has to wait for on each variable: a reader for the last write, a writer for the reads since
// then, or if there are none for that write. Of what is over only the last write is still known.
void Engine::profile_uses(Operator* op) {
  constexpr int kMost = 32, kSteps = 64;  // arrows an op, and uses looked at, the mutex being held
  ProfileEvent& t = op->profiled->event;
  t.seq = op->seq;
  t.parent = op->parent;
  ProfileEdge edges[kMost];
  int n = 0, steps = 0;
  auto add = [&](uint64_t from) {
    for (int i = 0; i < n; ++i)
      if (edges[i].from == from) return;
    if (from && n < kMost) edges[n++] = {from, op->seq};
  };
  for (const Use& u : op->uses) {
    bool found = false;
    const Use* b = u.prev;
    // Once a read before it is granted, no write is left in the queue.
    for (; b && !b->write && (u.write || !b->granted) && steps < kSteps; b = b->prev, ++steps)
      if (u.write) {
        found = true;
        if (b->op->profiled) add(b->op->seq);
      }
    if (found) continue;
    if (!b || !b->write) add(u.var->written_by);
    else if (b->op->profiled) add(b->op->seq);
  }
  if (n) profile_.add(edges, n);
  profile_pending(t.queued);
}

// Notes how much is pending, if the last note is a moment old or the engine has come to rest.
void Engine::profile_pending(int64_t now) {
  constexpr int64_t kApart = 10'000;
  if (!profile_.on(Profile::COUNTERS) || (uncompleted_ && now - sampled_ns_ < kApart)) return;
  sampled_ns_ = now;
  profile_.add(ProfileSample{"pending operators", "", now, static_cast<double>(uncompleted_)});
  profile_.add(ProfileSample{"pending bytes", "", now, static_cast<double>(pending_bytes())});
}

}  // namespace lazyarray
