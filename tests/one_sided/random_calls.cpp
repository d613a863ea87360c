// One-sided relocalizations at random. In each round some threads call, each an operation on areas of its
// own, and the others compute: they enter no call until the barrier. Then every thread compares all that it
// has of every area, written or not, with what a serial reference makes of the same bytes.
#include "tests/differential/dice.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <weft/weft.hpp>

namespace {

using differential::dice;
using bytes = std::vector<unsigned char>;

enum class kind { broadcast, scatter, gather, exchange, gather_all };
enum class among { all, team, list };

struct drawn {
  bool called;
  kind what;
  among who;
  std::vector<int> threads;
  int root;
  std::size_t nbytes, dst, src; // bytes from the beginning of the caller's area
  bool in_place, posted;
};

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}

class round_of_calls {
public:
  round_of_calls(std::uint64_t number, upc_shared_ptr_t memory, std::size_t area, upc_team_t odd)
      : number_(number), memory_(memory), area_(area), odd_(odd) {
    for (int t = 0; t < THREADS; ++t)
      calls_.push_back(draw(t));
  }

  void fill() const {
    for (int caller = 0; caller < THREADS; ++caller) {
      const bytes now = content(caller, MYTHREAD);
      std::memcpy(mine(caller), now.data(), now.size());
    }
  }

  void call() const {
    const drawn& c = calls_[static_cast<std::size_t>(MYTHREAD)];
    if (!c.called) return compute();
    const upc_coll_handle_t h = start(c);
    if (c.posted) compute();
    upc_wait_value(h);
  }

  bool right() const {
    bool all = true;
    for (int caller = 0; caller < THREADS; ++caller) {
      const drawn& c = calls_[static_cast<std::size_t>(caller)];
      const bytes wanted = reference(c, caller);
      const auto differs = std::mismatch(wanted.begin(), wanted.end(), mine(caller));
      if (differs.first == wanted.end()) continue;
      all = false;
      std::fprintf(stderr,
                   "round %llu, caller %d: byte %td of thread %d differs; %s of %zu bytes, root %d, %zu "
                   "threads%s%s\n",
                   static_cast<unsigned long long>(number_), caller, differs.first - wanted.begin(), MYTHREAD,
                   names[static_cast<std::size_t>(c.what)], c.nbytes, c.root, c.threads.size(),
                   c.in_place ? ", in place" : "", c.posted ? ", posted" : "");
    }
    return all;
  }

  static std::size_t area_for(std::size_t most) { return 2 * threads() * most + 256; }

private:
  static constexpr const char* names[] = {"broadcast", "scatter", "gather", "exchange", "gather_all"};

  drawn draw(int caller) const {
    dice d{29, number_, threads(), static_cast<std::uint64_t>(caller)};
    drawn c{};
    c.called = d.chance(45) || number_ % threads() == static_cast<std::uint64_t>(caller);
    c.what = static_cast<kind>(d.below(5));
    c.who = static_cast<among>(d.below(3));
    if (c.who == among::team && caller % 2 == 0) c.who = among::all;
    for (int t = 0; t < THREADS; ++t)
      if (c.who == among::all || (c.who == among::team ? t % 2 == 1 : d.chance(60))) c.threads.push_back(t);
    if (c.threads.empty()) c.threads.push_back(caller);
    if (c.who == among::list && d.chance(50)) std::ranges::reverse(c.threads);
    const std::size_t most = (area_ - 256) / (2 * threads());
    c.nbytes = d.chance(10) ? 0 : d.chance(70) ? 1 + d.below(200) : 1 + d.below(most);
    c.in_place = c.what != kind::gather_all && d.chance(30);
    c.posted = d.chance(50);
    c.root = static_cast<int>(d.below(threads()));
    const std::size_t block = threads() * c.nbytes, apart = d.below(64);
    c.dst = d.below(64);
    c.src = c.in_place ? c.dst : c.dst + block + apart;
    if (!c.in_place && d.chance(50)) std::swap(c.dst, c.src);
    return c;
  }

  unsigned char* mine(int caller) const {
    upc_shared_ptr_t p = memory_;
    p.thread = static_cast<std::uint32_t>(MYTHREAD);
    return static_cast<unsigned char*>(upc_cast(p)) + static_cast<std::size_t>(caller) * area_;
  }

  bytes content(int caller, int thread) const {
    bytes all(area_);
    std::uint64_t x =
        differential::mix({number_, static_cast<std::uint64_t>(caller), static_cast<std::uint64_t>(thread)});
    for (unsigned char& b : all) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      b = static_cast<unsigned char>(x >> 56);
    }
    return all;
  }

  static void compute() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
    while (std::chrono::steady_clock::now() < end)
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  upc_coll_handle_t start(const drawn& c) const {
    const auto at = [&](std::size_t offset, bool rooted) {
      upc_shared_ptr_t p = memory_;
      p.addr += static_cast<std::size_t>(MYTHREAD) * area_ + offset;
      p.thread = static_cast<std::uint32_t>(rooted ? c.root : c.threads.front());
      return p;
    };
    const bool from_root = c.what == kind::broadcast || c.what == kind::scatter,
               to_root = c.what == kind::gather;
    const bool both = c.in_place && (from_root || to_root);
    const upc_shared_ptr_t dst = at(c.dst, to_root || both), src = at(c.src, from_root || both);
    const upc_flag_t flags = c.posted ? UPC_ASYNC : 0;
    if (c.who == among::all && !c.posted) return blocking(c, dst, src);
    const upc_team_t team = c.who == among::all ? UPC_TEAM_ALL : odd_;
    const auto run = [&](auto&& f) {
      return c.who == among::list ? f(std::span<const int>(c.threads), flags) : f(team, flags);
    };
    switch (c.what) {
    case kind::broadcast:
      return run([&](auto who, upc_flag_t m) { return weft::upc_broadcast(dst, src, c.nbytes, who, m); });
    case kind::scatter:
      return run([&](auto who, upc_flag_t m) { return weft::upc_scatter(dst, src, c.nbytes, who, m); });
    case kind::gather:
      return run([&](auto who, upc_flag_t m) { return weft::upc_gather(dst, src, c.nbytes, who, m); });
    case kind::exchange:
      return run([&](auto who, upc_flag_t m) { return weft::upc_exchange(dst, src, c.nbytes, who, m); });
    case kind::gather_all:
      return run([&](auto who, upc_flag_t m) { return weft::upc_gather_all(dst, src, c.nbytes, who, m); });
    }
    std::abort();
  }
  static upc_coll_handle_t blocking(const drawn& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
    using form = void (*)(upc_shared_ptr_t, upc_shared_ptr_t, std::size_t);
    static constexpr form all[] = {weft::upc_broadcast, weft::upc_scatter, weft::upc_gather,
                                   weft::upc_exchange, weft::upc_gather_all};
    all[static_cast<std::size_t>(c.what)](dst, src, c.nbytes);
    return UPC_HANDLE_COMPLETE;
  }

  // What the caller's area is on this thread afterwards: all blocks move at once.
  bytes reference(const drawn& c, int caller) const {
    bytes mine = content(caller, MYTHREAD);
    if (!c.called) return mine;
    const auto put = [&](std::size_t to, int thread, std::size_t from) {
      const bytes theirs = content(caller, thread);
      std::copy_n(theirs.begin() + static_cast<std::ptrdiff_t>(from), c.nbytes,
                  mine.begin() + static_cast<std::ptrdiff_t>(to));
    };
    const auto me = std::ranges::find(c.threads, MYTHREAD);
    const bool takes_part = me != c.threads.end();
    const auto rank = static_cast<std::size_t>(me - c.threads.begin());
    if (c.what == kind::broadcast && takes_part && !(c.in_place && MYTHREAD == c.root))
      put(c.dst, c.root, c.src);
    if (c.what == kind::scatter && takes_part) put(c.dst, c.root, c.src + rank * c.nbytes);
    for (std::size_t k = 0; k < c.threads.size(); ++k) {
      if (c.what == kind::gather && MYTHREAD == c.root) put(c.dst + k * c.nbytes, c.threads[k], c.src);
      if (c.what == kind::gather_all && takes_part) put(c.dst + k * c.nbytes, c.threads[k], c.src);
      if (c.what == kind::exchange && takes_part)
        put(c.dst + k * c.nbytes, c.threads[k], c.src + rank * c.nbytes);
    }
    return mine;
  }

  std::uint64_t number_;
  upc_shared_ptr_t memory_;
  std::size_t area_;
  upc_team_t odd_; // all odd threads
  std::vector<drawn> calls_;
};

} // namespace

// usage: random_calls ROUNDS [MOST]
int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const std::size_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
  upc_team_t parity = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD % 2, MYTHREAD, &parity);
  const std::size_t area = round_of_calls::area_for(most);
  const upc_shared_ptr_t memory = upc_all_alloc(threads(), threads() * area);
  int wrong = 0;
  for (std::uint64_t round = 0; round < rounds && wrong == 0; ++round) {
    const round_of_calls now(round, memory, area, parity);
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
