// SPDX-License-Identifier: BSD-3-Clause
// The far lane of the simulated transport: what it promises always holds, what it does not promise fails
// somewhere.
#include "tests/simulated/wait_for.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using transport::message;
using transport::message_kind;
using transport::simulated_transport;
using transport::simulation;
using namespace std::chrono_literals;

constexpr std::uint64_t data_offset = 1024, data_bytes = 300;
using block = std::array<std::byte, data_bytes>;

block filled(int value) {
  block b;
  b.fill(static_cast<std::byte>(value));
  return b;
}

struct collector final : transport::message_sink {
  void on_message(const message& m, std::span<const std::byte> payload) override {
    got.push_back(m);
    payloads.emplace_back(payload.begin(), payload.end());
  }
  std::vector<message> got;
  std::vector<std::vector<std::byte>> payloads;
};

enum class between { nothing, flush, order };

// Rank 0 puts ones, flushes or orders if asked to, and sends a message. True if rank 1 misses ones when the
// message has come.
bool message_without_data(std::uint64_t seed, between what, const transport::simulated_faults& faults = {}) {
  transport::simulation_options options = rough(seed, 2, {0, 1});
  options.faults = faults;
  options.keeps_order = what == between::order;
  simulation s(options);
  bool missing = false;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    const block ones = filled(1);
    collector sink;
    t.set_sink(&sink);
    if (rank == 0) {
      waited put, flush, send, last;
      finish(t, t.put(1, data_offset, ones.data(), data_bytes, put), put);
      if (what == between::flush) finish(t, t.flush(1, flush), flush);
      if (what == between::order) finish(t, t.order(1, flush), flush);
      finish(t, t.send(1, {}, nullptr, 0, send), send);
      finish(t, t.flush(1, last), last);
    } else {
      wait_for(t, [&] { return !sink.got.empty(); });
      missing = std::memcmp(t.segment() + data_offset, ones.data(), data_bytes) != 0;
      for (int k = 0; k < 100; ++k)
        t.compute(1us), t.poll();
    }
    t.set_sink(nullptr);
  });
  return missing;
}

TEST(simulated_network, a_flushed_put_is_in_place_before_a_later_message) {
  EXPECT_EQ(0u, count_seeds([](std::uint64_t seed) { return message_without_data(seed, between::flush); }));
}

TEST(simulated_network, a_put_without_flush_is_overtaken_by_a_message) {
  EXPECT_GT(count_seeds([](std::uint64_t seed) { return message_without_data(seed, between::nothing); }),
            seeds / 10);
}

TEST(simulated_network, a_flush_that_does_not_wait_is_noticed) {
  EXPECT_GT(count_seeds([](std::uint64_t seed) {
              return message_without_data(seed, between::flush, {.early_flush = true});
            }),
            seeds / 10);
}

TEST(simulated_network, an_ordered_put_is_in_place_before_a_later_message) {
  EXPECT_EQ(0u, count_seeds([](std::uint64_t seed) { return message_without_data(seed, between::order); }));
}

// True if rank 0 has heard that its put is ordered before it is in place: a flush would not say so.
bool ordered_before_it_lands(std::uint64_t seed) {
  transport::simulation_options options = rough(seed, 2, {0, 1});
  options.keeps_order = true;
  simulation s(options);
  bool early = false;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    const block ones = filled(1);
    waited put, order, last;
    if (rank == 0) {
      finish(t, t.put(1, data_offset, ones.data(), data_bytes, put), put);
      finish(t, t.order(1, order), order);
      early = std::memcmp(s.segment(1) + data_offset, ones.data(), data_bytes) != 0;
      finish(t, t.flush(1, last), last);
    } else {
      wait_for(t, [&] { return std::memcmp(t.segment() + data_offset, ones.data(), data_bytes) == 0; });
    }
  });
  return early;
}

TEST(simulated_network, an_order_does_not_wait_for_the_put) {
  EXPECT_GT(count_seeds(ordered_before_it_lands), seeds / 10);
}

// Rank 0 overwrites the source, after completion or at once. True if rank 1 receives something else than it
// was.
bool source_torn(std::uint64_t seed, bool waits) {
  simulation s(rough(seed, 2, {0, 1}));
  bool torn = false;
  bool left = false;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    collector sink;
    t.set_sink(&sink);
    if (rank == 0) {
      block source = filled(1), text = filled(1);
      waited put, send, flush;
      const transport::started put_read = t.put(1, data_offset, source.data(), data_bytes, put);
      const transport::started text_read = t.send(1, {}, text.data(), data_bytes, send);
      if (waits) {
        finish(t, put_read, put);
        finish(t, text_read, send);
      }
      source = text = filled(2);
      finish(t, put_read, put);
      finish(t, text_read, send);
      finish(t, t.flush(1, flush), flush);
      left = true;
    } else {
      wait_for(t, [&] { return left && !sink.got.empty(); });
      const block ones = filled(1);
      torn = std::memcmp(t.segment() + data_offset, ones.data(), data_bytes) != 0 ||
             std::memcmp(sink.payloads[0].data(), ones.data(), data_bytes) != 0;
    }
    t.set_sink(nullptr);
  });
  return torn;
}

TEST(simulated_network, a_source_may_be_reused_when_its_transfer_is_finished) {
  EXPECT_EQ(0u, count_seeds([](std::uint64_t seed) { return source_torn(seed, true); }));
}

TEST(simulated_network, a_source_is_read_until_its_transfer_is_finished) {
  EXPECT_GT(count_seeds([](std::uint64_t seed) { return source_torn(seed, false); }), seeds / 10);
}

TEST(simulated_network, a_put_may_land_in_pieces_and_only_when_the_target_polls) {
  transport::simulation_options options = rough(1, 2, {0, 1});
  options.chaos.needs_poll = 1;
  simulation s(options);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    const block ones = filled(1), none = filled(0);
    if (rank == 0) {
      waited put, flush;
      finish(t, t.put(1, data_offset, ones.data(), data_bytes, put), put);
      finish(t, t.flush(1, flush), flush);
      EXPECT_GT(t.now(), 10ms);
    } else {
      t.compute(10ms);
      EXPECT_EQ(0, std::memcmp(t.segment() + data_offset, none.data(), data_bytes));
      wait_for(t, [&] { return std::memcmp(t.segment() + data_offset, ones.data(), data_bytes) == 0; });
    }
  });
}

TEST(simulated_network, pieces_of_a_put_are_seen_alone) {
  const auto torn = [](std::uint64_t seed) {
    simulation s(rough(seed, 2, {0, 1}));
    bool part = false;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      const block ones = filled(1);
      waited put;
      if (rank == 0) {
        finish(t, t.put(1, data_offset, ones.data(), data_bytes, put), put);
        return;
      }
      const std::byte* const data = t.segment() + data_offset;
      for (int look = 0; look < 200; ++look) {
        t.compute(500ns);
        t.poll();
        const auto delivered = std::count(data, data + data_bytes, std::byte{1});
        part |= delivered != 0 && delivered != data_bytes;
      }
    });
    return part;
  };
  EXPECT_GT(count_seeds(torn), seeds / 10);
}

TEST(simulated_network, a_get_brings_what_was_there_between_its_start_and_its_end) {
  std::uint64_t old = 0, fresh = 0, mixed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulation s(rough(seed, 2, {0, 1}));
    bool done = false;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      if (rank == 0) {
        block into = filled(9);
        waited get;
        finish(t, t.get(1, into.data(), data_offset, data_bytes, get), get);
        const auto ones = std::count(into.begin(), into.end(), std::byte{1});
        const auto zeros = std::count(into.begin(), into.end(), std::byte{0});
        EXPECT_EQ(static_cast<std::ptrdiff_t>(data_bytes), ones + zeros) << seed;
        (zeros == 0 ? fresh : ones == 0 ? old : mixed) += 1;
        done = true;
        return;
      }
      for (int k = 0; k < 10; ++k)
        t.compute(1us), t.poll();
      std::memset(t.segment() + data_offset, 1, data_bytes);
      wait_for(t, [&] { return done; });
    });
  }
  EXPECT_GT(old, 0u);
  EXPECT_GT(fresh, 0u);
  EXPECT_GT(mixed, 0u);
}

TEST(simulated_network, messages_of_one_rank_to_another_keep_their_order) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulation s(rough(seed, 3, {0, 1, 2}));
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      collector sink;
      t.set_sink(&sink);
      constexpr std::uint64_t each = 10;
      if (rank != 2) {
        std::array<std::uint64_t, each> payload;
        std::array<waited, each> sent;
        std::vector<transport::started> came;
        for (std::uint64_t k = 0; k < each; ++k) {
          payload[k] = rank * 1000 + k;
          came.push_back(t.send(2, {.kind = message_kind::payload, .source = rank, .seq = k}, &payload[k],
                                sizeof(payload[k]), sent[k]));
        }
        for (std::uint64_t k = 0; k < each; ++k)
          finish(t, came[k], sent[k]);
      } else {
        wait_for(t, [&] { return sink.got.size() == 2 * each; });
        std::array<std::uint64_t, 2> next{};
        for (std::size_t k = 0; k < sink.got.size(); ++k) {
          const message& m = sink.got[k];
          EXPECT_EQ(next[m.source]++, m.seq) << "seed " << seed;
          std::uint64_t text = 0;
          ASSERT_EQ(sizeof(text), sink.payloads[k].size());
          std::memcpy(&text, sink.payloads[k].data(), sizeof(text));
          EXPECT_EQ(m.source * 1000 + m.seq, text);
        }
      }
      t.set_sink(nullptr);
    });
  }
}

TEST(simulated_network, an_arriving_message_ends_a_nap) {
  transport::simulation_options options = rough(1, 2, {0, 1});
  options.endless_naps = true;
  simulation s(options);
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    collector sink;
    t.set_sink(&sink);
    waited send;
    if (rank == 0) {
      t.compute(5ms);
      finish(t, t.send(1, {}, nullptr, 0, send), send);
    } else {
      while (sink.got.empty())
        if (t.poll() == 0) t.nap(1h);
      EXPECT_GT(t.now(), 5ms);
      EXPECT_LT(t.now(), 6ms);
    }
    t.set_sink(nullptr);
  });
}

} // namespace
} // namespace weft::tests
