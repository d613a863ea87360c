// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "verify/specified.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::graph {

using node_map = std::vector<std::uint32_t>;

node_map one_host(std::uint32_t members);
node_map alone(std::uint32_t members);
node_map blocks_of(std::uint32_t members, std::uint32_t per_node);
node_map dealt(std::uint32_t members, std::uint32_t nodes); // like cards: member r on node r mod nodes

// The plans of all members.
std::vector<plan> compile_all(const collectives::request& r, const node_map& nodes,
                              const collectives::tuning& t = {});
// The same of one that no call of the library has.
using make_plan = plan (*)(std::uint32_t me, const topology& g, std::uint64_t bytes);
std::vector<plan> all_of(make_plan make, const node_map& nodes, std::uint64_t bytes);
// With the algorithm of this name wherever it fits.
collectives::tuning forcing(collectives::operation op, std::string_view algorithm);
collectives::tuning flat();

// What the texts say of an operation.
using collectives::computes;
using collectives::has_in_place;
using collectives::most_partials;
using collectives::of_vectors;
using collectives::permutes;
using collectives::rooted_by_rows;
using collectives::row_names;
using collectives::shifted;
using collectives::sized_by_rows;
using collectives::specified;
using collectives::to_root;

// All operations but the barrier.
inline constexpr auto moving = std::span(collectives::operations).subspan(1);

// Where the direction is no choice.
bool ignores_hints(const collectives::request& r);

// Rows worth a try: permutations, or roots some of whose blocks are empty. One set without names for the
// operations that have none.
std::vector<row_names> rows_for(const collectives::request& r, std::uint32_t members);
row_names reversed(std::uint32_t members);
row_names shuffled(std::uint32_t members, std::uint32_t seed);

std::string text(const collectives::request& r, const node_map& nodes);

// Every operation in every mode pair, hint and size that the suite covers.
void for_each_request(std::uint32_t members, const std::function<void(const collectives::request&)>& visit);
// The same with every set of rows.
using case_visitor = std::function<void(const collectives::request&, const movement&)>;
void for_each_case(std::uint32_t members, const case_visitor& visit);

// Takes a node out of a plan, and a loop's body with it.
void erase(plan& p, unsigned node);

// The first node of a kind (and a fact).
unsigned find(const plan& p, kind what, fact about = fact::none);

} // namespace weft::graph
