// SPDX-License-Identifier: BSD-3-Clause
#include "engine/memory/full_fence.hpp"
#include "progress/execution/neighbours.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

namespace {

using weft::engine::full_fence;
using weft::engine::ring_list;
using weft::engine::word;
using weft::progress::has_come;
using weft::progress::ring_list_writer;
using weft::testing::meeting_point;
using weft::testing::rounds_budget;
using weft::testing::run_together;

struct plain_memory {
  std::uint64_t load(word& w) { return w.load(std::memory_order_acquire); }
  void store(word& w, std::uint64_t v) { w.store(v, std::memory_order_release); }
};

// A segment of words of rank 3.
struct host {
  plain_memory net;
  ring_list list{};
  std::array<word, 8> words{};
  ring_list_writer<plain_memory> mine{net, list};

  // A group of words at these places, and the values that they must come to.
  void wait_for(std::initializer_list<std::pair<std::size_t, std::uint64_t>> group) {
    for (const auto& [at, value] : group)
      mine.add(3, at * sizeof(word), value);
    mine.end_group();
  }
  bool come() {
    const std::uint64_t state = net.load(list.state);
    return has_come(net, list, state, [&](std::uint32_t rank) {
      return rank == 3 ? reinterpret_cast<std::byte*>(words.data()) : nullptr;
    });
  }
};

TEST(ring_list, a_group_has_come_when_all_its_words_have) {
  host h;
  h.wait_for({{0, 5}, {1, 7}});
  EXPECT_FALSE(h.come()) << "nothing is published";
  h.mine.publish();
  h.words[0] = 5;
  EXPECT_FALSE(h.come());
  h.words[1] = 6;
  EXPECT_FALSE(h.come());
  h.words[1] = 8;
  EXPECT_TRUE(h.come());
}

TEST(ring_list, one_group_of_several_is_enough) {
  host h;
  h.wait_for({{0, 1}, {1, 1}});
  h.wait_for({{2, 1}});
  h.mine.publish();
  h.words[1] = 1;
  EXPECT_FALSE(h.come());
  h.words[2] = 1;
  EXPECT_TRUE(h.come());
}

TEST(ring_list, a_cleared_list_has_nothing) {
  host h;
  h.mine.add_ready(3);
  h.mine.publish();
  EXPECT_TRUE(h.come());
  h.mine.clear();
  EXPECT_FALSE(h.come());
  h.mine.end_group();
  h.mine.publish();
  EXPECT_FALSE(h.come()) << "a group of nothing is no group";
}

TEST(ring_list, says_when_it_is_full) {
  host h;
  for (std::uint32_t k = 0; k <= ring_list::most; ++k) {
    EXPECT_TRUE(h.mine.complete());
    h.wait_for({{k % 8, 1}});
  }
  EXPECT_FALSE(h.mine.complete());
  h.mine.publish();
  h.words[3] = 1;
  EXPECT_TRUE(h.come());
}

// The owner lists a word and looks at it again before it sleeps; another rank stores the word and looks at
// the list before it leaves. One of them sees the other. Caught here: a last look, or a store, without its
// fence.
TEST(ring_list_stress, a_word_that_comes_while_it_is_listed_is_seen_by_one_side) {
  constexpr unsigned batch = 256;
  std::vector<host> all(batch);
  std::array<std::vector<char>, 2> saw{std::vector<char>(batch), std::vector<char>(batch)};
  meeting_point together{2};
  bool enough = false;
  unsigned lost = 0;
  const rounds_budget budget;
  run_together(2, [&](unsigned me) {
    for (std::uint64_t round = 1; round <= 400; ++round) {
      if (me == 0) enough = budget.spent();
      together.arrive();
      if (enough) break;
      for (unsigned i = 0; i < batch; ++i) {
        host& h = all[i];
        if (me == 0) {
          h.wait_for({{0, round}});
          h.mine.publish();
        } else {
          h.net.store(h.words[0], round);
        }
        full_fence();
        saw[me][i] = h.come();
      }
      together.arrive();
      if (me != 0) continue;
      for (unsigned i = 0; i < batch; ++i) {
        lost += !saw[0][i] && !saw[1][i];
        all[i].mine.clear();
      }
    }
  });
  EXPECT_EQ(lost, 0u) << "rings lost";
}

} // namespace
