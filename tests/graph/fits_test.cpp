// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm needs of modes, sizes and hosts to be chosen.
#include "tests/graph/fits.hpp"

#include <gtest/gtest.h>

namespace weft::graph {
namespace {

// A late rank may hold up others only where all wait for all anyway: elsewhere nothing is handed on. All need
// what all have of a reduction for all; and of a gather-all and an exchange, but there the blocks of those
// that have come are in place while another one is late.
TEST(algorithms_that_fit, nothing_is_handed_on_before_all_have_entered_nor_within_a_node) {
  for (const algorithm& a : algorithms()) {
    // That by engines, and no memory of users.
    if (!is_staged_algorithm(a) || a.name == "relayed" || a.name == "bundled") continue;
    if (of_vectors(a.op)) continue; // always IN_MY: the member that combines waits for all
    const bool for_all = a.op == operation::reduce_all || a.op == operation::prefix_reduce;
    for (const sync in : {sync::no, sync::my})
      EXPECT_TRUE(for_all || !fits_all(a, {a.op, in, sync::all, hint::none, 0, 8}, alone(8))) << a.name;
    EXPECT_FALSE(fits_all(a, {a.op, sync::all, sync::all, hint::none, 0, 8}, one_host(8))) << a.name;
    const auto fits_with = [&](std::uint64_t bytes, const node_map& nodes) {
      return fits_all(a, {a.op, sync::all, sync::all, hint::none, 0, bytes}, nodes);
    };
    EXPECT_TRUE(fits_with(8, alone(8)) || fits_with(8, blocks_of(8, 2)) || fits_with(65536, alone(8)))
        << a.name;
  }
}

TEST(algorithms_that_fit, engines_hand_on_what_is_small_and_waits_for_nobody) {
  const algorithm& a = named(operation::broadcast, "relayed");
  const auto fits = [&](sync in, std::uint64_t bytes, const node_map& nodes, bool relays = true) {
    tuning t;
    t.relays = relays;
    return a.fits({a.op, in, sync::my, hint::none, 0, bytes}, topology(0, nodes), t);
  };
  EXPECT_TRUE(fits(sync::my, 1, alone(8)));
  EXPECT_TRUE(fits(sync::my, 2048, alone(8)));
  EXPECT_FALSE(fits(sync::my, 2049, alone(8)));
  EXPECT_FALSE(fits(sync::my, 0, alone(8)));
  EXPECT_FALSE(fits(sync::my, 8, one_host(8)));
  EXPECT_FALSE(fits(sync::no, 8, alone(8)));
  EXPECT_FALSE(fits(sync::all, 8, alone(8)));
  EXPECT_FALSE(fits(sync::my, 8, alone(8), false)) << "no member answers while an application computes";
}

TEST(algorithms_that_fit, engines_send_together_what_is_small_and_waits_for_its_ends_alone) {
  const auto fits = [](request r, const node_map& nodes, auto... without) {
    tuning t;
    t.bundles = true;
    ((t.*without = false), ...);
    r.op = operation::exchange;
    r.out = sync::my;
    return fits_all_with(named(r.op, "bundled"), r, nodes, t);
  };
  const node_map nodes = blocks_of(8, 4);
  EXPECT_TRUE(fits({.in = sync::my, .bytes = 8}, nodes));
  EXPECT_TRUE(fits({.in = sync::my, .bytes = 128}, nodes));
  EXPECT_TRUE(fits({.in = sync::my, .bytes = 2048}, nodes)) << "in two large places";
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 2049}, nodes)) << "beyond them";
  EXPECT_TRUE(fits({.in = sync::no, .bytes = 128}, nodes));
  EXPECT_FALSE(fits({.in = sync::no, .bytes = 129}, nodes)) << "beyond the room of a slot";
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 0}, nodes));
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 8, .in_place = true}, nodes));
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 8}, one_host(8)));
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 8}, alone(8))) << "each sends alone";
  EXPECT_TRUE(fits({.in = sync::no, .bytes = 8}, nodes));
  EXPECT_FALSE(fits({.in = sync::all, .bytes = 8}, nodes)) << "blocks are handed on";
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 8}, nodes, &tuning::relays)) << "no member answers";
  EXPECT_FALSE(fits({.in = sync::my, .bytes = 8}, nodes, &tuning::bundles)) << "there are no boxes";
}

// What has no room is brought: so bytes are no matter, and the notes fit among many members.
TEST(algorithms_that_fit,
     unequal_blocks_go_in_bundles_whatever_their_sizes_and_between_any_number_of_members) {
  for (const operation op : {operation::team_alltoallv, operation::team_gatherv, operation::team_scatterv}) {
    const auto fits = [&](const node_map& nodes, std::uint64_t bytes, auto... without) {
      tuning t;
      t.bundles = true;
      ((t.*without = false), ...);
      return fits_all_with(named(op, "bundled"), {.op = op, .in = sync::my, .out = sync::my, .bytes = bytes},
                           nodes, t);
    };
    for (const std::uint64_t bytes : {0u, 8u, 1u << 20})
      EXPECT_TRUE(fits(blocks_of(8, 4), bytes)) << name(op);
    EXPECT_TRUE(fits(blocks_of(600, 300), 8)) << name(op);
    EXPECT_FALSE(fits(one_host(8), 8)) << name(op);
    EXPECT_FALSE(fits(alone(8), 8)) << name(op);
    EXPECT_FALSE(fits(blocks_of(8, 4), 8, &tuning::relays)) << name(op);
    EXPECT_FALSE(fits(blocks_of(8, 4), 8, &tuning::bundles)) << name(op);
    const request r{.op = op, .in = sync::my, .out = sync::my, .bytes = 8};
    for (const node_map& nodes : {one_host(140), blocks_of(150, 140)}) {
      const verdict v = verify(compile_all(r, nodes, forcing(op, "bundled")), nodes);
      EXPECT_TRUE(v.ok()) << name(op) << ": " << v.text();
    }
  }
}

// Operands in ordinary memory, which only their own rank reaches: where all members say that each touches its
// own no node of any plan touches those of another member, whichever algorithm is chosen.
TEST(algorithms_that_fit, operands_of_their_own_are_touched_by_no_other_member) {
  const auto touches_others = [](const node& n) {
    if (n.bundled) return true;
    switch (n.what) {
    case kind::get:
    case kind::put:
    case kind::claim:
    case kind::assist:
    case kind::fetch:
    case kind::reduce:
      return true;
    default:
      return false;
    }
  };
  const auto ways_of = [](operation op) {
    tuning of_sockets;
    of_sockets.far_payload = 128 << 10;
    std::vector<tuning> all{tuning{}, of_sockets};
    for (const algorithm& a : algorithms())
      if (a.op == op) all.push_back(forcing(op, a.name));
    return all;
  };
  unsigned eager = 0, far = 0, vectors = 0;
  for (const operation op : {operation::broadcast, operation::gather_all, operation::exchange,
                             operation::scatter, operation::gather, operation::team_reduce,
                             operation::team_allreduce, operation::team_scan, operation::team_reduce_scatter})
    for (const node_map& nodes :
         {one_host(1), one_host(2), one_host(5), alone(2), alone(5), blocks_of(8, 4), dealt(6, 2)})
      for (const std::uint64_t bytes : {0, 8, 500, 512, 513, 2047, 2048, 2049, 65536, 1 << 20})
        for (const tuning& t : ways_of(op)) {
          request r{op, sync::my, sync::my, hint::none, 0, bytes};
          r.apart = true;
          const std::vector<plan> plans = compile_all(r, nodes, t);
          for (const plan& p : plans) {
            const bool own = touches_own(r, topology(p.me, nodes), t);
            EXPECT_TRUE(own || computes(op) || !p.eager) << name(op) << " of " << bytes;
            vectors += own && computes(op);
            (p.eager ? eager : far) += own;
            for (unsigned k = 0; own && k != p.size; ++k)
              EXPECT_FALSE(touches_others(p.nodes[k])) << name(op) << " of " << bytes;
          }
        }
  EXPECT_GT(eager, 1000u);
  EXPECT_GT(far, 50u);
  EXPECT_GT(vectors, 200u);
}

// A series goes best where vectors go one way, or where its messages are of each member's own.
TEST(algorithms_that_fit, a_reduction_between_hosts_goes_as_a_series_of_messages) {
  tuning t;
  t.far_payload = 128 << 10;
  const auto piece = [&](operation op, std::uint64_t bytes, const node_map& nodes) {
    return piece_of_series({op, sync::my, sync::my, hint::none, 0, bytes}, topology(0, nodes), t);
  };
  constexpr std::uint64_t message = 128 << 10;
  for (const operation op : {operation::team_reduce, operation::team_allreduce, operation::team_scan}) {
    EXPECT_EQ(piece(op, message, alone(2)), 0u) << name(op);
    EXPECT_EQ(piece(op, message + 8, alone(2)), message) << name(op);
    EXPECT_EQ(piece(op, 16 * message, alone(2)), message) << name(op);
    EXPECT_EQ(piece(op, 16 * message + 8, alone(2)), 0u) << name(op);
    EXPECT_EQ(piece(op, 2 * message, one_host(2)), 0u) << name(op);
  }
  EXPECT_EQ(piece(operation::team_reduce, 4 * message, blocks_of(4, 2)), message);
  EXPECT_EQ(piece(operation::team_reduce, 4 * message + 8, blocks_of(4, 2)), 0u);
  EXPECT_EQ(piece(operation::team_scan, 16 * message, blocks_of(4, 2)), message);
  EXPECT_EQ(piece(operation::team_allreduce, 2 * message, blocks_of(4, 2)), 0u);
  EXPECT_EQ(piece(operation::team_reduce_scatter, 2 * message, alone(2)), 0u);
  t.far_payload = 32 << 10;
  EXPECT_EQ(piece(operation::team_scan, 2 * message, alone(2)), 0u) << "one transfer is cheaper";
  t.far_payload = message;
  t.forced = forcing(operation::team_scan, "flat").forced;
  EXPECT_EQ(piece(operation::team_scan, 2 * message, alone(2)), 0u);
}

} // namespace
} // namespace weft::graph
