// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::collectives {

// One way to compile an operation. All that chooses, prints or tests algorithms goes by the one list of them.
struct algorithm {
  operation op;
  std::string_view name;
  std::string_view summary;
  std::string_view restriction; // in words; `fits` in code
  bool (*fits)(const request& r, const graph::topology& g, const tuning& t);
  std::uint64_t (*cost)(const request& r, const graph::topology& g, const tuning& t); // nanoseconds
  graph::plan (*compile)(const request& r, const graph::topology& g, const tuning& t);
  // Whose operands a member reads and writes.
  enum class touched : std::uint8_t { of_all, of_host, own } touches = touched::of_all;
};
std::span<const algorithm> algorithms();

// The algorithm that all members of a team use: what the user asked for if it fits, else the cheapest that
// fits. Looks only at what is the same on all of them: the request, which rank is on which host, and rank 0's
// table. Null for an operation that has no choice.
const algorithm* choose(const request& r, const graph::topology& g, const tuning& t);

// "broadcast=knomial,gather_all=ring". Throws std::invalid_argument that says what is allowed.
forced_choice parse_choice(const std::string& text);

// Data may be handed on by a member only when all are known to have entered, and only between hosts: on one
// host each rank reads where the data are. That holds for a gather-all and an exchange, too, though no rank
// is done there before all have entered: under IN_MY the blocks of those that have come are moved meanwhile.
inline bool may_relay(const request& r, const graph::topology& g) {
  return r.in == graph::sync::all && !g.one_host() && r.bytes != 0 && !r.in_place;
}

// The algorithms of the list, each described in its family's file.
using fits = bool(const request& r, const graph::topology& g, const tuning& t);
plan_of compile_flat_broadcast, compile_knomial, compile_chain;
cost_of cost_of_knomial, cost_of_chain;
fits fits_hierarchical_broadcast;
plan_of compile_relayed;
cost_of cost_of_relayed;
fits fits_relayed;
plan_of compile_scattered;
cost_of cost_of_scattered;
fits fits_scattered;
plan_of compile_bundled_gather_all, compile_bundled_exchange, compile_bundled_gather, compile_bundled_scatter;
plan_of compile_bundled_broadcast;
cost_of cost_of_bundled_gather_all, cost_of_bundled_exchange, cost_of_bundled_gather, cost_of_bundled_scatter;
cost_of cost_of_bundled_broadcast;
fits fits_bundled_gather_all, fits_bundled_exchange, fits_bundled_gather, fits_bundled_scatter;
fits fits_bundled_broadcast;
plan_of compile_flat_gather, compile_flat_scatter;
cost_of cost_of_flat_rooted;
plan_of compile_flat_gather_all, compile_ring, compile_bruck, compile_doubling;
cost_of cost_of_flat_gather_all, cost_of_ring, cost_of_bruck, cost_of_doubling;
fits fits_ring, fits_bruck, fits_doubling;
plan_of compile_spread, compile_paired_exchange, compile_bruck_exchange;
cost_of cost_of_spread, cost_of_paired_exchange, cost_of_bruck_exchange;
fits fits_paired_exchange, fits_bruck_exchange;

plan_of compile_bundled_reduction;
cost_of cost_of_bundled_reduction;
fits fits_bundled_reduction;
plan_of compile_flat_reduction, compile_handed_on_reduction;
cost_of cost_of_flat_reduction, cost_of_handed_on_reduction;
fits fits_flat_reduction, fits_handed_on_reduction;
plan_of compile_combined_reduction;
cost_of cost_of_combined_reduction;
fits fits_combined_reduction;
plan_of compile_shared_reduction, compile_sliced_reduction;
cost_of cost_of_shared_reduction, cost_of_sliced_reduction;
fits fits_shared_reduction, fits_sliced_reduction;
plan_of compile_gathered_reduction;
cost_of cost_of_gathered_reduction;
fits fits_gathered_reduction;
plan_of compile_scattered_reduction;
cost_of cost_of_scattered_reduction;
fits fits_scattered_reduction;
plan_of compile_flat_unequal, compile_bundled_unequal;
cost_of cost_of_flat_unequal, cost_of_bundled_unequal;
fits fits_bundled_unequal;
plan_of compile_hierarchical_reduction;
cost_of cost_of_hierarchical_reduction;
fits fits_hierarchical_reduction;
plan_of compile_halved_reduction;
cost_of cost_of_halved_reduction;
fits fits_halved_reduction;
plan_of compile_twins_reduction;
cost_of cost_of_twins_reduction;
fits fits_twins_reduction;

// Does a member touch its own operands only? Then they may lie where no other rank reaches them. The same on
// all members.
bool touches_own(const request& r, const graph::topology& g, const tuning& t);
// Of blocks of sizes of their own: those of so many bytes go along with notes, and no other member reads them
// where they are. 0 where members share hosts.
std::uint64_t longest_along(const graph::topology& g, const tuning& t);
in_messages longest_in_messages(const graph::topology& g, const tuning& t);
// A reduction of vectors between hosts that goes best as such a series: the most bytes of each; else 0.
std::uint64_t piece_of_series(const request& r, const graph::topology& g, const tuning& t);

// broadcast, scatter, gather, gather_all and exchange whose operands lie where rows say (request::whole).
graph::plan compile_apart(const request& r, const graph::topology& g, const tuning& t);

// A plan whose members also tell each other which call it is, and compare: see compile.cpp.
graph::plan with_comparison(const graph::plan& p, graph::sync in, const graph::topology& g);

// What the one plan of an operation that has no algorithms to choose from takes, as algorithm::cost says it.
// Nothing if the sizes stand in shared memory.
std::optional<std::uint64_t> cost_of_only_way(const request& r, const graph::topology& g, const tuning& t);
// What a request takes, by the algorithm that is chosen and with the rounds of its modes, from when all enter
// together. Nothing if the sizes stand in shared memory.
std::optional<std::uint64_t> predicted_time(const request& r, const graph::topology& g, const tuning& t);

// The plan of a request for one member of a team. A pure function of its arguments.
graph::plan compile(const request& r, const graph::topology& g, const tuning& t);

} // namespace weft::collectives
