// SPDX-License-Identifier: BSD-3-Clause
// No node and no edge of a plan is there for nothing: without it the verifier finds a fault. So the verifier
// sees every mechanism of every plan, and the plans hold no synchronization that their modes do not ask for.
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::graph {
namespace {
using namespace collectives;

bool has(const plan& p, unsigned n, kind what) {
  const node& it = p.nodes[n];
  if (it.what == what) return true;
  if (it.what != kind::loop) return false;
  for (unsigned s = it.body; s < unsigned{it.body} + it.body_size; ++s) {
    if (p.nodes[s].what == what) return true;
  }
  return false;
}

// Where each carries for itself, or for the other end, one is enough as long as both run: then it is the
// independence that is lost. Where all assist, a claim only says what to begin with.
bool needed_if_absent(const std::vector<plan>& mutants, const node_map& nodes, const movement& moved) {
  if (mutants.front().out == sync::all && topology(0, nodes).one_host()) return true;
  for (std::uint32_t absent = 0; absent < mutants.size(); ++absent) {
    if (!verify_independence(mutants, nodes, {absent}, moved).ok()) return true;
  }
  return false;
}

row_names paired(std::uint32_t members) {
  row_names names(members);
  for (std::uint32_t r = 0; r < members; ++r)
    names[r] = std::min(r ^ 1, members - 1);
  return names;
}

// Rows in which each member is the root, with and without a block of its own, or names each other one.
std::vector<row_names> all_rows(const request& r, std::uint32_t members) {
  if (!permutes(r.op) && !rooted_by_rows(r.op)) return {{}};
  std::vector<row_names> rows;
  if (permutes(r.op)) rows.push_back(paired(members)); // within nodes
  for (std::uint32_t k = 0; k < members; ++k) {
    rows.push_back(permutes(r.op) ? shifted(members, k) : to_root(members, k));
    if (permutes(r.op)) continue;
    rows.push_back(rows.back());
    rows.back()[k] = movement::no_rank;
  }
  return rows;
}

// Needed for some of the rows that there may be.
bool needed(const request& r, const std::vector<plan>& mutants, const node_map& nodes, bool claims) {
  for (const row_names& names : all_rows(r, static_cast<std::uint32_t>(nodes.size()))) {
    const movement moved = specified(r, names);
    if (!verify(mutants, nodes, moved).ok() || (claims && needed_if_absent(mutants, nodes, moved)))
      return true;
  }
  return false;
}

// Short blocks between hosts: to the verifier they are brought. So it knows how many members count that,
// before the notes are written that say so.
bool came_with_notes(const request& r, const node& it) {
  return collectives::sized_by_members(r.op) && it.what == kind::compute && it.count == 6;
}
bool counts_by_notes(const request& r, const node& it) {
  return collectives::sized_by_members(r.op) && it.what == kind::await && it.about == fact::consumed;
}
// Nor does it hear of what a member notes in its payload: that no block has come yet.
bool takes_behind_notes(const request& r, const node& it) {
  return collectives::sized_by_members(r.op) && it.what == kind::loop && it.over == &range::others;
}

bool awaits_ready(const plan& p, const node& it) {
  const node& what = it.what == kind::loop ? p.nodes[it.body] : it;
  return what.what == kind::await && what.about == fact::ready;
}

// Nodes that the rows or their sizes may make needed, or that are no synchronization.
bool for_other_cases(const request& r, const plan& p, const node_map& nodes, unsigned n) {
  const node& it = p.nodes[n];
  const bool lonely = topology(p.me, nodes).near().empty();
  const bool by_rows = permutes(r.op) || rooted_by_rows(r.op);
  // The block lies where it belongs: nothing is copied.
  if (r.in_place && r.op == operation::gather_all && (it.what == kind::copy || it.way == direction::self))
    return true;
  if (r.op == operation::sort && !r.whole && p.me == 0 && it.what == kind::compute &&
      it.write.in == buffer::destination)
    return true;
  // Either end may swap two blocks, whoever comes first: the other need not wait for him.
  if (r.in_place && r.out == sync::no && has(p, n, kind::claim)) return true;
  // Nor need he rotate a cycle who may leave before it is rotated.
  if (r.out == sync::no && has(p, n, kind::rotate)) return true;
  // Both ends count a swap, and the last rounds tell of it who hears of either.
  if (r.in_place && r.out == sync::all && it.what == kind::await && it.about == fact::delivered) return true;
  // What I have may be longer than what I get, in pieces that are not looked at here.
  if (r.in_place && r.op == operation::permute_x && it.what == kind::await && it.about == fact::consumed)
    return true;
  // To know where a root of the host wants its result helps it, and one that knows is enough to the verifier.
  if (r.op == operation::team_reduce && p.me != p.root && has(p, n, kind::take) &&
      topology(p.me, nodes).one_host())
    return true;
  // Nor need more than one of the root's host wait for the word by which it has heard the root's choice.
  if (p.patience != 0 && topology(p.me, nodes).is_near(p.root) && awaits_ready(p, it)) return true;
  if (came_with_notes(r, it)) return true;
  // All plans of these are for near members too; and they know from the rows alone when there are none.
  if (by_rows && lonely && (it.only == lane::near || (it.what == kind::await && it.about == fact::delivered)))
    return true;
  return false;
}

// A pushing root that is told of an entry by the rounds of OUT_ALL as well: they may be the first message.
bool said_twice(const plan& p, const node_map& nodes, const node& it) {
  if (p.out != sync::all || topology(p.me, nodes).one_host()) return false;
  const bool loop = it.what == kind::loop;
  const node& what = loop ? p.nodes[it.body] : it;
  return what.what == kind::signal && what.about == fact::entry;
}

void expect_nodes_needed(const request& r, const node_map& nodes, const std::vector<plan>& plans) {
  for (std::uint32_t who = 0; who < plans.size(); ++who) {
    for (unsigned n = 0; n < plans[who].size; ++n) {
      std::vector<plan> mutants = plans;
      erase(mutants[who], n);
      if (needed(r, mutants, nodes, has(plans[who], n, kind::claim))) continue;
      if (for_other_cases(r, plans[who], nodes, n)) continue;
      if (said_twice(plans[who], nodes, plans[who].nodes[n])) continue;
      ADD_FAILURE() << text(r, nodes) << "\nrank " << who << " does not need node " << n << " ("
                    << describe(plans[who].nodes[n]) << ")";
    }
  }
}

// What leaders tell each other and their hosts is said of all alike. Who has handed everything on is spoken
// for by those who have it: they say in the last rounds that they had it from him. With a root, a host may
// have nothing to say, or hear of the entries by what comes from there.
bool told_by_others(const plan& p, const node& it) {
  const auto hands_on = [](const node& n) { return n.read.in == buffer::destination || n.stepwise; };
  const bool of_hosts =
      it.over == &range::leader_rounds || (it.what == kind::signal && is_stage(it.about) && it.after != 0);
  return of_hosts && (p.pairs == pattern::from_root || p.pairs == pattern::to_root ||
                      std::any_of(p.nodes.begin(), p.nodes.begin() + p.size, hands_on));
}

void expect_edges_needed(const request& r, const node_map& nodes, const std::vector<plan>& plans) {
  for (std::uint32_t who = 0; who < plans.size(); ++who) {
    for (unsigned n = 0; n < plans[who].size; ++n) {
      const node& it = plans[who].nodes[n];
      // My own blocks first, then the others'.
      const bool only_priority = it.what == kind::assist && plans[who].in != sync::all;
      // Whose swaps are all near: their other ends count them as well, and say so.
      const bool said_by_others =
          r.in_place && r.out == sync::all && topology(who, nodes).initiated().empty();
      if (it.after == 0 || only_priority || said_by_others || told_by_others(plans[who], it) ||
          came_with_notes(r, it) || counts_by_notes(r, it) || takes_behind_notes(r, it))
        continue;
      std::vector<plan> mutants = plans;
      mutants[who].nodes[n].after = 0;
      EXPECT_TRUE(needed(r, mutants, nodes, false))
          << text(r, nodes) << "\nrank " << who << " does not need the edges to node " << n << " ("
          << describe(it) << ")";
    }
  }
}

void expect_all_needed(std::uint32_t members) {
  for (const node_map& nodes : {one_host(members), alone(members), blocks_of(members, 2)}) {
    for_each_request(members, [&](const request& r) {
      if ((r.bytes == 0 && !sized_by_rows(r.op)) || testing::Test::HasFatalFailure()) return;
      const std::vector<plan> plans = compile_all(r, nodes);
      expect_nodes_needed(r, nodes, plans);
      expect_edges_needed(r, nodes, plans);
    });
  }
}

TEST(needed, every_node_and_edge) {
  for (const std::uint32_t members : {2u, 3u, 4u})
    expect_all_needed(members);
}
TEST(long_needed, every_node_and_edge_of_five) {
  expect_all_needed(5);
}

std::vector<std::pair<sync, sync>> pairs_of(const std::vector<sync>& ins) {
  std::vector<std::pair<sync, sync>> all;
  for (const sync in : ins)
    for (const sync out : {sync::no, sync::my, sync::all})
      all.emplace_back(in, out);
  return all;
}

void expect_all_needed_of_what_is_handed_on(std::initializer_list<std::uint32_t> numbers) {
  for (const algorithm& a : algorithms()) {
    for (const std::uint32_t members : numbers) {
      for (const node_map& nodes : {alone(members), blocks_of(members, 2), dealt(members, 3)}) {
        const std::vector<sync> ins = a.name == "relayed"   ? std::vector{sync::my}
                                      : a.name == "bundled" ? std::vector{sync::no, sync::my, sync::all}
                                                            : std::vector{sync::all};
        for (const auto& [in, out] : pairs_of(ins)) {
          for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{300001}}) {
            if (bytes != 8 && in != sync::all) continue; // too long for an engine
            const request r{a.op, in, out, hint::none, rooted(a.op) ? 1u : 0u, bytes};
            const tuning t = forcing(a.op, a.name);
            if (testing::Test::HasFailure() || choose(r, topology(0, nodes), t) != &a) continue;
            SCOPED_TRACE(a.name);
            const std::vector<plan> plans = compile_all(r, nodes, t);
            expect_nodes_needed(r, nodes, plans);
            expect_edges_needed(r, nodes, plans);
          }
        }
      }
    }
  }
}

TEST(needed, every_node_and_edge_of_what_is_handed_on) {
  expect_all_needed_of_what_is_handed_on({3, 4, 5});
}
TEST(long_needed, every_node_and_edge_of_what_six_hand_on) {
  expect_all_needed_of_what_is_handed_on({6});
}

} // namespace
} // namespace weft::graph
