// Ledger: what becomes of a profile: totals, and events on tracks in the file.
#include "profiler/ledger.h"

namespace lazyarray {

std::string Ledger::head(const char* process) {
  event_.begin('M', "", "process_name", -1).arg("name", process);
  return "{\"traceEvents\":[\n" + event_.end().substr(2);
}

int Ledger::enter(const std::vector<std::unique_ptr<ProfileBlock>>& blocks) try {
  int error = 0;
  for (const auto& b : blocks) {
    error_ = 0;
    // What an operator's entry needs, the operators, then waits, which look back at them.
    for (const ProfileEdge& e : b->edges) awaited_[e.to].push_back(e.from);
    for (const ProfileSpan& s : b->spans)
      if (s.kind == ProfileSpan::SHARE) enter(s);
    for (const ProfileEvent& e : b->ops) enter(e, b->steps.data() + e.first_step);
    for (const ProfileSpan& s : b->spans)
      if (s.kind != ProfileSpan::SHARE) enter(s);
    for (const ProfileSample& s : b->samples) enter(s);
    if (error_) error = error_;
  }
  if (file.is_open() && !error) error = file.flush();
  return error;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int Ledger::finish() try {
  if (lost && file.is_open()) {
    event_.begin('M', "", "entries lost", -1).arg("count", static_cast<int64_t>(lost));
    if (const int error = file.append(event_.end())) return error;
  }
  return file.finish();
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

void Ledger::put(ChromeEvent& e) {
  if (error_) return;
  error_ = file.append(e.end());
}

int Ledger::track(Track kind, uint64_t key, uint64_t lane) {
  const auto found = tracks_.find({kind, key, lane});
  if (found != tracks_.end()) return found->second;
  const int tid = static_cast<int>(tracks_.size()) + 1;
  tracks_[{kind, key, lane}] = tid;
  int64_t place = 0;
  std::string name;
  if (kind == THREAD || kind == THREAD_WAITS) {
    const auto number = threads_.emplace(key, threads_.size()).first->second;
    const auto known = thread_names.find(key);
    name = known != thread_names.end() ? known->second : "thread " + std::to_string(number);
    place = static_cast<int64_t>(2 * number);
  } else if (kind == STREAM) {
    const Device d{static_cast<int32_t>(key >> 32), static_cast<int32_t>(key)};
    name = d.text() + " stream " + std::to_string(lane);
    place = 200000 + static_cast<int64_t>(lane);
  } else {
    name = "worker " + std::to_string(key);
    if (key < worker_names.size())
      name += " of " + worker_names[key].device.text() + ", " + worker_names[key].role;
    place = 100000 + static_cast<int64_t>(2 * key);
  }
  if (kind == THREAD_WAITS || kind == WORKER_WAITS) {
    name += ": waits";
    place++;
  }
  ChromeEvent& e = event_;
  put(e.begin('M', "", "thread_name", tid).arg("name", name.c_str()));
  put(e.begin('M', "", "thread_sort_index", tid).arg("sort_index", place));
  return tid;
}

int Ledger::stream(const ProfileEvent& e) {
  const uint64_t key = static_cast<uint64_t>(e.device.kind) << 32 | static_cast<uint32_t>(e.device.id);
  auto& ends = lanes_[key];
  size_t lane = 0;
  while (lane < ends.size() && ends[lane] > e.start) lane++;
  if (lane == ends.size()) ends.push_back(0);
  ends[lane] = e.end;
  return track(STREAM, key, lane);
}

const char* Ledger::name_of(const ProfileEvent& e, const ProfileStep* steps) {
  if (e.steps < 2) return e.name;
  std::vector<const char*> names;
  for (uint32_t i = 0; i < e.steps; ++i) {
    if (std::find(names.begin(), names.end(), steps[i].name) != names.end()) continue;
    names.push_back(steps[i].name);
    if (names.size() > kNames) break;
  }
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i) text += i < kNames ? std::string("+") + names[i] : "+...";
  return names_.insert(text).first->c_str();
}

void Ledger::enter(const ProfileEvent& e, const ProfileStep* steps) {
  const char* name = name_of(e, steps);
  const int64_t ns = e.end - e.start;
  sum(name, e.site, Totals::OPERATOR, ns, e.skipped ? 0 : e.moved, std::max<int64_t>(e.steps, 1));
  if (sums_) {
    totals.inputs.add(e.ready - e.queued, 0, 1);
    totals.workers_wait.add(e.start - e.ready, 0, 1);
    if (!e.nested && !e.async) {
      if (e.worker >= 0) {
        WorkerSum& w = totals.workers[e.worker];
        w.busy += ns;
        w.ran++;
      } else {
        totals.threads[e.thread].op(e.start, e.end);
      }
    }
  }
  if (file.is_open()) write(e, steps, name);
  shares_.erase(e.seq);
  awaited_.erase(e.seq);
}

void Ledger::write(const ProfileEvent& e, const ProfileStep* steps, const char* name) {
  const int tid = e.async ? stream(e) : runner(e.worker, e.thread);
  ChromeEvent& out = event_;
  out.begin('X', "operator", name, tid).at(e.start).lasting(e.end - e.start);
  out.arg("seq", static_cast<int64_t>(e.seq));
  if (e.parent) out.arg("pushed by", static_cast<int64_t>(e.parent));
  if (e.site) out.arg("line", line(e.site));
  out.arg_time("pushed", e.queued).arg_time("ready", e.ready);
  out.arg_time("started", e.start).arg_time("ended", e.end);
  out.arg("device", e.device.text().c_str());
  if (e.skipped) out.arg("skipped", "an input had failed");
  if (e.steps) list(out, e, steps);
  put(out);
  const auto mine = awaited_.find(e.seq);
  if (mine != awaited_.end())
    for (uint64_t from : mine->second) arrow(from, e, tid);
  const auto joined = shares_.find(e.seq);
  if (joined != shares_.end())
    for (const ProfileSpan& s : joined->second) {
      out.begin('X', "joined", name, runner(s.worker, s.thread));
      out.at(s.start).lasting(s.end - s.start).arg("takes part in", static_cast<int64_t>(s.seq));
      put(out);
    }
  known_[e.seq] = {tid, e.start, e.end};
  order_.push_back(e.seq);
  if (order_.size() > kKnown) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

void Ledger::list(ChromeEvent& out, const ProfileEvent& e, const ProfileStep* steps) {
  const int64_t ns = e.end - e.start;
  out.arg("bytes", e.moved);
  if (ns > 0 && e.moved > 0 && !e.skipped)
    out.arg("GB/s", std::round(1e3 * static_cast<double>(e.moved) / static_cast<double>(ns)) / 1e3);
  int64_t temporaries = 0, passes = 0;
  for (uint32_t i = 0; i < e.steps; ++i) {
    temporaries += steps[i].temporary;
    if (steps[i].fused && (i == 0 || steps[i].stage != steps[i - 1].stage)) passes++;
  }
  if (passes) out.arg("fused passes", passes).arg("temporaries never made", temporaries);
  out.open_list("ops");
  for (uint32_t i = 0, same; i < e.steps; i += same) {
    const ProfileStep& s = steps[i];
    for (same = 1; i + same < e.steps && steps[i + same].name == s.name && steps[i + same].site == s.site;)
      same++;
    if (!out.more(120)) {
      out.item(("and " + std::to_string(e.steps - i) + " more").c_str());
      break;
    }
    std::string text = s.name;
    if (s.site) text += std::string(" ") + brief(s.site);
    if (same > 1) text += ", " + std::to_string(same) + " times";
    out.item(text.c_str());
  }
  out.close_list();
}

void Ledger::arrow(uint64_t from, const ProfileEvent& to, int tid) {
  const auto found = known_.find(from);
  if (found == known_.end()) return;
  const Known& k = found->second;
  ChromeEvent& out = event_;
  const int64_t id = ++arrows_;
  // Inside the slice that it leaves.
  out.begin('s', "dependency", "dependency", k.tid).at(std::max(k.start, k.end - 1)).field("id", id);
  put(out);
  out.begin('f', "dependency", "dependency", tid).at(to.start).field("id", id).field("bp", "e");
  put(out);
}

void Ledger::enter(const ProfileSpan& s) {
  static constexpr int kinds[] = {Totals::INLINE, -1, Totals::WAIT, Totals::EVENT, Totals::TASK, Totals::FRAME, -1};
  const int64_t ns = s.end - s.start;
  if (s.kind == ProfileSpan::SHARE) {
    if (sums_ && s.worker >= 0) {
      WorkerSum& w = totals.workers[s.worker];
      w.busy += ns;
      w.joined++;
    } else if (sums_) {
      totals.threads[s.thread].op(s.start, s.end);
    }
    if (file.is_open()) shares_[s.seq].push_back(s);
    return;
  }
  if (s.kind == ProfileSpan::MARKER) totals.markers++;
  else sum(s.name, s.site, kinds[s.kind], ns, s.moved, 1);
  if (sums_ && s.worker < 0) {
    if (s.kind == ProfileSpan::WAIT) totals.threads[s.thread].wait(s.start, s.end);
    if (s.kind == ProfileSpan::INLINE) {
      ThreadSum& t = totals.threads[s.thread];
      t.inline_ns += ns;
      t.inlined++;
    }
  }
  if (file.is_open()) write(s);
}

void Ledger::write(const ProfileSpan& s) {
  ChromeEvent& out = event_;
  if (s.kind == ProfileSpan::TASK || s.kind == ProfileSpan::FRAME) {
    // These may begin in one thread and end in another.
    const char* category = s.kind == ProfileSpan::TASK ? "task" : "frame";
    const int64_t id = ++spans_;
    out.begin('b', category, s.name, runner(s.worker, s.thread)).at(s.start).field("id", id);
    if (s.domain[0]) out.arg("domain", s.domain);
    if (s.site) out.arg("line", line(s.site));
    put(out);
    put(out.begin('e', category, s.name, runner(s.worker, s.thread)).at(s.end).field("id", id));
    return;
  }
  if (s.kind == ProfileSpan::WAIT) {
    const uint64_t worker = static_cast<uint64_t>(s.worker);
    const int tid = s.worker >= 0 ? track(WORKER_WAITS, worker) : track(THREAD_WAITS, s.thread);
    out.begin('X', "wait", s.name, tid).at(s.start).lasting(s.end - s.start);
  } else if (s.kind == ProfileSpan::MARKER) {
    out.begin('i', "marker", s.name, runner(s.worker, s.thread)).at(s.start).field("s", "p");
  } else {
    const char* category = s.kind == ProfileSpan::INLINE ? "inline" : "event";
    out.begin('X', category, s.name, runner(s.worker, s.thread)).at(s.start).lasting(s.end - s.start);
  }
  if (s.domain[0]) out.arg("domain", s.domain);
  if (s.kind == ProfileSpan::INLINE) out.arg("bytes", s.moved);
  if (s.site) out.arg("line", line(s.site));
  put(out);
}

void Ledger::enter(const ProfileSample& s) {
  const std::string name = s.domain[0] ? std::string(s.name) + ", " + s.domain : s.name;
  if (sums_) totals.counters[name].add(s.value);
  if (!file.is_open()) return;
  ChromeEvent& out = event_;
  put(out.begin('C', "counter", name.c_str(), -1).at(s.when).arg("value", s.value));
}

}  // namespace lazyarray
