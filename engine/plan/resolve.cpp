#include "engine/plan/resolve.hpp"

namespace weft::graph {

void each_block(const plan& p, const topology& g, const node& n, const action& a,
                visitor<const coordinates&> visit) {
  const std::uint32_t size = g.size(), host = g.host(a.me);
  coordinates c{a.from, a.to, a.step, 0, 0};
  const auto of_run = [&](const member_run& run) {
    for (; c.turn < run.count; ++c.turn) {
      c.owner = g.in_host_order((run.begin + c.turn) % size);
      visit(c);
    }
  };
  // `begin`: of a distance from 1 to size - 1; false if no block has it.
  const auto of_distances = [&](auto&& begin) {
    for (c.owner = 1; c.owner < size; ++c.owner)
      if (begin(c.owner)) {
        visit(c);
        ++c.turn;
      }
  };
  switch (n.of) {
  case blocks::one:
    c.turn = slice_of(p, g, n, a);
    return visit(c);
  case blocks::readers:
    return each_reader(g, a, visit);
  case blocks::ring:
    c.owner = g.in_host_order((g.first(host) + a.step) % size);
    return visit(c);
  case blocks::rest:
    c.owner = g.in_host_order((g.first(host) + g.members(host) + a.step) % size);
    return visit(c);
  case blocks::known:
    return of_run(sent_in_round(g, g.host(a.from), a.step));
  case blocks::of_host: {
    const std::uint32_t there = g.host(a.to);
    return of_run({g.first(there), g.members(there)});
  }
  case blocks::half:
    return of_run(half_in_round(g, host, a.step));
  case blocks::other_half:
    return of_run(half_in_round(g, host ^ (std::uint32_t{1} << a.step), a.step));
  case blocks::members:
    for (; c.turn < size; ++c.turn) {
      c.owner = c.turn;
      visit(c);
    }
    return;
  case blocks::twins:
    for (; c.turn < g.hosts(); ++c.turn) {
      c.owner = g.in_host_order(g.first(c.turn) + g.local_index(a.from));
      visit(c);
    }
    return;
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

void each_move(const plan& p, const topology& g, const node& n, const action& a,
               visitor<const region&> visit) {
  const auto move = [&](const coordinates& c) { visit(region_at(p, n, c)); };
  each_block(p, g, n, a, visitor<const coordinates&>(move));
}

region region_of_step(const plan& p, const topology& g, const node& n, const action& a) {
  return region_at(p, n, {a.from, a.to, a.step, 0, slice_of(p, g, n, a)});
}

void each_joined(const plan& p, const topology& g, const node& n, const action& a,
                 visitor<const region&> visit) {
  region pending;
  const auto join = [&](const region& r) {
    if (pending.read + pending.bytes == r.read && pending.write + pending.bytes == r.write) {
      pending.bytes += r.bytes;
      return;
    }
    if (pending.bytes != 0) visit(pending);
    pending = r;
  };
  each_move(p, g, n, a, visitor<const region&>(join));
  if (pending.bytes != 0) visit(pending);
}

std::uint64_t packed_bytes(const plan& p, const topology& g, const node& n, const action& a) {
  std::uint64_t bytes = 0;
  const auto add = [&](const region& r) { bytes += r.bytes; };
  each_move(p, g, n, a, visitor<const region&>(add));
  return bytes;
}

} // namespace weft::graph
