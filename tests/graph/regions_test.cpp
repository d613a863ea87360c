// SPDX-License-Identifier: BSD-3-Clause
// What the executor moves at a step is what the verifier has seen: both ask the same node, but one block by
// block, the other in as few regions as may be and with short cuts for what is most frequent.
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weft::graph {
namespace {
using namespace collectives;

// Where is written and where that is read: what lies behind the other as it is read is one region.
using regions_moved = std::vector<region>;

regions_moved joined(regions_moved all) {
  std::sort(all.begin(), all.end(), [](const region& a, const region& b) { return a.write < b.write; });
  regions_moved whole;
  for (const region& r : all) {
    if (r.bytes == 0) continue;
    region* const last = whole.empty() ? nullptr : &whole.back();
    EXPECT_TRUE(last == nullptr || last->write + last->bytes <= r.write) << "a byte is moved twice";
    if (last != nullptr && last->write + last->bytes == r.write && last->read + last->bytes == r.read)
      last->bytes += r.bytes;
    else
      whole.push_back(r);
  }
  return whole;
}

// How many steps moved something.
int compare(const plan& p, const topology& g, const node& n, std::uint32_t peer, std::uint32_t step) {
  if (!moves_regions(n) || p.by_rows || p.in_place) return 0;
  const action a = resolve(p, way_of(n), peer, step);
  regions_moved seen, carried;
  const auto see = [&](const region& r) { seen.push_back(r); };
  each_move(p, g, n, a, visitor<const region&>(see));
  each_region(p, g, n, a, [&](const region& r) { carried.push_back(r); });
  seen = joined(seen), carried = joined(carried);
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), carried.begin(), carried.end(),
                         [](const region& x, const region& y) {
                           return x.write == y.write && x.read == y.read && x.bytes == y.bytes;
                         }))
      << "rank " << p.me << " step " << step << " with " << peer;
  return seen.empty() ? 0 : 1;
}

// Any other one where a row names it.
std::uint32_t peer_of(const plan& p, const topology& g, const node& loop, const node& step, std::uint32_t k) {
  const std::uint32_t peer = peer_at(p, g, loop.over, step.peer, k);
  return peer == found_by_rows ? (p.me + 1) % g.size() : peer;
}

int compare_all(const plan& p, const topology& g) {
  int steps = 0;
  for (unsigned n = 0; n < p.size; ++n) {
    const node& it = p.nodes[n];
    if (it.what != kind::loop) {
      if ((p.top >> n & 1) != 0) steps += compare(p, g, it, p.me, 0);
      continue;
    }
    for (unsigned s = it.body; s < unsigned{it.body} + it.body_size; ++s)
      for (std::uint32_t k = 0; k < it.count; ++k)
        steps += compare(p, g, p.nodes[s], peer_of(p, g, it, p.nodes[s], k), k);
  }
  return steps;
}

int compare_plans(const request& r, const node_map& nodes, const tuning& t) {
  int steps = 0;
  for (const plan& p : compile_all(r, nodes, t)) {
    steps += compare_all(p, topology(p.me, nodes));
    EXPECT_FALSE(testing::Test::HasFailure()) << text(r, nodes);
  }
  return steps;
}

TEST(regions, are_what_the_verifier_sees_block_by_block) {
  int steps = 0;
  for (const node_map& nodes :
       {one_host(1), one_host(2), one_host(4), alone(4), blocks_of(6, 2), dealt(7, 3), blocks_of(8, 4)})
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{600}, std::uint64_t{5000}})
      for (const std::uint32_t root : {0u, static_cast<std::uint32_t>(nodes.size() - 1)}) {
        for (const algorithm& a : algorithms())
          if (rooted(a.op) || root == 0)
            steps += compare_plans({a.op, sync::my, sync::my, hint::none, root, bytes}, nodes,
                                   forcing(a.op, a.name));
        for (const operation op : {operation::scatter, operation::gather, operation::permute})
          if (rooted(op) || root == 0)
            steps += compare_plans({op, sync::my, sync::my, hint::none, root, bytes}, nodes, {});
      }
  EXPECT_GT(steps, 2000);
}

// Each step behind all that it waits for, and each iteration of each node once, with its peer, on this host.
// What a post makes are signals, and behind them nothing is left for it; or all, if the rest copies little.
void check_straight(const plan& p, const topology& g) {
  node_set done = 0;
  std::uint32_t next = 0; // iteration of the node that is under way
  for (unsigned k = 0; k < p.straight_count; ++k) {
    const straight_step& s = p.straight[k];
    const node &top = p.nodes[s.top], &made = p.nodes[s.node];
    const bool in_loop = top.what == kind::loop;
    EXPECT_EQ(top.after & ~done, 0u) << "step " << k << " comes too early";
    EXPECT_EQ(done >> s.top & 1, 0u) << "step " << k << " comes again";
    EXPECT_EQ(s.node, in_loop ? top.body : s.top);
    EXPECT_EQ(s.iteration, next);
    EXPECT_EQ(s.peer, in_loop ? peer_at(p, g, top.over, made.peer, s.iteration) : p.me);
    EXPECT_TRUE(g.is_near(s.peer));
    next = s.last ? 0 : next + 1;
    if (!s.last) continue;
    EXPECT_EQ(s.iteration + 1u, in_loop ? top.count : 1u);
    done |= node_set{1} << s.top;
  }
  EXPECT_EQ(done, p.top);
  const auto kind_of = [&](unsigned k) { return p.nodes[p.straight[k].node].what; };
  unsigned little = 0; // steps that a post makes if it makes all
  while (little < p.straight_count &&
         (kind_of(little) == kind::signal || (kind_of(little) == kind::copy && p.block() <= 512)))
    ++little;
  if (p.straight_posted == p.straight_count) {
    EXPECT_EQ(little, p.straight_count);
    return;
  }
  for (unsigned k = 0; p.straight_posted != 0 && k < p.straight_count; ++k)
    EXPECT_EQ(kind_of(k) == kind::signal, k < p.straight_posted);
}

TEST(regions, of_straight_plans_follow_each_other) {
  int straight = 0, posted = 0;
  for (const node_map& nodes : {one_host(1), one_host(2), one_host(4), alone(4), blocks_of(6, 2)})
    for (const sync mode : {sync::no, sync::my, sync::all})
      for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{5000}})
        for (const operation op : {operation::barrier, operation::broadcast, operation::gather_all,
                                   operation::exchange, operation::scatter, operation::gather,
                                   operation::permute, operation::reduce_all, operation::team_allreduce})
          for (const plan& p : compile_all({op, mode, mode, hint::none, 0, bytes}, nodes, {})) {
            if (p.straight_count == 0) continue;
            check_straight(p, topology(p.me, nodes));
            ++straight;
            posted += p.straight_posted != 0;
            ASSERT_FALSE(testing::Test::HasFailure()) << name(op) << " of " << nodes.size() << " ranks";
          }
  EXPECT_GT(straight, 100);
  EXPECT_GT(posted, 50);
}

} // namespace
} // namespace weft::graph
