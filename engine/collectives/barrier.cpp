// SPDX-License-Identifier: BSD-3-Clause
// Barrier, with values: done when every member has entered; finds two members whose values differ.
//
// On one host: one line written, P-1 lines read. Else a host's leader reads the lines of its neighbours, the
// leaders tell each other in ceil(log2 N) rounds of one message each, which carries what its sender knows of
// the values so far, and each publishes what it has come to.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/plan/builder.hpp"
#include "engine/plan/resolve.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

node_set read_values(builder& b, const topology& g, const range& whose) {
  builder::step_list steps;
  steps.then(take_payload(true));
  return b.loop(whose, whose.count(b.draft(), g), steps);
}

void between_hosts(builder& b, const topology& g) {
  if (!leads(b.draft(), g)) {
    b.add(publish(true));
    b.begin_phase(1);
    read_values(b, g, range::leader);
    return;
  }
  builder::step_list round;
  round.then(signal_stage(fact::stage_in, true)).then(await_stage(fact::stage_in, true));
  const node_set all =
      b.loop(range::leader_rounds, dissemination_rounds(g.hosts()), round, read_values(b, g, range::near), 1);
  b.begin_phase(1);
  if (!g.near().empty()) b.add(publish(true), all);
}

} // namespace

// Values of neighbours are read, then the leaders' rounds, then what the leader has come to is read.
std::uint64_t cost_of_barrier(const request&, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t neighbours = g.largest_host() - 1, value = sizeof(int);
  if (g.one_host()) return c.copies(neighbours, value);
  return c.copies(neighbours, value) + dissemination_rounds(g.hosts()) * c.message() +
         c.copies(neighbours == 0 ? 0 : 1, value);
}

plan compile_barrier(const request&, const topology& g, const tuning&) {
  builder b(g.me(), g.size(), 0);
  b.draft().valued = true;
  b.draft().far = !g.one_host();
  if (g.one_host()) {
    b.add(publish(true));
    read_values(b, g, range::near);
  } else {
    between_hosts(b, g);
  }
  return b.finish();
}

} // namespace weft::collectives
