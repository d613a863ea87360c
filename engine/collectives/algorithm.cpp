// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/algorithm.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace weft::collectives {
using graph::topology;

namespace {

bool always(const request&, const topology&, const tuning&) {
  return true;
}

// Reductions have the same ways.
constexpr algorithm flat_reduction(operation op, std::string_view summary) {
  const std::string_view restriction = of_vectors(op) ? "what fits into a payload" : "everywhere";
  return {op,
          "flat",
          summary,
          restriction,
          fits_flat_reduction,
          cost_of_flat_reduction,
          compile_flat_reduction,
          algorithm::touched::own};
}
constexpr std::string_view small_tables = "several nodes, what all have fits into an eager payload";
constexpr algorithm disseminated_reduction(operation op, std::string_view restriction) {
  return {op,
          "dissemination",
          "the nodes tell each other what they know, twice as much each time",
          restriction,
          fits_handed_on_reduction,
          cost_of_handed_on_reduction,
          compile_handed_on_reduction,
          algorithm::touched::own};
}
constexpr algorithm combined_reduction(operation op) {
  return {op,
          "combined",
          "the members of a node combine first, then the nodes, pair by pair",
          op == operation::reduce
              ? "IN_ALL, several nodes, what their members have combined fits into a payload"
              : "several nodes, what their members have combined fits into a payload",
          fits_combined_reduction,
          cost_of_combined_reduction,
          compile_combined_reduction,
          algorithm::touched::own};
}
constexpr algorithm shared_reduction(operation op) {
  return {op,
          "shared",
          "the members that have entered combine pieces of all vectors",
          "one node, no function of the user",
          fits_shared_reduction,
          cost_of_shared_reduction,
          compile_shared_reduction};
}
constexpr algorithm sliced_reduction(operation op) {
  return {op,
          "sliced",
          "each member combines a slice of all vectors, and hands out its result",
          op == operation::team_reduce ? "all vectors have more than 256 KiB; not where shared fits"
                                       : "not where shared fits",
          fits_sliced_reduction,
          cost_of_sliced_reduction,
          compile_sliced_reduction};
}
constexpr algorithm twins_reduction(operation op) {
  return {
      op,
      "twins",
      "combined within the nodes, then part by part between them, in one message each",
      op == operation::team_reduce_scatter
          ? "equal nodes, ranks node by node, blocks of vectors of more than 2 KiB that fit into payloads"
          : "equal nodes of several members, ranks node by node, vectors of more than 2 KiB that fit into "
            "payloads",
      fits_twins_reduction,
      cost_of_twins_reduction,
      compile_twins_reduction,
      algorithm::touched::of_host};
}
constexpr algorithm gathered_reduction(operation op) {
  return {op,
          "gathered",
          "the members that want the result bring all vectors, and combine them",
          op == operation::team_reduce ? "all vectors have 64 MiB at most; not where shared fits"
                                       : "all vectors have 1 MiB at most; not where shared fits",
          fits_gathered_reduction,
          cost_of_gathered_reduction,
          compile_gathered_reduction};
}
constexpr algorithm bundled(operation op, fits* suits, cost_of* cost, plan_of* compile) {
  constexpr std::string_view where_two =
      "not IN_ALL, several nodes, some with several members, what two have fits into a box, progress threads";
  constexpr std::string_view where_root =
      "several nodes, some with several members, what one has for another fits into a box, progress threads";
  constexpr std::string_view where_any = "several nodes, some with several members, progress threads";
  constexpr std::string_view where_asked =
      "IN_NO, several nodes, some with several members, a block of each fits into a box, progress threads";
  const std::string_view where = op == operation::broadcast ? where_asked
                                 : sized_by_members(op)     ? where_any
                                 : computes(op)             ? where_two
                                 : rooted(op)               ? where_root
                                                            : where_two;
  return {
      op,     "bundled", "one message to each other node, with the blocks of all members that have entered",
      where,  suits,     cost,
      compile};
}

constexpr algorithm flat_unequal(operation op) {
  return {op,
          "flat",
          "each member tells those that get a block of it where it is, and they bring it",
          "everywhere",
          always,
          cost_of_flat_unequal,
          compile_flat_unequal};
}
constexpr algorithm bundled_unequal(operation op) {
  return bundled(op, fits_bundled_unequal, cost_of_bundled_unequal, compile_bundled_unequal);
}

constexpr auto list = std::to_array<algorithm>({
    algorithm{operation::broadcast, "flat", "each member reads from the root", "everywhere", always,
              cost_of_flat_rooted, compile_flat_broadcast},
    algorithm{operation::broadcast, "knomial", "a k-nomial tree over the nodes", "IN_ALL, several nodes",
              fits_hierarchical_broadcast, cost_of_knomial, compile_knomial},
    algorithm{operation::broadcast, "chain", "piece by piece from node to node", "IN_ALL, several nodes",
              fits_hierarchical_broadcast, cost_of_chain, compile_chain},
    algorithm{operation::broadcast, "scatter", "scatter to the nodes, then gather all between them",
              "IN_ALL, several nodes, larger than an eager payload", fits_scattered, cost_of_scattered,
              compile_scattered},
    algorithm{operation::broadcast, "relayed", "a tree over the nodes, handed on by engines, entered or not",
              "IN_MY, several nodes, an eager payload, progress threads", fits_relayed, cost_of_relayed,
              compile_relayed},
    bundled(operation::broadcast, fits_bundled_broadcast, cost_of_bundled_broadcast,
            compile_bundled_broadcast),
    algorithm{operation::gather_all, "flat", "each member reads from all", "everywhere", always,
              cost_of_flat_gather_all, compile_flat_gather_all},
    algorithm{operation::gather_all, "ring", "block by block around a ring of the nodes",
              "IN_ALL, several nodes", fits_ring, cost_of_ring, compile_ring},
    algorithm{operation::gather_all, "bruck", "a dissemination over the nodes, doubling what each knows",
              "IN_ALL, several nodes, what is handed on at once fits into a payload", fits_bruck,
              cost_of_bruck, compile_bruck},
    algorithm{operation::gather_all, "doubling", "pairs of nodes swap all they have, twice as much each time",
              "IN_ALL, a power of two of nodes", fits_doubling, cost_of_doubling, compile_doubling},
    bundled(operation::gather_all, fits_bundled_gather_all, cost_of_bundled_gather_all,
            compile_bundled_gather_all),
    algorithm{operation::exchange, "spread", "each member reads from all, a window of transfers at a time",
              "everywhere", always, cost_of_spread, compile_spread},
    algorithm{operation::exchange, "paired", "one message each way between two nodes, with all their blocks",
              "IN_ALL, several nodes, some with several members, the message fits into a payload",
              fits_paired_exchange, cost_of_paired_exchange, compile_paired_exchange},
    algorithm{operation::exchange, "bruck", "log(nodes) rounds of messages with blocks on their way",
              "IN_ALL, several equal nodes, a part of a member's blocks fits into a payload",
              fits_bruck_exchange, cost_of_bruck_exchange, compile_bruck_exchange},
    bundled(operation::exchange, fits_bundled_exchange, cost_of_bundled_exchange, compile_bundled_exchange),
    algorithm{operation::scatter, "flat", "each member reads its block from the root", "everywhere", always,
              cost_of_flat_rooted, compile_flat_scatter},
    bundled(operation::scatter, fits_bundled_scatter, cost_of_bundled_scatter, compile_bundled_scatter),
    algorithm{operation::gather, "flat", "the root reads a block from each member", "everywhere", always,
              cost_of_flat_rooted, compile_flat_gather},
    bundled(operation::gather, fits_bundled_gather, cost_of_bundled_gather, compile_bundled_gather),
    flat_reduction(operation::reduce, "each member sends its partial results to the root"),
    disseminated_reduction(operation::reduce,
                           "IN_ALL, several nodes, what all have fits into an eager payload"),
    combined_reduction(operation::reduce),
    bundled(operation::reduce, fits_bundled_reduction, cost_of_bundled_reduction, compile_bundled_reduction),
    flat_reduction(operation::reduce_all, "each member sends its partial results to all"),
    disseminated_reduction(operation::reduce_all, small_tables),
    combined_reduction(operation::reduce_all),
    flat_reduction(operation::prefix_reduce, "each member sends its partial results to all"),
    disseminated_reduction(operation::prefix_reduce, small_tables),
    combined_reduction(operation::prefix_reduce),
    flat_reduction(operation::team_reduce, "each member sends its vector to the root"),
    bundled(operation::team_reduce, fits_bundled_reduction, cost_of_bundled_reduction,
            compile_bundled_reduction),
    shared_reduction(operation::team_reduce),
    sliced_reduction(operation::team_reduce),
    gathered_reduction(operation::team_reduce),
    flat_reduction(operation::team_allreduce, "each member sends its vector to all"),
    disseminated_reduction(operation::team_allreduce, small_tables),
    combined_reduction(operation::team_allreduce),
    shared_reduction(operation::team_allreduce),
    sliced_reduction(operation::team_allreduce),
    gathered_reduction(operation::team_allreduce),
    algorithm{operation::team_allreduce, "hierarchical",
              "combined within the nodes, then slice by slice between them",
              "equal nodes of several members, ranks node by node", fits_hierarchical_reduction,
              cost_of_hierarchical_reduction, compile_hierarchical_reduction},
    algorithm{operation::team_allreduce, "halved",
              "combined within the nodes, then in halves, quarters and on between pairs of them",
              "a power of two of equal nodes of several members, ranks node by node", fits_halved_reduction,
              cost_of_halved_reduction, compile_halved_reduction},
    twins_reduction(operation::team_allreduce),
    flat_reduction(operation::team_scan, "each member sends its vector to later ones"),
    disseminated_reduction(operation::team_scan, small_tables),
    combined_reduction(operation::team_scan),
    shared_reduction(operation::team_scan),
    sliced_reduction(operation::team_scan),
    gathered_reduction(operation::team_scan),
    twins_reduction(operation::team_scan),
    flat_reduction(operation::team_reduce_scatter, "each member sends its vector to all"),
    disseminated_reduction(operation::team_reduce_scatter, small_tables),
    combined_reduction(operation::team_reduce_scatter),
    algorithm{operation::team_reduce_scatter, "scattered",
              "each member brings its block of all vectors, and combines it", "everywhere",
              fits_scattered_reduction, cost_of_scattered_reduction, compile_scattered_reduction},
    twins_reduction(operation::team_reduce_scatter),
    flat_unequal(operation::team_alltoallv),
    bundled_unequal(operation::team_alltoallv),
    flat_unequal(operation::team_gatherv),
    bundled_unequal(operation::team_gatherv),
    flat_unequal(operation::team_scatterv),
    bundled_unequal(operation::team_scatterv),
});

std::size_t index_of(operation op, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const algorithm& a) { return a.op == op && a.name == name; });
  return static_cast<std::size_t>(found - list.begin());
}

// All operations that have a choice, or the names of the choices of one.
std::string allowed(const operation* op) {
  std::string text;
  operation last = operation::barrier;
  for (const algorithm& a : list) {
    if (op != nullptr ? a.op != *op : a.op == last) continue;
    last = a.op;
    text += (text.empty() ? "" : ", ") + std::string(op != nullptr ? a.name : name(a.op));
  }
  return text;
}

void parse_one(const std::string& text, forced_choice& choice) {
  const auto equals = text.find('=');
  const std::string left = text.substr(0, equals);
  const auto known =
      std::find_if(list.begin(), list.end(), [&](const algorithm& a) { return name(a.op) == left; });
  if (equals == std::string::npos || known == list.end())
    throw std::invalid_argument("operation=algorithm, separated by commas; operations are " +
                                allowed(nullptr));
  const std::size_t index = index_of(known->op, text.substr(equals + 1));
  if (index == list.size()) throw std::invalid_argument(left + "= with one of " + allowed(&known->op));
  choice[static_cast<std::size_t>(known->op)] = static_cast<std::uint8_t>(index + 1);
}

} // namespace

std::span<const algorithm> algorithms() {
  return list;
}

const algorithm* choose(const request& r, const topology& g, const tuning& t) {
  const std::uint8_t asked = t.forced[static_cast<std::size_t>(r.op)];
  if (asked != 0 && asked <= list.size()) {
    const algorithm& a = list[asked - 1u];
    if (a.op == r.op && a.fits(r, g, t)) return &a;
  }
  const algorithm* best = nullptr;
  std::uint64_t least = 0;
  for (const algorithm& a : list) {
    if (a.op != r.op || !a.fits(r, g, t)) continue;
    const std::uint64_t cost = a.cost(r, g, t);
    if (best == nullptr || cost < least) best = &a, least = cost;
  }
  return best;
}

bool touches_own(const request& r, const topology& g, const tuning& t) {
  using touched = algorithm::touched;
  if (!computes(r.op)) return travels_as_payloads(r, g, t);
  const touched by = choose(r, g, t)->touches;
  return by == touched::own || (by == touched::of_host && g.largest_host() == 1);
}

// Where messages are short one transfer of all is cheaper than many of them.
in_messages longest_in_messages(const topology& g, const tuning& t) {
  constexpr std::uint64_t most = 16, least = 64 << 10;
  if (g.one_host()) return {};
  const std::uint64_t message = far_payload(t, g);
  return {message, message < least ? message : most * message};
}

std::uint64_t piece_of_series(const request& r, const topology& g, const tuning& t) {
  const auto [message, several] = longest_in_messages(g, t);
  const bool forced = t.forced[static_cast<std::size_t>(r.op)] != 0;
  if (forced || r.op == operation::team_reduce_scatter || g.size() > 64) return 0;
  if (r.bytes <= message || r.bytes > several) return 0;
  request piece = r;
  piece.bytes = message;
  const bool few = r.op == operation::team_reduce && r.bytes <= 4 * message;
  const bool one_way = few || r.op == operation::team_scan;
  return one_way || touches_own(piece, g, t) ? message : 0;
}

forced_choice parse_choice(const std::string& text) {
  forced_choice choice{};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parse_one(text.substr(begin, end - begin), choice);
    begin = end + 1;
  }
  return choice;
}

} // namespace weft::collectives
