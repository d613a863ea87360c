// Rounds of one-sided calls at random. In each round some threads call, each an operation on areas of its
// own, and the others compute: they enter no call until the barrier. Then every thread compares all that it
// has of every area, written or not, with what a serial reference makes of the same contents.
#pragma once

#include "tests/differential/dice.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace one_sided {

using differential::dice;

inline std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}

inline void compute() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
  while (std::chrono::steady_clock::now() < end)
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// What all calls have: whether there is one, with a handle or not, and who takes part: all threads, the team
// of those with the caller's parity, or a list.
struct drawn_call {
  bool called, posted;
  enum { all, team, list } who;
  std::vector<int> threads;

  drawn_call(dice& d, std::uint64_t round, int caller)
      : called(d.chance(45) || round % one_sided::threads() == static_cast<std::uint64_t>(caller)),
        posted(d.chance(50)), who(static_cast<decltype(who)>(d.below(3))) {
    for (int t = 0; t < THREADS; ++t)
      if (who == all || (who == team ? t % 2 == caller % 2 : d.chance(60))) threads.push_back(t);
    if (threads.empty()) threads.push_back(caller);
    if (who == list && d.chance(50)) std::ranges::reverse(threads);
  }

  upc_flag_t flags() const { return posted ? UPC_ASYNC : 0; }
  // `call` is given who takes part, as the library takes it.
  template <class F> upc_coll_handle_t among(upc_team_t mine, const F& call) const {
    if (who == list) return call(std::span<const int>(threads));
    return call(who == all ? UPC_TEAM_ALL : mine);
  }
};

// On each thread an area for each caller, of `size` elements; their contents before a round are known to all.
template <class T> struct areas {
  upc_shared_ptr_t memory;
  std::size_t size;

  T* mine(int caller) const {
    upc_shared_ptr_t p = memory;
    p.thread = static_cast<std::uint32_t>(MYTHREAD);
    return static_cast<T*>(upc_cast(p)) + static_cast<std::size_t>(caller) * size;
  }
  // Element `at` of the calling thread's area on `thread`.
  upc_shared_ptr_t pointer(int thread, std::size_t at, std::size_t phase = 0) const {
    const std::size_t elements = static_cast<std::size_t>(MYTHREAD) * size + at;
    return {memory.addr + elements * sizeof(T), static_cast<std::uint32_t>(thread),
            static_cast<std::uint32_t>(phase)};
  }
  // `count` elements from the first one on, without the others.
  static std::vector<T> content(std::uint64_t round, int caller, int thread, std::size_t first,
                                std::size_t count) {
    constexpr std::size_t per_word = sizeof(std::uint64_t) / sizeof(T);
    const std::uint64_t key =
        differential::mix({round, static_cast<std::uint64_t>(caller), static_cast<std::uint64_t>(thread)});
    std::vector<std::uint64_t> words(count / per_word + 2);
    for (std::size_t k = 0; k != words.size(); ++k)
      words[k] = differential::mix(key + first / per_word + k);
    std::vector<T> elements(count);
    const auto* const begin = reinterpret_cast<const unsigned char*>(words.data());
    if (count != 0) std::memcpy(elements.data(), begin + first % per_word * sizeof(T), count * sizeof(T));
    return elements;
  }
};

// One round of a kind of calls. A Kind has its `element`, what it has `drawn` (a drawn_call and more),
//   drawn draw(dice&, round, caller), and upc_coll_handle_t start(drawn);
//   vector<element> reference(drawn, content): this thread's area afterwards, content(thread) or, of a part,
//     content(thread, first, count) being what one was before;
//   string describe(drawn).
template <class Kind> class round_of_calls {
public:
  using element = typename Kind::element;

  round_of_calls(const Kind& kind, std::uint64_t number) : kind_(kind), number_(number) {
    for (int t = 0; t < THREADS; ++t) {
      dice d{Kind::seed, number, threads(), static_cast<std::uint64_t>(t)};
      calls_.push_back(kind.draw(d, number, t));
    }
  }

  void fill() const {
    for (int caller = 0; caller < THREADS; ++caller)
      std::ranges::copy(content(caller, MYTHREAD), kind_.memory().mine(caller));
  }

  void call() const {
    const auto& c = calls_[static_cast<std::size_t>(MYTHREAD)];
    if (!c.called) return compute();
    const upc_coll_handle_t h = kind_.start(c);
    if (c.posted) compute();
    upc_wait_value(h);
  }

  bool right() const {
    bool all = true;
    for (int caller = 0; caller < THREADS; ++caller) {
      const auto& c = calls_[static_cast<std::size_t>(caller)];
      const std::vector<element> wanted =
          c.called
              ? kind_.reference(c, [&](int thread, auto... part) { return content(caller, thread, part...); })
              : content(caller, MYTHREAD);
      const auto differs = std::mismatch(wanted.begin(), wanted.end(), kind_.memory().mine(caller));
      if (differs.first == wanted.end()) continue;
      all = false;
      std::fprintf(stderr, "round %llu, caller %d: element %td of thread %d differs; %s, %zu threads%s\n",
                   static_cast<unsigned long long>(number_), caller, differs.first - wanted.begin(), MYTHREAD,
                   c.called ? kind_.describe(c).c_str() : "not called", c.threads.size(),
                   c.posted ? ", posted" : "");
    }
    return all;
  }

private:
  std::vector<element> content(int caller, int thread) const {
    return content(caller, thread, 0, kind_.memory().size);
  }
  std::vector<element> content(int caller, int thread, std::size_t first, std::size_t count) const {
    return one_sided::areas<element>::content(number_, caller, thread, first, count);
  }

  const Kind& kind_;
  std::uint64_t number_;
  std::vector<typename Kind::drawn> calls_;
};

// So many rounds with areas of that many elements; whether one was wrong, which is the last.
template <class Kind> int play(std::uint64_t rounds, std::size_t size) {
  upc_team_t parity = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD % 2, MYTHREAD, &parity);
  const std::size_t bytes = threads() * size * sizeof(typename Kind::element);
  const Kind kind({upc_all_alloc(threads(), bytes), size}, parity);
  int wrong = 0;
  for (std::uint64_t number = 0; number < rounds && wrong == 0; ++number) {
    const round_of_calls<Kind> now(kind, number);
    now.fill();
    upc_barrier;
    now.call();
    upc_barrier;
    wrong = weft::reduce_all(now.right() ? 0 : 1, UPC_MAX).get();
  }
  if (MYTHREAD == 0)
    std::printf("%llu rounds on %d threads\n", static_cast<unsigned long long>(rounds), THREADS);
  cray_upc_team_free(parity);
  return wrong;
}

} // namespace one_sided
