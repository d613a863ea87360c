// SPDX-License-Identifier: BSD-3-Clause
// Copies with a signal: rounds between neighbours without a barrier, in which each rank waits for the signals
// of its two neighbours alone; many writers to one counter; a chain, in which each link must see what the one
// before it has put; a late writer, whose reader sleeps; counters that end while signals are on their way;
// and wrong calls.
//
//   signals ROUNDS
//
// Mutations that this catches: a signal that is raised before its bytes are flushed; one that is set where it
// is to be added; a waiter that is not woken; counters that end before all signals have come, whose memory is
// another array's by then.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool holds, const char* what, long round) {
  if (!holds && failures++ < 10) std::printf("rank %d, round %ld: %s\n", weft::upc_mythread(), round, what);
}
double value(int writer, long round, std::size_t k) {
  return writer * 1e6 + static_cast<double>(round) * 1e3 + static_cast<double>(k % 997);
}

// Two places on each side, so a neighbour may be a round ahead: it has my signal of the round before.
void neighbours(int me, int ranks, long rounds, std::size_t count) {
  const int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
  weft::array<double> from_left(2 * count), from_right(2 * count);
  weft::signals arrived(2);
  std::vector<double> edge[2] = {std::vector<double>(count), std::vector<double>(count)};
  for (long round = 1; round <= rounds; ++round) {
    const std::size_t half = round % 2 == 0 ? 0 : count;
    for (std::size_t k = 0; k != count; ++k)
      edge[0][k] = value(me, round, k), edge[1][k] = -value(me, round, k);
    weft::pending both[] = {arrived.put(from_left.on(right).subspan(half, count), edge[0], 0),
                            arrived.put(from_right.on(left).subspan(half, count), edge[1], 1)};
    arrived.wait(static_cast<std::uint64_t>(round), 0);
    arrived.wait(static_cast<std::uint64_t>(round), 1);
    for (std::size_t k = 0; k != count; ++k) {
      expect(from_left[half + k] == value(left, round, k), "from the left", round);
      expect(from_right[half + k] == -value(right, round, k), "from the right", round);
    }
    weft::wait_all(both);
  }
}

void many_writers(int me, int ranks) {
  weft::array<int> from(static_cast<std::size_t>(ranks));
  weft::signals counted;
  for (int round = 1; round <= 20; ++round) {
    std::vector<weft::pending> all;
    const int number[] = {1000 * round + me};
    for (int to = 0; to != ranks; ++to)
      all.push_back(counted.put(from.on(to).subspan(static_cast<std::size_t>(me), 1), number));
    counted.wait(static_cast<std::uint64_t>(ranks * round));
    for (int r = 0; r != ranks; ++r)
      expect(from[static_cast<std::size_t>(r)] == 1000 * round + r, "of many writers", round);
    weft::wait_all(all);
    weft::team().barrier();
  }
}

void chain(int me, int ranks) {
  weft::array<long> sum(3000);
  weft::signals arrived;
  std::vector<long> next(sum.size());
  for (std::uint64_t round = 1; round <= 10; ++round) {
    if (me != 0) arrived.wait(round);
    for (std::size_t k = 0; k != next.size(); ++k)
      next[k] = (me == 0 ? static_cast<long>(k) : sum[k]) + 1;
    if (me + 1 != ranks)
      arrived.put(sum.on(me + 1), next).wait();
    else
      for (std::size_t k = 0; k != next.size(); ++k)
        expect(next[k] == static_cast<long>(k) + ranks, "end of the chain", static_cast<long>(round));
    weft::team().barrier();
  }
}

void late(int me, int ranks) {
  weft::signals told;
  if (me == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30)); // all others sleep by then
  if (me == 0)
    for (int r = 0; r != ranks; ++r)
      told.raise(r, 0, 5);
  expect(told.wait(1) == 5 && told.test(5) && !told.test(6), "a late signal", 0);
}

// Nothing is waited for but that the puts are complete.
void ends(int me, int ranks, long rounds) {
  weft::array<double> from(300);
  const std::vector<double> x(from.size(), me);
  for (long round = 1; round <= rounds; ++round) {
    weft::signals first(3);
    const auto put_to_all = [&] {
      for (int to = 0; to != ranks; ++to)
        for (std::size_t which = 0; which != first.size(); ++which)
          first.put(from.on(to), x, which).wait();
    };
    put_to_all();
    if (round % 2 == 0) {
      first = weft::signals(2);
      put_to_all();
    }
    { const weft::signals last(std::move(first)); }
    weft::array<std::uint64_t> words(3), more(2); // where the counters were
    std::ranges::fill(words, 0), std::ranges::fill(more, 0);
    for (int k = 0; k != 3; ++k)
      weft::weft_barrier();
    for (const auto& area : {words.local(), more.local()})
      for (const std::uint64_t& word : area)
        expect(std::atomic_ref(const_cast<std::uint64_t&>(word)).load() == 0, "a signal behind the end",
               round);
  }
}

// What one rank has called alone is there for those that see its signal behind it.
void behind_one_sided(int me, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  weft::array<long> src(4000 * n), dst(4000);
  weft::signals told;
  for (long round = 1; round <= 8; ++round) {
    const int caller = static_cast<int>(round) % ranks;
    if (me == caller) {
      for (std::size_t k = 0; k != src.size(); ++k)
        src[k] = round * 100'000 + static_cast<long>(k);
      const upc_shared_ptr_t to = {dst.on(0).data().addrfield(), 0, 0};
      if (round % 2 == 0)
        weft::upc_scatter(to, src.on(me).data(), 4000 * sizeof(long));
      else
        weft::upc_broadcast(to, src.on(me).data(), 4000 * sizeof(long));
      for (int r = 0; r != ranks; ++r)
        told.raise(r);
    }
    told.wait(static_cast<std::uint64_t>(round));
    const long first = round * 100'000 + (round % 2 == 0 ? 4000L * me : 0);
    for (std::size_t k = 0; k != dst.size(); ++k)
      expect(dst[k] == first + static_cast<long>(k), "behind a one-sided collective", round);
    weft::weft_barrier();
  }
}

template <class F> void expect_error(std::string_view begins, F&& call) {
  try {
    call();
    expect(false, "no error", 0);
  } catch (const weft::error& e) {
    if (!std::string_view(e.what()).starts_with(begins)) expect(false, e.what(), 0);
  }
}

void wrong_calls(int me, int ranks) {
  weft::signals s;
  weft::array<double> a(4);
  weft::array<char> bytes(64);
  const double x[] = {1, 2, 3, 4};
  expect_error("weft::signals::put: from = 4 elements: must be as many as `to` has, 3",
               [&] { s.put(a.on(me).first(3), x).wait(); });
  expect_error("weft::signals::put: which = 1: must be a counter, 0 to 0",
               [&] { s.put(a.on(me), x, 1).wait(); });
  expect_error("weft::signals::wait: which = 2", [&] { s.wait(1, 2); });
  for (int rank : {-1, ranks}) {
    const std::string value =
        std::to_string(rank) + ": must be a rank of the job, 0 to " + std::to_string(ranks - 1);
    expect_error("weft::signals::raise: rank = " + value, [&] { s.raise(rank); });
    expect_error("weft::array::on: rank = " + value, [&] { s.put(a.on(rank), x).wait(); });
  }
  weft::signals moved;
  const weft::signals owner(std::move(moved));
  expect_error("weft::signals::test: which = 0: there is no counter: the signals were moved from",
               [&] { (void)moved.test(1); });
  const upc_shared_ptr_t mine = {a.on(me).data().addrfield(), std::uint32_t(me), 0};
  upc_shared_ptr_t odd = mine, other = mine;
  odd.addr += 4;
  other.thread = std::uint32_t(me + 1) % std::uint32_t(ranks);
  expect_error("weft_wait_until: signal = ", [&] { weft::weft_wait_until(odd, WEFT_CMP_GE, 0); });
  expect_error("weft_wait_until: cmp = 9", [&] { weft::weft_wait_until(mine, weft_cmp_t(9), 0); });
  expect_error("weft_put_signal: how = 7",
               [&] { upc_sync(weft::weft_put_signal({}, nullptr, 0, mine, 1, weft_signal_t(7))); });
  if (ranks > 1) {
    expect_error("weft_put_signal: signal = ", [&] {
      upc_sync(weft::weft_put_signal({bytes.on(me).data().addrfield(), std::uint32_t(me), 0}, x, 8, other, 1,
                                     WEFT_SIGNAL_ADD));
    });
    expect_error("weft_test_until: signal = ", [&] { weft::weft_test_until(other, WEFT_CMP_GE, 0); });
  }
}

// A signal in the bytes that are copied is refused, wherever the rows lie; beside them it is raised.
void in_the_way(int me) {
  constexpr std::size_t most = 64;
  weft::array<char> area(most + 8);
  const char letters[most] = {};
  const auto at = [&](std::size_t place) {
    return upc_shared_ptr_t{area.on(me).data().addrfield() + place, std::uint32_t(me), 0};
  };
  for (const std::size_t first : {0, 3, 8})
    for (const std::size_t bytes : {1, 4, 8, 11})
      for (const std::size_t apart : {bytes, bytes + 1, std::size_t{16}, std::size_t{19}})
        for (const std::size_t rows : {1, 2, 3})
          for (std::size_t word = 0; word != most + 8; word += 8) {
            bool meets = false;
            for (std::size_t row = 0; row != rows; ++row)
              meets = meets || (first + row * apart < word + 8 && word < first + row * apart + bytes);
            bool refused = false;
            try {
              upc_sync(rows == 1
                           ? weft::weft_put_signal(at(first), letters, bytes, at(word), 1, WEFT_SIGNAL_SET)
                           : weft::weft_put_rows(at(first), apart, letters, bytes, bytes, rows, at(word), 1,
                                                 WEFT_SIGNAL_SET));
            } catch (const weft::error& e) {
              refused = e.argument == "signal" && e.rule.starts_with("lies in the bytes that are copied");
            }
            expect(refused == meets, "a signal in the way", long(word));
          }
}

} // namespace

WEFT_SUITE(signals) {
  failures = 0;
  const long rounds = argc > 1 ? std::atol(argv[1]) : 50;
  const int me = weft::upc_mythread(), ranks = weft::upc_threads();
  for (const std::size_t count : {1, 300, 20'000})
    neighbours(me, ranks, count > 10'000 ? rounds / 5 : rounds, count);
  many_writers(me, ranks);
  chain(me, ranks);
  late(me, ranks);
  ends(me, ranks, rounds);
  behind_one_sided(me, ranks);
  wrong_calls(me, ranks);
  in_the_way(me);
  weft::team().barrier();
  return failures == 0 ? 0 : 1;
}
