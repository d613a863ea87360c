// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace calls {

const char* name_of(kind what) {
  static constexpr const char* names[kinds] = {"broadcast",      "scatter",
                                               "gather",         "gather_all",
                                               "exchange",       "permute",
                                               "broadcast_x",    "scatter_x",
                                               "gather_x",       "gather_all_x",
                                               "exchange_x",     "permute_x",
                                               "permute_xi",     "alltoall",
                                               "alltoall_nb",    "alltoall_nbi",
                                               "reduce",         "reduce_all",
                                               "prefix_reduce",  "exclusive_prefix",
                                               "sort",           "team_reduce",
                                               "team_allreduce", "team_scan",
                                               "team_exscan",    "team_reduce_scatter",
                                               "team_alltoallv", "team_allgatherv",
                                               "team_gatherv",   "team_scatterv"};
  return names[static_cast<std::size_t>(what)];
}

const char* name_of(sync mode) {
  return mode == sync::no ? "NO" : mode == sync::my ? "MY" : "ALL";
}

namespace {

std::string text(const place& p) {
  return p.null ? "null" : fmt::format("{}@{}:{}", p.offset, p.thread, p.phase);
}
std::string text(const std::vector<place>& table) {
  std::vector<std::string> parts;
  for (const place& p : table)
    parts.push_back(text(p));
  return fmt::format("[{}]", fmt::join(parts, " "));
}

std::string flags(const call& c) {
  std::string all;
  if (c.say_in) all += fmt::format(" IN_{}SYNC", name_of(c.in));
  if (c.say_out) all += fmt::format(" OUT_{}SYNC", name_of(c.out));
  if (c.hints & UPC_PUSH) all += " PUSH";
  if (c.hints & UPC_PULL) all += " PULL";
  if (c.hints & WEFT_REPRODUCIBLE) all += " REPRODUCIBLE";
  if (c.async) all += " ASYNC";
  if (c.own == in_place::root_block) all += " IN_PLACE(root's block)";
  if (c.own == in_place::flag_and_null) all += " IN_PLACE(src null)";
  if (c.own == in_place::flag_and_same) all += " IN_PLACE(src = dst)";
  if (c.own == in_place::instead_of_source) all += " src=IN_PLACE";
  return all.empty() ? " 0" : all;
}

} // namespace

std::string describe(const call& c, const members& team) {
  std::string line = fmt::format("{}{}(", name_of(c.what), c.spelling == form::team_name ? "_team" : "");
  auto out = std::back_inserter(line);
  if (is_x(c.what)) {
    fmt::format_to(out, "dst={}{} ", c.dst_at, text(c.dst_table));
    if (c.what == kind::broadcast_x)
      fmt::format_to(out, "src={} nbytes={}", text(c.src), c.nbytes);
    else
      fmt::format_to(out, "src={}{} nbytes={}[{}]", c.src_at, text(c.src_table), c.sizes_at,
                     fmt::join(c.sizes, " "));
  } else if (is_unequal(c.what)) {
    fmt::format_to(out, "dst={} src={} root={} nbytes=[{}]", text(c.dst_table), text(c.src_table), c.root,
                   fmt::join(c.sizes, " "));
  } else if (is_vector(c.what)) {
    fmt::format_to(out, "dst={} src={} root={} blocks=[{}]", text(c.dst_table), text(c.src_table), c.root,
                   fmt::join(c.sizes, " "));
  } else {
    fmt::format_to(out, "dst={} src={} nbytes={}", text(c.dst), text(c.src), c.nbytes);
  }
  if (c.of != nullptr)
    fmt::format_to(out, " of {}, op={} nelems={} blk_size={} key={}", c.of->name, c.op, c.nelems, c.blk_size,
                   c.key);
  if (c.one_sided()) fmt::format_to(out, " by thread {}{}", c.caller, c.async ? ", posted" : "");
  if (!c.perm.empty()) fmt::format_to(out, " perm={}[{}]", c.perm_at, fmt::join(c.perm, " "));
  if (!is_cray(c.what) && c.what < kind::team_reduce && !c.one_sided())
    fmt::format_to(out, " mode={}", flags(c));
  fmt::format_to(out, " team=[{}])", fmt::join(team, " "));
  return line;
}

} // namespace calls
