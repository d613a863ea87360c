// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace weft::graph {

// Good plans, to be spoiled.
struct sample {
  collectives::request what;
  node_map nodes;
  row_names names;
  std::vector<plan> plans;

  sample(const collectives::request& r, node_map n, row_names rows = {})
      : what(r), nodes(std::move(n)), names(std::move(rows)), plans(compile_all(r, nodes)) {
    EXPECT_TRUE(check().ok()) << check().text();
  }
  verdict check() const { return verify(plans, nodes, specified(what, names)); }
  node& at(std::uint32_t rank, kind k, fact f = fact::none) {
    return plans[rank].nodes[find(plans[rank], k, f)];
  }
  void drop(std::uint32_t rank, kind k, fact f = fact::none) { erase(plans[rank], find(plans[rank], k, f)); }
  // The loop whose body begins with, or holds, such a node.
  node& loop_of(std::uint32_t rank, kind k, fact f = fact::none) {
    const unsigned step = find(plans[rank], k, f);
    for (node& n : plans[rank].nodes) {
      if (n.what == kind::loop && n.body <= step && step < unsigned{n.body} + n.body_size) return n;
    }
    throw std::logic_error("the node is in no loop");
  }
  void expect(fault what) const {
    EXPECT_TRUE(check().has(what)) << text(this->what, nodes) << "\n" << check().text();
  }
};

// What most of the samples are of.
inline collectives::request exchange_of(sync in, sync out, hint direction = hint::pull,
                                        std::uint64_t bytes = 65536) {
  return {collectives::operation::exchange, in, out, direction, 0, bytes};
}
inline collectives::request broadcast_of(sync in, sync out, std::uint64_t bytes, std::uint32_t root = 0) {
  return {collectives::operation::broadcast, in, out, hint::pull, root, bytes};
}

} // namespace weft::graph
