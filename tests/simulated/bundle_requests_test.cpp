// SPDX-License-Identifier: BSD-3-Clause
// A request for blocks of a bundle that says nonsense is not answered.
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/serving_ranks.hpp"

#include <array>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using transport::simulated_transport;

// A question for what does not lie in the segment has no answer, and a right one behind it has. Mutation: the
// offset is not looked at.
TEST(bundle_requests, are_asked_for_within_the_segment_alone) {
  const std::vector<std::uint32_t> nodes{0, 0, 1, 1};
  constexpr std::uint64_t count = 8;
  using words = std::array<std::uint64_t, 3>; // place, bytes from one receiver's to the next, of all members
  std::uint32_t looked = 0;
  const auto part = [&](const serving_rank& it) {
    const graph::topology& g = it.team.info.topology;
    const std::uint64_t end = it.engine.net().segment_bytes();
    const std::array<words, 5> wrong{{{end - count + 1, 0, ~0ull},
                                      {~0ull - 4, 0, ~0ull},
                                      {it.heap, end / 3, ~0ull},
                                      {it.heap, ~0ull / 3, ~0ull},
                                      {end, 1, ~0ull}}};
    const auto stamp = [&] {
      const std::uint32_t leader = leader_towards(g, g.host(g.me()), 1);
      std::byte* const boxes =
          (leader == it.me ? it.engine.net().segment() : it.engine.net().direct(leader)) +
          engine::first_mailbox_offset + engine::boxes_offset(g);
      return it.engine.net().load(engine::bundle_box(boxes, g, 0, 1).stamp(engine::slot_of(2), 0));
    };
    if (it.me == leader_towards(g, 0, 1)) {
      std::array<transport::completion, wrong.size() + 1> sent;
      for (transport::completion& done : sent)
        done.done = [](transport::completion*, int) {};
      std::array<words, wrong.size() + 1> asked{};
      std::ranges::copy(wrong, asked.begin());
      asked.back() = {end - count * 4, count, ~0ull};
      const auto ask = [&](std::size_t k) {
        const transport::message m{.channel = it.team.info.id,
                                   .kind = transport::message_kind::pull,
                                   .source = it.me,
                                   .count = count,
                                   .seq = 2};
        static_cast<void>(
            it.engine.net().send(leader_towards(g, 1, 0), m, &asked[k], sizeof asked[k], sent[k]));
      };
      for (std::size_t k = 0; k < wrong.size(); ++k)
        ask(k);
      for (std::uint32_t k = 0; k < 3000; ++k)
        it.serve_until([once = false]() mutable { return std::exchange(once, true); });
      EXPECT_EQ(stamp(), 0u) << "one of them was answered";
      ask(wrong.size());
      it.serve_until([&] { return stamp() == 2; });
      ++looked;
    }
    it.serve_until([&] { return looked != 0; });
  };
  play_serving(nodes, 4096, 1, all_bundled(), part);
}

} // namespace
} // namespace weft::tests
