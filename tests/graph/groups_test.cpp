// SPDX-License-Identifier: BSD-3-Clause
// What goes from one group of hosts to another, as a network of groups has them (a dragonfly's): long
// broadcasts and all-reduces, counted off the plans of all ranks. The library does not know the groups: it
// takes hosts for near each other whose numbers are, as launchers number them.
#include "tests/graph/operations.hpp"
#include "verify/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

namespace weft::graph {
namespace {
using namespace collectives;

constexpr std::uint64_t bytes = std::uint64_t{16} << 20;
constexpr std::uint32_t of_host = 2; // ranks

// The group of each host.
using grouping = std::vector<std::uint32_t>;
// Hosts that follow each other, the first so far behind the beginning of its group.
grouping in_order(std::uint32_t hosts, std::uint32_t of_group, std::uint32_t behind = 0) {
  grouping group;
  for (std::uint32_t host = 0; host < hosts; ++host)
    group.push_back((host + behind) / of_group);
  return group;
}
// As many of each group, wherever there was room.
grouping scattered(std::uint32_t hosts, std::uint32_t of_group) {
  grouping group = in_order(hosts, of_group);
  std::shuffle(group.begin(), group.end(), std::mt19937(hosts));
  return group;
}

// How often the block, or the vector, goes from one group to another, by each of several groupings.
std::vector<double> crossings(const request& r, std::string_view algorithm, std::uint32_t hosts,
                              const std::vector<grouping>& groupings) {
  const node_map nodes = blocks_of(hosts * of_host, of_host);
  const tuning t = forcing(r.op, algorithm);
  std::vector<double> sums(groupings.size());
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
    const topology g(rank, nodes);
    EXPECT_EQ(choose(r, g, t)->name, algorithm) << hosts;
    const plan p = compile(r, g, t);
    for (std::size_t k = 0; k < groupings.size(); ++k)
      sums[k] += static_cast<double>(traffic_of(p, g, groupings[k]).bytes) / bytes;
  }
  return sums;
}

constexpr request broadcast_of_many{.op = operation::broadcast, .out = sync::my, .bytes = bytes};

void tell(std::string_view what, std::uint32_t hosts, const std::vector<double>& times) {
  std::printf("%-24s %5u hosts:", std::string(what).c_str(), hosts);
  for (const double of : times)
    std::printf(" %8.1f", of);
  std::printf("\n");
}

// Each group has to hear it, and the root's sends it to them: with scattered pieces once more at most.
TEST(groups, a_long_broadcast_goes_about_once_into_each_group) {
  for (const std::uint32_t hosts : {16u, 48u, 64u, 256u, 1000u}) {
    for (const char* const by : {"chain", "knomial", "scatter"}) {
      std::vector<grouping> all;
      for (const std::uint32_t of_group : {8u, 16u, 32u}) {
        all.push_back(in_order(hosts, of_group));
        all.push_back(in_order(hosts, of_group, 3));
        all.push_back(scattered(hosts, of_group));
      }
      const std::vector<double> times = crossings(broadcast_of_many, by, hosts, all);
      tell(by, hosts, times);
      for (std::size_t k = 0; k < all.size(); k += 3) {
        const double groups = all[k].back() + 1, shifted = all[k + 1].back() + 1;
        const double scatter = by == std::string("scatter") ? 1 : 0;
        EXPECT_GE(times[k], groups - 1) << by << ", " << hosts << " hosts";
        EXPECT_LE(times[k], groups + scatter)
            << by << ", " << hosts << " hosts"; // a chain may begin at the end
        // The tree's and the doubling's blocks of hosts are not those of the network then.
        EXPECT_LE(times[k + 1], 4 * shifted) << by << ", " << hosts << " hosts";
        EXPECT_LE(times[k + 2], hosts + scatter) << by << ", " << hosts << " hosts";
      }
    }
  }
}

// A gather-all's blocks lie where they must, so its doubling begins with the next host: then hosts tell those
// of other groups the same many times.
TEST(groups, a_doubling_that_begins_with_the_next_host_crosses_many_times_as_often) {
  constexpr std::uint32_t hosts = 64, of_group = 8;
  const request gathered{.op = operation::gather_all, .out = sync::my, .bytes = bytes / (hosts * of_host)};
  const auto other = crossings(gathered, "doubling", hosts, {in_order(hosts, of_group)});
  const auto here = crossings(broadcast_of_many, "scatter", hosts, {in_order(hosts, of_group)});
  EXPECT_NEAR(other[0], hosts - of_group, 0.1);
  EXPECT_LE(here[0], other[0] / 6);
}

// Twice into each group, half by half; if each host has all others' of its slice, as often as there are hosts
// of other groups.
TEST(groups, a_long_all_reduce_in_halves_goes_about_twice_into_each_group) {
  const request r{.op = operation::team_allreduce, .in = sync::my, .out = sync::my, .bytes = bytes};
  for (const std::uint32_t hosts : {16u, 64u, 256u}) {
    std::vector<grouping> all;
    for (const std::uint32_t of_group : {8u, 16u, 32u})
      for (const grouping& g :
           {in_order(hosts, of_group), in_order(hosts, of_group, 3), scattered(hosts, of_group)})
        all.push_back(g);
    const std::vector<double> halved = crossings(r, "halved", hosts, all);
    const std::vector<double> direct = crossings(r, "hierarchical", hosts, all);
    tell("halved", hosts, halved);
    tell("hierarchical", hosts, direct);
    for (std::size_t k = 0; k < all.size(); k += 3) {
      const double of_group = std::min(hosts, 8u << k / 3), groups = hosts / of_group;
      EXPECT_NEAR(halved[k], 2 * (groups - 1), 0.01 * groups);
      EXPECT_NEAR(direct[k], 2 * (hosts - of_group), 0.01 * hosts);
      EXPECT_LE(halved[k + 1], direct[k + 1] + 0.01 * hosts)
          << hosts << " hosts, the first of them inside a group";
      EXPECT_LE(halved[k + 2], direct[k + 2] * 1.15) << hosts << " hosts, scattered over groups";
    }
  }
}

} // namespace
} // namespace weft::graph
