// Stress of the engine's core: random work against a serial model, on every policy. sanitize.sh
// builds and runs it. Arguments: seed (default 1), amount of work in percent (default 100).
#include "harness.h"

using namespace lazyarray;

constexpr int64_t kMs = 1000000, kHour = 3600 * 1000 * kMs;

// ---- one thread pushes: the outcome is the serial model's, exactly --------------------------------

struct Model {
  int64_t value = 0, error = 0;  // error: id of the op that failed
  uint64_t version = 0;
};

static void serial(Engine* e, Random& r, int ops) {
  Finisher finish;
  Cells cells = make_cells(e, 8);
  std::vector<Model> model(cells.size());
  auto of = [&](Cell* c) -> Model& { return model[place(cells, c)]; };
  auto check = [&](Cell* c) {
    CHECK(c->value == of(c).value && c->version == of(c).version);
    CHECK(id_of(e->error_of(c)) == of(c).error);
  };
  int64_t first_failure = 0;
  {
    Onlookers onlookers(e, cells, 2);
    for (int64_t id = 1; id <= ops; ++id) {
      Spec s = random_spec(r, cells);
      const bool fails = r.one_in(30), slow = r.one_in(50);
      // What it does to the model...
      int64_t sum = id, error = 0;
      for (const Cells* set : {&s.writes, &s.reads})
        for (Cell* c : *set) {
          sum = sum * 31 + of(c).value % 1000003;
          if (!error && s.prop != Prop::NO_SKIP) error = of(c).error;
        }
      if (!error && fails) {
        error = id;
        if (!first_failure) first_failure = id;
      }
      for (const Cells* set : {&s.overwrites, &s.writes})
        for (Cell* c : *set) {
          Model& m = of(c);
          m.version++;
          if (!error) m.value = sum++;
          if (error || set == &s.overwrites) m.error = error;
        }
      // ... and to the cells.
      auto work = [s, id, fails, slow](uint64_t seq) -> Error* {
        Cells all(s.overwrites);
        all.insert(all.end(), s.writes.begin(), s.writes.end());
        Holding h(all, s.reads, seq);
        if (slow) pause(200);
        if (fails) return failure(id);
        int64_t total = id;
        for (const Cells* set : {&s.writes, &s.reads})
          for (Cell* c : *set) total = total * 31 + c->value % 1000003;
        for (Cell* c : all) c->value = total++;
        return nullptr;
      };
      s.body = make_body(e, s.async, r.below(3), finish, work);
      Operator* kept = nullptr;
      CHECK(push(e, s, r.one_in(6) ? &kept : nullptr) == Status::OK);
      if (kept) {
        if (r.one_in(2)) {
          CHECK(e->wait_op(kept, nullptr, nullptr) == Status::OK);
          CHECK(id_of(kept->result ? kept->result->ref() : nullptr) == error);
        }
        e->release(kept);
      }
      Cell* c = cells[r.below(8)];
      if (!s.wake || r.one_in(8)) {
        CHECK(e->wait(c, false, go_on, nullptr) == Status::OK);
        check(c);
      }
      if (r.one_in(16)) {
        CHECK(e->wait(c, true, nullptr, nullptr) == Status::OK);
        c->value = ++of(c).value;
      }
      if (r.one_in(50)) e->throttle(200, 10, go_on, nullptr);
      if (r.one_in(20)) {
        Spec d;
        d.prop = Prop::DELETE_VAR;
        d.writes = {c};
        d.async = r.one_in(4);
        const int64_t last = of(c).value;
        d.body = make_body(e, d.async, 0, finish, [=](uint64_t) -> Error* {
          CHECK(c->value == last);
          return nullptr;
        });
        CHECK(push(e, d) == Status::OK);
        CHECK(push(e, {c}, {}, nullptr) == Status::DELETED);
        c->unref();
        of(c) = Model();
        *std::find(cells.begin(), cells.end(), c) = new Cell(e);
      }
    }
  }
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  for (Cell* c : cells) check(c);
  CHECK(id_of(e->take_failure()) == first_failure && id_of(e->take_failure()) == 0);
  drop(cells);
}

// ---- several threads push, some ops push and wait, another stops and starts ------------------------

static Spec adder(Engine* e, Random& r, Sums& sums, Finisher& finish, int64_t* n, bool nests);

// Inside the op that holds `mine`: pushes are let in, waits end, and those that can't are errors.
static void nest(Engine* e, Random& r, Sums& sums, Finisher& finish, const Spec& mine) {
  for (Cell* c : mine.writes) CHECK(wait(c) == Status::SELF_WAIT);
  for (Cell* c : mine.reads) CHECK(e->wait(c, true, nullptr, nullptr) == Status::SELF_WAIT);
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::SELF_WAIT);
  CHECK(e->throttle(0, 0, nullptr, nullptr) == Status::OK);
  int64_t n;
  const Spec child = adder(e, r, sums, finish, &n, false);
  CHECK(push(e, child) == Status::OK);  // though the engine may be stopping
  sums.add(child.writes, n);
  Cell* c = child.writes.empty() ? sums.cells[r.below(6)] : child.writes[0];
  Engine::Poll poll = r.one_in(4) ? stop_waiting : nullptr;
  const Status s = e->wait(c, r.one_in(2), poll, nullptr);
  CHECK(s == Status::OK || s == Status::SELF_WAIT || (s == Status::INTERRUPTED && poll));
}

static Spec adder(Engine* e, Random& r, Sums& sums, Finisher& finish, int64_t* n, bool nests) {
  Spec s = random_spec(r, sums.cells);
  s.writes.insert(s.writes.end(), s.overwrites.begin(), s.overwrites.end());
  s.overwrites.clear();
  const int64_t add = *n = 1 + r.below(100);
  nests = nests && !s.async && r.one_in(8);
  const Spec mine = s;
  s.body = make_body(e, s.async, r.below(3), finish, [=, &sums, &finish](uint64_t seq) -> Error* {
    Holding h(mine.writes, mine.reads, seq);
    Random inner(seq);
    if (nests && !Finisher::here()) nest(e, inner, sums, finish, mine);
    for (Cell* c : mine.writes) c->value += add;
    return nullptr;
  });
  return s;
}

static void several(Engine* e, Random& r, int ops, bool stops) {
  Finisher finish;
  Sums sums(e);
  std::atomic<bool> over{false};
  std::thread stopper([&] {
    for (Random mine(seed); stops && !over; pause(2000)) {
      Engine::Poll poll = mine.one_in(3) ? stop_waiting : nullptr;
      const Status s = e->stop(poll, nullptr);
      CHECK(s == Status::OK || (s == Status::INTERRUPTED && poll));
      pause(100);
      e->start();
    }
  });
  {
    Onlookers onlookers(e, sums.cells, 1);
    std::vector<std::thread> pushers;
    for (int t = 0; t < 3; ++t)
      pushers.emplace_back([&, from = r()] {
        Random mine(from);
        for (int i = 0; i < ops; ++i) {
          int64_t n;
          const Spec s = adder(e, mine, sums, finish, &n, true);
          const Status status = push(e, s);
          CHECK(status == Status::OK || (status == Status::STOPPED && stops));
          if (status == Status::OK) sums.add(s.writes, n);
          else pause(20);
          if (!s.wake || mine.one_in(10))
            CHECK(e->wait(sums.cells[mine.below(6)], false, nullptr, nullptr) == Status::OK);
        }
      });
    for (std::thread& t : pushers) t.join();
  }
  over = true;
  stopper.join();
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  for (int i = 0; i < 6; ++i) CHECK(sums.cells[i]->value == sums.total[i]);
  CHECK(e->take_failure() == nullptr);
  drop(sums.cells);
}

// ---- cases that once were, or easily could be, wrong ----------------------------------------------

static void cases(Engine* e) {
  Cells v = make_cells(e, 20);
  std::atomic<int> self_waits{0}, waiting{0};
  auto counted = [&](Status s) {
    CHECK(s == Status::OK || s == Status::SELF_WAIT);
    self_waits += s == Status::SELF_WAIT;
  };

  // An op and its child wait for each other: exactly one of them is told.
  push(e, {v[0]}, {}, [&](RunContext&) {
    push(e, {v[1]}, {}, [&](RunContext&) {
      counted(wait(v[0]));
      return nullptr;
    });
    counted(wait(v[1]));
    return nullptr;
  });
  CHECK(wait(v[0]) == Status::OK && wait(v[1]) == Status::OK && self_waits == 1);

  // Waiting for all covers what the ops that are waited for push.
  push(e, {v[0]}, {}, [&](RunContext&) {
    push(e, {v[1]}, {}, [&](RunContext&) {
      pause(1000);
      v[1]->value = 7;
      return nullptr;
    });
    return nullptr;
  });
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK && v[1]->value == 7);

  // A native op splits itself, and helps.
  push(e, {v[0]}, {}, [&](RunContext&) {
    for (int i = 1; i <= 6; ++i)
      push(e, {v[i]}, {}, [=](RunContext&) {
        v[i]->value = i;
        return nullptr;
      }, true);
    for (int i = 1; i <= 6; ++i) {
      CHECK(wait(v[i]) == Status::OK);
      v[0]->value += v[i]->value;
    }
    return nullptr;
  }, true);
  CHECK(wait(v[0]) == Status::OK && v[0]->value == 21);

  // What was pushed without waking anyone runs although the wait is for something else.
  Spec asleep;
  asleep.wake = false;
  asleep.writes = {v[1]};
  const uint64_t before = v[1]->version;
  push(e, asleep);
  CHECK(wait(v[2]) == Status::OK);
  while (v[1]->version == before) pause(20);

  // More ops wait in workers than there are workers.
  Operator* op = hold(e, {v[0]});
  const bool naive = e->runs_here();  // there, the push itself would wait
  for (int i = 1; i <= 5; ++i) push(e, {v[i]}, {v[0]}, nothing, i % 2);
  for (int i = 1; i <= 5 && !naive; ++i)
    push(e, {v[5 + i]}, {}, [&, i](RunContext&) {
      waiting++;
      CHECK(wait(v[i]) == Status::OK);
      return nullptr;
    }, i % 2);
  while (waiting < 5 && !naive) pause(20);
  e->complete(op, nullptr);
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);

  // Both are ready at once; the one that is found first waits for the other.
  op = hold(e, {v[12], v[13]});
  push(e, {v[14]}, {v[13]}, nothing);
  push(e, {v[15]}, {v[12]}, [&](RunContext&) {
    CHECK(wait(v[14]) == Status::OK);
    return nullptr;
  });
  e->complete(op, nullptr);
  CHECK(wait(v[15]) == Status::OK);

  // A long chain of asynchronous ops that complete at once, half of it poisoned, and a wait
  // that walks it from inside an op.
  op = hold(e, {v[16]});
  const int64_t last = v[16]->value + 5000;
  for (int i = 0; i < 10000; ++i)
    push(e, {v[16]}, {}, [=](RunContext& c) {
      const bool fails = ++v[16]->value == last;
      e->complete(c.op, fails ? failure(last) : nullptr);
      return nullptr;
    }, false, true);
  push(e, {v[17]}, {v[16]}, nothing, true);
  if (!naive)
    push(e, {v[19]}, {}, [&](RunContext&) {
      CHECK(wait(v[17]) == Status::OK);
      return nullptr;
    });
  e->complete(op, nullptr);
  CHECK(wait(v[17]) == Status::OK && wait(v[19]) == Status::OK && v[16]->value == last);
  CHECK(id_of(e->error_of(v[17])) == last && !e->error_of(v[19]));
  CHECK(id_of(e->take_failure()) == last);
  drop(v);
}

// Ops of two engines wait for each other's results, on one worker each.
static void two_engines(Policy policy) {
  Engine* a = create_engine(policy, 1, 1, 1, 1);
  Engine* b = create_engine(policy, 1, 1, 1, 1);
  Cells va = make_cells(a, 1), vb = make_cells(b, 10);
  for (int i = 0; i < 9; ++i) {
    push(b, {vb[i + 1]}, {vb[i]}, [=](RunContext&) {
      vb[i + 1]->value = vb[i]->value + 1;
      return nullptr;
    }, i % 2);
    push(a, {va[0]}, {}, [=](RunContext&) {
      CHECK(wait(vb[i + 1]) == Status::OK);
      va[0]->value += vb[i + 1]->value;
      return nullptr;
    }, i % 3 == 0);
    push(b, {vb[0]}, {}, [=](RunContext&) {
      CHECK(wait(va[0]) == Status::OK);
      return nullptr;
    });
  }
  CHECK(wait(va[0]) == Status::OK && va[0]->value == 45 && wait(vb[0]) == Status::OK);
  CHECK(a->wait(vb[0], false, nullptr, nullptr) == Status::FOREIGN);
  CHECK(push(a, {vb[0]}, {}, nothing) == Status::FOREIGN);
  drop(va);
  drop(vb);
  delete a;
  delete b;
}

// ---- ends: with work pending, with others pushing, from inside ------------------------------------

static void ends(Policy policy, int workers) {
  Finisher finish;
  for (int how = 0; how < 6; ++how) {
    Engine* e = create_engine(policy, workers, 1, 1, 1);
    Cells v = make_cells(e, 4);
    std::atomic<int64_t> pushed{0};
    std::atomic<bool> over{false};
    auto push_one = [&, e](int i, bool async) {
      Body body = make_body(e, async, 2, finish, [=](uint64_t) -> Error* {
        v[i % 4]->value++;
        pause(20);
        return nullptr;
      });
      if (push(e, {v[i % 4]}, {v[(i + 1) % 4]}, body, i % 2, async) == Status::OK) pushed++;
    };
    for (int i = 0; i < 60; ++i) push_one(i, i % 7 == 0);
    if (how == 0) {  // others push meanwhile, and afterwards pushes run at the call
      std::thread other([&] { for (int i = 0; !over; ++i) push_one(i, false), wait(v[i % 4]); });
      e->shutdown();
      over = true;
      other.join();
      CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK && e->stats().threads == 0);
      push_one(0, false);
      cases(e);
    }
    if (how == 1) {
      CHECK(e->stop(nullptr, nullptr) == Status::OK);
      CHECK(push(e, {}, {}, nothing) == Status::STOPPED && e->stats().threads == 0);
      e->start();
      push_one(1, true);
    }
    if (how == 2) {  // interrupted, and so not over: workers stay, what comes runs at the call
      Operator* op = hold(e, {v[0]});
      CHECK(e->shutdown(stop_waiting, nullptr) == Status::INTERRUPTED && e->given_up());
      destroy_engine(e);  // leaves it alone
      push_one(1, false);
      CHECK(wait(v[1]) == Status::OK && e->runs_here());
      e->complete(op, nullptr);
    }
    if (how < 4) delete e;
    if (how >= 4) {  // by what an op holds last: in its run, or when its payload is dropped
      std::shared_ptr<Engine> last(e, destroy_engine);
      push(e, {}, {}, [last, how, naive = e->runs_here()](RunContext&) mutable {
        while (!naive && last.use_count() > 1) pause(20);
        if (how == 4) last.reset();
        return nullptr;
      });
    }
    while (live_tasks) pause(100);
    join_destroyers();
    int64_t sum = 0;
    for (Cell* c : v) sum += c->value;
    CHECK(sum == pushed);
    drop(v);
  }
}

// ---- shares: idle workers take part in a native op ------------------------------------------------

static Engine* engine_of(Policy policy, int workers, int cores) {
  machine_cores = cores;
  Engine* e = create_engine(policy, workers, workers, 1, 1);
  machine_cores = 0;
  return e;
}

// Threads in native compute, and the cores they may have.
struct Crew {
  int cores;
  std::atomic<int> busy{0}, shares{0}, joined{0};
};

// The work of one op: each portion is for one thread, and all are there when share() returns.
struct Split {
  struct Portion {
    std::atomic<int> claims{0};
    int64_t value = 0;
  };
  Engine* e;
  Operator* op;
  Crew& crew;
  int threads;  // at most so many at once
  std::function<int64_t(int)> portion;
  std::vector<Portion> portions;
  int cores = 1;  // that each of them takes
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> next{0}, inside{0};

  static void work(void* arg) {
    Split& s = *static_cast<Split*>(arg);
    const bool joined = std::this_thread::get_id() != s.caller;
    CHECK(++s.inside <= s.threads && (s.crew.busy += s.cores) <= s.crew.cores);
    CHECK(s.e->current() == (joined ? nullptr : s.op));
    s.crew.joined += joined;
    for (size_t i; (i = s.next++) < s.portions.size();) {
      CHECK(s.portions[i].claims++ == 0);
      s.portions[i].value = s.portion(static_cast<int>(i));
    }
    s.crew.busy -= s.cores;
    s.inside--;
  }
  int64_t share(int most) {
    crew.shares++;
    e->share(op, work, this, most);
    CHECK(inside == 0 && next >= static_cast<int>(portions.size()));
    inside = INT_MIN;  // nobody comes late: that would be less than one
    int64_t sum = 0;
    for (Portion& p : portions) {
      CHECK(p.claims == 1);
      sum += p.value;
    }
    CHECK(inside == INT_MIN);
    crew.shares--;
    return sum;
  }
};

static void shares(Policy policy, int workers, Random& r, int ops, bool stops) {
  const int cores = 1 + r.below(4);
  Engine* e = engine_of(policy, workers, cores);
  Crew crew{e->runs_here() ? INT_MAX : cores};
  Sums sums(e);
  std::atomic<bool> over{false};
  std::thread stopper([&] {
    for (Random mine(seed); !over; pause(500)) {
      if (e->fork_prepare(mine.below(100000))) CHECK(crew.shares == 0 && crew.busy == 0);
      e->fork_parent();
      if (!stops) continue;
      CHECK(e->stop(nullptr, nullptr) == Status::OK && crew.shares == 0 && crew.busy == 0);
      e->start();
    }
  });
  auto random_op = [&](Random& mine, int64_t* sum) {
    Spec s;
    for (Cell* c : sums.cells)
      if (mine.one_in(4)) (mine.one_in(2) ? s.reads : s.writes).push_back(c);
    const Cells writes = s.writes, reads = s.reads;
    s.prop = mine.one_in(5) ? Prop::CPU_PRIORITIZED : Prop::NORMAL;
    s.device.id = mine.one_in(8);
    s.native = !mine.one_in(6);
    s.wide = mine.one_in(6);
    s.wake = !mine.one_in(4);
    s.cost_ns = 1000000;  // nobody runs it without a core
    const bool wide = s.wide;
    const int n = s.native ? mine.below(12) : 0, most = mine.below(5), us = mine.below(4) * 30;
    const int64_t base = mine.below(1000);
    *sum = n * base + n * (n - 1) / 2;
    s.body = [=, &crew](RunContext& c) -> Error* {
      Holding h(writes, reads, c.op->seq);
      int64_t before = 0, total = 0;  // plain reads, in all threads, of what others write
      for (Cell* x : reads) before += x->value;
      auto portion = [=](int i) {
        int64_t seen = 0;
        for (Cell* x : reads) seen += x->value;
        if (us) pause(us);
        return base + i + seen - before;
      };
      if (n) {
        const int threads = wide ? 1 : 1 + std::min(most, workers - 1);
        Split split{e, c.op, crew, threads, portion, std::vector<Split::Portion>(n)};
        if (wide && !e->runs_here()) split.cores = crew.cores;
        total = split.share(most);
      } else {
        pause(us);
      }
      for (Cell* x : writes) x->value += total;
      return nullptr;
    };
    return s;
  };
  {
    Onlookers onlookers(e, sums.cells, 2);
    std::vector<std::thread> pushers;
    for (int t = 0; t < 2; ++t)
      pushers.emplace_back([&, from = r()] {
        Random mine(from);
        for (int i = 0; i < ops; ++i) {
          int64_t sum;
          const Spec s = random_op(mine, &sum);
          const Status status = push(e, s);
          CHECK(status == Status::OK || (status == Status::STOPPED && stops));
          if (status == Status::OK) sums.add(s.writes, sum);
          else pause(50);
          if (!s.wake || mine.one_in(10)) CHECK(wait(sums.cells[mine.below(6)]) == Status::OK);
        }
      });
    for (std::thread& t : pushers) t.join();
  }
  over = true;
  stopper.join();
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK && crew.busy == 0 && crew.shares == 0);
  for (int i = 0; i < 6; ++i) CHECK(sums.cells[i]->value == sums.total[i]);
  drop(sums.cells);
  delete e;
}

static void share_cases(Policy policy, int workers) {
  Engine* e = engine_of(policy, workers, workers);
  Crew crew{workers};
  Cells v = make_cells(e, 1);

  // The portions meet: all the pool's workers are at it, or all but one and the waiter that helps.
  for (int i = 0; i < 30; ++i) {
    std::atomic<int> met{0};
    Spec s;
    s.writes = v;
    s.native = true;
    s.wake = i % 2;
    s.cost_ns = 1000000;
    s.body = [&](RunContext& c) -> Error* {
      auto meet = [&](int) {
        met++;
        until([&] { return met == workers; });
        return 1;
      };
      Split split{e, c.op, crew, workers, meet, std::vector<Split::Portion>(workers)};
      v[0]->value += split.share(100);
      return nullptr;
    };
    push(e, s);
    CHECK(wait(v[0]) == Status::OK && v[0]->value == (i + 1) * workers);
    if (i % 5 == 0) pause(500);
    if (i == 20) CHECK(e->stop(nullptr, nullptr) == Status::OK), e->start();
  }
  CHECK(crew.joined >= 30 * (workers - 1));

  // Joined by a worker that becomes free meanwhile, and that runs what is ready first.
  std::atomic<int> held{0}, released{0};
  std::atomic<bool> ran{false};
  for (int i = 0; i < workers; ++i)
    push(e, {}, {}, [&, i](RunContext&) {
      held++;
      until([&] { return released > i; });
      return nullptr;
    });
  until([&] { return held == workers; });
  push(e, {}, {}, [&](RunContext&) {
    ran = true;
    return nullptr;
  });
  Spec s;
  s.writes = v;
  s.native = true;
  s.wake = false;
  s.cost_ns = 1000000;
  s.body = [&](RunContext& c) -> Error* {
    std::atomic<bool> came{false};
    auto portion = [&](int i) {
      if (i == 0) {
        released = 1;
        until([&] { return came.load(); });
      }
      came = true;
      CHECK(ran);
      return 0;
    };
    Split split{e, c.op, crew, 2, portion, std::vector<Split::Portion>(2)};
    split.share(1);
    return nullptr;
  };
  push(e, s);
  CHECK(wait(v[0]) == Status::OK);
  released = workers;
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  drop(v);
  delete e;
}

// ---- memory that an op is yet to let go of --------------------------------------------------------

static void releases(Policy policy, int workers) {
  Engine* e = engine_of(policy, workers, workers + 1);
  Cells v = make_cells(e, 1);
  CHECK(!e->await_releases());
  for (bool native : {false, true}) {
    std::atomic<bool> dropping{false}, freed{false};
    std::shared_ptr<void> memory(nullptr, [&](void*) {  // in the payload
      CHECK(!e->await_releases());  // what this thread is itself to let go of
      dropping = true;
      until([&] { return freed.load(); });
    });
    if (e->runs_here()) freed = true;
    std::atomic<bool> pushed{e->runs_here()};
    push(e, v, {}, [&pushed, held = std::move(memory)](RunContext&) -> Error* {
      until([&] { return pushed.load(); });  // so that the pusher's copy isn't the last
      return nullptr;
    }, native);
    pushed = true;
    if (e->runs_here()) continue;
    until([&] { return dropping.load(); });  // by a worker; the op has completed
    CHECK(wait(v[0]) == Status::OK);
    const int64_t begun = e->now();
    CHECK(e->await_releases(kMs));  // in vain, and for no longer
    CHECK(e->now() - begun >= kMs && !freed);
    std::thread other([&] { pause(3000), freed = true; });
    CHECK(e->await_releases(60'000 * kMs) && freed);
    CHECK(!e->await_releases());
    other.join();
  }
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  drop(v);
  delete e;
}

// ---- alarms ---------------------------------------------------------------------------------------

struct Bell {
  Engine* e;
  std::function<void()> call = [] {};
  std::atomic<int> rung{0}, ringing{0};
  std::atomic<int64_t> began{0};
  explicit Bell(Engine* engine) : e(engine) { e->set_alarm(ring, this); }
  static void ring(void* arg) {
    Bell& b = *static_cast<Bell*>(arg);
    b.ringing++;
    b.began = b.e->now();
    CHECK(!b.e->current());
    b.call();
    b.ringing--;
    b.rung++;
  }
  void heard(int n) {  // and no more than that
    until([&] { return rung >= n; });
    CHECK(rung == n);
  }
};

static void alarm_cases(Policy policy, int workers) {
  Engine* e = engine_of(policy, workers, workers + 1);
  Bell bell(e);
  Crew crew{workers + 1};
  Cells v = make_cells(e, 1);
  if (e->runs_here()) {
    e->alarm(e->now());
    pause(2000);
    e->cancel_alarm();
    CHECK(bell.rung == 0);
    drop(v);
    delete e;
    return;
  }
  auto wait_until = [&](int64_t when) { until([&] { return e->now() > when; }); };

  // The earliest one counts, whether asked for first or last.
  int64_t t = e->now() + 3 * kMs;
  e->alarm(t);
  e->alarm(t + kHour);
  bell.heard(1);
  CHECK(bell.began >= t);
  e->alarm(e->now() + kHour);
  pause(1000);
  e->alarm(t = e->now() + kMs);
  bell.heard(2);
  CHECK(bell.began >= t);
  e->alarm(t = e->now() + kMs);
  bell.heard(3);
  CHECK(bell.began >= t);
  CHECK(e->stop(nullptr, nullptr) == Status::OK);
  e->start();

  // All workers but one have something to do until it is called: an op, or a share of one.
  int rung = 3;
  for (int i = 1; i <= 12 && workers > 1; ++i) {
    if (i % 4) e->alarm(e->now() + 5 * kMs);
    if (i % 4 == 1) pause(1000);
    auto until_heard = [&](int) {
      until([&] { return bell.rung > rung; });
      return 0;
    };
    if (i % 2)
      push(e, v, {}, [&](RunContext& c) -> Error* {
        if (i % 4 == 1) pause(500);
        Split split{e, c.op, crew, workers - 1, until_heard,
                    std::vector<Split::Portion>(workers - 1)};
        split.share(workers - 2);
        return nullptr;
      }, true);
    else
      for (int j = 1; j < workers; ++j)
        push(e, {}, {}, [&](RunContext&) -> Error* {
          until_heard(j);
          return nullptr;
        });
    if (i % 4 == 0) e->alarm(e->now() + (i % 3) * kMs);
    bell.heard(rung + 1);
    CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
    bell.heard(++rung);
  }

  // Who waits for one is there for ops.
  for (int i = 0; i < 6; ++i) {
    e->alarm(e->now() + kHour);
    pause(500);
    std::atomic<int> met{0};
    for (int j = 0; j < workers; ++j)
      push(e, {}, {}, [&](RunContext&) -> Error* {
        met++;
        until([&] { return met == workers; });
        return nullptr;
      });
    CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
    if (i % 2) e->cancel_alarm();
  }
  e->cancel_alarm();

  // Not after it was cancelled in time; the worker that watches still does for the next one.
  for (int i = 0; i < 10; ++i) {
    t = e->now() + 3 * kMs;
    e->alarm(t);
    if (i % 2) pause(500);
    e->cancel_alarm();
    const bool in_time = e->now() < t;
    if (i % 3 == 0) wait_until(t + 2 * kMs);
    if (in_time) CHECK(bell.rung == rung);
    else until([&] { return bell.ringing == 0; }), pause(2000), rung = bell.rung;
    e->alarm(e->now() + (i % 4) * kMs);
    bell.heard(++rung);
  }

  // All of them have something to do: the first one that becomes idle calls it.
  for (int i = 0; i < 4; ++i) {
    std::atomic<int> busy{0};
    std::atomic<bool> released{false};
    t = e->now() + (i % 2) * 5 * kMs;
    if (i >= 2) e->alarm(t);
    if (i == 3) pause(1000);
    for (int j = 0; j < workers; ++j)
      push(e, {}, {}, [&](RunContext&) {
        busy++;
        until([&] { return released.load(); });
        return nullptr;
      });
    until([&] { return busy == workers; });
    const bool called = bell.rung > rung || bell.ringing;
    if (!called) e->alarm(t);
    wait_until(t + kMs);
    if (!called && i < 2) CHECK(bell.rung == rung);
    released = true;
    bell.heard(++rung);
    CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  }

  // All of them wait inside ops: another worker takes their place.
  for (int i = 0; i < 4; ++i) {
    Operator* op = hold(e, v);
    if (i % 2) e->alarm(e->now() + 2 * kMs);
    for (int j = 0; j < workers; ++j)
      push(e, {}, {}, [&](RunContext&) {
        CHECK(e->wait(v[0], true, nullptr, nullptr) == Status::OK);
        return nullptr;
      });
    if (i >= 2) pause(1000);
    if (i % 2 == 0) e->alarm(e->now() + kMs);
    bell.heard(++rung);
    e->complete(op, nullptr);
    CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  }

  // It waits while the engine is stopped.
  for (int i = 0; i < 4; ++i) {
    if (i % 2) e->alarm(t = e->now() + 10 * kMs);
    CHECK(e->stop(nullptr, nullptr) == Status::OK && e->stats().threads == 0 && bell.ringing == 0);
    if (i % 2 == 0) e->alarm(t = e->now());
    const int so_far = bell.rung;
    wait_until(t + 2 * kMs);
    CHECK(bell.rung == so_far && e->stats().threads == 0);
    e->start();
    bell.heard(++rung);
  }

  // A fork leaves it to the parent; the child may ask for its own.
  for (int i = 0; i < 3; ++i) {
    e->alarm(t = e->now() + i * kMs);
    const bool drained = e->fork_prepare(1000 * kMs);
    CHECK(drained && bell.ringing == 0);
    const pid_t child = fork();
    if (child == 0) {
      begin("alarms in a child", policy, workers);
      e->fork_child(drained);
#ifndef __SANITIZE_THREAD__  // it knows no threads there
      const int before = bell.rung;
      pause(2000);
      CHECK(bell.rung == before);
      e->alarm(e->now() + kMs);
      bell.heard(before + 1);
      CHECK(push(e, v, {}, nothing) == Status::OK && wait(v[0]) == Status::OK);
      CHECK(e->stop(nullptr, nullptr) == Status::OK);
#endif
      _exit(0);
    }
    e->fork_parent();
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    bell.heard(++rung);
  }

  // A call that has begun ends before the engine does, and none begins afterwards.
  std::atomic<bool> seen{false};
  bell.call = [&] {
    until([&] { return seen.load(); });
    pause(3000);
    CHECK(push(e, v, {}, nothing, true) == Status::OK);
    CHECK(e->stop(nullptr, nullptr) == Status::SELF_WAIT);
  };
  for (bool stops : {true, false}) {
    e->alarm(e->now());
    until([&] { return bell.ringing == 1; });
    seen = true;
    CHECK((stops ? e->stop(nullptr, nullptr) : e->shutdown()) == Status::OK);
    CHECK(bell.ringing == 0 && bell.rung == ++rung);
    seen = false;
    e->start();
  }
  e->alarm(e->now());
  pause(2000);
  CHECK(bell.rung == rung && wait(v[0]) == Status::OK);
  drop(v);
  delete e;
}

// Anybody asks for alarms and cancels them, whose calls push, while the engine stops, starts and is
// about to be forked.
static void alarms(Policy policy, int workers, Random& r, int ops, bool stops) {
  Engine* e = engine_of(policy, workers, 1 + r.below(4));
  const bool naive = e->runs_here();
  Finisher finish;
  Sums sums(e);
  Bell bell(e);
  std::atomic<bool> over{false};
  bell.call = [&] {
    Random mine(seed + static_cast<uint64_t>(bell.began));
    Engine::After after;
    for (int i = mine.below(4); i > 0; --i) {
      Cell* c = sums.cells[mine.below(6)];
      Operator* op = e->new_op();
      op->add_use(c, true);
      op->prop = mine.one_in(3) ? Prop::ASYNC : Prop::NORMAL;
      op->payload.native = mine.one_in(2);
      op->payload.arg = c;
      op->payload.run = [](void* cell, RunContext&) -> Error* {
        static_cast<Cell*>(cell)->value++;
        return nullptr;
      };
      CHECK(e->enqueue(op, after, false) == Status::OK);
      sums.add({c}, 1);
    }
    e->settle(after);
  };
  std::thread stopper([&] {
    for (Random mine(seed); !over; pause(mine.below(1000))) {
      if (e->fork_prepare(mine.below(100000))) CHECK(bell.ringing == 0);
      e->fork_parent();
      if (!stops) continue;
      CHECK(e->stop(nullptr, nullptr) == Status::OK && bell.ringing == 0);
      const int rung = bell.rung;
      pause(200);
      CHECK(bell.rung == rung && bell.ringing == 0);
      e->start();
    }
  });
  {
    Onlookers onlookers(e, sums.cells, 1);
    std::vector<std::thread> pushers;
    for (int t = 0; t < 2; ++t)
      pushers.emplace_back([&, from = r()] {
        Random mine(from);
        for (int i = 0; i < ops; ++i) {
          int64_t n;
          const Spec s = adder(e, mine, sums, finish, &n, true);
          if (push(e, s) == Status::OK) sums.add(s.writes, n);
          else CHECK(stops);
          if (!s.wake) CHECK(wait(sums.cells[mine.below(6)]) == Status::OK);
          if (!mine.one_in(3)) e->alarm(e->now() + mine.below(300) * 1000);
          if (mine.one_in(4)) e->cancel_alarm();
          if (mine.one_in(4)) pause(mine.below(500));
        }
      });
    for (std::thread& t : pushers) t.join();
  }
  over = true;
  stopper.join();
  e->cancel_alarm();
  CHECK(e->stop(nullptr, nullptr) == Status::OK);
  const int rung = bell.rung;
  e->start();
  pause(500);
  CHECK(bell.rung == rung);
  e->alarm(e->now());
  if (!naive) bell.heard(rung + 1);
  CHECK(e->wait_for_all(nullptr, nullptr) == Status::OK);
  for (int i = 0; i < 6; ++i) CHECK(sums.cells[i]->value == sums.total[i]);
  drop(sums.cells);
  delete e;
}

int main(int argc, char** argv) {
  if (argc > 1) seed = std::strtoull(argv[1], nullptr, 10);
  const int percent = argc > 2 ? std::atoi(argv[2]) : 100;
  for (Policy policy : {Policy::NAIVE, Policy::POOLED, Policy::PER_DEVICE})
    for (int workers = 1; workers <= (policy == Policy::NAIVE ? 1 : 4); ++workers) {
      Random r(seed * 1000 + static_cast<uint64_t>(workers));
      Engine* e = create_engine(policy, workers, 1 + workers % 2, 2, 1);
      begin("serial", policy, workers);
      serial(e, r, 60 * percent);
      begin("several", policy, workers);
      several(e, r, 20 * percent, false);
      begin("several with stops", policy, workers);
      several(e, r, 20 * percent, true);
      begin("cases", policy, workers);
      cases(e);
      delete e;
      begin("two engines", policy, workers);
      two_engines(policy);
      begin("ends", policy, workers);
      ends(policy, workers);
      for (bool stops : {false, true}) {
        begin("shares", policy, workers);
        shares(policy, workers, r, 4 * percent, stops);
        begin("alarms", policy, workers);
        alarms(policy, workers, r, 3 * percent, stops);
      }
      begin("share cases", policy, workers);
      if (workers > 1) share_cases(policy, workers);
      begin("releases", policy, workers);
      releases(policy, workers);
      begin("alarm cases", policy, workers);
      alarm_cases(policy, workers);
      graveyard().sweep();
      CHECK(live_cells == 0 && live_tasks == 0 && live_errors == 0);
    }
  std::printf("stress: ok, seed %llu\n", static_cast<unsigned long long>(seed));
}
