#include "engine/operations/dot.hpp"

#include "engine/operations/describe.hpp"
#include "engine/plan/names.hpp"
#include "engine/plan/plan.hpp"

#include <fmt/core.h>

#include <bit>

namespace weft::graph {

namespace {

std::string box(unsigned n, const node& it) {
  return fmt::format("n{} [label=\"{}: {}\"];\n", n, n, describe(it));
}

unsigned last_step(const node& loop) {
  return loop.body + loop.body_size - 1u;
}

std::string cluster(unsigned n, const plan& p) {
  const node& loop = p.nodes[n];
  std::string text = fmt::format("  subgraph cluster_{} {{\n    label=\"{}: {}\";\n", n, n, describe(loop));
  for (unsigned s = loop.body; s <= last_step(loop); ++s)
    text += "    " + box(s, p.nodes[s]);
  for (unsigned s = loop.body; s < last_step(loop); ++s)
    text += fmt::format("    n{} -> n{};\n", s, s + 1);
  return text + "  }\n";
}

// Graphviz draws edges between nodes only; those of a loop are cut off at its box.
std::string arrow(unsigned from, unsigned to, const plan& p) {
  const node &a = p.nodes[from], &b = p.nodes[to];
  const bool out_of_loop = a.what == kind::loop, into_loop = b.what == kind::loop;
  std::string cut;
  if (out_of_loop) cut += fmt::format("ltail=cluster_{}", from);
  if (out_of_loop && into_loop) cut += ", ";
  if (into_loop) cut += fmt::format("lhead=cluster_{}", to);
  const unsigned tail = out_of_loop ? last_step(a) : from;
  const unsigned head = into_loop ? unsigned{b.body} : to;
  return fmt::format("  n{} -> n{}{};\n", tail, head, cut.empty() ? "" : " [" + cut + "]");
}

std::string size_of_block(const plan& p) {
  if (p.places[in_source].size) return "bytes as the rows say";
  return fmt::format("{} bytes", p.block());
}

} // namespace

std::string to_dot(const plan& p) {
  std::string text = fmt::format("digraph plan {{\n  compound=true;\n  node [shape=box];\n"
                                 "  label=\"rank {} of {}, {}, {}{}, IN_{} OUT_{}\";\n",
                                 p.me, p.members, name(p.pairs), size_of_block(p),
                                 p.in_place ? " in place" : "", name(p.in), name(p.out));
  for (unsigned n = 0; n < p.size; ++n) {
    if ((p.top >> n & 1) == 0) continue;
    text += p.nodes[n].what == kind::loop ? cluster(n, p) : "  " + box(n, p.nodes[n]);
  }
  for (unsigned n = 0; n < p.size; ++n) {
    if ((p.top >> n & 1) == 0) continue;
    for (node_set rest = p.nodes[n].after; rest != 0; rest &= rest - 1) {
      text += arrow(static_cast<unsigned>(std::countr_zero(rest)), n, p);
    }
  }
  return text + "}\n";
}

} // namespace weft::graph
