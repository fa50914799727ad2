// sorting: one long line, of which threads sort parts by NumPy's own loops, and merge them.
//
// Where equals end up in an unstable sort is NumPy's affair: if it would be seen, NumPy sorts the line alone.
//
// Each merge is cut into pieces of one length, by searching where the two runs meet there (merge path: Odeh, Green,
// Mwassi, Shmueli, Birk 2012), so that all threads take part to the end.
#include "lazy/cpu/sorting.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "lazy/dtype.h"

namespace lazyarray {
namespace {

// NumPy's order: what is not a number comes last.
template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  else return a < b;
}

// What is merged: elements, or indices of elements. Numbers are compared by `<` alone: more than that would be a branch,
// which no processor could foresee.
template <class T>
struct ByValue {
  using Item = T;
  T key(T a) const { return a; }
  bool operator()(T a, T b) const { return a < b; }
};
template <class T>
struct ByIndex {
  using Item = npy_intp;
  const T* keys;
  T key(npy_intp a) const { return keys[a]; }
  bool operator()(npy_intp a, npy_intp b) const { return keys[a] < keys[b]; }
};

// How many of a sorted run are numbers.
template <class Order>
npy_intp numbers(const typename Order::Item* a, npy_intp n, Order order) {
  return std::partition_point(a, a + n, [&](auto x) { return order.key(x) == order.key(x); }) - a;
}

// How many of the first `n` of two merged runs come from `a`; of equals those of `a` come first.
template <class Order>
npy_intp share_of(const typename Order::Item* a, npy_intp na, const typename Order::Item* b, npy_intp nb, npy_intp n,
                  Order less) {
  npy_intp low = std::max<npy_intp>(0, n - nb), high = std::min(n, na);
  while (low < high) {
    const npy_intp i = low + (high - low) / 2;
    if (less(b[n - i - 1], a[i])) high = i;
    else low = i + 1;
  }
  return low;
}

// Two runs, and where they are merged to.
template <class Order>
struct Merge {
  using Item = typename Order::Item;
  const Item *a, *a_end, *b, *b_end;
  Item* to;

  npy_intp steps() const { return std::min(a_end - a, b_end - b); }  // so many end neither run
  void step(Order less) {
    const bool second = less(*b, *a);
    *to++ = *(second ? b : a);
    a += !second;
    b += second;
  }
  void run(Order less) {
    while (a != a_end && b != b_end) step(less);
    std::copy(b, b_end, std::copy(a, a_end, to));
  }
};

// The items `low` to `high` of two merged runs, numbers first. They are merged in four pieces in turn, as a step has to
// wait for the one before it in its piece. (A million doubles in two halves, on one core: 4.0 ms in one, 1.2 in four.)
template <class Order>
void merge(const typename Order::Item* a, npy_intp na, const typename Order::Item* b, npy_intp nb, npy_intp low, npy_intp high,
           typename Order::Item* to, Order less) {
  const npy_intp all_a = na, all_b = nb;
  na = numbers(a, all_a, less);
  nb = numbers(b, all_b, less);
  for (npy_intp i = std::max(low, na + nb); i < high; ++i) to[i] = i - nb < all_a ? a[i - nb] : b[i - all_a];
  high = std::min(high, na + nb);
  if (low >= high) return;
  constexpr int kPieces = 4;
  Merge<Order> pieces[kPieces];
  npy_intp from = low, i = share_of(a, na, b, nb, low, less);
  for (int k = 0; k < kPieces; ++k) {
    const npy_intp until = low + (high - low) * (k + 1) / kPieces;
    const npy_intp j = share_of(a, na, b, nb, until, less);
    pieces[k] = {a + i, a + j, b + (from - i), b + (until - j), to + from};
    from = until;
    i = j;
  }
  for (;;) {
    npy_intp steps = pieces[0].steps();
    for (const Merge<Order>& m : pieces) steps = std::min(steps, m.steps());
    if (steps < 1) break;
    Merge<Order> p = pieces[0], q = pieces[1], r = pieces[2], s = pieces[3];  // in registers
    for (; steps > 0; --steps) {
      p.step(less);
      q.step(less);
      r.step(less);
      s.step(less);
    }
    pieces[0] = p, pieces[1] = q, pieces[2] = r, pieces[3] = s;
  }
  for (Merge<Order>& m : pieces) m.run(less);
}

template <class Order>
class Sorting {
 public:
  using Item = typename Order::Item;
  // `parts` is a power of two.
  Sorting(Order less, npy_intp n, npy_intp parts) : less_(less), n_(n), parts_(parts) {}

  // Sorts into `out`, with `scratch` for as many; `part` sorts the items from the first index to the second into
  // the memory for them all that it is given.
  template <class Part>
  void run(const Crew& crew, Item* out, Item* scratch, Part part) {
    int rounds = 0;
    for (npy_intp p = parts_; p > 1; p /= 2) ++rounds;
    Item *from = rounds % 2 ? scratch : out, *to = rounds % 2 ? out : scratch;
    share(crew, [&](npy_intp p) { part(from, bound(p), bound(p + 1)); });
    for (npy_intp runs = parts_; runs > 1; runs /= 2) {
      const npy_intp each = parts_ * 2 / runs;  // pieces of a merge
      share(crew, [&](npy_intp p) {
        const npy_intp first = p / each * each;  // its runs are those of `each` parts
        const npy_intp begin = bound(first), middle = bound(first + each / 2), end = bound(first + each);
        const npy_intp low = bound(p) - begin, high = bound(p + 1) - begin;
        merge(from + begin, middle - begin, from + middle, end - middle, low, high, to + begin, less_);
      });
      std::swap(from, to);
    }
  }

  // Whether each sorted item comes before the next one.
  bool distinct(const Crew& crew, const Item* items) {
    std::atomic<bool> equals{false};
    share(crew, [&](npy_intp p) {
      for (npy_intp i = std::max<npy_intp>(bound(p), 1), end = bound(p + 1); i < end && !equals.load(std::memory_order_relaxed); ++i)
        if (!before(less_.key(items[i - 1]), less_.key(items[i]))) equals.store(true, std::memory_order_relaxed);
    });
    return !equals;
  }

 private:
  npy_intp bound(npy_intp part) const { return static_cast<npy_intp>(static_cast<double>(n_) * static_cast<double>(part) / static_cast<double>(parts_)); }

  template <class Body>
  void share(const Crew& crew, Body body) {
    struct Turn {
      Body& body;
      npy_intp parts;
      std::atomic<npy_intp> next{0};
      void work() {
        for (npy_intp i; !Engine::called_away() && (i = next.fetch_add(1, std::memory_order_relaxed)) < parts;) body(i);
      }
    } turn{body, parts_};
    crew.share(turn, parts_);
  }

  const Order less_;
  const npy_intp n_, parts_;
};

// Whether there are equals among some of the elements: then most likely among all.
template <class T>
bool seem_equal(const Kernel& kernel, const T* x, npy_intp n) {
  constexpr npy_intp kLooks = 8192;
  const npy_intp looks = std::min(kLooks, n / 8);
  std::unique_ptr<T[]> some(new (std::nothrow) T[looks]);
  if (!some) return true;
  for (npy_intp i = 0; i < looks; ++i) some[i] = x[i * (n / looks)];
  kernel.sort(some.get(), looks, nullptr);
  for (npy_intp i = 1; i < looks; ++i)
    if (!before(some[i - 1], some[i])) return true;
  return false;
}

// Whether zeros of both signs, or different NaNs, lie among sorted numbers: which one comes first among those is
// the affair of NumPy's unstable sort.
template <class T>
bool equals_differ(const T* x, npy_intp n) {
  if constexpr (std::is_floating_point_v<T>) {
    const T* end = std::partition_point(x, x + n, [](T v) { return v == v; });
    for (const T* p = end; p < x + n; ++p)
      if (std::memcmp(p, end, sizeof(T)) != 0) return true;
    const T* zero = std::partition_point(x, end, [](T v) { return v < 0; });
    const T* above = std::partition_point(zero, end, [](T v) { return v <= 0; });
    for (const T* p = zero; p < above; ++p)
      if (std::signbit(*p) != std::signbit(*zero)) return true;
  }
  return false;
}

// Whether that may be so of elements in any order: NaNs are hardly ever alike, and most zeros are positive.
template <class T>
bool equals_may_differ(const T* x, npy_intp n) {
  if constexpr (std::is_floating_point_v<T>)
    return std::any_of(x, x + n, [](T v) { return v != v || (v == 0 && std::signbit(v)); });
  return false;
}

template <class T>
bool sort_as(const Kernel& kernel, npy_intp n, npy_intp parts, const char* in, char* out, const Crew& crew) {
  const T* x = reinterpret_cast<const T*>(in);
  if (kernel.argsort) {
    // Singles of such a line are hardly ever all distinct: a uniform one is one of 2^24.
    if (!kernel.stable && (std::is_same_v<T, float> || seem_equal(kernel, x, n))) return false;
    std::unique_ptr<npy_intp[]> scratch(new (std::nothrow) npy_intp[n]);
    if (!scratch) return false;
    Sorting<ByIndex<T>> sorting({x}, n, parts);
    npy_intp* order = reinterpret_cast<npy_intp*>(out);
    sorting.run(crew, order, scratch.get(), [&](npy_intp* to, npy_intp begin, npy_intp end) {
      for (npy_intp i = begin; i < end; ++i) to[i] = i - begin;
      kernel.argsort(const_cast<T*>(x + begin), to + begin, end - begin, nullptr);
      for (npy_intp i = begin; i < end; ++i) to[i] += begin;
    });
    return kernel.stable || sorting.distinct(crew, order);
  }
  const bool in_place = in == out;  // then NumPy can't begin again
  if (in_place && !kernel.stable && equals_may_differ(x, n)) return false;
  std::unique_ptr<T[]> scratch(new (std::nothrow) T[n]);
  if (!scratch) return false;
  Sorting<ByValue<T>>({}, n, parts).run(crew, reinterpret_cast<T*>(out), scratch.get(),
                                        [&](T* to, npy_intp begin, npy_intp end) {
    if (to != x) std::copy(x + begin, x + end, to + begin);
    kernel.sort(to + begin, end - begin, nullptr);
  });
  return kernel.stable || in_place || !equals_differ(reinterpret_cast<const T*>(out), n);
}

}  // namespace

bool sort_in_parts(const Instr& in, const Block& b, const Crew& crew) {
  constexpr double kTasks = 8;  // of a part: what a merge costs besides must be little
  const Kernel& kernel = *in.kernel;
  const npy_intp n = in.core[0];
  if (b.ndim != 1 || b.shape[0] != 1) return false;
  const double worth = std::min(in.cost_ns / std::max(kTasks * crew.task_ns, 1.0), static_cast<double>(n / 2));
  npy_intp parts = 1;
  while (parts * 2 <= std::min<npy_intp>(crew.engine->cores(), 64) && static_cast<double>(parts * 2) <= worth) parts *= 2;
  if (parts < 2) return false;
  const auto as = [&](auto item) { return sort_as<decltype(item)>(kernel, n, parts, b.ptrs[0], b.ptrs[1], crew); };
  const DtypeInfo& dtype = info(kernel.dtypes[0]);
  if (kernel.stable && dtype.size == 1) return false;  // NumPy counts them, which takes no longer than a merge
  switch (dtype.kind) {
    case 'f': return dtype.size == 8 ? as(double()) : dtype.size == 4 ? as(float()) : false;
    case 'b':
    case 'u': return dtype.size == 8 ? as(uint64_t()) : dtype.size == 4 ? as(uint32_t()) : dtype.size == 2 ? as(uint16_t()) : as(uint8_t());
    case 'i': return dtype.size == 8 ? as(int64_t()) : dtype.size == 4 ? as(int32_t()) : dtype.size == 2 ? as(int16_t()) : as(int8_t());
    default: return false;
  }
}

}  // namespace lazyarray
