// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/sync_modes.hpp"

#include "engine/plan/resolve.hpp"

namespace weft::collectives {
using namespace graph;

sync_modes::sync_modes(builder& b, const topology& g, sync in, sync out)
    : builder_(b), topology_(g), in_(in), out_(out) {
  b.draft().in = in;
  b.draft().out = out;
}

node_set sync_modes::from_each(const range& over, const node& awaited) {
  builder::step_list one;
  one.then(awaited);
  return builder_.loop(over, over.count(builder_.draft(), topology_), one);
}

node_set sync_modes::rounds(fact stage, node_set heard) {
  if (!leads(builder_.draft(), topology_)) return from_each(range::leader, await_published_stage(stage));
  builder::step_list round;
  round.then(signal_stage(stage)).then(await_stage(stage));
  const std::uint32_t others = dissemination_rounds(topology_.hosts());
  const node_set all = others == 0 ? heard : builder_.loop(range::leader_rounds, others, round, heard, 1);
  if (!topology_.near().empty()) builder_.add(publish_stage(stage), all);
  return all;
}

node_set sync_modes::gate() {
  if (in_ != sync::all) return 0;
  const bool looks = topology_.one_host() || leads(builder_.draft(), topology_);
  const node_set entered = looks ? from_each(range::near, await_entry()) : 0;
  return topology_.one_host() ? entered : rounds(fact::stage_in, entered);
}

void sync_modes::announce(peers far) {
  if (in_ != sync::my) return;
  builder::step_list token;
  token.then(signal_entry());
  builder_.loop(*far.over, far.count, token);
}

void sync_modes::exit(node_set data, node_set near, std::uint32_t delivered, std::uint32_t taken,
                      bool by_boxes) {
  if (out_ == sync::no) return;
  if (assists()) {
    builder_.add(assist_all(), near | data);
    return;
  }
  node_set quiet = data; // what was claimed, its destination counts
  if (delivered != 0) quiet |= builder_.add(await_count(fact::delivered, delivered));
  const node read = await_count(fact::consumed, taken);
  if (taken != 0) quiet |= builder_.add(by_boxes ? graph::by_boxes(read) : read);
  leave(quiet);
}

void sync_modes::leave(node_set quiet) {
  if (out_ != sync::all) return;
  if (leads(builder_.draft(), topology_))
    quiet |= from_each(range::near, await_published_stage(fact::stage_out));
  else
    builder_.add(publish_stage(fact::stage_out), quiet);
  rounds(fact::stage_out, quiet);
}

} // namespace weft::collectives
