// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and flushes that the library carries itself, since the network does not.
//
// Mutations that this catches: a piece is put to a wrong place, or a get's to a wrong one; a flush that ends
// before, or without, all pieces; no window; a range that is not looked at; what is under way with a lost
// rank stays so; a rank that has UCX's put uses it with one that does not serve it.
#include "engine/transport/ucx/context.hpp"
#include "tests/sockets/ranks.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace weft::tests {
namespace {

const std::vector<std::string> over_sockets{"tcp,self", "tcp,self"};

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> p(bytes);
  std::minstd_rand dice(seed);
  std::ranges::generate(p, [&] { return static_cast<std::byte>(dice() >> 8); });
  return p;
}

TEST(remote_memory, blocks_of_any_size_come_to_their_place_and_back) {
  ranks_of_one_process job(over_sockets);
  unsigned seed = 0;
  for (const std::size_t bytes : {1u, 8u, 4096u, 131071u, 131072u, 131073u, 200'000u, 5'000'000u}) {
    SCOPED_TRACE(bytes);
    const std::uint64_t at = 4096 + seed;
    const std::vector<std::byte> block = pattern(bytes, ++seed);
    std::fill_n(job[1].segment(), at + bytes + 1, std::byte{0});
    EXPECT_EQ(0, job.put(0, 1, at, block.data(), bytes));
    EXPECT_EQ(0, job.flush(0, 1));
    EXPECT_TRUE(std::equal(block.begin(), block.end(), job[1].segment() + at));
    EXPECT_EQ(std::byte{0}, job[1].segment()[at - 1]);
    EXPECT_EQ(std::byte{0}, job[1].segment()[at + bytes]);
    std::vector<std::byte> back(bytes + 1);
    EXPECT_EQ(0, job.get(0, 1, at, back.data(), bytes));
    EXPECT_TRUE(std::equal(block.begin(), block.end(), back.begin()));
    EXPECT_EQ(std::byte{0}, back[bytes]);
  }
}

// Several of them in one piece, each at its place at either end, and nothing beside them.
TEST(remote_memory, rows_come_to_their_places_and_back) {
  ranks_of_one_process job(over_sockets);
  unsigned seed = 0;
  for (const transport::rows_there& rows :
       {transport::rows_there{1, 3, 8000}, {8, 8, 5}, {8, 800, 1000}, {100, 101, 2}, {4096, 5000, 2}}) {
    SCOPED_TRACE(rows.bytes);
    const std::uint64_t at = 4096 + ++seed, apart_here = rows.bytes + 5;
    const std::vector<std::byte> packed = pattern(rows.bytes * rows.count, seed);
    const auto extent = [&](std::uint64_t apart) { return apart * (rows.count - 1) + rows.bytes + 1; };
    const std::span there(job[1].segment() + at, extent(rows.apart));
    std::ranges::fill(there, std::byte{0xee});
    awaited put, got;
    EXPECT_TRUE(job[0].packs_rows(1));
    EXPECT_EQ(0, job.status_of(job[0].put_rows(1, at, packed.data(), rows, put), put));
    EXPECT_EQ(0, job.flush(0, 1));
    const auto are_apart = [&](std::span<const std::byte> found, std::uint64_t apart) {
      std::vector<std::byte> wanted(extent(apart), std::byte{0xee});
      for (std::uint64_t k = 0; k != rows.count; ++k)
        std::copy_n(packed.data() + k * rows.bytes, rows.bytes, wanted.data() + k * apart);
      return std::ranges::equal(found, wanted);
    };
    EXPECT_TRUE(are_apart(there, rows.apart));
    std::vector<std::byte> back(extent(apart_here), std::byte{0xee});
    EXPECT_EQ(0, job.status_of(job[0].get_rows(1, back.data(), apart_here, at, rows, got), got));
    EXPECT_TRUE(are_apart(back, apart_here));
  }
}

TEST(remote_memory, rows_that_leave_the_segment_are_refused) {
  for (const transport::rows_there& rows : {transport::rows_there{8, 1 << 30, 1000}, {8, 1ull << 61, 9}}) {
    ranks_of_one_process job(over_sockets);
    std::vector<std::byte> block(rows.bytes * rows.count);
    awaited put, got;
    EXPECT_LT(job.status_of(job[0].get_rows(1, block.data(), 8, 64, rows, got), got), 0);
    EXPECT_GE(job.status_of(job[1].put_rows(0, 64, block.data(), rows, put), put), 0);
    EXPECT_LT(job.flush(1, 0), 0);
  }
}

// Both ways at once, of all sizes, more than the windows hold.
TEST(remote_memory, many_transfers_at_once) {
  ranks_of_one_process job(over_sockets);
  constexpr std::size_t half = 8 << 20;
  std::minstd_rand dice(7);
  std::vector<std::vector<std::byte>> blocks, got;
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; blocks.size() < 400;) {
    const std::size_t bytes = dice() % 40 == 0 ? 150'000 : dice() % 3000 + 1;
    if (at + bytes > half) break;
    blocks.push_back(pattern(bytes, static_cast<unsigned>(blocks.size()) + 1));
    got.emplace_back(bytes);
    places.push_back(at);
    at += bytes;
  }
  ASSERT_GT(blocks.size(), 100u);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    std::ranges::copy(blocks[i], job[1].segment() + half + places[i]);
  std::vector<awaited> puts(blocks.size()), gets(blocks.size());
  std::size_t under_way = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    under_way += job[0].put(1, places[i], blocks[i].data(), blocks[i].size(), puts[i]).under_way();
    under_way += job[0].get(1, got[i].data(), half + places[i], blocks[i].size(), gets[i]).under_way();
  }
  EXPECT_EQ(0, job.flush(0, 1));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(blocks[i], std::span(job[1].segment() + places[i], blocks[i].size())));
  const auto calls = [&] {
    const auto of = [](const std::vector<awaited>& all) {
      return std::accumulate(all.begin(), all.end(), 0, [](int n, const awaited& w) { return n + w.calls; });
    };
    return static_cast<std::size_t>(of(puts) + of(gets));
  };
  EXPECT_TRUE(job.poll_until([&] { return calls() == under_way; }));
  EXPECT_EQ(blocks, got);
}

TEST(remote_memory, a_flush_waits_for_the_target) {
  ranks_of_one_process job(over_sockets);
  EXPECT_EQ(0, job.flush(0, 1)); // nothing to wait for
  const std::uint64_t value = 7;
  awaited put, flush;
  const transport::started came = job[0].put(1, 64, &value, sizeof value, put);
  ASSERT_TRUE(job[0].flush(1, flush).under_way());
  for (int i = 0; i < 10'000; ++i)
    job[0].poll();
  EXPECT_FALSE(flush.finished());
  EXPECT_EQ(0, job.status_of(came, put));
  EXPECT_TRUE(job.poll_until([&] { return flush.finished(); }));
  EXPECT_EQ(std::byte{7}, job[1].segment()[64]);
}

// Mutation: an order that ends at once.
TEST(remote_memory, what_is_sent_behind_an_order_comes_behind_the_puts) {
  ranks_of_one_process job(over_sockets);
  struct last_bytes final : transport::message_sink {
    void on_message(const transport::message&, std::span<const std::byte>) override {
      ++calls;
      all &= *first == std::byte{1} && *second == std::byte{1};
    }
    const std::byte *first = nullptr, *second = nullptr;
    int calls = 0;
    bool all = true;
  } sink;
  const std::vector<std::byte> block(3 << 20, std::byte{1});
  sink.first = job[1].segment() + block.size() - 1;
  sink.second = sink.first + block.size();
  job[1].set_sink(&sink);
  awaited nothing;
  EXPECT_TRUE(job[0].order(1, nothing).done()); // nothing comes before it
  awaited puts[2], order, sent;
  ASSERT_TRUE(job[0].put(1, 0, block.data(), block.size(), puts[0]).under_way());
  ASSERT_TRUE(job[0].put(1, block.size(), block.data(), block.size(), puts[1]).under_way());
  EXPECT_EQ(0, job.status_of(job[0].order(1, order), order));
  EXPECT_GE(job.status_of(job[0].send(1, {}, nullptr, 0, sent), sent), 0);
  EXPECT_TRUE(job.poll_until([&] { return sink.calls == 1; }));
  EXPECT_TRUE(sink.all);
  EXPECT_TRUE(job.poll_until([&] { return puts[0].finished() && puts[1].finished(); }));
  job[1].set_sink(nullptr);
}

TEST(remote_memory, a_message_does_not_wait_behind_all_of_a_large_put) {
  ranks_of_one_process job(over_sockets);
  struct last_byte final : transport::message_sink {
    void on_message(const transport::message&, std::span<const std::byte>) override { seen = *place; }
    const std::byte* place = nullptr;
    std::byte seen{2};
  } sink;
  const std::vector<std::byte> block(12 << 20, std::byte{1});
  sink.place = job[1].segment() + block.size() - 1;
  job[1].set_sink(&sink);
  awaited put, sent;
  EXPECT_EQ(0, job.put(0, 1, 0, block.data(), 8)); // connected
  const transport::started came = job[0].put(1, 0, block.data(), block.size(), put);
  EXPECT_GE(job.status_of(job[0].send(1, {}, nullptr, 0, sent), sent), 0);
  EXPECT_TRUE(job.poll_until([&] { return sink.seen != std::byte{2}; }));
  EXPECT_EQ(std::byte{0}, sink.seen);
  EXPECT_EQ(0, job.status_of(came, put));
  EXPECT_EQ(0, job.flush(0, 1));
}

TEST(remote_memory, what_is_not_there_is_refused) {
  constexpr std::uint64_t end = ranks_of_one_process::segment_bytes;
  for (const std::uint64_t at : {end - 7, end, end + 4096, ~std::uint64_t{0} - 3}) {
    SCOPED_TRACE(at);
    ranks_of_one_process job(over_sockets);
    std::uint64_t value = 7;
    EXPECT_LT(job.get(0, 1, at, &value, sizeof value), 0);
    EXPECT_EQ(7u, value);
    EXPECT_LT(job.flush(0, 1), 0);
    EXPECT_GE(job.put(1, 0, at, &value, sizeof value), 0); // the source may be used again
    EXPECT_LT(job.flush(1, 0), 0);
    EXPECT_LT(job.put(1, 0, 0, &value, sizeof value), 0);
  }
}

TEST(remote_memory, what_is_under_way_with_a_lost_rank_fails) {
  ranks_of_one_process job(over_sockets);
  std::vector<std::byte> block(12 << 20), other(4 << 20);
  EXPECT_EQ(0, job.put(0, 1, 0, block.data(), 8));
  awaited put, get, flush;
  ASSERT_TRUE(job[0].put(1, 0, block.data(), block.size(), put).under_way());
  ASSERT_TRUE(job[0].get(1, other.data(), 0, other.size(), get).under_way());
  ASSERT_TRUE(job[0].flush(1, flush).under_way());
  job[0].abandon(1);
  EXPECT_FALSE(put.finished() || get.finished() || flush.finished());
  EXPECT_TRUE(job.poll_until([&] { return put.finished() && get.finished() && flush.finished(); }));
  EXPECT_LT(put.status, 0);
  EXPECT_LT(get.status, 0);
  EXPECT_LT(flush.status, 0);
  for (int i = 0; i < 10'000; ++i)
    job.poll();
  EXPECT_EQ(3, put.calls + get.calls + flush.calls);
  EXPECT_LT(job.put(0, 1, 0, block.data(), 8), 0);
  EXPECT_LT(job.get(0, 1, 0, block.data(), 8), 0);
  EXPECT_LT(job.flush(0, 1), 0);
}

// Nothing of them is with UCX any more, which therefore has nothing to say.
TEST(remote_memory, answers_of_a_lost_rank_are_not_waited_for) {
  ranks_of_one_process job(over_sockets);
  std::uint64_t value = 7;
  EXPECT_EQ(0, job.put(0, 1, 0, &value, sizeof value));
  EXPECT_EQ(0, job.flush(0, 1));
  awaited put, get, flush;
  EXPECT_GE(job[0].put(1, 0, &value, sizeof value, put).status(), 0);
  ASSERT_TRUE(job[0].get(1, &value, 0, sizeof value, get).under_way());
  ASSERT_TRUE(job[0].flush(1, flush).under_way());
  for (int i = 0; i < 10'000; ++i)
    job[0].poll();
  EXPECT_FALSE(get.finished() || flush.finished());
  job[0].abandon(1);
  EXPECT_TRUE(job.poll_until([&] { return get.finished() && flush.finished(); }));
  EXPECT_LT(get.status, 0);
  EXPECT_LT(flush.status, 0);
}

// Who has UCX's own put uses it only with those who serve it.
TEST(remote_memory, ranks_with_and_without_puts_of_ucx_work_together) {
  ranks_of_one_process job({"sysv,posix,self", "tcp,sysv,posix,self", "sysv,posix,self"});
  const std::vector<std::byte> block = pattern(300'000, 3);
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      std::fill_n(job[to].segment(), block.size(), std::byte{0});
      EXPECT_EQ(0, job.put(from, to, 0, block.data(), block.size()));
      EXPECT_EQ(0, job.flush(from, to));
      EXPECT_TRUE(std::equal(block.begin(), block.end(), job[to].segment()));
      std::vector<std::byte> back(block.size());
      EXPECT_EQ(0, job.get(from, to, 0, back.data(), back.size()));
      EXPECT_EQ(block, back);
    }
}

TEST(remote_memory, who_reaches_memory_by_itself) {
  using transport::ucx::reaches_memory;
  struct {
    bool one_host;
    const char* chosen;
    bool adapters, expected;
  } const cases[] = {
      {true, nullptr, false, true},          {false, nullptr, false, false},
      {false, nullptr, true, true},          {true, "tcp", false, false},
      {true, "self,tcp", false, false},      {true, "sysv,self", false, true},
      {true, "sysv,tcp,self", false, false}, {true, "all", false, false},
      {true, "^cma", false, false},          {true, "", false, false},
      {false, "sysv,self", false, false},    {false, "tcp,self", true, false},
      {false, "ud,self", true, false},       {false, "all", true, true},
      {false, "rc_x,self,sm", true, true},   {false, "rc_x,self,sm", false, false},
      {false, "^tcp", true, true},           {false, "^ib", true, false},
      {false, "^tcp", false, false},
  };
  for (const auto& c : cases) {
    const auto chosen = c.chosen == nullptr ? std::nullopt : std::optional<std::string_view>(c.chosen);
    EXPECT_EQ(c.expected, reaches_memory(c.one_host, chosen, c.adapters))
        << c.one_host << ' ' << chosen.value_or("(unset)") << ' ' << c.adapters;
  }
}

} // namespace
} // namespace weft::tests
