// SPDX-License-Identifier: BSD-3-Clause
// Collectives on operands wherever they lie: on each rank drawn anew, in ordinary memory or in the shared
// heap, at another place on each. Every operation in every size, while one rank posts and then looks at a
// flag that the others set when they are through: it calls nothing meanwhile. What comes out is reckoned from
// a formula.
//
// usage: anywhere SEED ROUNDS
//
// Large ones are cut into series, of which few pieces have room at a time: also where the heap has no room
// for more, and where a rank comes late.
//
// Mutations that this catches: a source that is read where it lies, a result that is not copied out, a plan
// that depends on where an operand lies, room that is given back before the others have read; a series that a
// plan does not read, or reads on another rank.
#include "tests/users/anywhere.hpp"
#include "tests/jobs/suite.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <upc_castable.h>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

namespace {

using namespace anywhere_calls;

// Until all others have said that they are through; it calls nothing of the library.
bool wait_for_flag(const weft::array<long>& through, long others) {
  const std::atomic_ref<long> flag(through[0]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (flag.load() != others) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Memory of the system's own, of which nothing is taken before it is touched.
class mapping {
public:
  explicit mapping(std::size_t n)
      : bytes_(n * sizeof(long)), at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() { end(); }
  void end() {
    if (at_ != nullptr) munmap(std::exchange(at_, nullptr), bytes_);
  }
  std::span<long> elements() const { return {static_cast<long*>(at_), bytes_ / sizeof(long)}; }

private:
  std::size_t bytes_;
  void* at_;
};

template <class F> bool fails(const std::string& begins, const char* has, F&& call) {
  try {
    call();
    std::printf("rank %d: no error: %s ... %s\n", weft::upc_mythread(), begins.c_str(), has);
  } catch (const weft::error& e) {
    const std::string_view text = e.what();
    if (text.starts_with(begins) && text.find(has) != text.npos && text.find('\n') == text.npos) return true;
    std::printf("rank %d: %s, and not: %s ... %s\n", weft::upc_mythread(), e.what(), begins.c_str(), has);
  }
  return false;
}

// They start nothing.
bool wrong_calls() {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size());
  // A rank's block for itself goes to its place at once.
  const std::size_t heap = weft::weft_setting("WEFT_HEAP_SIZE") / sizeof(long);
  const mapping large((2 * heap / n + 1024) * n), to(large.elements().size());
  bool right = true;
  const std::vector<std::size_t> counts(n, large.elements().size() / n);
  if (n > 1)
    right &= fails("cray_upc_team_alltoallv: bytes = ", "raise WEFT_HEAP_SIZE",
                   [&] { weft::exchange_v(to.elements(), counts, large.elements(), counts).wait(); });
  right &= fails("cray_upc_team_allreduce: bytes = ", "raise WEFT_HEAP_SIZE", [&] {
    weft::cray_upc_team_allreduce(weft_pointer_to(to.elements().data()),
                                  weft_pointer_to(large.elements().data()), large.elements().size(),
                                  CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, nullptr);
  });
  std::vector<long> some(2 * n), got(2 * n);
  const std::vector<std::size_t> sizes(n, sizeof(long)), wide(n, 2 * sizeof(long));
  std::vector<std::ptrdiff_t> places(n);
  for (std::size_t k = 0; k != n; ++k)
    places[k] = static_cast<std::ptrdiff_t>(k * sizeof(long));
  const auto exchange_of = [&](const std::vector<std::size_t>& gets, const std::vector<std::ptrdiff_t>& at) {
    upc_handle_t h = 0;
    weft::cray_upc_team_alltoallv(weft_pointer_to(got.data()), gets.data(), at.data(),
                                  weft_pointer_to(some.data()), gets.data(), places.data(), UPC_TEAM_ALL, &h);
    upc_sync(h);
  };
  if (n > 1) {
    const std::vector<long> own(n, all.rank());
    const auto permute_to = [&](int to) { weft::permute(std::span(got).first(n), own, to).wait(); };
    right &= fails("weft::permute: to = " + std::to_string(n), "must be a rank", [&] { permute_to(int(n)); });
    if (all.rank() == 0)
      right &=
          fails("cray_upc_team_alltoallv: perm = no element 0", "nothing was moved", [&] { permute_to(1); });
    else if (all.rank() == 1) // two give to it
      right &= fails("cray_upc_team_alltoallv: perm = 1", "each thread's another", [&] { permute_to(1); });
    else
      permute_to(all.rank());
  }
  if (n > 1)
    right &= fails("cray_upc_team_alltoallv: dst_places = 8", "overlap", [&] { exchange_of(wide, places); });
  std::vector<std::ptrdiff_t> below = places;
  below[0] = -8;
  right &= fails("cray_upc_team_alltoallv: dst_places = -8", "0 bytes or more",
                 [&] { exchange_of(sizes, below); });
  return right;
}

// The two ends of a block say different sizes. What has come before lies in the mailboxes still, with the
// size that is expected.
bool sizes_that_differ() {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size());
  const bool gives = all.rank() == 0, takes = all.rank() + 1 == all.size();
  constexpr std::size_t lengths[] = {8, 100, 1900, 5000, 200'000};
  bool right = true;
  for (const std::size_t given : lengths)
    for (const std::size_t expected : lengths) {
      if (given == expected) continue;
      const std::vector<char> src(n * expected + given, 's');
      std::vector<char> dst(n * expected);
      std::vector<std::size_t> out(n, expected);
      const std::vector<std::size_t> in(n, expected);
      const auto post = [&] {
        return weft::exchange_v(dst, in, std::span(src).first(std::reduce(out.begin(), out.end())), out);
      };
      for (int before = 0; before != 33; ++before) // one more than a mailbox has slots
        post().wait();
      if (gives) out.back() = given;
      std::ranges::fill(dst, 'd');
      if (!takes) {
        post().wait();
        continue;
      }
      right &= fails("cray_upc_team_alltoallv: nbytes = " + std::to_string(expected),
                     (" " + std::to_string(given) + " bytes: both must say the same").c_str(),
                     [&] { post().wait(); });
      right &= dst.front() == 'd' && dst[expected - 1] == 'd';
    }
  if (!right) std::printf("rank %d: two ends of a block do not agree\n", all.rank());
  return right;
}

// Rank 1 comes when all others but the root, rank 0, have what the root gives; and there is no third piece of
// it before the first is over, unless it gets room of its own.
bool one_comes_late(const weft::array<long>& flag) {
  const weft::team all;
  std::vector<long> both(most, all.rank() == 0 ? 5 : -1);
  flag[0] = 0;
  all.barrier();
  bool right = true;
  if (all.rank() == 1) right = wait_for_flag(flag, all.size() - 2);
  weft::broadcast(both, 0).wait();
  right &= std::ranges::count(both, 5L) == static_cast<std::ptrdiff_t>(most);
  if (all.rank() > 1) flag.on(1)[0] += 1;
  all.barrier();
  if (!right) std::printf("rank %d: a broadcast waits for a rank that comes late\n", all.rank());
  return right;
}

// Calls of any size with room for a few pieces.
bool little_room() {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size());
  const std::size_t count = (std::size_t{12} << 20) / sizeof(long) / n * n, left = std::size_t{8} << 20;
  std::vector<long> src(count), dst(count);
  std::vector<upc_shared_ptr_t> taken;
  const upc_shared_ptr_t room = weft::upc_alloc(left);
  for (std::size_t bytes = weft::weft_setting("WEFT_HEAP_SIZE"); bytes > left / 8; bytes /= 2)
    try {
      for (;;)
        taken.push_back(weft::upc_alloc(bytes));
    } catch (const weft::error&) { // then smaller ones
    }
  weft::upc_free(room);
  for (std::size_t k = 0; k != count; ++k)
    src[k] = all.rank() + static_cast<long>(k);
  weft::reduce_all(dst, src, UPC_ADD).wait();
  bool right = true;
  const auto ranks = static_cast<long>(n);
  for (std::size_t k = 0; k != count; ++k)
    right &= dst[k] == ranks * static_cast<long>(k) + ranks * (ranks - 1) / 2;
  for (const upc_shared_ptr_t p : taken)
    weft::upc_free(p);
  all.barrier();
  return right;
}

// A child that is forked while an operation is under way calls the library: one line, and the parent goes on.
bool child_in_the_middle() {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size());
  std::vector<long> src(n << 16, all.rank()), dst(n << 16);
  weft::pending p = weft::exchange(dst, src);
  if (const pid_t child = fork(); child == 0) {
    bool right = fails("", "forked", [&] { p.wait(); });
    right &= fails("", "forked", [&] { weft::exchange(dst, src).wait(); });
    _exit(right ? 42 : 1);
  } else {
    int status = 0;
    const bool right = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42;
    p.wait();
    if (!right) std::printf("rank %d: the child ended with status %#x\n", all.rank(), unsigned(status));
    return right && dst.back() == static_cast<long>(n - 1);
  }
}

// WEFT_CHECK=1: memory that is there when rank 0 posts, and not when the others do.
bool memory_that_goes(const weft::array<long>& flag) {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size());
  bool right = true;
  const auto in_turn = [&](std::size_t each, bool source, const std::string& begins, auto&& post) {
    mapping dst(n * each), src(n * each);
    std::ranges::fill(src.elements(), all.rank());
    flag[0] = 0;
    all.barrier();
    if (all.rank() == 0) {
      weft::pending p = post(dst.elements(), src.elements());
      (source ? src : dst).end();
      for (int r = 1; r != all.size(); ++r)
        flag.on(r)[0] = 1;
      right &= fails(begins, "not mapped any more", [&] { p.wait(); });
    } else {
      right &= wait_for_flag(flag, 1);
      post(dst.elements(), src.elements()).wait();
    }
    all.barrier();
  };
  const auto exchanges = [](auto dst, auto src) { return weft::exchange(dst, src); };
  const auto reduces = [](auto dst, auto src) { return weft::reduce_all(dst, src, UPC_ADD); };
  in_turn(8, false, "cray_upc_team_alltoallv: dst = 0x", exchanges);
  in_turn(4096, false, "cray_upc_team_alltoallv: dst = 0x", exchanges);
  in_turn(4096, false, "cray_upc_team_allreduce: dst = 0x", reduces);
  // Of a series, whose source is copied piece by piece.
  in_turn(most / n, true, "cray_upc_team_alltoallv: src = 0x", exchanges);
  in_turn(most / n, true, "cray_upc_team_allreduce: src = 0x", reduces);
  in_turn(most / n, false, "cray_upc_team_allreduce: dst = 0x", reduces);
  mapping gone(n * 4096);
  const std::span<long> there = gone.elements();
  gone.end();
  std::vector<long> dst(n * 4096);
  right &= fails("weft::exchange: src = 0x", "not all mapped", [&] { weft::exchange(dst, there).wait(); });
  return right;
}

// WEFT_CHECK=1: what lies between blocks need not be mapped, and a block of no bytes has no place.
bool memory_between_blocks() {
  const weft::team all;
  const auto n = static_cast<std::size_t>(all.size()), me = static_cast<std::size_t>(all.rank());
  constexpr std::size_t page = 4096, each = 64 * sizeof(long);
  const mapping given(n * 2 * page / sizeof(long)), got(n * 2 * page / sizeof(long));
  std::vector<std::size_t> sizes(n, each);
  std::vector<std::ptrdiff_t> at(n);
  for (std::size_t k = 0; k != n; ++k) {
    at[k] = static_cast<std::ptrdiff_t>(k * 2 * page);
    given.elements()[k * 2 * page / sizeof(long)] = static_cast<long>(me * n + k);
    for (const mapping* const m : {&given, &got})
      munmap(reinterpret_cast<std::byte*>(m->elements().data()) + (k * 2 + 1) * page, page);
  }
  sizes[me] = 0;
  at[me] = std::ptrdiff_t{1} << 60;
  upc_handle_t h = 0;
  weft::cray_upc_team_alltoallv(weft_pointer_to(got.elements().data()), sizes.data(), at.data(),
                                weft_pointer_to(given.elements().data()), sizes.data(), at.data(),
                                UPC_TEAM_ALL, &h);
  upc_sync(h);
  for (std::size_t k = 0; k != n; ++k)
    if (k != me && got.elements()[k * 2 * page / sizeof(long)] != static_cast<long>(k * n + me)) {
      std::printf("rank %zu: the block of rank %zu beside unmapped memory is wrong\n", me, k);
      return false;
    }
  return true;
}

} // namespace

WEFT_SUITE(anywhere) {
  int failures = 0;
  const weft::team everyone;
  const int me = everyone.rank(), ranks = everyone.size();
  bool apart = ranks > 1; // no other rank reaches my memory
  for (int r = 0; r != ranks; ++r)
    apart &= r == me || upc_thread_info(static_cast<std::size_t>(r)).guaranteedCastable == 0;
  const weft::array<long> from(most), to(most), through(8);
  const rows places;
  std::mt19937_64 dice(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  const int share = argc > 3 ? std::atoi(argv[3]) : 1; // one case in so many is played
  const std::uint64_t staged = weft::weft_statistic("bytes_staged");
  for (int round = 0; round != rounds && failures == 0; ++round)
    for (int op = exchange; op != operations; ++op)
      for (const std::size_t bytes : sizes)
        for (const bool away : {false, true}) {
          const auto draw = [&](int below) {
            return static_cast<int>(dice() % static_cast<unsigned>(below));
          };
          if (bytes == sizes[3] && draw(6) != 0) continue; // they take most of the time
          if (draw(share) != 0) continue;
          trial t{static_cast<what>(op), bytes, away && ranks > 1 ? draw(ranks) : -1, draw(ranks), dice()};
          if (draw(4) == 0) t.ordinary = ~std::uint64_t{0};
          const bool moves = op == exchange || (op >= gather_all && op <= gather);
          if (moves && draw(2) == 0) {
            t.by_rows = true;
            if (bytes == sizes[2] && draw(2) == 0) t.bytes = 1'200'000; // a series of messages
            if (!apart || t.bytes > weft_message_bytes(UPC_TEAM_ALL)) t.ordinary = 0;
          }
          play p(t, from, to, places);
          through[0] = 0;
          everyone.barrier();
          weft::pending posted = p.post();
          if (me == t.absent && !wait_for_flag(through, ranks - 1)) {
            std::printf(
                "rank %d: %s of %zu bytes, ordinary %llx: the others wait for this rank, which has posted\n",
                me, names[op], bytes, static_cast<unsigned long long>(t.ordinary));
            ++failures;
          }
          posted.wait();
          if (!p.is_right()) ++failures;
          if (t.absent >= 0 && me != t.absent) through.on(t.absent)[0] += 1;
          everyone.barrier();
        }
  if (weft::weft_statistic("bytes_staged") == staged) {
    std::printf("rank %d: nothing was staged\n", me);
    ++failures;
  }
  if (!wrong_calls()) ++failures;
  if (ranks > 1 && !sizes_that_differ()) ++failures;
  if (!little_room() || !child_in_the_middle()) ++failures;
  if (ranks > 2 && !one_comes_late(through)) ++failures;
  if (weft::weft_setting("WEFT_CHECK") != 0 && ranks > 1)
    failures += !memory_that_goes(through) || !memory_between_blocks();
  everyone.barrier();
  return failures == 0 ? 0 : 1;
}
