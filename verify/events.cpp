// SPDX-License-Identifier: BSD-3-Clause
#include "verify/events.hpp"

#include "engine/format.hpp"
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/names.hpp"

namespace weft::graph::checking {

event_id event_graph::add(role as, std::uint32_t member, std::uint32_t peer) {
  event made;
  made.as = as;
  made.member = member;
  made.peer = peer;
  events.push_back(made);
  return static_cast<event_id>(events.size() - 1);
}

std::string event_graph::text(event_id e) const {
  const event& at = events[e];
  switch (at.as) {
  case role::post:
    return engine::format("rank {} entry", at.member);
  case role::exit:
    return engine::format("rank {} exit", at.member);
  case role::join:
    return engine::format("rank {} node {} (join)", at.member, at.node);
  case role::helpers:
    return "assisting members";
  case role::block:
    return engine::format("block {}->{}", at.member, at.peer);
  case role::counter:
    return engine::format("rank {} count of {}", at.member, name(at.about));
  case role::arrival:
    return engine::format("rank {} any message of rank {}", at.member, at.peer);
  case role::landing:
    return engine::format("rank {} hears what rank {} said behind its puts", at.member, at.peer);
  case role::answer:
    return engine::format("rank {} answer to rank {}", at.member, at.peer);
  case role::found:
    return engine::format("rank {} end of the search for the root", at.member);
  case role::assisted:
    return engine::format("rank {} end of assistance", at.member);
  case role::rotated:
    return engine::format("rank {} end of rotation", at.member);
  case role::never:
    return "no member";
  case role::step:
    break;
  }
  const std::string node = describe(plans[at.member].nodes[at.node]);
  if (at.peer == no_rank) return engine::format("rank {} node {} ({})", at.member, at.node, node);
  return engine::format("rank {} node {} ({}, peer {})", at.member, at.node, node, at.peer);
}

} // namespace weft::graph::checking
