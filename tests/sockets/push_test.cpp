// SPDX-License-Identifier: BSD-3-Clause
// Puts that are ordered before a message: no rank is asked to confirm them.
//
// Mutations that this catches: a message is heard before a piece is in place; a flush does not ask; what has
// arrived is not told with messages, or is told by messages of its own; the window opens for no rank.
#include "tests/sockets/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace weft::tests {
namespace {

// Rank 0 pushes to rank 1, which notes what it sees when messages come.
class push : public testing::Test, transport::message_sink {
protected:
  push() { job[1].set_sink(this); }
  ~push() override { job[1].set_sink(nullptr); }

  transport::started begin(std::uint64_t at, const void* from, std::uint64_t bytes, awaited& w) {
    return job[0].push(1, at, from, bytes, w);
  }
  void finish(std::uint64_t at, const void* from, std::uint64_t bytes) {
    awaited pushed, order;
    EXPECT_EQ(0, job.status_of(begin(at, from, bytes, pushed), pushed));
    EXPECT_EQ(0, job.status_of(job[0].order(1, order), order));
  }
  void send(std::uint64_t seq, const void* payload = nullptr, std::uint64_t bytes = 0) {
    awaited sent;
    EXPECT_EQ(0, job.status_of(job[0].send(1, {.source = 0, .seq = seq}, payload, bytes, sent), sent));
  }
  std::byte& there(std::uint64_t at) { return job[1].segment()[at]; }
  // Nothing is under way any more, and nothing was: how many events there were.
  unsigned events() {
    unsigned seen = 0;
    for (int i = 0; i < 20'000; ++i)
      seen += job[0].poll() + job[1].poll();
    return seen;
  }

  ranks_of_one_process job{{"tcp,self", "tcp,self"}};
  std::vector<std::uint64_t> heard; // the messages
  std::vector<std::byte> seen;      // what was at `watched` then
  std::uint64_t watched = 0;

private:
  void on_message(const transport::message& m, std::span<const std::byte>) override {
    heard.push_back(m.seq);
    seen.push_back(there(watched));
  }
};

TEST_F(push, a_message_follows_the_last_piece) {
  send(0); // connected
  std::uint64_t seq = 0;
  for (const std::size_t bytes : {1u, 8u, 131072u, 131073u, 300'000u, 3'000'000u}) {
    SCOPED_TRACE(bytes);
    const std::vector<std::byte> block(bytes, static_cast<std::byte>(++seq));
    watched = 64 + bytes - 1;
    heard.clear(), seen.clear();
    finish(64, block.data(), bytes);
    send(seq);
    ASSERT_TRUE(job.poll_until([&] { return !heard.empty(); }));
    EXPECT_EQ(std::vector{seq}, heard);
    EXPECT_EQ(std::vector{block[0]}, seen);
    EXPECT_TRUE(std::equal(block.begin(), block.end(), &there(64)));
  }
}

TEST_F(push, what_is_pushed_goes_without_a_message) {
  const std::byte one{1};
  finish(64, &one, 1);
  EXPECT_TRUE(job.poll_until([&] { return there(64) == one; }));
  EXPECT_TRUE(heard.empty());
}

TEST_F(push, a_message_with_a_payload_follows) {
  const std::byte one{1}, payload[3000]{};
  watched = 64;
  finish(64, &one, 1);
  send(1, payload, sizeof payload);
  ASSERT_TRUE(job.poll_until([&] { return !heard.empty(); }));
  EXPECT_EQ(std::vector{one}, seen);
}

TEST_F(push, all_kinds_of_puts_stay_in_order) {
  const std::byte values[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  awaited w[4];
  static_cast<void>(begin(64, &values[0], 1, w[0]).status());
  static_cast<void>(begin(64, &values[1], 1, w[1]).status());
  EXPECT_EQ(0, job.put(0, 1, 64, &values[2], 1));
  EXPECT_EQ(0, job.flush(0, 1));
  EXPECT_EQ(values[2], there(64));
  static_cast<void>(begin(64, &values[3], 1, w[2]).status());
  EXPECT_EQ(0, job.put(0, 1, 65, &values[0], 1));
  static_cast<void>(begin(64, &values[4], 1, w[3]).status());
  EXPECT_EQ(0, job.flush(0, 1)); // no other rank asks
  EXPECT_EQ(values[4], there(64));
}

TEST_F(push, what_arrived_is_told_with_messages) {
  const std::vector<std::byte> block(200'000, std::byte{7});
  finish(0, block.data(), block.size());
  send(1);
  ASSERT_TRUE(job.poll_until([&] { return !heard.empty(); }));
  EXPECT_EQ(0u, events());
  awaited back;
  EXPECT_EQ(0, job.status_of(job[1].send(0, {.source = 1}, nullptr, 0, back), back));
  EXPECT_EQ(1u, events());
  awaited flush;
  EXPECT_TRUE(job[0].flush(1, flush).done());
}

// Long after, when nothing else is under way.
TEST_F(push, a_flush_asks) {
  const std::byte one{1};
  finish(64, &one, 1);
  send(1);
  ASSERT_TRUE(job.poll_until([&] { return !heard.empty(); }));
  EXPECT_EQ(0u, events());
  EXPECT_EQ(0, job.flush(0, 1));
  EXPECT_EQ(one, there(64));
}

TEST_F(push, pieces_say_what_arrived_too) {
  const std::byte one{1}, two{2};
  finish(64, &one, 1);
  ASSERT_TRUE(job.poll_until([&] { return there(64) == one; }));
  awaited pushed;
  EXPECT_TRUE(job[1].push(0, 64, &two, 1, pushed).done());
  ASSERT_TRUE(job.poll_until([&] { return job[0].segment()[64] == two; }));
  awaited flush;
  EXPECT_TRUE(job[0].flush(1, flush).done());
}

// More than may be under way, of one block and of many.
TEST_F(push, what_nobody_asks_for_opens_the_window) {
  const std::vector<std::byte> block(12 << 20, std::byte{7});
  finish(0, block.data(), block.size());
  EXPECT_TRUE(job.poll_until([&] { return there(block.size() - 1) == block[0]; }));
  const std::vector<std::byte> other(30'000, std::byte{8});
  std::vector<awaited> all(other.size());
  std::size_t under_way = 0;
  for (std::size_t i = 0; i < other.size(); ++i)
    under_way += begin(i, &other[i], 1, all[i]).under_way();
  EXPECT_GT(under_way, other.size() / 2);
  awaited order;
  EXPECT_EQ(0, job.status_of(job[0].order(1, order), order));
  send(1);
  ASSERT_TRUE(job.poll_until([&] { return !heard.empty(); }));
  EXPECT_TRUE(std::equal(other.begin(), other.end(), &there(0)));
  EXPECT_EQ(under_way, static_cast<std::size_t>(std::ranges::count_if(all, &awaited::finished)));
}

TEST_F(push, what_is_refused_fails_the_flush_behind_it) {
  const std::byte one{1};
  finish(ranks_of_one_process::segment_bytes, &one, 1);
  awaited flush;
  EXPECT_LT(job.status_of(job[0].flush(1, flush), flush), 0);
}

TEST_F(push, what_is_pushed_later_fails_with_the_rank) {
  const std::byte one{1};
  send(0);
  finish(64, &one, 1);
  job[0].abandon(1);
  awaited sent, later, flush;
  EXPECT_LT(job.status_of(job[0].send(1, {}, nullptr, 0, sent), sent), 0);
  events();
  EXPECT_LT(job.status_of(begin(64, &one, 1, later), later), 0);
  EXPECT_LT(job.status_of(job[0].flush(1, flush), flush), 0);
}

} // namespace
} // namespace weft::tests
