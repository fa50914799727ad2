// Recorder: the open segment, the inline tier, and when the segment is flushed.
#include "lazy/recorder.h"

namespace lazyarray {

void Recorder::price(Instr& in) const {
  if (const Device d = in.device(); !d.plain()) executor.on(d).price(in);
}

bool Recorder::run_profiled(Instr& in) {
  ProfileSpan t;
  t.kind = ProfileSpan::INLINE;
  t.name = in.kernel->shown();
  t.start = engine_->now();
  executor.step(in);
  if (in.put_off) return false;
  t.end = engine_->now();
  t.thread = this_thread();
  t.worker = engine_->current_worker();
  t.site = interpreter().here();
  t.moved = moved_by(in);
  engine_->profile().add(t);
  inlined++;
  return true;
}

Recorder::Full Recorder::append(Instr* in, int bulk, int most) {
  recorded++;
  // A small call that has to wait for others is recorded like any tiny op; one that is ready its pusher runs.
  const bool tiny = is_tiny(*in), follows = in->kernel->kind == Kernel::PYTHON && tiny && !ready(*in);
  in->has_refs = true;
  for (int k = 0; k < in->nop; ++k)
    if (Chunk* c = in->ops[k].chunk) {
      c->ref();
      (in->writes(k) ? c->writers : c->readers).fetch_add(1, std::memory_order_relaxed);
    }
  const Kernel::Kind kind = in->kernel->kind;
  const double ns = in->cost_ns;
  rec_mu_.lock();
  in->next = nullptr;
  const size_t count = open_count_.load(std::memory_order_relaxed) + 1;
  if (last_) rounds_.see(in, last_, count - 1);
  (last_ ? last_->next : open_) = in;
  last_ = in;
  open_count_.store(count, std::memory_order_relaxed);
  if (tiny) tiny_count_.store(tiny_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  open_cost_.store(open_cost_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  const double open_ns = open_ns_.load(std::memory_order_relaxed) + worth_ns(*in);
  open_ns_.store(open_ns, std::memory_order_relaxed);
  open_bytes_ += in->bytes;
  // A long call has nothing to wait for. But the first one is left to the waiter, or to a worker after age_ns: a second
  // one shows that the program goes on. A worker would have to be woken, and to get the GIL: 20 to 40 us. And where
  // BLAS's threads take part, its thread, the one that watches for it, and theirs are more than there are cores: BLAS's
  // wait for each other without yielding, some ms each time that two are on one core while the third has gone to
  // sleep. (solve() of 316 equations waited for at once, 1.2 ms: the slowest tenth 5 to 16 ms, and 1.4 so, NumPy 1.4.)
  // So a few of these are left to the waiter: a worker beside it would take a core from them, not add one. (Not where
  // memory is limited: what is open holds its operands.)
  const bool call = kind == Kernel::PYTHON || in->wide;
  const bool worth = is_long_call(*in), roomy = !limited && !store_->pool(in->device())->limit();
  const bool waits = worth && in->device().plain() && calls_open_ < (in->wide && roomy ? kFewCalls : 1);
  const bool later = waits && call;
  calls_open_ += waits;
  const bool ended = (kind == Kernel::PYTHON ? !waits && !follows : worth && !waits) || kind == Kernel::TRANSFER ||
                     in->bytes > memory;
  const int enough = rounds_.went_back && rounds_.most(count) ? bulk : std::min(2 * bulk, most);
  const Full full = ended ? ENDED : count >= static_cast<size_t>(enough) ? MANY : NOT_FULL;
  // (A later call does not put off the first one's time.)
  const bool arm = full == NOT_FULL && (due_ns_ == 0 || (due_late_ && !later)) && open_ns >= policy.flush_ns;
  const int64_t due = arm ? fall_due(in->device(), later) : 0;
  rec_mu_.unlock();
  if (arm) engine_->alarm(due);
  return full;
}

int64_t Recorder::budget(const Device& d) const {
  const int64_t ops = engine_->pending_ops() + static_cast<int64_t>(open_count_.load(std::memory_order_relaxed));
  const int64_t there = limited ? 0 : executor.on(d).most_pending(d);
  const int64_t few = std::max(max_pending_bytes, there);
  const int64_t many = std::max(policy.ahead_bytes, there / 4);
  const int64_t most = ops > policy.few_ops ? std::min(many, few) : few;
  // Of a limit a part alone: what the program holds is there, too, and who runs ahead would fail where NumPy doesn't.
  const int64_t limit = static_cast<int64_t>(store_->pool(d)->limit());
  return limit ? std::min(most, limit / 4) : most;
}

bool Recorder::over_budget(const Device& d) {
  if (engine_->pending_ops() > max_pending_ops) return true;
  const int64_t most = budget(d), pending = engine_->pending_bytes();
  // What is open and alive the program holds with any library; what died was a temporary, and gets no memory. So what
  // is open counts only against a limit of the user's. (320 ops on a million elements with 70 names, cut each time that
  // these added up to 128 MiB: 118 ms; in one pass 20.)
  if (!limited || pending + open_bytes_ <= most) return pending > most;
  rec_mu_.lock();
  int64_t bytes = 0;
  for (Instr* in = open_; in; in = in->next)
    for (int k = in->nin; k < in->nop; ++k)
      if (in->ops[k].chunk->handles.load(std::memory_order_relaxed) > 0) {
        bytes += in->bytes;
        break;
      }
  open_bytes_ = bytes;
  rec_mu_.unlock();
  return pending + bytes > most;
}

void Recorder::replan() {
  std::lock_guard<std::mutex> order(push_mu_);
  for (Backend* b : executor.backends)
    if (b) b->forget_plans();
}

void Recorder::Rounds::see(const Instr* in, Instr* last, size_t before) {
  const bool earlier = in->site < last->site;
  if (in->site != last->site) {
    if (!went_back) *this = {};
    went_back |= earlier;
    line = in->kernel;
  } else if (!line) {
    line = last->kernel;  // the segment's first
  }
  if (!earlier && (went_back || in->site != last->site || in->kernel != line)) return;
  end = last;
  until_end = before;
  if (++n & (n - 1)) return;
  even = last;
}

Status Recorder::flush(bool wake, Cut cut) {
  // Nothing is open, but another thread may be pushing what was: it is pushed when this returns.
  if (open_empty() && !flushing_.load(std::memory_order_acquire)) return Status::OK;
  Engine::After after;
  after.hold_wake = !wake;
  Status status = Status::OK;
  {
    std::lock_guard<std::mutex> order(push_mu_);
    flushing_.store(true, std::memory_order_relaxed);  // before the swap, which publishes it
    try {
      if (!segment_.empty()) status = scheduler.push(segment_, after);  // the last flush had no memory
      take_open(cut);
      if (!segment_.empty()) status = scheduler.push(segment_, after);
      flushing_.store(false, std::memory_order_release);
    } catch (const std::bad_alloc&) {
      if (segment_.empty()) flushing_.store(false, std::memory_order_release);
      status = Status::NO_MEMORY;
    }
  }
  engine_->settle(after);  // may run user code: under no lock
  return status;
}

void Recorder::on_alarm() {
  const int64_t now = engine_->now();
  if (now >= store_->idle_due()) store_->tidy();
  store_->watch_idle();
  rec_mu_.lock();
  int64_t due = due_ns_;
  const size_t count = open_count_.load(std::memory_order_relaxed);
  // A kernel takes its maker up to 100 us, once: whoever makes some is about to record more.
  const bool learns = kernels_made.load(std::memory_order_relaxed) != due_kernels_;
  if (due && now >= due && open_ && (learns || (count != due_count_ && may_wait(open_->device())))) {
    due = fall_due(open_->device());
    put_off_ += !learns;
  }
  rec_mu_.unlock();
  if (due == 0) return;
  if (now >= due) flush(true, EVEN);
  else engine_->alarm(due);
}

int64_t Recorder::fall_due(const Device& d, bool call) {
  due_count_ = open_count_.load(std::memory_order_relaxed);
  due_kernels_ = kernels_made.load(std::memory_order_relaxed);
  due_late_ = call;
  return due_ns_ = engine_->now() + (d.has_streams() ? policy.gpu_age_ns : call ? policy.call_age_ns : policy.age_ns);
}

void Recorder::take_open(Cut cut) {
  std::unique_lock<SpinLock> lock(rec_mu_);
  while (segment_.capacity() < open_count_.load(std::memory_order_relaxed)) {
    const size_t n = open_count_.load(std::memory_order_relaxed);
    lock.unlock();
    segment_.reserve(std::max<size_t>(n, 256));
    lock.lock();
  }
  Instr* in = open_;
  const bool even = cut == EVEN && open_ns_.load(std::memory_order_relaxed) <
                                       policy.even_ns * static_cast<double>(open_count_.load(std::memory_order_relaxed));
  const bool in_loop = cut != ALL && (even || rounds_.went_back) && rounds_.most(open_count_.load(std::memory_order_relaxed));
  if (Instr* const end = !in_loop ? nullptr : even ? rounds_.even : rounds_.end) {
    open_ = end->next;
    end->next = nullptr;
  } else {
    open_ = last_ = nullptr;
  }
  rounds_ = {};
  put_off_ = 0;
  calls_open_ = 0;
  size_t count = 0, tiny = 0;
  double ns = 0, cost = 0;
  int64_t bytes = 0;
  for (Instr *left = open_, *before = nullptr; left; before = left, left = left->next) {
    if (before) rounds_.see(left, before, count);
    count++;
    tiny += is_tiny(*left);
    ns += worth_ns(*left);
    cost += left->cost_ns;
    calls_open_ += is_long_call(*left);
    bytes += left->bytes;
  }
  const size_t taken = open_count_.load(std::memory_order_relaxed) - count;
  const size_t taken_tiny = tiny_count_.load(std::memory_order_relaxed) - tiny;
  tiny_before_.store(taken_tiny == taken ? tiny_before_.load(std::memory_order_relaxed) + taken : 0, std::memory_order_relaxed);
  open_count_.store(count, std::memory_order_relaxed);
  tiny_count_.store(tiny, std::memory_order_relaxed);
  open_cost_.store(cost, std::memory_order_relaxed);
  open_ns_.store(ns, std::memory_order_relaxed);
  open_bytes_ = bytes;
  // The alarm stays: it costs less than to take it back, see on_alarm().
  const int64_t due = open_ && ns >= policy.flush_ns ? fall_due(open_->device()) : due_ns_ = 0;
  lock.unlock();
  if (due) engine_->alarm(due);
  for (; in; in = in->next) segment_.push_back(in);
}

}  // namespace lazyarray
