// SPDX-License-Identifier: BSD-3-Clause
// weft plan --scale: the predicted time, messages and bytes of an operation from 2 ranks on.

#include "tools/plan_options.hpp"

#include "engine/collectives/algorithm.hpp"
#include "engine/format.hpp"
#include "engine/plan/names.hpp"
#include "tools/command.hpp"
#include "verify/traffic.hpp"

#include <algorithm>
#include <cstdio>

namespace weft::tool {

namespace {

constexpr std::uint32_t most = 131072; // ranks
constexpr double steep = 4;            // times as long for twice as many ranks

struct row {
  std::uint32_t ranks = 0, nodes = 0, groups = 0;
  double microseconds = 0;
  graph::traffic out; // of the first node, where the root is, and a leader
  std::string_view by;
};

row row_of(const scale_table& table, std::uint32_t ranks) {
  const std::vector<std::uint32_t> nodes = node_by_node(ranks, table.each);
  const collectives::tuning t = table.tuning(nodes.back() + 1);
  row made;
  made.ranks = ranks;
  made.nodes = nodes.back() + 1;
  if (table.on) made.groups = table.on->groups(made.nodes);
  for (std::uint32_t rank = 0; rank < std::min(ranks, table.each); ++rank) {
    const graph::topology g(rank, nodes);
    if (rank == 0) {
      const collectives::algorithm* const by = collectives::choose(table.request, g, t);
      made.by = by != nullptr ? by->name : "only way";
      made.microseconds =
          static_cast<double>(collectives::predicted_time(table.request, g, t).value_or(0)) / 1000;
    }
    if (made.nodes > 1) made.out += graph::traffic_of(collectives::compile(table.request, g, t), g);
  }
  return made;
}

// What makes a step steep besides the operation: messages where there were none, or longer ways.
std::string mark(const row& now, const row& before) {
  if (before.ranks == 0 || now.microseconds <= steep * before.microseconds) return {};
  const std::string where = before.nodes == 1 && now.nodes > 1     ? ", the first between nodes"
                            : before.groups == 1 && now.groups > 1 ? ", the first between groups"
                                                                   : "";
  if (before.microseconds == 0) return "  <- from nothing" + where;
  return engine::format("  <- {:.1f} times as long{}", now.microseconds / before.microseconds, where);
}

} // namespace

void print_scale(const scale_table& table) {
  const collectives::request& r = table.request;
  engine::print(stdout,
                "{} of {} bytes, IN_{} OUT_{}, {} ranks on a node{}; what a node sends and gets, the first\n",
                collectives::name(r.op), r.bytes, graph::name(r.in), graph::name(r.out), table.each,
                table.on ? ", machine " + table.on->name : "");
  engine::print(stdout, "{:>8} {:>8} {:>8} {:>12} {:>10} {:>12}  algorithm\n", "ranks", "nodes", "groups",
                "microseconds", "messages", "bytes");
  const std::uint64_t fit =
      table.on ? std::min<std::uint64_t>(most, std::uint64_t{table.on->hosts} * table.each) : most;
  row before;
  for (std::uint32_t ranks = 2; ranks <= fit; ranks *= 2) {
    const row now = row_of(table, ranks);
    engine::print(stdout, "{:>8} {:>8} {:>8} {:>12.2f} {:>10} {:>12}  {}{}\n", now.ranks, now.nodes,
                  now.groups == 0 ? "-" : std::to_string(now.groups), now.microseconds, now.out.messages,
                  now.out.bytes, now.by, mark(now, before));
    std::fflush(stdout);
    before = now;
  }
}

} // namespace weft::tool
