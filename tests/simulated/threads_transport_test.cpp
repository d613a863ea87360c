// SPDX-License-Identifier: BSD-3-Clause
// The threads transport's own contract, on two threads.
#include "testing/threads/threads_transport.hpp"

#include <array>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <thread>

namespace weft::tests {
namespace {
using transport::completion;
using transport::message;
using transport::threads_fabric;
using transport::threads_transport;
using namespace std::chrono_literals;

struct waited : completion {
  waited() {
    done = [](completion* c, int) { static_cast<waited*>(c)->finished = true; };
  }
  bool finished = false;
};

void wait_for(threads_transport& t, transport::started came, const waited& w) {
  while (came.under_way() && !w.finished)
    if (t.poll() == 0) t.yield();
}

struct collector final : transport::message_sink {
  void on_message(const message& m, std::span<const std::byte> payload) override {
    numbers.push_back(m.seq);
    bytes += payload.size();
  }
  std::vector<std::uint64_t> numbers;
  std::size_t bytes = 0;
};

bool readable(int fd, int timeout_ms = 0) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, timeout_ms) == 1;
}

class threads_transport_test : public testing::Test {
protected:
  threads_fabric far_{2, {0, 1}, 1 << 16};
  threads_fabric near_{2, {0, 0}, 1 << 16};
};

TEST_F(threads_transport_test, near_ranks_see_each_others_memory_and_far_ones_do_not) {
  threads_transport a(near_, 0), b(far_, 0);
  EXPECT_EQ(near_.segment(1), a.direct(1));
  EXPECT_EQ(nullptr, b.direct(1));
  EXPECT_EQ(b.segment(), b.direct(0));
}

TEST_F(threads_transport_test, nothing_lands_before_the_target_polls) {
  threads_transport a(far_, 0), b(far_, 1);
  const std::uint64_t value = 7;
  waited put, flush;
  EXPECT_TRUE(a.put(1, 64, &value, sizeof(value), put).done());
  EXPECT_TRUE(a.flush(1, flush).under_way());
  a.poll();
  EXPECT_FALSE(flush.finished);
  EXPECT_EQ(std::byte{0}, b.segment()[64]);
  EXPECT_EQ(2u, b.poll());
  EXPECT_EQ(std::byte{7}, b.segment()[64]);
  a.poll();
  EXPECT_TRUE(flush.finished);
}

TEST_F(threads_transport_test, a_large_source_is_read_when_the_target_polls) {
  threads_transport a(far_, 0), b(far_, 1);
  std::array<std::byte, 4096> source{};
  waited put;
  EXPECT_TRUE(a.put(1, 0, source.data(), source.size(), put).under_way());
  source.fill(std::byte{9});
  b.poll();
  EXPECT_EQ(std::byte{9}, b.segment()[4095]);
  EXPECT_FALSE(put.finished);
  a.poll();
  EXPECT_TRUE(put.finished);
}

TEST_F(threads_transport_test, messages_wait_for_a_sink_and_keep_their_order) {
  threads_transport a(far_, 0), b(far_, 1);
  const std::array<std::byte, 2000> large{};
  std::array<waited, 6> sent;
  for (std::uint64_t k = 0; k < sent.size(); ++k)
    static_cast<void>(a.send(1, {.seq = k}, large.data(), k % 2 == 0 ? 10 : large.size(), sent[k]));
  b.poll();
  collector sink;
  b.set_sink(&sink);
  EXPECT_FALSE(b.arm());
  b.poll();
  EXPECT_EQ((std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}), sink.numbers);
  EXPECT_EQ(3u * 2010, sink.bytes);
  EXPECT_TRUE(b.arm());
}

TEST_F(threads_transport_test, an_arrival_raises_the_descriptor_once_after_arming) {
  threads_transport a(far_, 0), b(far_, 1);
  a.ring(1);
  EXPECT_FALSE(readable(b.event_fd())) << "not armed";
  EXPECT_FALSE(b.arm()) << "something is there";
  b.poll();
  EXPECT_TRUE(b.arm());
  EXPECT_FALSE(readable(b.event_fd()));
  a.ring(1);
  EXPECT_TRUE(readable(b.event_fd()));
  b.poll();
  EXPECT_TRUE(b.arm());
  EXPECT_FALSE(readable(b.event_fd())) << "arming forgets what was heard";
}

TEST_F(threads_transport_test, a_ring_ends_a_nap) {
  threads_transport a(near_, 0), b(near_, 1);
  auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(a.segment());
  std::thread sleeper([&] {
    while (b.load(word) == 0) {
      b.nap(1h);
      b.poll();
    }
  });
  a.store(word, 1);
  a.ring(1);
  sleeper.join();
}

TEST_F(threads_transport_test, flushed_puts_are_seen_before_a_message_and_gets_bring_them_back) {
  constexpr std::uint64_t rounds = 200;
  std::thread other([&] {
    threads_transport b(far_, 1);
    collector sink;
    b.set_sink(&sink);
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      while (sink.numbers.size() < k)
        if (b.poll() == 0) b.yield();
      EXPECT_EQ(static_cast<std::byte>(k), b.segment()[0]);
      EXPECT_EQ(static_cast<std::byte>(k), b.segment()[2999]);
      waited answer;
      wait_for(b, b.send(0, {.seq = k}, nullptr, 0, answer), answer);
    }
    while (sink.numbers.size() <= rounds)
      if (b.poll() == 0) b.yield();
  });
  threads_transport a(far_, 0);
  collector sink;
  a.set_sink(&sink);
  std::array<std::byte, 3000> block{}, back{};
  for (std::uint64_t k = 1; k <= rounds; ++k) {
    block.fill(static_cast<std::byte>(k));
    waited put, flush, send, get;
    wait_for(a, a.put(1, 0, block.data(), block.size(), put), put);
    wait_for(a, a.flush(1, flush), flush);
    wait_for(a, a.send(1, {.seq = k}, nullptr, 0, send), send);
    while (sink.numbers.size() < k)
      if (a.poll() == 0) a.yield();
    wait_for(a, a.get(1, back.data(), 0, back.size(), get), get);
    EXPECT_EQ(block, back);
  }
  waited last;
  wait_for(a, a.send(1, {.seq = 0}, nullptr, 0, last), last);
  other.join();
}

} // namespace
} // namespace weft::tests
