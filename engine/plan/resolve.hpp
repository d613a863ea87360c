#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/rounds.hpp"

namespace weft::graph {

// A node at one step: what it is about. The executor carries it out, the verifier interprets it; neither
// reads an operand itself.
struct action {
  std::uint32_t me = 0;           // who does it
  std::uint32_t peer = 0;         // with whom
  std::uint32_t from = 0, to = 0; // whose memory is read, and whose is written
  std::uint32_t step = 0;
};

inline action resolve(const plan& p, const node& n, std::uint32_t peer, std::uint32_t step) {
  const std::uint32_t me = p.me;
  switch (flow_of(n)) {
  case flow::in:
    return {me, peer, peer, me, step};
  case flow::out:
    return {me, peer, me, peer, step};
  case flow::own:
    break;
  }
  return {me, peer, me, me, step};
}

// Bytes that lie together where they are read and where they are written.
struct region {
  std::uint64_t read = 0, write = 0, bytes = 0;
};

// Joins regions that follow each other in both places: fewer transfers.
template <class Visit> class joining {
public:
  explicit joining(Visit& visit) : visit_(visit) {}
  joining(const joining&) = delete;
  joining& operator=(const joining&) = delete;
  void operator()(const region& r) {
    if (pending_.read + pending_.bytes == r.read && pending_.write + pending_.bytes == r.write) {
      pending_.bytes += r.bytes;
      return;
    }
    if (pending_.bytes != 0) visit_(pending_);
    pending_ = r;
  }
  void finish() {
    if (pending_.bytes != 0) visit_(pending_);
  }

private:
  Visit& visit_;
  region pending_;
};

// Which of the slices of a payload is mine: far members are sent theirs alone.
inline std::uint32_t slice_of(const plan& p, const geometry& g, const node& n, const action& a) {
  if (n.read.in != buffer::mailbox || p.places[n.read.at].turn == 0) return 0;
  return g.reader_index(a.me, a.peer);
}

// The coordinates of all blocks that a node moves at one step.
template <class Visit>
void each_block(const plan& p, const geometry& g, const node& n, const action& a, Visit&& visit) {
  const std::uint32_t size = g.size(), host = g.node(a.me);
  coordinates c{a.from, a.to, a.step, 0, 0};
  const auto of_run = [&](const member_run& run) {
    for (; c.turn < run.count; ++c.turn) {
      c.owner = g.in_node_order((run.begin + c.turn) % size);
      visit(c);
    }
  };
  // `over`: of this distance, from 1 to size - 1.
  const auto of_distances = [&](auto&& over) {
    for (c.owner = 1; c.owner < size; ++c.owner)
      if (over(c.owner)) {
        visit(c);
        ++c.turn;
      }
  };
  switch (n.of) {
  case blocks::one:
    c.turn = slice_of(p, g, n, a);
    return visit(c);
  case blocks::readers:
    for (std::uint32_t k = 0; k < g.locals(); ++k) {
      c.to = g.local(k);
      if (c.to == a.me) continue;
      visit(c);
      ++c.turn;
    }
    return;
  case blocks::ring:
    c.owner = g.in_node_order((g.first(host) + a.step) % size);
    return visit(c);
  case blocks::rest:
    c.owner = g.in_node_order((g.first(host) + g.members(host) + a.step) % size);
    return visit(c);
  case blocks::known:
    return of_run(sent_in_round(g, g.node(a.from), a.step));
  case blocks::of_host: {
    const std::uint32_t there = g.node(a.to);
    return of_run({g.first(there), g.members(there)});
  }
  case blocks::half:
    return of_run(half_in_round(g, host, a.step));
  case blocks::other_half:
    return of_run(half_in_round(g, host ^ (std::uint32_t{1} << a.step), a.step));
  case blocks::outgoing:
    return of_distances([&](std::uint32_t d) {
      c.to = (a.me + d) % size;
      return true;
    });
  case blocks::incoming:
    return of_distances([&](std::uint32_t d) {
      c.from = (a.me + size - d) % size;
      return true;
    });
  case blocks::travelling:
    return of_distances([&](std::uint32_t d) { return travels(d, a.step); });
  }
}

// What a node moves at one step, block by block: from where in the buffer that it reads to where in the one
// that it writes.
template <class Visit>
void each_move(const plan& p, const geometry& g, const node& n, const action& a, Visit&& visit) {
  const place &read = p.places[n.read.at], &write = p.places[n.write.at];
  each_block(p, g, n, a, [&](const coordinates& c) {
    visit(region{read.offset(c), write.offset(c), length_of(p, n, c)});
  });
}

// The same in as few regions as may be.
template <class Visit>
void each_region(const plan& p, const geometry& g, const node& n, const action& a, Visit&& visit) {
  if (n.of == blocks::one) [[likely]] {
    const place &read = p.places[n.read.at], &write = p.places[n.write.at];
    const coordinates c{a.from, a.to, a.step, 0, slice_of(p, g, n, a)};
    return visit(region{read.offset(c), write.offset(c), length_of(p, n, c)});
  }
  joining<Visit> joined(visit);
  each_move(p, g, n, a, joined);
  joined.finish();
}

// Bytes of the eager payload of which a node takes its part.
inline std::uint64_t payload_bytes(const plan& p, const geometry& g, const node& n, const action& a) {
  const place& at = p.places[n.read.at];
  if (n.of == blocks::one) [[likely]]
    return at.base + p.block() * (at.turn != 0 && g.is_near(a.peer) ? g.locals() - 1 : 1);
  std::uint64_t bytes = 0;
  each_block(p, g, n, a, [&](const coordinates& c) { bytes += length_of(p, n, c); });
  return bytes;
}

} // namespace weft::graph
