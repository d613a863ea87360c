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
#include <utility>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t sizes[] = {8, 2048, 64 << 10, 8 << 20}; // bytes of the larger operand of a rank
constexpr std::size_t most = (8 << 20) / sizeof(long) + 4096;

enum what {
  exchange,
  in_place,
  gather_all,
  broadcast,
  scatter,
  gather,
  unequal,
  all,
  one,
  scan,
  before,
  blocks,
  permuted,
  function
};
constexpr const char* names[] = {"exchange",       "exchange in place",
                                 "gather_all",     "broadcast",
                                 "scatter",        "gather",
                                 "exchange_v",     "reduce_all",
                                 "reduce",         "scan",
                                 "exclusive scan", "reduce_scatter",
                                 "permute",        "reduce_all by a function"};

// What a rank has for another one.
long item(int from, int to, std::size_t k) {
  return from * 1'000'003L + to * 10'007L + static_cast<long>(k) * 7;
}

// So many elements, in a vector of this rank, or in shared memory at a place of its own.
class operand {
public:
  operand(bool ordinary, std::size_t n, const weft::array<long>& shared, int rank) {
    if (ordinary)
      own_.assign(n, -1);
    else
      std::ranges::fill(shared.local().subspan(static_cast<std::size_t>(rank) * 24, n), -1L);
    at_ = ordinary ? std::span(own_) : shared.local().subspan(static_cast<std::size_t>(rank) * 24, n);
  }
  std::span<long> elements() const { return at_; }
  upc_shared_ptr_t pointer() const { return weft_pointer_to(at_.data()); }

private:
  std::vector<long> own_;
  std::span<long> at_;
};

struct trial {
  what op = exchange;
  std::size_t bytes = 8;
  int absent = -1, root = 0;
  std::uint64_t ordinary = 0; // two bits for each rank: its source, its destination
  bool by_rows = false;       // all in the shared heap, and each rank says in its row where
};

// Pointers of each rank to its blocks: of destinations and of sources.
struct rows {
  upc_shared_ptr_t dst = weft::upc_all_alloc(THREADS, THREADS * sizeof(upc_shared_ptr_t)),
                   src = weft::upc_all_alloc(THREADS, THREADS * sizeof(upc_shared_ptr_t));
  rows() = default;
  rows(const rows&) = delete;
  rows& operator=(const rows&) = delete;
  ~rows() {
    weft::upc_all_free(dst);
    weft::upc_all_free(src);
  }
  // Of the calling rank, filled with so many blocks of these elements.
  static void fill(upc_shared_ptr_t all, std::span<long> elements, std::size_t block) {
    all.thread = static_cast<std::uint32_t>(MYTHREAD);
    auto* const mine = static_cast<upc_shared_ptr_t*>(weft::upc_cast(all));
    for (std::size_t k = 0; k != elements.size() / block; ++k)
      mine[k] = weft_pointer_to(elements.data() + k * block);
  }
};

class play {
public:
  play(const trial& t, const weft::array<long>& from, const weft::array<long>& to, const rows& r)
      : t_(t), rows_(r), me_(team_.rank()), ranks_(team_.size()), n_(static_cast<std::size_t>(ranks_)),
        block_(std::max<std::size_t>(1, t.bytes / sizeof(long) / (many() ? n_ : 1))),
        src_(is_ordinary(0), block_ * (gives_many() ? n_ : 1), from, me_),
        dst_(is_ordinary(1), block_ * (takes_many() ? n_ : 1), to, me_) {}

  weft::pending post() {
    const auto src = src_.elements(), dst = dst_.elements();
    for (std::size_t k = 0; k != src.size(); ++k)
      src[k] = gives_many() ? item(me_, static_cast<int>(k / block_), k % block_) : item(me_, 0, k);
    if (t_.by_rows) return post_by_rows();
    switch (t_.op) {
    case exchange:
      return weft::exchange(dst, src);
    case in_place:
      std::ranges::copy(src, dst.begin());
      return weft::exchange(dst);
    case gather_all:
      return weft::gather_all(dst, src);
    case broadcast:
      if (me_ == t_.root) std::ranges::copy(src, dst.begin());
      return weft::broadcast(dst, t_.root);
    case scatter:
      return weft::scatter(dst, src, t_.root);
    case gather:
      return weft::gather(dst, src, t_.root);
    case unequal:
      gives_.assign(n_, 0), gets_.assign(n_, 0);
      for (std::size_t r = 0; r != n_; ++r) {
        gives_[r] = length(static_cast<std::size_t>(me_), r);
        gets_[r] = length(r, static_cast<std::size_t>(me_));
      }
      return weft::exchange_v(dst.first(std::reduce(gets_.begin(), gets_.end())), gets_,
                              src.first(std::reduce(gives_.begin(), gives_.end())), gives_);
    case all:
      return weft::reduce_all(dst, src, UPC_ADD);
    case one:
      return weft::reduce(dst, src, std::plus<>(), t_.root);
    case permuted:
      return weft::permute(dst, src, (me_ + t_.root) % ranks_);
    case function:
      return weft::reduce_all(dst, src, [](long a, long b) { return std::max(a, b); });
    default:
      return combine();
    }
  }

  // What must be in dst; -1 where nothing is written.
  bool is_right() const {
    const auto dst = dst_.elements();
    std::vector<std::size_t> place(n_ + 1, 0);
    for (std::size_t r = 0; r != n_ && t_.op == unequal; ++r)
      place[r + 1] = place[r] + gets_[r];
    for (std::size_t k = 0; k != dst.size(); ++k)
      if (dst[k] != expected(k, place)) {
        std::printf("rank %d: %s of %zu bytes, ordinary %llx, absent %d: element %zu is %ld, not %ld\n", me_,
                    names[t_.op], t_.bytes, static_cast<unsigned long long>(t_.ordinary), t_.absent, k,
                    dst[k], expected(k, place));
        return false;
      }
    return true;
  }

private:
  weft::pending post_by_rows() {
    const weft_movement_t movement = t_.op == exchange     ? WEFT_MOVE_EXCHANGE
                                     : t_.op == gather_all ? WEFT_MOVE_GATHER_ALL
                                     : t_.op == broadcast  ? WEFT_MOVE_BROADCAST
                                     : t_.op == scatter    ? WEFT_MOVE_SCATTER
                                                           : WEFT_MOVE_GATHER;
    const bool rooted = movement <= WEFT_MOVE_GATHER;
    rows::fill(rows_.dst, dst_.elements(), block_);
    rows::fill(rows_.src, src_.elements(), block_);
    return weft::pending(weft::weft_all_move_x(movement, rows_.dst, rows_.src, block_ * sizeof(long),
                                               rooted ? t_.root : 0,
                                               UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC, UPC_TEAM_ALL));
  }
  bool is_ordinary(int which) const { return (t_.ordinary >> (2 * me_ + which) & 1) != 0; }
  bool many() const { return gives_many() || takes_many(); }
  bool gives_many() const {
    return t_.op == exchange || t_.op == in_place || t_.op == scatter || t_.op == unequal || t_.op == blocks;
  }
  bool takes_many() const {
    return t_.op == exchange || t_.op == in_place || t_.op == gather_all || t_.op == gather ||
           t_.op == unequal;
  }
  std::size_t length(std::size_t from, std::size_t to) const { return block_ * ((from + 2 * to) % 3) / 2; }

  weft::pending combine() {
    upc_handle_t h = 0;
    const upc_shared_ptr_t to = dst_.pointer(), from = src_.pointer();
    if (t_.op == scan)
      weft::cray_upc_team_scan(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    else if (t_.op == before)
      weft::cray_upc_team_exscan(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    else
      weft::cray_upc_team_reduce_scatter(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    return weft::pending(h);
  }

  long expected(std::size_t k, const std::vector<std::size_t>& place) const {
    const auto r = static_cast<int>(k / block_);
    const std::size_t j = k % block_;
    long sum = 0;
    switch (t_.op) {
    case exchange:
    case in_place:
      return item(r, me_, j);
    case gather_all:
      return item(r, 0, j);
    case broadcast:
      return item(t_.root, 0, k);
    case scatter:
      return item(t_.root, me_, k);
    case gather:
      return me_ == t_.root ? item(r, 0, j) : -1;
    case unequal: {
      const auto from = static_cast<std::size_t>(std::ranges::upper_bound(place, k) - place.begin()) - 1;
      if (from >= n_) return -1;
      // The giver's blocks lie one behind the other, and hold what lies there.
      std::size_t at = k - place[from];
      for (std::size_t to = 0; to != static_cast<std::size_t>(me_); ++to)
        at += length(from, to);
      return item(static_cast<int>(from), static_cast<int>(at / block_), at % block_);
    }
    case one:
      if (me_ != t_.root) return -1;
      [[fallthrough]];
    case all:
      for (int from = 0; from != ranks_; ++from)
        sum += item(from, 0, k);
      return sum;
    case permuted:
      return item((me_ + ranks_ - t_.root) % ranks_, 0, k);
    case function:
      return item(ranks_ - 1, 0, k);
    case before:
      if (me_ == 0) return -1;
      [[fallthrough]];
    case scan:
      for (int from = 0; from != me_ + (t_.op == scan ? 1 : 0); ++from)
        sum += item(from, 0, k);
      return sum;
    case blocks:
      for (int from = 0; from != ranks_; ++from)
        sum += item(from, me_, k);
      return sum;
    }
    return sum;
  }

  trial t_;
  const rows& rows_;
  weft::team team_;
  int me_, ranks_;
  std::size_t n_, block_;
  operand src_, dst_;
  std::vector<std::size_t> gives_, gets_;
};

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

} // namespace

WEFT_SUITE(anywhere) {
  int failures = 0;
  const weft::team everyone;
  const int me = everyone.rank(), ranks = everyone.size();
  const weft::array<long> from(most), to(most), through(8);
  const rows places;
  std::mt19937_64 dice(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::uint64_t staged = weft::weft_statistic("bytes_staged");
  for (int round = 0; round != rounds && failures == 0; ++round)
    for (int op = exchange; op <= function; ++op)
      for (const std::size_t bytes : sizes)
        for (const bool away : {false, true}) {
          const auto draw = [&](int below) {
            return static_cast<int>(dice() % static_cast<unsigned>(below));
          };
          if (bytes == sizes[3] && draw(3) != 0) continue; // they take most of the time
          trial t{static_cast<what>(op), bytes, away && ranks > 1 ? draw(ranks) : -1, draw(ranks), dice()};
          if (draw(4) == 0) t.ordinary = ~std::uint64_t{0};
          const bool moves = op == exchange || (op >= gather_all && op <= gather);
          if (moves && draw(2) == 0) t.by_rows = true, t.ordinary = 0;
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
  if (!little_room() || !child_in_the_middle()) ++failures;
  if (ranks > 2 && !one_comes_late(through)) ++failures;
  if (weft::weft_setting("WEFT_CHECK") != 0 && ranks > 1 && !memory_that_goes(through)) ++failures;
  everyone.barrier();
  return failures == 0 ? 0 : 1;
}
