// Stress of the engine's core: random work against a serial model, on every policy. sanitize.sh
// builds and runs it. Arguments: seed (default 1), amount of work in percent (default 100).
#include "harness.h"

using namespace lazyarray;

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
      Op* kept = nullptr;
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
  Op* op = hold(e, {v[0]});
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
      Op* op = hold(e, {v[0]});
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
      CHECK(live_cells == 0 && live_tasks == 0 && live_errors == 0);
    }
  std::printf("stress: ok, seed %llu\n", static_cast<unsigned long long>(seed));
}
