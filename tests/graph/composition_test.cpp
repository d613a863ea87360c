// SPDX-License-Identifier: BSD-3-Clause
// Plans made of plans, verified for any number of members on any hosts; and what cannot be put together is
// refused.
#include "tests/graph/operations.hpp"
#include "tests/toys/relayed.hpp"

#include <gtest/gtest.h>

namespace weft::graph {
namespace {

struct composed {
  make_plan make;
  movement (*moves)(std::uint64_t bytes);
};
const composed compositions[] = {
    {tests::gather_all_relayed,
     [](std::uint64_t n) {
       return movement{pattern::all_pairs, {.bytes = n, .dst_i = n}};
     }},
    {tests::broadcast_in_halves,
     [](std::uint64_t n) {
       return movement{pattern::from_root, {.bytes = 2 * n}};
     }},
};

TEST(composition, moves_what_its_parts_move_together) {
  for (std::uint32_t members = 1; members <= 64; ++members)
    for (const node_map& nodes : {one_host(members), blocks_of(members, 5), alone(members)})
      for (const composed& c : compositions) {
        const verdict v = verify(all_of(c.make, nodes, 24), nodes, c.moves(24));
        ASSERT_TRUE(v.ok()) << members << " members: " << v.text();
      }
}

TEST(composition, without_phases_is_found) {
  for (const node_map& nodes : {one_host(3), alone(3), blocks_of(4, 2)}) {
    std::vector<plan> plans = all_of(tests::broadcast_in_halves, nodes, 24);
    for (plan& p : plans)
      for (node& n : p.nodes)
        n.phase = 0;
    EXPECT_TRUE(verify(plans, nodes, compositions[1].moves(24)).has(fault::surplus_signal));
  }
}

TEST(composition, whose_parts_are_in_no_order_is_found) {
  const node_map nodes = alone(3);
  std::vector<plan> plans = all_of(tests::gather_all_relayed, nodes, 24);
  for (node& n : plans[0].nodes)
    n.after = 0;
  EXPECT_TRUE(verify(plans, nodes, compositions[0].moves(24)).has(fault::race));
}

TEST(composition, keeps_to_what_a_plan_has_room_for) {
  const node_map nodes = one_host(3);
  const topology g(1, nodes);
  const plan part = tests::parts::broadcast(1, g, {.bytes = 8});
  builder b(1, 3, 0);
  for (std::uint8_t phase = 0; phase < max_phases; ++phase) {
    b.begin_phase(phase);
    b.use(part);
  }
  EXPECT_EQ(b.finish().loops, max_phases);
  EXPECT_THROW(b.use(tests::gather_all_relayed(1, g, 8)), std::logic_error); // of two phases
  EXPECT_THROW(b.use(tests::parts::broadcast(0, topology(0, nodes), {.bytes = 8})), std::logic_error);
  builder small(1, 3, 0);
  for (unsigned loops = 0; loops < all_loops; ++loops)
    small.use(part);
  EXPECT_THROW(small.use(part), std::logic_error);
}

TEST(composition, gives_each_part_scratch_of_its_own) {
  builder part(0, 1, 0);
  part.draft().scratch = 100;
  const std::uint8_t at = part.add_place({.bytes = 100});
  part.add(writing(copy_own(), buffer::scratch, at));
  builder whole(0, 1, 0);
  whole.use(part.finish());
  whole.use(part.finish());
  const plan p = whole.finish();
  EXPECT_EQ(p.scratch, 200u);
  EXPECT_EQ(p.places[p.nodes[1].write.at].base, 100u);
}

} // namespace
} // namespace weft::graph
