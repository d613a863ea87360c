// SPDX-License-Identifier: BSD-3-Clause
#include "tests/graph/operations.hpp"

#include "engine/format.hpp"
#include "engine/memory/mailbox.hpp"

#include <fmt/core.h>

#include <numeric>
#include <random>
#include <stdexcept>

namespace weft::graph {
using namespace collectives;

node_map one_host(std::uint32_t members) {
  return node_map(members, 0);
}

node_map alone(std::uint32_t members) {
  node_map nodes(members);
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

node_map blocks_of(std::uint32_t members, std::uint32_t per_node) {
  node_map nodes(members);
  for (std::uint32_t r = 0; r < members; ++r)
    nodes[r] = r / per_node;
  return nodes;
}

node_map dealt(std::uint32_t members, std::uint32_t nodes) {
  node_map map(members);
  for (std::uint32_t r = 0; r < members; ++r)
    map[r] = r % nodes;
  return map;
}

std::vector<plan> compile_all(const request& r, const node_map& nodes, const tuning& t) {
  std::vector<plan> plans;
  plans.reserve(nodes.size());
  for (std::uint32_t me = 0; me < nodes.size(); ++me)
    plans.push_back(compile(r, topology(me, nodes), t));
  return plans;
}

std::vector<plan> all_of(make_plan make, const node_map& nodes, std::uint64_t bytes) {
  std::vector<plan> plans;
  for (std::uint32_t r = 0; r < nodes.size(); ++r)
    plans.push_back(make(r, topology(r, nodes), bytes));
  return plans;
}

tuning forcing(operation op, std::string_view algorithm) {
  tuning t;
  t.bundles = true;
  t.forced = parse_choice(fmt::format("{}={}", name(op), algorithm));
  if (algorithm == "twins") t.far_payload = engine::mailbox::large_bytes; // as over sockets
  return t;
}

tuning flat() {
  tuning t;
  t.forced = parse_choice(
      "broadcast=flat,gather_all=flat,exchange=spread,reduce=flat,reduce_all=flat,"
      "prefix_reduce=flat,team_reduce=flat,team_allreduce=flat,team_scan=flat,team_reduce_scatter=flat");
  return t;
}

bool ignores_hints(const request& r) {
  return r.op >= operation::permute || (r.in_place && r.op == operation::exchange);
}

row_names reversed(std::uint32_t members) {
  row_names names(members);
  for (std::uint32_t r = 0; r < members; ++r)
    names[r] = members - 1 - r;
  return names;
}

row_names shuffled(std::uint32_t members, std::uint32_t seed) {
  row_names names = shifted(members, 0);
  std::minstd_rand dice(seed);
  for (std::uint32_t left = members; left > 1; --left)
    std::swap(names[left - 1], names[dice() % left]);
  return names;
}

namespace {

row_names with_holes(row_names names, std::uint32_t seed) {
  std::minstd_rand dice(seed);
  for (std::uint32_t& named : names) {
    if (dice() % 3 == 0) named = movement::no_rank;
  }
  return names;
}

} // namespace

std::vector<row_names> rows_for(const request& r, std::uint32_t members) {
  if (permutes(r.op))
    return {shifted(members, 0), shifted(members), reversed(members), shuffled(members, members),
            shuffled(members, 1000 + members)};
  if (!rooted_by_rows(r.op)) return {{}};
  const std::uint32_t last = members - 1;
  row_names not_its_own = to_root(members, last), only_its_own(members, movement::no_rank);
  not_its_own[last] = movement::no_rank;
  only_its_own[members / 2] = members / 2;
  return {to_root(members, 0), with_holes(to_root(members, members / 2), members), not_its_own, only_its_own,
          row_names(members, movement::no_rank)};
}

std::string text(const request& r, const node_map& nodes) {
  static constexpr const char* modes[] = {"NO", "MY", "ALL"};
  static constexpr const char* hints[] = {"no hint", "push", "pull"};
  return fmt::format("{}{}{} of {} bytes, IN_{} OUT_{}, {}, root {}, nodes {}", collectives::name(r.op),
                     r.in_place ? " in place" : "",
                     r.by_ranges && r.whole ? " by the root"
                     : r.by_ranges          ? " by ranges"
                     : r.whole              ? " of few"
                                            : "",
                     r.bytes, modes[static_cast<int>(r.in)], modes[static_cast<int>(r.out)],
                     hints[static_cast<int>(r.direction)], r.root, engine::joined(nodes, " "));
}

namespace {

void for_each_direction(request r, std::uint32_t members, const std::function<void(const request&)>& visit) {
  for (const hint direction : {hint::none, hint::push, hint::pull}) {
    r.direction = direction;
    r.root = 0;
    if (direction == hint::none || !ignores_hints(r)) visit(r);
    r.root = members - 1;
    if (rooted(r.op) && members > 1 && (direction == hint::none || !ignores_hints(r))) visit(r);
  }
}

} // namespace

void for_each_request(std::uint32_t members, const std::function<void(const request&)>& visit) {
  visit({.op = operation::barrier});
  for (const operation op : moving) {
    for (const sync in : {sync::no, sync::my, sync::all}) {
      for (const sync out : {sync::no, sync::my, sync::all}) {
        for (const std::uint64_t bytes : {0u, 8u, 65536u}) {
          const bool partials = computes(op) && !of_vectors(op);
          if ((sized_by_rows(op) && bytes != 0) || (partials && bytes > most_partials)) continue;
          if (of_vectors(op) && (in != sync::my || out != sync::my)) continue;
          request r{.op = op, .in = in, .out = out, .bytes = bytes};
          for_each_direction(r, members, visit);
          if (partials) {
            r.by_ranges = true;
            for_each_direction(r, members, visit);
            r.whole = op == operation::reduce;
            if (r.whole) for_each_direction(r, members, visit);
            r.by_ranges = false;
            r.whole = op == operation::sort;
            if (r.whole) for_each_direction(r, members, visit);
            r.whole = false;
          }
          r.in_place = true;
          if (has_in_place(op)) for_each_direction(r, members, visit);
        }
      }
    }
  }
}

void for_each_case(std::uint32_t members, const case_visitor& visit) {
  for_each_request(members, [&](const request& r) {
    for (const row_names& names : rows_for(r, members))
      visit(r, specified(r, names));
  });
}

namespace {

// Node numbers above the one that goes move down by one.
node_set without(node_set set, unsigned gone) {
  const node_set below = set & ((node_set{1} << gone) - 1);
  return below | (set >> gone >> 1 << gone);
}

void erase_one(plan& p, unsigned gone) {
  for (unsigned n = 0; n < p.size; ++n) {
    node& it = p.nodes[n];
    it.after = without(it.after, gone);
    if (it.what != kind::loop) continue;
    if (gone < it.body)
      --it.body;
    else if (gone < unsigned{it.body} + it.body_size)
      --it.body_size;
  }
  p.top = without(p.top, gone);
  for (unsigned n = gone; n + 1 < p.size; ++n)
    p.nodes[n] = p.nodes[n + 1];
  p.nodes[--p.size] = node{};
}

} // namespace

void erase(plan& p, unsigned gone) {
  const node it = p.nodes[gone];
  if (it.what != kind::loop) {
    erase_one(p, gone);
    for (unsigned n = 0; n < p.size; ++n) {
      if (p.nodes[n].what == kind::loop && p.nodes[n].body_size == 0) return erase(p, n);
    }
    return;
  }
  erase_one(p, gone); // a body stands before its loop
  for (unsigned s = 0; s < it.body_size; ++s)
    erase_one(p, it.body);
}

unsigned find(const plan& p, kind what, fact about) {
  for (unsigned n = 0; n < p.size; ++n) {
    if (p.nodes[n].what == what && p.nodes[n].about == about) return n;
  }
  throw std::logic_error("the plan has no such node");
}

} // namespace weft::graph
