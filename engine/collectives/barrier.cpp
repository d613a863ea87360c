// Barrier, with values: done when every member has entered; finds two members whose values differ.
//
// On one host: one line written, P-1 lines read. Else dissemination: ceil(log2 P) rounds of one message each,
// each carrying what its sender knows of the values so far.
#include "engine/collectives/families.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/plan/builder.hpp"

namespace weft::collectives {
using namespace graph;

plan compile_barrier(const request&, const topology& g, const tuning&) {
  builder b(g.me(), g.size(), 0);
  b.draft().valued = true;
  b.draft().far = !g.one_host();
  builder::step_list steps;
  if (g.one_host()) {
    b.add(publish(true));
    steps.then(take_payload(true));
    b.loop(range::near, static_cast<std::uint32_t>(g.near().size()), steps);
  } else {
    steps.then(signal_stage(fact::stage_in, true)).then(await_stage(fact::stage_in, true));
    b.loop(range::rounds, dissemination_rounds(g.size()), steps, 0, true);
  }
  return b.finish();
}

} // namespace weft::collectives
