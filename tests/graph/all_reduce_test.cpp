// A reduction, verified for any number of members on any hosts; and every way to break it is found.
#include "tests/graph/operations.hpp"
#include "tests/toys/all_reduce.hpp"

#include <gtest/gtest.h>

namespace weft::graph {
namespace {

verdict judge(const std::vector<plan>& plans, const node_map& nodes, std::uint64_t bytes) {
  return verify(plans, nodes, tests::sum_of_all(bytes));
}

TEST(all_reduce, counts_every_block_once_on_every_member) {
  for (std::uint32_t members = 1; members <= 64; ++members) {
    for (const node_map& nodes : {one_host(members), blocks_of(members, 5), alone(members)}) {
      const verdict v = judge(all_of(tests::all_reduce_eager, nodes, 40), nodes, 40);
      ASSERT_TRUE(v.ok()) << members << " members: " << v.text();
    }
    const node_map here = one_host(members);
    const verdict v = judge(all_of(tests::all_reduce_shared, here, 100'000), here, 100'000);
    ASSERT_TRUE(v.ok()) << members << " members: " << v.text();
  }
}

struct broken {
  std::string_view what;
  fault seen;
  std::function<void(plan&)> how;
};

TEST(all_reduce, whatever_is_broken_in_it_is_found) {
  const auto at = [](plan& p, kind what) -> node& { return p.nodes[find(p, what)]; };
  const std::vector<broken> all = {
      {"a block is left out", fault::never_written,
       [&](plan& p) {
         for (node& n : p.nodes)
           if (n.what == kind::loop && n.over == range::others) n.count = 1;
       }},
      {"a block counts without its own", fault::never_written,
       [&](plan& p) { erase(p, find(p, kind::copy)); }},
      {"blocks are combined in no order", fault::race,
       [&](plan& p) {
         for (node& n : p.nodes)
           n.ordered = false;
       }},
      {"combined before the own block is there", fault::race,
       [&](plan& p) {
         for (node& n : p.nodes)
           n.after = 0;
       }},
      {"written over instead of combined", fault::written_twice,
       [&](plan& p) {
         node& n = at(p, kind::reduce);
         n.what = kind::copy;
       }},
  };
  for (const node_map& nodes : {one_host(3), alone(3)})
    for (const broken& b : all) {
      std::vector<plan> plans = all_of(tests::all_reduce_eager, nodes, 40);
      b.how(plans[1]);
      const verdict v = judge(plans, nodes, 40);
      EXPECT_TRUE(v.has(b.seen)) << b.what << ": " << v.text();
    }
}

TEST(all_reduce, whoever_waits_for_no_entry_reads_too_early) {
  const node_map nodes = one_host(3);
  std::vector<plan> plans = all_of(tests::all_reduce_shared, nodes, 5000);
  plans[2].nodes[find(plans[2], kind::reduce)].after = 0;
  EXPECT_TRUE(judge(plans, nodes, 5000).has(fault::early_access));
}

} // namespace
} // namespace weft::graph
