#include "engine/collectives/sync_modes.hpp"

namespace weft::collectives {
using namespace graph;

sync_modes::sync_modes(builder& b, const geometry& g, sync in, sync out)
    : builder_(b), geometry_(g), in_(in), out_(out) {
  b.draft().in = in;
  b.draft().out = out;
}

node_set sync_modes::rounds(fact stage, node_set after) {
  builder::step_list round;
  round.then(signal_stage(stage)).then(await_stage(stage));
  return builder_.loop(range::rounds, dissemination_rounds(geometry_.size()), round, after, true);
}

node_set sync_modes::gate() {
  if (in_ != sync::all) return 0;
  if (!geometry_.one_node()) return rounds(fact::stage_in, 0);
  builder::step_list entered;
  entered.then(await_entry());
  return builder_.loop(range::near, static_cast<std::uint32_t>(geometry_.near().size()), entered);
}

void sync_modes::announce(peers far) {
  if (in_ != sync::my) return;
  builder::step_list token;
  token.then(signal_entry());
  builder_.loop(far.over, far.count, token);
}

void sync_modes::exit(node_set data, node_set near, std::uint32_t landed, std::uint32_t taken) {
  if (out_ == sync::no) return;
  if (assists()) {
    builder_.add(assist_all(), near | data);
    return;
  }
  node_set quiet = data; // what was claimed, its destination counts
  if (landed != 0) quiet |= builder_.add(await_count(fact::landed, landed));
  if (taken != 0) quiet |= builder_.add(await_count(fact::taken, taken));
  leave(quiet);
}

void sync_modes::leave(node_set quiet) {
  if (out_ == sync::all) rounds(fact::stage_out, quiet);
}

} // namespace weft::collectives
