// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"

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
};
std::span<const algorithm> algorithms();

// The algorithm that all members of a team use: what the user asked for if it fits, else the cheapest that
// fits. Looks only at what is the same on all of them: the request, who is on which host, and rank 0's table.
// Null for an operation that has no choice.
const algorithm* choose(const request& r, const graph::topology& g, const tuning& t);

// "broadcast=knomial,gather_all=ring". Throws std::invalid_argument that says what is allowed.
forced_choice parse_choice(const std::string& text);

// Data may be handed on by a member only when all are known to have entered, and only between hosts: on one
// host everybody reads where the data are. That holds for a gather-all and an exchange, too, though nobody is
// done there before all have entered: under IN_MY the blocks of those who have come are moved meanwhile.
inline bool may_relay(const request& r, const graph::topology& g) {
  return r.in == graph::sync::all && !g.one_host() && r.bytes != 0 && !r.in_place;
}

} // namespace weft::collectives
