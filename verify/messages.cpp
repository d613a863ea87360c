// SPDX-License-Identifier: BSD-3-Clause
#include "verify/messages.hpp"

#include "engine/plan/names.hpp"

namespace weft::graph::checking {

namespace {

bool of_user(buffer b) {
  return b == buffer::source || b == buffer::destination;
}

bool covers(std::uint64_t begin, std::uint64_t bytes, std::uint64_t offset, std::uint64_t wanted) {
  return begin <= offset && offset + wanted <= begin + bytes;
}

} // namespace

std::uint32_t messages::move(event_id e, const node& n, const action& a, const region& r, bool complete,
                             const effects& program) {
  step s{e, a.me, a.from, n.read.in, n.write.in, r};
  if (s.from == buffer::scratch) {
    s.filled_by = filling(s, program);
    if (s.filled_by == none)
      out_.add(fault::race, "{}: hands on what may not have been brought before", graph_.text(e));
  }
  if (of_user(s.from) || of_user(s.to)) s.access = note_access(s, a, complete);
  const auto id = static_cast<std::uint32_t>(steps_.size());
  if (s.to == buffer::scratch) scratch_[a.me].push_back(id);
  if (s.to == buffer::mailbox) in_mailbox_[e].push_back(id);
  steps_.push_back(s);
  return s.access;
}

void messages::need(event_id e, std::uint32_t member, const region& r, const effects& program) {
  const step s{e, member, member, buffer::scratch, buffer::none, r};
  if (r.bytes != 0 && filling(s, program) == none)
    out_.add(fault::race, "{}: computes with what may not have been brought before", graph_.text(e));
}

// What is only read goes on from its own member, and what is only written is traced later.
std::uint32_t messages::note_access(const step& s, const action& a, bool complete) {
  const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
  access made;
  made.begin = s.when;
  made.executor = s.member;
  made.reads = of_user(s.from);
  made.writes = of_user(s.to);
  made.source = made.reads ? a.from : a.me;
  made.destination = made.writes ? a.to : a.me;
  made.from = s.at.read;
  made.to = made.writes ? s.at.write : 0;
  made.bytes = s.at.bytes;
  made.forwards = s.from == buffer::destination;
  graph_.accesses.push_back(made);
  if (complete) graph_.completions.push_back({s.when, id});
  return id;
}

// The last move that put these bytes into scratch. It must come before, and so must any other one.
std::uint32_t messages::filling(const step& s, const effects& program) const {
  const auto& all = scratch_[s.member];
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const step& f = steps_[*it];
    if (!covers(f.at.write, f.at.bytes, s.at.read, s.at.bytes)) continue;
    return program.precedes(f.when, s.when) ? *it : none;
  }
  return none;
}

messages::origin messages::trace(const step& s, std::uint64_t offset) const {
  if (of_user(s.from)) return {s.source, s.from, offset};
  const auto through = [&](std::uint32_t id) {
    const step& before = steps_[id];
    return trace(before, before.at.read + (offset - before.at.write));
  };
  if (s.from == buffer::scratch) return s.filled_by == none ? origin{} : through(s.filled_by);
  const auto send = sent_by_.find(s.when);
  if (send == sent_by_.end()) return {};
  const auto payload = in_mailbox_.find(send->second);
  if (payload == in_mailbox_.end()) return {};
  for (const std::uint32_t id : payload->second)
    if (covers(steps_[id].at.write, steps_[id].at.bytes, offset, s.at.bytes)) return through(id);
  return {};
}

void messages::trace() {
  for (const step& s : steps_) {
    if (s.to != buffer::destination || of_user(s.from)) continue;
    if (s.from == buffer::mailbox && !sent_by_.contains(s.when)) continue; // no rank sends it: reported
    const origin from = trace(s, s.at.read);
    if (from.member == no_rank) {
      out_.add(fault::wrong_provenance, "{}: bytes [{}, {}) of its {} hold nothing of this operation",
               graph_.text(s.when), s.at.read, s.at.read + s.at.bytes, name(s.from));
      continue;
    }
    access& a = graph_.accesses[s.access];
    a.source = from.member;
    a.from = from.offset;
    a.forwards = from.in == buffer::destination;
  }
}

} // namespace weft::graph::checking
