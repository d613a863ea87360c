// SPDX-License-Identifier: BSD-3-Clause
#include "verify/events.hpp"

#include "engine/operations/describe.hpp"
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
    return fmt::format("rank {} entry", at.member);
  case role::exit:
    return fmt::format("rank {} exit", at.member);
  case role::join:
    return fmt::format("rank {} node {} (join)", at.member, at.node);
  case role::helpers:
    return "assisting members";
  case role::block:
    return fmt::format("block {}->{}", at.member, at.peer);
  case role::counter:
    return fmt::format("rank {} count of {}", at.member, name(at.about));
  case role::arrival:
    return fmt::format("rank {} any message of rank {}", at.member, at.peer);
  case role::landing:
    return fmt::format("rank {} hears what rank {} said behind its puts", at.member, at.peer);
  case role::answer:
    return fmt::format("rank {} answer to rank {}", at.member, at.peer);
  case role::found:
    return fmt::format("rank {} end of the search for the root", at.member);
  case role::assisted:
    return fmt::format("rank {} end of assistance", at.member);
  case role::rotated:
    return fmt::format("rank {} end of rotation", at.member);
  case role::never:
    return "nobody";
  case role::step:
    break;
  }
  const std::string node = describe(plans[at.member].nodes[at.node]);
  if (at.peer == no_rank) return fmt::format("rank {} node {} ({})", at.member, at.node, node);
  return fmt::format("rank {} node {} ({}, peer {})", at.member, at.node, node, at.peer);
}

} // namespace weft::graph::checking
