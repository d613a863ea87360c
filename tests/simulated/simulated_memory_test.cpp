// SPDX-License-Identifier: BSD-3-Clause
// What the simulated transport says about the order of memory operations, and that it takes the liberties
// that the interface leaves: without them a fault in a protocol would go unseen.
#include "tests/simulated/wait_for.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using transport::simulated_transport;
using transport::simulation;

constexpr std::uint64_t flag_offset = 0, data_offset = 1024, data_bytes = 200;

enum class landing { in_mine, in_theirs };

// Rank 0 copies ones and stores a flag, in the order asked for. True if rank 1, having seen the flag, does
// not see all of the ones.
bool flag_without_data(std::uint64_t seed, landing where, bool flag_first,
                       const transport::simulated_faults& faults = {}) {
  transport::simulation_options options = rough(seed, 2);
  options.faults = faults;
  simulation s(options);
  bool missing = false;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    const std::uint32_t holder = where == landing::in_mine ? 0 : 1;
    std::byte* const data = t.direct(holder) + data_offset;
    auto& flag = word_at(t.direct(0), flag_offset);
    std::array<std::byte, data_bytes> buffer;
    if (rank == 0) {
      buffer.fill(std::byte{1});
      if (flag_first) t.store(flag, 1);
      t.copy(data, buffer.data(), data_bytes);
      if (!flag_first) t.store(flag, 1);
    } else {
      wait_for(t, [&] { return t.load(flag) == 1; });
      t.copy(buffer.data(), data, data_bytes);
      for (std::byte b : buffer)
        missing |= b != std::byte{1};
    }
  });
  return missing;
}

TEST(simulated_memory, data_before_the_flag_is_always_there) {
  for (landing where : {landing::in_mine, landing::in_theirs})
    EXPECT_EQ(0u, count_seeds([&](std::uint64_t seed) { return flag_without_data(seed, where, false); }));
}

TEST(simulated_memory, data_after_the_flag_is_missed) {
  for (landing where : {landing::in_mine, landing::in_theirs})
    EXPECT_GT(count_seeds([&](std::uint64_t seed) { return flag_without_data(seed, where, true); }),
              seeds / 4);
}

TEST(simulated_memory, a_machine_that_reorders_is_noticed) {
  for (landing where : {landing::in_mine, landing::in_theirs})
    EXPECT_GT(count_seeds([&](std::uint64_t seed) {
                return flag_without_data(seed, where, false, {.reordered = true});
              }),
              0u);
}

// Each stores into its own word, and then loads the other's.
bool both_miss(std::uint64_t seed, bool fenced) {
  simulation s(rough(seed, 2));
  std::array<std::uint64_t, 2> seen{};
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    t.store(word_at(t.direct(0), rank * 64), 1);
    if (fenced) t.fence();
    seen[rank] = t.load(word_at(t.direct(0), (1 - rank) * 64));
  });
  return seen[0] == 0 && seen[1] == 0;
}

TEST(simulated_memory, a_store_may_be_seen_after_the_next_load) {
  EXPECT_GT(count_seeds([](std::uint64_t seed) { return both_miss(seed, false); }), 0u);
}

TEST(simulated_memory, a_fence_between_store_and_load_orders_them) {
  EXPECT_EQ(0u, count_seeds([](std::uint64_t seed) { return both_miss(seed, true); }));
}

TEST(simulated_memory, a_rank_sees_its_own_writes_at_once) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulation s(rough(seed, 2));
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      auto& mine = word_at(t.direct(0), rank * 64);
      std::byte* const theirs = t.direct(1 - rank) + data_offset;
      std::byte* const own = t.segment() + 2 * data_offset;
      std::array<std::byte, data_bytes> ones, got;
      ones.fill(std::byte{1});
      t.copy(theirs, ones.data(), data_bytes);
      t.copy(got.data(), theirs, data_bytes);
      EXPECT_EQ(ones, got);
      t.copy(own, ones.data(), data_bytes);
      EXPECT_EQ(0, std::memcmp(own, ones.data(), data_bytes));
      t.store(mine, 5);
      EXPECT_EQ(5u, t.load(mine));
    });
  }
}

TEST(simulated_memory, copies_land_in_pieces) {
  const auto torn = [](std::uint64_t seed) {
    simulation s(rough(seed, 2));
    bool part = false;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      std::byte* const data = t.direct(1) + data_offset;
      std::array<std::byte, data_bytes> buffer;
      buffer.fill(std::byte{1});
      if (rank == 0) {
        t.copy(data, buffer.data(), data_bytes);
        t.fence();
        return;
      }
      for (int look = 0; look < 50; ++look) {
        t.copy(buffer.data(), data, data_bytes);
        std::size_t ones = 0;
        for (std::byte b : buffer)
          ones += b == std::byte{1};
        part |= ones != 0 && ones != data_bytes;
      }
    });
    return part;
  };
  EXPECT_GT(count_seeds(torn), seeds / 10);
}

TEST(simulated_memory, a_copy_without_a_store_after_it_is_seen_late) {
  const auto missing = [](std::uint64_t seed) {
    simulation s(rough(seed, 2));
    bool old = false;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      std::byte* const data = t.direct(1) + data_offset;
      const std::byte one{1};
      if (rank == 0) {
        t.copy(data, &one, 1);
      } else {
        t.compute(std::chrono::microseconds(10));
        old = *data != one;
      }
    });
    return old;
  };
  EXPECT_GT(count_seeds(missing), seeds / 10);
}

TEST(simulated_memory, concurrent_adds_and_swaps_lose_nothing_and_swaps_fail_for_no_reason) {
  std::uint64_t spurious = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulation s(rough(seed, 4));
    s.run([&](std::uint32_t, simulated_transport& t) {
      for (int k = 0; k < 5; ++k) {
        t.add(word_at(t.direct(0), 0), 1);
        auto& swapped = word_at(t.direct(0), 64);
        std::uint64_t seen = t.load(swapped);
        for (std::uint64_t tried = seen; !t.cas(swapped, seen, seen + 1); tried = seen)
          spurious += seen == tried;
      }
    });
    EXPECT_EQ(20u, word_at(s.segment(0), 0).load());
    EXPECT_EQ(20u, word_at(s.segment(0), 64).load());
  }
  EXPECT_GT(spurious, 0u);
}

TEST(simulated_memory, memory_of_another_node_is_out_of_reach) {
  simulation s(rough(1, 2, {0, 1}));
  EXPECT_THROW(s.run([&](std::uint32_t rank, simulated_transport& t) {
    EXPECT_EQ(nullptr, t.direct(1 - rank));
    if (rank == 0) t.load(word_at(s.segment(1), 0));
  }),
               std::logic_error);
}

TEST(simulated_memory, no_copy_runs_over_the_end_of_a_segment) {
  simulation s(rough(1, 2));
  const std::byte bytes[64]{};
  EXPECT_THROW(
      s.run([&](std::uint32_t, simulated_transport& t) { t.copy(s.segment(0) + (1 << 16) - 32, bytes, 64); }),
      std::logic_error);
}

} // namespace
} // namespace weft::tests
