// No node and no edge of a plan is there for nothing: without it the verifier finds a fault. So the verifier
// sees every mechanism of every plan, and the plans hold no synchronization that their modes do not ask for.
#include "engine/graph/names.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

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
bool needed_if_absent(const std::vector<plan>& mutants, const node_map& nodes) {
  if (mutants.front().out == sync::all && geometry(0, nodes).one_node()) return true;
  for (std::uint32_t absent = 0; absent < mutants.size(); ++absent) {
    if (!verify_independence(mutants, nodes, {absent}).ok()) return true;
  }
  return false;
}

// A pushing root that is told of an entry by the rounds of OUT_ALL as well: they may be the first message.
bool said_twice(const plan& p, const node_map& nodes, const node& it) {
  if (p.out != sync::all || geometry(p.me, nodes).one_node()) return false;
  const bool loop = it.what == kind::loop;
  const node& what = loop ? p.nodes[it.body] : it;
  return what.what == kind::signal && what.about == fact::entry;
}

void expect_nodes_needed(const request& r, const node_map& nodes, const std::vector<plan>& plans) {
  for (std::uint32_t who = 0; who < plans.size(); ++who) {
    for (unsigned n = 0; n < plans[who].size; ++n) {
      std::vector<plan> mutants = plans;
      erase(mutants[who], n);
      if (!verify(mutants, nodes).ok() || said_twice(plans[who], nodes, plans[who].nodes[n])) continue;
      if (has(plans[who], n, kind::claim) && needed_if_absent(mutants, nodes)) continue;
      ADD_FAILURE() << text(r, nodes) << "\nrank " << who << " does not need node " << n << " ("
                    << describe(plans[who].nodes[n]) << ")";
    }
  }
}

void expect_edges_needed(const request& r, const node_map& nodes, const std::vector<plan>& plans) {
  for (std::uint32_t who = 0; who < plans.size(); ++who) {
    for (unsigned n = 0; n < plans[who].size; ++n) {
      const node& it = plans[who].nodes[n];
      // My own blocks first, then the others'.
      const bool only_priority = it.what == kind::assist && plans[who].in != sync::all;
      if (it.after == 0 || only_priority) continue;
      std::vector<plan> mutants = plans;
      mutants[who].nodes[n].after = 0;
      EXPECT_FALSE(verify(mutants, nodes).ok())
          << text(r, nodes) << "\nrank " << who << " does not need the edges to node " << n << " ("
          << describe(it) << ")";
    }
  }
}

TEST(needed, every_node_and_edge) {
  for (const std::uint32_t members : {2u, 3u, 4u, 5u}) {
    for (const node_map& nodes : {one_node(members), alone(members), blocks_of(members, 2)}) {
      for_each_request(members, [&](const request& r) {
        if (r.bytes == 0 || testing::Test::HasFailure()) return;
        const std::vector<plan> plans = compile_all(r, nodes);
        expect_nodes_needed(r, nodes, plans);
        expect_edges_needed(r, nodes, plans);
      });
    }
  }
}

} // namespace
} // namespace weft::graph
