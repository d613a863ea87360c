// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/resolve.hpp"
#include "verify/effects.hpp"
#include "verify/events.hpp"

#include <unordered_map>

namespace weft::graph::checking {

// What payloads and scratch hold: not bytes, but where they came from. A member's moves are noted in the
// order of its program; once it is known which payload is taken where, each write to a destination out of
// one, or out of scratch, is traced back to the memory of a user.
class messages {
public:
  messages(event_graph& g, report& out) : graph_(g), out_(out), scratch_(g.members()) {}

  // One region of a node at a step. Returns its access to memory of users, or no rank. `program` orders the
  // events of the member.
  std::uint32_t move(event_id e, const node& n, const action& a, const region& r, bool complete,
                     const effects& program);
  // These bytes of scratch must have been brought before.
  void need(event_id e, std::uint32_t member, const region& r, const effects& program);
  // The payload that is taken by the one is what was sent by the other.
  void matched(event_id take, event_id send) { sent_by_[take] = send; }
  void trace();

private:
  static constexpr std::uint32_t none = no_rank;
  struct step {
    event_id when;
    std::uint32_t member;
    std::uint32_t source; // whose memory of users is read
    buffer from, to;
    region at;
    std::uint32_t filled_by = none; // from scratch: the move that put it there
    std::uint32_t access = none;
  };
  struct origin {
    std::uint32_t member = no_rank;
    buffer in = buffer::none;
    std::uint64_t offset = 0;
  };

  std::uint32_t note_access(const step& s, const action& a, bool complete);
  std::uint32_t filling(const step& s, const effects& program) const;
  origin trace(const step& s, std::uint64_t offset) const;

  event_graph& graph_;
  report& out_;
  std::vector<step> steps_;
  std::vector<std::vector<std::uint32_t>> scratch_;                     // by member: what fills it
  std::unordered_map<event_id, std::vector<std::uint32_t>> in_mailbox_; // by the event of the sending
  std::unordered_map<event_id, event_id> sent_by_;
};

} // namespace weft::graph::checking
