#include "engine/collectives/sync_modes.hpp"

namespace weft::collectives {
using namespace graph;

sync_modes::sync_modes(builder& b, const topology& g, sync in, sync out)
    : builder_(b), topology_(g), in_(in), out_(out) {
  b.draft().in = in;
  b.draft().out = out;
}

node_set sync_modes::rounds(fact stage, node_set after) {
  builder::step_list round;
  round.then(signal_stage(stage)).then(await_stage(stage));
  return builder_.loop(range::rounds, dissemination_rounds(topology_.size()), round, after, 1);
}

node_set sync_modes::gate() {
  if (in_ != sync::all) return 0;
  if (!topology_.one_host()) return rounds(fact::stage_in, 0);
  builder::step_list entered;
  entered.then(await_entry());
  return builder_.loop(range::near, static_cast<std::uint32_t>(topology_.near().size()), entered);
}

void sync_modes::announce(peers far) {
  if (in_ != sync::my) return;
  builder::step_list token;
  token.then(signal_entry());
  builder_.loop(far.over, far.count, token);
}

void sync_modes::exit(node_set data, node_set near, std::uint32_t delivered, std::uint32_t taken) {
  if (out_ == sync::no) return;
  if (assists()) {
    builder_.add(assist_all(), near | data);
    return;
  }
  node_set quiet = data; // what was claimed, its destination counts
  if (delivered != 0) quiet |= builder_.add(await_count(fact::delivered, delivered));
  if (taken != 0) quiet |= builder_.add(await_count(fact::consumed, taken));
  leave(quiet);
}

void sync_modes::leave(node_set quiet) {
  if (out_ == sync::all) rounds(fact::stage_out, quiet);
}

} // namespace weft::collectives
