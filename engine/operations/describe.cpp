// SPDX-License-Identifier: BSD-3-Clause
#include "engine/operations/all_kinds.hpp"

#include "engine/format.hpp"
#include "engine/plan/names.hpp"
#include "engine/plan/plan.hpp"

#include <bit>

namespace weft::graph {

namespace {

std::string place(const operand& o) {
  const std::string_view in = name(o.in);
  return o.at <= in_mailbox ? std::string(in) : operations::words(in, " [", std::to_string(o.at), "]");
}

// Where that is not the usual: from the source to the destination, by a mailbox if it is a payload.
std::string operands_of(const node& n) {
  if (n.read.in == buffer::none) return "";
  const bool takes = n.what == kind::take, sends = n.what == kind::signal;
  const bool usual_read = n.read.in == (takes ? buffer::mailbox : buffer::source);
  const bool usual_write = n.write.in == (sends ? buffer::mailbox : buffer::destination);
  std::string text;
  if (n.of != nullptr) text += operations::words(", ", n.of->name);
  if (!usual_read || (n.read.at > in_mailbox && !takes)) text += ", out of " + place(n.read);
  if (!usual_write || (n.write.at > in_mailbox && !sends)) text += ", into " + place(n.write);
  return text;
}

} // namespace

std::string describe(const node& n) {
  static constexpr auto texts = operations::all_kinds::table([]<class Kind>() { return &Kind::text; });
  std::string text = texts[static_cast<std::size_t>(n.what)](n);
  if (n.phase != 0) text += ", phase " + std::to_string(n.phase);
  text += operands_of(n);
  if (n.only != lane::any) text += n.only == lane::near ? ", if near" : ", if far";
  return text;
}

namespace {

std::string box(unsigned n, const node& it) {
  return engine::format("n{} [label=\"{}: {}\"];\n", n, n, describe(it));
}

unsigned last_step(const node& loop) {
  return loop.body + loop.body_size - 1u;
}

std::string cluster(unsigned n, const plan& p) {
  const node& loop = p.nodes[n];
  std::string text =
      engine::format("  subgraph cluster_{} {{\n    label=\"{}: {}\";\n", n, n, describe(loop));
  for (unsigned s = loop.body; s <= last_step(loop); ++s)
    text += "    " + box(s, p.nodes[s]);
  for (unsigned s = loop.body; s < last_step(loop); ++s)
    text += engine::format("    n{} -> n{};\n", s, s + 1);
  return text + "  }\n";
}

// Graphviz draws edges between nodes only; those of a loop are cut off at its box.
std::string arrow(unsigned from, unsigned to, const plan& p) {
  const node &a = p.nodes[from], &b = p.nodes[to];
  const bool out_of_loop = a.what == kind::loop, into_loop = b.what == kind::loop;
  std::string cut;
  if (out_of_loop) cut += engine::format("ltail=cluster_{}", from);
  if (out_of_loop && into_loop) cut += ", ";
  if (into_loop) cut += engine::format("lhead=cluster_{}", to);
  const unsigned tail = out_of_loop ? last_step(a) : from;
  const unsigned head = into_loop ? unsigned{b.body} : to;
  return engine::format("  n{} -> n{}{};\n", tail, head, cut.empty() ? "" : " [" + cut + "]");
}

std::string size_of_block(const plan& p) {
  if (p.places[in_source].size) return "bytes as the rows say";
  return engine::format("{} bytes", p.block());
}

} // namespace

std::string to_dot(const plan& p) {
  std::string text = engine::format("digraph plan {{\n  compound=true;\n  node [shape=box];\n"
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
