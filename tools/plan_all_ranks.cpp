// SPDX-License-Identifier: BSD-3-Clause
// weft plan --verify and --goal: what takes the plans of all ranks.

#include "engine/format.hpp"
#include "engine/plan/names.hpp"
#include "tools/plan_options.hpp"
#include "verify/goal.hpp"
#include "verify/verifier.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::tool {

namespace {

// What --verify and --goal may take.
constexpr rlim_t verify_memory = rlim_t{2} << 30;
constexpr std::uint64_t certainly_too_much = 4000; // megabytes, which are estimated too high
constexpr std::uint32_t ranks_at_once = 256;       // up to here it takes no time worth a line of progress

// Steps of all ranks, before they are unfolded.
std::uint64_t steps(const std::vector<graph::plan>& plans) {
  std::uint64_t sum = 0;
  for (const graph::plan& p : plans) {
    for (std::size_t n = 0; n < p.size; ++n)
      sum +=
          p.nodes[n].what == graph::kind::loop ? std::uint64_t{p.nodes[n].count} * p.nodes[n].body_size : 1;
  }
  return sum;
}

// Blocks that come into scratch and leave it, in steps that move many.
std::uint64_t handed_on(const std::vector<graph::plan>& plans) {
  constexpr std::uint64_t times = 3; // put together, sent, taken
  std::uint64_t sum = 0;
  for (const graph::plan& p : plans)
    sum += times * p.scratch / std::max<std::uint64_t>(1, p.block());
  return sum;
}

// What verifying them takes, rather too much than too little: the events of the steps, the blocks that are
// handed on, a table of the pairs of ranks, and what the tool has anyway.
struct effort {
  std::uint64_t steps, megabytes, seconds;
};

effort effort_of(const std::vector<graph::plan>& plans) {
  constexpr std::uint64_t of_a_step = 250, of_a_block = 80, of_a_pair = 64, at_least = 80;
  constexpr std::uint64_t steps_in_a_second = 100'000, blocks_in_a_second = 500'000;
  const std::uint64_t all = steps(plans), blocks = handed_on(plans);
  const std::uint64_t bytes = all * of_a_step + blocks * of_a_block + plans.size() * plans.size() * of_a_pair;
  return {all, at_least + bytes / 1'000'000, 1 + all / steps_in_a_second + blocks / blocks_in_a_second};
}

// How far it is, for who sits before a terminal.
graph::on_progress progress() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [](std::size_t done, std::size_t all) {
    std::cerr << engine::format("\rweft plan: {} %{}", done * 100 / all, done == all ? "\r\x1b[K" : "")
              << std::flush;
  };
}

int too_much(const plan_options& o) {
  const char* const what = o.goal ? "write" : "verify";
  std::cerr << engine::format(
      "weft plan: {} of {} ranks take more than {} GiB to {}: {} fewer ranks, which are of the same form\n",
      collectives::name(o.request.op), o.ranks, verify_memory >> 30, what, what);
  return 2;
}

int write_goal(const plan_options& o, const std::vector<std::uint32_t>& nodes,
               const std::vector<graph::plan>& plans, const graph::movement& moved) {
  const collectives::cost_table costs = tuning_for(o, o.nodes).costs;
  engine::print(stdout,
                "// {} of {} bytes, IN_{} OUT_{}, {} ranks on {} nodes\n"
                "// LogGOPSim -L {} -o {} -g {} -G {} -S 2147483647\n",
                collectives::name(o.request.op), completed(o).bytes, graph::name(o.request.in),
                graph::name(o.request.out), o.ranks, o.nodes, costs.latency, costs.overhead, costs.gap,
                (costs.byte + 500) / 1000);
  std::fflush(stdout);
  const graph::verdict v = graph::write_goal(std::cout, plans, nodes, moved, costs);
  std::cerr << v.text();
  return v.ok() ? 0 : 1;
}

} // namespace

int unfold_all(const plan_options& o, const std::vector<std::uint32_t>& nodes,
               const std::function<graph::plan(std::uint32_t rank)>& compiled) {
  const rlimit limit{verify_memory, verify_memory};
  ::setrlimit(RLIMIT_AS, &limit);
  try {
    std::vector<graph::plan> plans;
    for (std::uint32_t rank = 0; rank < o.ranks; ++rank)
      plans.push_back(compiled(rank));
    const effort needed = effort_of(plans);
    if (needed.megabytes > certainly_too_much) return too_much(o);
    const bool lasts = o.ranks > ranks_at_once;
    if (lasts) {
      std::cerr << engine::format("weft plan: {} {} steps of {} ranks: at most about {} MB and {} s\n",
                                  o.goal ? "writing" : "verifying", needed.steps, o.ranks, needed.megabytes,
                                  needed.seconds);
    }
    const graph::movement moved = collectives::specified(completed(o), rows(o));
    if (o.goal) return write_goal(o, nodes, plans, moved);
    const graph::verdict v = graph::verify(plans, nodes, moved, lasts ? progress() : graph::on_progress{});
    std::cout << (v.ok() ? "verified\n" : v.text());
    return v.ok() ? 0 : 1;
  } catch (const std::bad_alloc&) {
    return too_much(o);
  }
}

} // namespace weft::tool
