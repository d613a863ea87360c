// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/plan_store.hpp"

#include "engine/collectives/algorithm.hpp"
#include "engine/log.hpp"
#include "engine/plan/names.hpp"
#include "progress/execution/call_record.hpp"

namespace weft::progress {

void log_plan(const collectives::request& r, const engine::team_info& team, const collectives::tuning& t) {
  if (team.me() != 0 || !engine::logs(engine::severity::debug)) return;
  const collectives::algorithm* way = collectives::choose(r, team.topology, t);
  const bool part = r.by != collectives::caller::collective;
  engine::log(engine::severity::debug,
              "plan: {}{} on team {} of {} threads, {} bytes a block, in {}, out {}: {}", name(r.op),
              part ? " of " + call_name(r) : "", team.id, team.size(), r.bytes, graph::name(r.in),
              graph::name(r.out), way == nullptr ? "the only algorithm" : way->name);
}

} // namespace weft::progress
