// SPDX-License-Identifier: BSD-3-Clause
// Collectives on spans as a user of weft.hpp writes them, each against what it must give on any number of
// ranks: of the job, of a half of it in the reverse order, and of a list; then their wrong calls, which start
// nothing.
//
// Mutations that this catches: a block size in bytes or in elements of another type, the first rank of a team
// taken for that of the job, a function that is not kept until its operation is complete.
#include "tests/jobs/suite.h"

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool holds, const char* what) {
  if (!holds && failures++ < 10) std::printf("rank %d: %s\n", weft::upc_mythread(), what);
}

// Where a rank has something for another one: all values differ.
long from_to(int from, int to, std::size_t k) {
  return from * 10'000L + to * 100L + static_cast<long>(k);
}

struct best {
  double value;
  int rank;
};
best better(best a, best b) {
  return b.value > a.value ? b : a;
}
double value_of(int rank, std::size_t i) {
  return static_cast<double>((static_cast<std::size_t>(rank) * 7 + i) % 5);
}

// Arrays are made by all ranks of the job, whichever of them are in a team.
struct arrays {
  explicit arrays(std::size_t block)
      : a(block * static_cast<std::size_t>(weft::upc_threads())), b(a.size()), x(block), y(block), to(1) {}
  weft::array<long> a, b;
  weft::array<best> x, y;
  weft::array<int> to;
};

// All of them among the ranks of a team, which the calling rank is one of.
void on_team(const weft::team& t, const arrays& of_all) {
  const weft::array<long>&a = of_all.a, &b = of_all.b;
  const weft::array<best>&x = of_all.x, &y = of_all.y;
  const weft::array<int>& to = of_all.to;
  const int me = t.rank(), ranks = t.size();
  const std::size_t n = static_cast<std::size_t>(ranks), block = x.size();
  const auto src = a.local().first(block * n), dst = b.local().first(block * n);
  const auto mine = src.first(block), got = dst.first(block);
  const auto fill = [&] {
    for (int to = 0; to != ranks; ++to)
      for (std::size_t k = 0; k != block; ++k)
        src[static_cast<std::size_t>(to) * block + k] = from_to(me, to, k);
  };
  const auto blocks_are = [&](std::span<long> where, auto&& value, const char* what) {
    for (int r = 0; r != ranks; ++r)
      for (std::size_t k = 0; k != block; ++k)
        expect(where[static_cast<std::size_t>(r) * block + k] == value(r, k), what);
  };
  const auto mine_from_all = [&](int r, std::size_t k) { return from_to(r, me, k); };
  const auto first_of_all = [&](int r, std::size_t k) { return from_to(r, 0, k); };

  fill();
  weft::exchange(dst, src, t).wait();
  blocks_are(dst, mine_from_all, "exchange");
  weft::exchange(src, t).wait();
  blocks_are(src, mine_from_all, "exchange in place");
  fill();
  weft::gather_all(dst, mine, t).wait();
  blocks_are(dst, first_of_all, "gather_all");
  const int root = ranks - 1;
  const auto whole_of_root = a.on(t.thread(root)).first(block * n);
  weft::broadcast(got, whole_of_root.first(block), t).wait();
  for (std::size_t k = 0; k != block; ++k)
    expect(got[k] == from_to(root, 0, k), "broadcast");
  weft::scatter(got, whole_of_root, t).wait();
  for (std::size_t k = 0; k != block; ++k)
    expect(got[k] == from_to(root, me, k), "scatter");
  t.barrier();
  weft::gather(b.on(t.thread(root)).first(block * n), mine, t).wait();
  if (me == root) blocks_are(dst, first_of_all, "gather");
  weft::broadcast(src, root, t).wait();
  blocks_are(
      src, [&](int r, std::size_t k) { return from_to(root, r, k); }, "broadcast in place");
  to[0] = t.size() - 1 - me;
  fill();
  weft::permute(got, mine, to, t).wait();
  for (std::size_t k = 0; k != block; ++k)
    expect(got[k] == from_to(ranks - 1 - me, 0, k), "permute");

  for (std::size_t i = 0; i != block; ++i)
    x[i] = {value_of(me, i), me};
  const auto right = [&](const char* what) {
    for (std::size_t i = 0; i != block; ++i) {
      best most{value_of(0, i), 0};
      for (int r = 1; r != ranks; ++r)
        most = better(most, {value_of(r, i), r});
      expect(y[i].value == most.value && y[i].rank == most.rank, what);
    }
  };
  {
    // The function that was passed is gone when the operation computes.
    auto bias = std::make_unique<double>(0);
    const auto biased = [zero = *bias](best a, best b) { return better({a.value + zero, a.rank}, b); };
    weft::pending p = weft::reduce_all(y, x, biased, t);
    bias.reset();
    p.wait();
  }
  right("reduce_all of structs");
  for (best& one : y)
    one = {-1, -1};
  weft::reduce(y, x, better, root, t).wait();
  if (me == root) right("reduce of structs");
  for (std::size_t i = 0; i != block; ++i)
    mine[i] = static_cast<long>(i) * me;
  weft::reduce_all(got, mine, UPC_ADD, t).wait();
  weft::reduce_all(mine, mine, std::plus<>(), t).wait(); // in place
  for (std::size_t i = 0; i != block; ++i)
    expect(got[i] == static_cast<long>(i) * ranks * (ranks - 1) / 2 && mine[i] == got[i], "reduce_all");

  // Scans, by an operator and by a function that does not commute; rank 0 keeps what it has before the first.
  for (std::size_t i = 0; i != block; ++i)
    mine[i] = static_cast<long>(i) + me, got[i] = -5;
  weft::prefix_reduce(got, mine, UPC_ADD, t).wait();
  for (std::size_t i = 0; i != block; ++i)
    expect(got[i] == static_cast<long>(i) * (me + 1) + me * (me + 1) / 2, "prefix_reduce");
  for (std::size_t i = 0; i != block; ++i)
    got[i] = -5;
  weft::exclusive_prefix_reduce(got, mine, std::plus<>(), t).wait();
  for (std::size_t i = 0; i != block; ++i)
    expect(got[i] == (me == 0 ? -5 : static_cast<long>(i) * me + me * (me - 1) / 2),
           "exclusive_prefix_reduce");
  const auto last_of = [](long, long second) { return second; };
  weft::prefix_reduce(got, mine, last_of, t).wait();
  for (std::size_t i = 0; i != block; ++i)
    expect(got[i] == mine[i], "prefix_reduce by a function");
  weft::exclusive_prefix_reduce(mine, mine, last_of, t).wait(); // in place
  for (std::size_t i = 0; i != block; ++i)
    expect(mine[i] == static_cast<long>(i) + std::max(me - 1, 0), "exclusive_prefix_reduce by a function");

  // Rank i gives rank j so many elements: (i + 2 j) mod 4 of its block.
  std::vector<std::size_t> gives, gets;
  for (std::size_t r = 0; r != n; ++r) {
    const auto own = static_cast<std::size_t>(me);
    gives.push_back(std::min(block, (own + 2 * r) % 4));
    gets.push_back(std::min(block, (r + 2 * own) % 4));
  }
  const std::size_t given = std::reduce(gives.begin(), gives.end()),
                    gotten = std::reduce(gets.begin(), gets.end());
  std::size_t place = 0;
  for (int r = 0; r != ranks; ++r)
    for (std::size_t k = 0; k != gives[static_cast<std::size_t>(r)]; ++k)
      src[place++] = from_to(me, r, k);
  weft::exchange_v(dst.first(gotten), gets, src.first(given), gives, t).wait();
  place = 0;
  for (int r = 0; r != ranks; ++r)
    for (std::size_t k = 0; k != gets[static_cast<std::size_t>(r)]; ++k)
      expect(dst[place++] == from_to(r, me, k), "exchange_v");

  // Behind a barrier every rank has what the others wrote before, in each team, whole and split.
  const auto next = b.on(t.thread((me + 1) % ranks));
  weft::barrier(t);
  for (const long round : {1, 2}) {
    next[0] = round * 1000 + me;
    if (round == 1)
      weft::barrier(t);
    else
      weft::arrive(t).wait();
    expect(dst[0] == round * 1000 + (me + ranks - 1) % ranks, "a barrier");
    weft::barrier(t); // it has been read
  }

  using pair = std::array<double, 2>;
  const auto sums = [](pair p, pair q) { return pair{p[0] + q[0], p[1] + q[1]}; };
  const pair both = weft::reduce_all(pair{1, double(me)}, sums, t).get();
  expect(weft::reduce_all(1L, UPC_ADD, t.handle()).get() == ranks, "a value by the handle of a team");
  expect(both[0] == ranks && both[1] == ranks * (ranks - 1) / 2, "a value that is an array");
}

// A container that ends with the statement is no destination.
template <class Dst>
concept may_receive = requires(Dst&& dst, const std::vector<long>& src) {
  weft::exchange(std::forward<Dst>(dst), src);
};
static_assert(may_receive<std::vector<long>&> && may_receive<std::span<long>> &&
              !may_receive<std::vector<long>>);
// What is const is none, but for an array, which is like a pointer.
static_assert(!may_receive<const std::vector<long>&> && !may_receive<std::span<const long>> &&
              may_receive<const weft::array<long>&>);

template <class F>
void expect_error(std::string_view begins, const std::string& has, F&& call, const char* or_has = nullptr) {
  try {
    call();
    expect(false, ("no error: " + std::string(begins)).c_str());
  } catch (const weft::error& e) {
    const std::string_view what = e.what();
    const bool as_expected =
        what.find(has) != what.npos || (or_has != nullptr && what.find(or_has) != what.npos);
    if (!what.starts_with(begins) || !as_expected) expect(false, e.what());
  }
}

void following() {
  const auto n = static_cast<std::size_t>(weft::upc_threads());
  weft::array<long> a(n), b(n);
  int calls = 0;
  auto twice = weft::exchange(b, a).then([&] {
    ++calls;
    return weft::exchange(a, b); // what follows may be another operation
  });
  twice.wait();
  twice.wait(); // there is nothing left to do
  expect(calls == 1 && !twice.active(), "then");
  expect(weft::exchange(b, a).then([] { return 7; }).wait() == 7, "the value of then");
  // Once, whichever of those that it was moved to is waited for, and how often.
  {
    const auto count = [&] { ++calls; };
    auto once = weft::exchange(b, a).then(count);
    auto moved_to = std::move(once);
    expect(!once.active() && moved_to.active(), "what followed was moved");
    once.wait();
    moved_to.wait();
    moved_to.wait();
    expect(calls == 2 && once.test() && moved_to.test(), "a function that follows is called once");
    auto last = weft::exchange(b, a).then(count);
    moved_to = std::move(last);
    moved_to.wait();
    expect(calls == 3 && !last.active(), "what followed was assigned");
    calls = 1;
    auto number = weft::exchange(b, a).then([] { return 7; });
    expect(number.wait() == 7, "a value that follows");
    expect_error("weft::pending::then", "returned before", [&] { (void)number.wait(); });
  }
  {
    auto dropped = weft::exchange(b, a).then([&] { ++calls; });
  }
  expect(calls == 1, "a destructor waits and does not call");
  std::vector<weft::pending> some(4);
  expect(!weft::wait_any(some) && weft::test_all(some), "none is under way");
  some[1] = weft::exchange(b, a);
  some[3] = weft::team().arrive();
  std::size_t places = 0, which = 0;
  while (const auto at = weft::wait_any(some))
    ++places, which += *at;
  expect(places == 2 && which == 4, "wait_any");
  some[2] = weft::exchange(b, a);
  expect(weft::wait_some(some) == std::vector<std::size_t>{2}, "wait_some");
  some[0] = weft::exchange(b, a);
  weft::wait_all(some);
  expect(!some[0].active(), "wait_all");
}

// An all-to-all in chunks, each of which has arrays of its own.
void moved() {
  const int me = weft::upc_mythread(), ranks = weft::upc_threads();
  std::vector<weft::array<long>> src, dst;
  std::vector<weft::pending> under_way;
  for (std::size_t k = 0; k != 4; ++k) {
    src.emplace_back(ranks);
    dst.emplace_back(ranks);
  }
  for (std::size_t k = 0; k != 4; ++k) {
    for (int r = 0; r != ranks; ++r)
      src[k][r] = from_to(me, r, k);
    under_way.push_back(weft::exchange(dst[k], src[k]));
  }
  for (std::size_t k = 0; k != 4; ++k) {
    under_way[k].wait();
    for (int r = 0; r != ranks; ++r)
      expect(dst[k][r] == from_to(r, me, k), "a chunk of its own array");
  }
  weft::team().barrier(); // src is read until all have it
  weft::array<long> kept = std::move(src[1]);
  expect(kept[0] == from_to(me, 0, 1) && src[1].empty(), "an array that was moved");
  expect_error("weft::exchange: dst = ", "must be 0", [&] { weft::exchange(dst[0], src[1]).wait(); });
  expect_error("weft::exchange: both = 0", "was moved from", [&] { weft::exchange(src[1]).wait(); });
  expect_error("weft::broadcast: both = 0", "was moved from", [&] { weft::broadcast(src[1], 0).wait(); });
  expect(src[1].local().empty() && std::ranges::empty(src[1]), "what was moved from has no elements");
  kept = std::move(src[2]);
  expect(kept[ranks - 1] == from_to(me, ranks - 1, 2), "an array that another one was moved to");
  weft::exchange(dst[3], kept).wait();
  expect(dst[3][0] == from_to(0, me, 2), "an exchange of one that was moved");
}

void wrong_calls() {
  const auto n = static_cast<std::size_t>(weft::upc_threads());
  weft::array<double> a(n), b(n), longer(n + 1);
  const weft::signals ring;
  std::vector<double> ordinary(n);
  weft::array<int> to(1);
  // The place of the call, also where the library finds it, and none behind it.
  expect_error("weft::permute: to = -1", " (spans.cpp:" + std::to_string(__LINE__ + 1) + ")",
               [&] { weft::permute(ordinary, a, -1).wait(); });
  expect_error("upc_all_exchange: src = ", " (spans.cpp:" + std::to_string(__LINE__ + 1) + ")",
               [&] { weft::exchange(b, b).wait(); });
  // Of a call that does not hand its place over, addr2line knows it; of a copy of the error too. It is
  // started for 16 places of a process, and of a session the suites before this one may have had so many.
  const auto no_index = [&] {
    try {
      a.on(0)[n] = 1;
    } catch (const weft::error& e) {
      throw e;
    }
  };
  expect_error("weft::remote_span: index", " (spans.cpp:" + std::to_string(__LINE__ - 5) + ")", no_index,
               "[addr2line -e ");
  expect_error("weft::exchange: dst = " + std::to_string(n + 1), "must be " + std::to_string(n),
               [&] { weft::exchange(longer, a).wait(); });
  if (n > 1) {
    expect_error("weft::gather_all: src = " + std::to_string(n), "must be 1",
                 [&] { weft::gather_all(b, a).wait(); });
    expect_error("weft::scatter: src = " + std::to_string(n + 1), "multiple of the team's ranks",
                 [&] { weft::scatter(b, longer.on(0)).wait(); });
  }
  if (n > 1) {
    expect_error("weft::exchange: dst = ", "overlap",
                 [&] { weft::exchange(longer.local().first(n), longer.local().last(n)).wait(); });
    expect_error("cray_upc_team_allreduce: dst = ", "overlap",
                 [&] { weft::reduce_all(longer.local().first(n), longer.local().last(n), UPC_ADD).wait(); });
    expect_error("weft::reduce_all: dst = ", "overlap", [&] {
      const auto least = [](double p, double q) { return p < q ? p : q; };
      weft::reduce_all(longer.local().first(n), longer.local().last(n), least).wait();
    });
  }
  const std::vector<std::size_t> ones(n, 1), fewer(n + 1, 1);
  expect_error("weft::exchange_v: src_counts = " + std::to_string(n + 1), "one for each rank",
               [&] { weft::exchange_v(b, ones, a, fewer).wait(); });
  expect_error("weft::exchange_v: src = " + std::to_string(n + 1), "1 more than src_counts",
               [&] { weft::exchange_v(b, ones, longer, ones).wait(); });
  expect_error("weft::reduce: root = -1", "must be a rank", [&] { weft::reduce(b, a, UPC_ADD, -1).wait(); });
  expect_error("cray_upc_team_allreduce: op", "not defined", [&] { weft::reduce_all(b, a, UPC_AND).wait(); });
  expect_error("weft::broadcast: root = " + std::to_string(n), "must be a rank",
               [&] { weft::broadcast(a, int(n)).wait(); });
  expect_error("weft::remote_span: index = " + std::to_string(n), "is past the end: there are",
               [&] { a.on(0)[n] = 1; });
  expect_error("weft::signals::raise: rank = -1", " (spans.cpp:" + std::to_string(__LINE__ + 1) + ")",
               [&] { ring.raise(-1); });
  expect_error("weft::remote_span::subspan: offset = " + std::to_string(n), "past the end",
               [&] { a.on(0).subspan(n, 1); });
  expect_error("weft::remote_span::put: from", "as many", [&] { longer.on(0).put(a).wait(); });
  for (const long long rank : {-1LL, static_cast<long long>(n), 1LL << 32})
    expect_error("weft::array::on: rank = " + std::to_string(rank) + ": must be a rank of the job, 0 to ",
                 "(spans.cpp:" + std::to_string(__LINE__) + ")", [&] { a.on(rank)[0] = 1; });
  const upc_shared_ptr_t negative{1 << 20, static_cast<std::uint32_t>(-3), 0};
  expect_error("upc_memput: dst = thread -3", "no such thread", [&] { upc_memput(negative, &n, sizeof n); });
  // What an array was made with, in the words of the call that made it.
  expect_error("weft::array: size = -3", "must not be negative", [] { weft::array<double>(-3); });
  expect_error("weft::array: size = ", "more bytes than", [] { weft::array<double>(std::size_t{1} << 61); });
  expect_error("weft::array: ", "no room", [] { weft::array<double>(std::size_t{1} << 33); });
  weft::team ended = weft::team().split(0);
  const upc_team_t handle = ended.handle();
  { const weft::team last = std::move(ended); }
  expect_error("weft::exchange: team = 0", "moved from", [&] { weft::exchange(b, a, ended).wait(); });
  expect_error("weft::exchange_v: team = 0", "moved from",
               [&] { weft::exchange_v(b, ones, a, ones, ended).wait(); });
  expect_error("weft::broadcast: team = 0", "moved from", [&] { weft::broadcast(b, 0, ended).wait(); });
  expect_error("cray_upc_team_barrier: team = 0", "freed", [&] { weft::barrier(ended); });
  expect_error("weft::reduce_all: team = 0", "freed", [&] { weft::reduce_all(1, UPC_ADD, ended).get(); });
  expect_error("cray_upc_team_rank: team", "freed", [&] { weft::cray_upc_team_rank(handle); });
}

} // namespace

WEFT_SUITE(spans) {
  failures = 0;
  const weft::team all;
  const int me = all.rank(), ranks = all.size();
  for (const std::size_t block : {1, 9, 3000}) {
    const arrays mine(block);
    on_team(all, mine);
    const weft::team half = all.split(me % 2, -me);
    expect(half.thread(half.rank()) == me && half.rank_of(me) == half.rank(), "ranks and back");
    if (ranks > 1) expect(half.rank_of(me == 0 ? 1 : me - 1) == -1, "no member");
    on_team(half, mine);
    std::vector<int> list;
    for (int r = ranks - 1; r >= 0; r -= 2)
      list.push_back(r);
    if (const weft::team listed = all.subset(list)) on_team(listed, mine);
    on_team(weft::team::node(), mine);
    all.barrier();
  }
  following();
  moved();
  wrong_calls();
  all.barrier();
  return failures == 0 ? 0 : 1;
}
