// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/resolve.hpp"

#include "engine/topology/host_pairs.hpp"

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
  const auto count_turn = [&] {
    visit(c);
    ++c.turn;
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
    return of_run(sent_in_step(g, g.host(a.from), round_step_of(a.step, p.radix)));
  case blocks::of_host: {
    const std::uint32_t there = g.host(a.to);
    return of_run({g.first(there), g.members(there)});
  }
  case blocks::half:
    return of_run(half_in_round(g, host, a.step));
  case blocks::other_half:
    return of_run(half_in_round(g, doubling(g.hosts()).partner(host, a.step), a.step));
  case blocks::own_host:
    return of_run({g.first(host), g.members(host)});
  case blocks::gathered: {
    const std::uint32_t sender = g.host(a.from);
    return of_run(half_in_round(g, sender, doubling(g.hosts()).leaves(sender, g.host(p.root))));
  }
  case blocks::beside: {
    const std::uint32_t there = host ^ 1;
    return of_run({g.first(there), g.members(there)});
  }
  case blocks::to_host: {
    const std::uint32_t there = g.host(a.to);
    for (; c.turn < g.members(there); ++c.turn) {
      c.to = g.in_host_order(g.first(there) + c.turn);
      visit(c);
    }
    return;
  }
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
    for (std::uint32_t d = 1; d < g.hosts(); ++d) {
      c.to = g.twin((host + d) % g.hosts());
      c.owner = d * g.largest_host() + g.local_index(a.from);
      visit(c);
    }
    return;
  case blocks::incoming:
    for (c.owner = g.largest_host(); c.owner < size; ++c.owner) {
      const std::uint32_t there = (host + g.hosts() - c.owner / g.largest_host()) % g.hosts();
      c.from = g.in_host_order(g.first(there) + c.owner % g.largest_host());
      visit(c);
    }
    return;
  case blocks::travelling:
    return each_travelling(g.hosts(), p.radix, round_step_of(a.step, p.radix), [&](std::uint32_t d) {
      for (std::uint32_t k = 0; k < g.largest_host(); ++k) {
        c.owner = d * g.largest_host() + k;
        count_turn();
      }
    });
  case blocks::leaving:
    return each_led(g, c.owner, [&](std::uint32_t there) {
      for (std::uint32_t k = 0; k < g.members(there); ++k) {
        c.to = g.in_host_order(g.first(there) + k);
        c.turn = g.local_index(a.from) * g.members(there) + k;
        visit(c);
      }
    });
  case blocks::crossing:
    for (c.owner = a.step; c.turn < g.members(g.host(a.from)) * g.members(g.host(a.to));)
      count_turn();
    return;
  case blocks::arriving:
    return each_led(g, c.owner, [&](std::uint32_t there) {
      for (std::uint32_t k = 0; k < g.members(there); ++k) {
        c.from = g.in_host_order(g.first(there) + k);
        c.turn = k * g.locals() + g.local_index(a.to);
        visit(c);
      }
    });
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
