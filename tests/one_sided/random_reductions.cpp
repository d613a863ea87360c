// One-sided reductions and prefix reductions at random: as random_calls, with elements. The reference walks
// over the elements one by one, from thread to thread.
#include "tests/differential/dice.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>
#include <weft/weft.hpp>

namespace {

using differential::dice;
using word = std::uint64_t;
using words = std::vector<word>;

enum class kind { value, prefix, exclusive };

struct array {
  std::size_t at, phase, first; // words into the area, of the thread's first block; first: a place
};
struct drawn {
  bool called, posted, in_place;
  kind what;
  enum { all, team, list } who;
  std::vector<int> threads;
  std::size_t nelems, block;
  array src, dst;
  int root; // of a value: the thread of the result, which is the word dst.at
  upc_op_t op;
};

std::size_t thread_count() {
  return static_cast<std::size_t>(THREADS);
}

class round_of_calls {
public:
  static constexpr std::size_t area = 6000; // words of a caller on each thread

  round_of_calls(std::uint64_t number, upc_shared_ptr_t memory, upc_team_t team)
      : number_(number), memory_(memory), team_(team) {
    for (int t = 0; t < THREADS; ++t)
      calls_.push_back(draw(t));
  }

  void fill() const {
    for (int caller = 0; caller < THREADS; ++caller) {
      const words now = content(caller, MYTHREAD);
      std::ranges::copy(now, mine(caller));
    }
  }

  void call() const {
    const drawn& c = calls_[static_cast<std::size_t>(MYTHREAD)];
    if (!c.called) return compute();
    upc_wait_value(start(c));
  }

  bool right() const {
    bool all = true;
    for (int caller = 0; caller < THREADS; ++caller) {
      const drawn& c = calls_[static_cast<std::size_t>(caller)];
      const words wanted = reference(c, caller);
      const auto differs = std::mismatch(wanted.begin(), wanted.end(), mine(caller));
      if (differs.first == wanted.end()) continue;
      all = false;
      std::fprintf(stderr,
                   "round %llu, caller %d: word %td of thread %d differs; form %d of %zu elements, blocks of "
                   "%zu, phases %zu and %zu, %zu threads%s%s\n",
                   static_cast<unsigned long long>(number_), caller, differs.first - wanted.begin(), MYTHREAD,
                   static_cast<int>(c.what), c.nelems, c.block, c.src.phase, c.dst.phase, c.threads.size(),
                   c.in_place ? ", in place" : "", c.posted ? ", posted" : "");
    }
    return all;
  }

private:
  drawn draw(int caller) const {
    dice d{31, number_, thread_count(), static_cast<std::uint64_t>(caller)};
    drawn c{};
    c.called = d.chance(45) || number_ % thread_count() == static_cast<std::uint64_t>(caller);
    c.posted = d.chance(50);
    c.what = static_cast<kind>(d.below(3));
    c.who = static_cast<decltype(c.who)>(d.below(3));
    for (int t = 0; t < THREADS; ++t)
      if (c.who == drawn::all || (c.who == drawn::team ? t % 2 == caller % 2 : d.chance(60)))
        c.threads.push_back(t);
    if (c.threads.empty()) c.threads.push_back(caller);
    if (c.who == drawn::list && d.chance(50)) std::ranges::reverse(c.threads);
    const std::size_t sizes[] = {1, 1, 2, 3, 7, 64, 0};
    c.block = d.pick(sizes);
    c.nelems = d.chance(5) ? 0 : 1 + d.below(d.chance(60) ? 40 : c.block == 0 ? 900 : 900 * c.threads.size());
    const auto place = [&](std::size_t begin) {
      array a;
      a.at = begin + d.below(10);
      a.phase = c.block == 0 ? 0 : d.below(c.block);
      a.first = d.below(c.threads.size());
      return a;
    };
    c.src = place(100);
    c.dst = place(3000);
    if (d.chance(40)) c.dst = {c.dst.at, c.src.phase, c.src.first};
    c.in_place = d.chance(30);
    c.root = static_cast<int>(d.below(thread_count()));
    if (c.in_place && c.what == kind::value) c.root = c.threads[c.src.first];
    const upc_op_t ops[] = {UPC_ADD, UPC_MULT, UPC_XOR, UPC_MIN, UPC_MAX};
    c.op = d.pick(ops);
    if (c.in_place) c.dst = c.src;
    return c;
  }

  // Of the i-th element of an array: which thread, and which word.
  struct location {
    int thread;
    std::size_t word;
  };
  static location locate(const drawn& c, const array& a, std::size_t i) {
    if (c.block == 0) return {c.threads[a.first], a.at + i};
    std::size_t phase = a.phase, thread = a.first, row = 0;
    const std::size_t far = phase + i;
    phase = far % c.block;
    thread += far / c.block;
    row = thread / c.threads.size();
    return {c.threads[thread % c.threads.size()], a.at + row * c.block + phase};
  }

  static word combine(upc_op_t op, word a, word b) {
    return op == UPC_ADD    ? a + b
           : op == UPC_MULT ? a * b
           : op == UPC_XOR  ? a ^ b
           : op == UPC_MIN  ? std::min(a, b)
                            : std::max(a, b);
  }

  word* mine(int caller) const {
    upc_shared_ptr_t p = memory_;
    p.thread = static_cast<std::uint32_t>(MYTHREAD);
    return static_cast<word*>(upc_cast(p)) + static_cast<std::size_t>(caller) * area;
  }
  words content(int caller, int thread) const {
    words all(area);
    word x = differential::mix({number_, static_cast<word>(caller), static_cast<word>(thread)});
    for (word& w : all)
      w = x = differential::mix(x);
    return all;
  }
  static void compute() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
    while (std::chrono::steady_clock::now() < end)
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  upc_shared_ptr_t pointer(int thread, std::size_t at, std::size_t phase) const {
    upc_shared_ptr_t p = memory_;
    p.addr += (static_cast<std::size_t>(MYTHREAD) * area + at) * sizeof(word);
    p.thread = static_cast<std::uint32_t>(thread);
    p.phase = static_cast<std::uint32_t>(phase);
    return p;
  }
  upc_coll_handle_t start(const drawn& c) const {
    const auto of = [&](const array& a) { return pointer(c.threads[a.first], a.at + a.phase, a.phase); };
    const upc_shared_ptr_t src = of(c.src);
    const upc_shared_ptr_t dst = c.what != kind::value ? of(c.dst)
                                 : c.in_place          ? src
                                                       : pointer(c.root, c.dst.at, 0);
    const upc_flag_t flags = c.posted ? UPC_ASYNC : 0;
    const auto run = [&](auto who) {
      switch (c.what) {
      case kind::value:
        return weft::upc_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      case kind::prefix:
        return weft::upc_prefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      default:
        return weft::upc_xprefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.block, who, flags);
      }
    };
    if (c.who == drawn::list) return run(std::span<const int>(c.threads));
    return run(c.who == drawn::all ? UPC_TEAM_ALL : team_);
  }

  words reference(const drawn& c, int caller) const {
    words mine = content(caller, MYTHREAD);
    if (!c.called || c.nelems == 0) return mine;
    std::vector<words> all;
    for (int t = 0; t < THREADS; ++t)
      all.push_back(content(caller, t));
    word so_far = 0;
    for (std::size_t i = 0; i < c.nelems; ++i) {
      const location from = locate(c, c.src, i), to = locate(c, c.dst, i);
      const word before = so_far, it = all[static_cast<std::size_t>(from.thread)][from.word];
      so_far = i == 0 ? it : combine(c.op, so_far, it);
      if (c.what == kind::value || to.thread != MYTHREAD) continue;
      if (c.what == kind::prefix) mine[to.word] = so_far;
      if (c.what == kind::exclusive && i != 0) mine[to.word] = before;
    }
    if (c.what == kind::value && c.root == MYTHREAD)
      mine[c.in_place ? c.src.at + c.src.phase : c.dst.at] = so_far;
    return mine;
  }

  std::uint64_t number_;
  upc_shared_ptr_t memory_;
  upc_team_t team_; // the threads of my parity
  std::vector<drawn> calls_;
};

// One element of each thread: the forms of the text.
bool forms_of_the_text() {
  const upc_shared_ptr_t a = upc_all_alloc(thread_count(), sizeof(int)),
                         b = upc_all_alloc(thread_count(), sizeof(int));
  upc_shared_ptr_t mine = a;
  mine.thread = static_cast<std::uint32_t>(MYTHREAD);
  upc_shared_ptr_t got = b;
  got.thread = mine.thread;
  *static_cast<int*>(upc_cast(mine)) = MYTHREAD + 1;
  upc_barrier;
  if (MYTHREAD == THREADS - 1) {
    weft::upc_xprefix_reduce(b, a, UPC_INT, UPC_ADD);
    weft::upc_reduce(b, a, UPC_INT, UPC_ADD); // element 0 has nothing in front of it
  }
  upc_barrier;
  const int wanted = MYTHREAD == 0 ? THREADS * (THREADS + 1) / 2 : MYTHREAD * (MYTHREAD + 1) / 2;
  const bool right = *static_cast<int*>(upc_cast(got)) == wanted;
  upc_all_free(a);
  upc_all_free(b);
  return right;
}

} // namespace

// usage: random_reductions ROUNDS
int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  upc_team_t parity = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD % 2, MYTHREAD, &parity);
  const upc_shared_ptr_t memory =
      upc_all_alloc(thread_count(), thread_count() * round_of_calls::area * sizeof(word));
  int wrong = weft::reduce_all(forms_of_the_text() ? 0 : 1, UPC_MAX).get();
  for (std::uint64_t round = 0; round < rounds && wrong == 0; ++round) {
    const round_of_calls now(round, memory, parity);
    now.fill();
    upc_barrier;
    now.call();
    upc_barrier;
    wrong = weft::reduce_all(now.right() ? 0 : 1, UPC_MAX).get();
  }
  if (MYTHREAD == 0)
    std::printf("%llu rounds on %d threads\n", static_cast<unsigned long long>(rounds), THREADS);
  cray_upc_team_free(parity);
  weft_finalize();
  return wrong;
}
