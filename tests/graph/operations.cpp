#include "tests/graph/operations.hpp"

#include <spdlog/fmt/fmt.h>

#include <numeric>
#include <stdexcept>

namespace weft::graph {
using namespace collectives;

node_map one_node(std::uint32_t members) {
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

std::vector<plan> compile_all(const request& r, const node_map& nodes) {
  std::vector<plan> plans;
  plans.reserve(nodes.size());
  for (std::uint32_t me = 0; me < nodes.size(); ++me)
    plans.push_back(compile(r, geometry(me, nodes), tuning{}));
  return plans;
}

movement specified(const request& r) {
  block_rule rule;
  rule.bytes = r.bytes;
  switch (r.op) {
  case operation::barrier:
    return {};
  case operation::broadcast:
    return {pattern::from_root, rule, r.root};
  case operation::scatter:
    rule.src_j = r.bytes;
    return {pattern::from_root, rule, r.root};
  case operation::gather:
    rule.dst_i = r.bytes;
    return {pattern::to_root, rule, r.root};
  case operation::gather_all:
    rule.dst_i = r.bytes;
    return {pattern::all_pairs, rule, 0};
  case operation::exchange:
    rule.src_j = r.bytes;
    rule.dst_i = r.bytes;
    return {pattern::all_pairs, rule, 0};
  }
  throw std::logic_error("unknown operation");
}

std::string text(const request& r, const node_map& nodes) {
  static constexpr const char* operations[] = {"barrier",  "broadcast", "gather_all",
                                               "exchange", "scatter",   "gather"};
  static constexpr const char* modes[] = {"NO", "MY", "ALL"};
  static constexpr const char* hints[] = {"no hint", "push", "pull"};
  return fmt::format("{} of {} bytes, IN_{} OUT_{}, {}, root {}, nodes {}",
                     operations[static_cast<int>(r.op)], r.bytes, modes[static_cast<int>(r.in)],
                     modes[static_cast<int>(r.out)], hints[static_cast<int>(r.direction)], r.root,
                     fmt::join(nodes, " "));
}

void for_each_request(std::uint32_t members, const std::function<void(const request&)>& visit) {
  visit({.op = operation::barrier});
  for (const operation op : moving) {
    for (const sync in : {sync::no, sync::my, sync::all}) {
      for (const sync out : {sync::no, sync::my, sync::all}) {
        for (const hint direction : {hint::none, hint::push, hint::pull}) {
          for (const std::uint64_t bytes : {0u, 8u, 65536u}) {
            visit({op, in, out, direction, 0, bytes});
            if (rooted(op) && members > 1) visit({op, in, out, direction, members - 1, bytes});
          }
        }
      }
    }
  }
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
