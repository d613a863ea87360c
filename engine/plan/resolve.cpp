// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/resolve.hpp"

namespace weft::graph {

namespace {
using P = const plan&;
using G = const topology&;
using A = const action&;

member_run members_of(const topology& g, std::uint32_t host) {
  return {g.first(host), g.members(host)};
}
} // namespace

constexpr blocks blocks::readers{.name = "each reader's block",
                                 .each = [](P, G g, A a, block_visitor visit) { each_reader(g, a, visit); }};
constexpr blocks blocks::members{.name = "all blocks", .each = [](P, G g, A a, block_visitor visit) {
                                   for (coordinates c = coordinates_of(a); c.turn < g.size(); ++c.turn) {
                                     c.owner = c.turn;
                                     visit(c);
                                   }
                                 }};
constexpr blocks blocks::of_host{.name = "blocks of its host", .each = [](P, G g, A a, block_visitor visit) {
                                   each_of_run(g, a, members_of(g, g.host(a.to)), visit);
                                 }};
constexpr blocks blocks::to_host{.name = "blocks for its host", .each = [](P, G g, A a, block_visitor visit) {
                                   const member_run there = members_of(g, g.host(a.to));
                                   for (coordinates c = coordinates_of(a); c.turn < there.count; ++c.turn) {
                                     c.to = g.in_host_order(there.begin + c.turn);
                                     visit(c);
                                   }
                                 }};
constexpr blocks blocks::known{
    .name = "known blocks",
    .each =
        [](P p, G g, A a, block_visitor visit) {
          each_of_run(g, a, sent_in_step(g, g.host(a.from), round_step_of(a.step, p.radix)), visit);
        },
    .packed = true};
constexpr blocks blocks::half{.name = "my half", .each = [](P, G g, A a, block_visitor visit) {
                                each_of_run(g, a, half_in_round(g, g.host(a.me), a.step), visit);
                              }};
constexpr blocks blocks::other_half{.name = "other half", .each = [](P, G g, A a, block_visitor visit) {
                                      const std::uint32_t partner =
                                          doubling(g.hosts()).partner(g.host(a.me), a.step);
                                      each_of_run(g, a, half_in_round(g, partner, a.step), visit);
                                    }};

void each_of_run(const topology& g, const action& a, member_run of, block_visitor visit) {
  for (coordinates c = coordinates_of(a); c.turn < of.count; ++c.turn) {
    c.owner = g.in_host_order((of.begin + c.turn) % g.size());
    visit(c);
  }
}

void each_block(const plan& p, const topology& g, const node& n, const action& a, block_visitor visit) {
  if (n.of != nullptr) return n.of->each(p, g, a, visit);
  coordinates c = coordinates_of(a);
  c.turn = slice_of(p, g, n, a);
  visit(c);
}

void each_move(const plan& p, const topology& g, const node& n, const action& a,
               visitor<const region&> visit) {
  const auto move = [&](const coordinates& c) { visit(region_at(p, n, c)); };
  each_block(p, g, n, a, block_visitor(move));
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
