// Ledger: what becomes of a profile: totals, and events on tracks in the file.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine.h"
#include "profiler/chrome.h"
#include "profiler/pages.h"
#include "profiler/totals.h"

namespace lazyarray {

// One recording's, used by one thread at a time (the session's lock), mostly without the GIL. The
// lines, thread and worker names that a profile mentions are given before it is entered.
class Ledger {
 public:
  Ledger(int64_t origin, int pid, bool sums) : event_(origin, pid), sums_(sums) {}

  PageFile file;
  Totals totals;
  std::vector<std::pair<std::string, std::string>> sites;  // by number - 1: in full, and briefly
  std::unordered_map<uint64_t, std::string> thread_names;
  std::vector<WorkerName> worker_names;
  uint64_t lost = 0;

  // The text around the events; the first one, without a comma, names the process.
  std::string head(const char* process);

  // Returns 0 or the errno of the file's failure; the totals are right in any case.
  int enter(const std::vector<std::unique_ptr<ProfileBlock>>& blocks);
  void name_site(const std::string& line, const std::string& brief) { sites.emplace_back(line, brief); }
  void name_thread(uint64_t thread, const std::string& name) { thread_names[thread] = name; }
  // Closes the file, in which the loss is noted.
  int finish();

 private:
  enum Track : int { THREAD, THREAD_WAITS, WORKER, WORKER_WAITS, STREAM };
  struct Known {
    int tid;
    int64_t start, end;
  };

  void put(ChromeEvent& e);
  const char* line(uint32_t site) const { return site && site <= sites.size() ? sites[site - 1].first.c_str() : ""; }
  const char* brief(uint32_t site) const { return site && site <= sites.size() ? sites[site - 1].second.c_str() : ""; }

  // ---- tracks

  int track(Track kind, uint64_t key, uint64_t lane = 0);
  int runner(int worker, uint64_t thread) {
    return worker >= 0 ? track(WORKER, static_cast<uint64_t>(worker)) : track(THREAD, thread);
  }
  // An asynchronous op overlaps others of its device: each lane holds one at a time.
  int stream(const ProfileEvent& e);

  // ---- names

  // Different instructions by their names, once each: "multiply+add".
  const char* name_of(const ProfileEvent& e, const ProfileStep* steps);

  // ---- entries

  void sum(const char* name, uint32_t site, int kind, int64_t ns, int64_t moved, int64_t ops) {
    if (sums_) totals.sums[{name, site, kind}].add(ns, moved, ops);
  }

  void enter(const ProfileEvent& e, const ProfileStep* steps);

  void write(const ProfileEvent& e, const ProfileStep* steps, const char* name);

  // The instructions, those that are alike and follow each other as one.
  void list(ChromeEvent& out, const ProfileEvent& e, const ProfileStep* steps);

  void arrow(uint64_t from, const ProfileEvent& to, int tid);

  void enter(const ProfileSpan& s);

  void write(const ProfileSpan& s);

  void enter(const ProfileSample& s);

  static constexpr size_t kNames = 6;          // that an operator's name shows
  static constexpr size_t kKnown = 1 << 18;    // operators that an arrow may still lead from

  ChromeEvent event_;  // the one that is being written
  const bool sums_;
  int error_ = 0;
  std::map<std::tuple<int, uint64_t, uint64_t>, int> tracks_;
  std::unordered_map<uint64_t, size_t> threads_;       // in the order in which they came up
  std::unordered_map<uint64_t, std::vector<int64_t>> lanes_;  // by device: when each is free
  std::unordered_set<std::string> names_;
  std::unordered_map<uint64_t, Known> known_;          // the operators that ended last
  std::deque<uint64_t> order_;
  // What came before the operator that it belongs to: where arrows lead from, who joined in.
  std::unordered_map<uint64_t, std::vector<uint64_t>> awaited_;
  std::unordered_map<uint64_t, std::vector<ProfileSpan>> shares_;
  int64_t arrows_ = 0, spans_ = 0;
};

}  // namespace lazyarray
