// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::collectives {

enum class operation : std::uint8_t {
  barrier,
  broadcast,
  gather_all,
  exchange,
  scatter,
  gather,
  permute,
  // With addresses, sizes and permutation in shared memory:
  broadcast_x,
  gather_all_x,
  exchange_x,
  scatter_x,
  gather_x,
  permute_x,
  // Computations. `bytes` are those of the partial results of a member.
  reduce,
  reduce_all,
  prefix_reduce,
  // Of an array, in place. `bytes` are those of a member's row of a table; by_ranges: the elements are
  // brought into line first.
  sort,
  // Element by element, of vectors at addresses that differ; `bytes` of a vector. Always IN_MY, OUT_MY.
  team_reduce,
  team_allreduce,
  team_scan,
  team_reduce_scatter,
  // Of blocks whose sizes only their two ends know. Always IN_MY, OUT_MY.
  team_alltoallv,
  team_gatherv,
  team_scatterv,
};

// The call that an operation is, or is a part of.
enum class caller : std::uint8_t {
  collective, // one of V1.0 or V0.3, or a barrier of all
  cray,
  cray_nb,
  all_alloc,
  all_free,
  split,
  from_threads,
  init,
  finalize,
  lock_alloc,
  lock_free,
  domain_alloc,
  domain_free,
  reduce_values,
  prefix_values,
  exclusive_prefix_values,
  exclusive_scan, // of vectors
  unequal_blocks, // of a team_reduce_scatter
  allgatherv,
};

// Bytes of the partial results that a member can contribute to a reduction: they travel as an eager payload.
inline constexpr std::uint64_t most_partials = 2048;
// So that a late member of a reduce holds up its root alone, the root has of the others what they give: so
// many bytes at most.
inline constexpr std::uint64_t most_at_root = std::uint64_t{64} << 20;
// Where it has a choice it waits for the others at least so long before it works alone, in ns.
inline constexpr std::uint64_t least_patience = 100'000;

// Of blocks whose sizes only their two ends know.
inline constexpr std::uint64_t any_size = 1;

// What a plan depends on, besides the team: single-valued arguments only, and never an address.
struct request {
  operation op = operation::barrier;
  graph::sync in = graph::sync::all;
  graph::sync out = graph::sync::all;
  graph::hint direction = graph::hint::none;
  std::uint32_t root = 0;         // team rank; 0 where the operation has none
  std::uint64_t bytes = 0;        // of one block, or any_size; 0 where the sizes are in shared memory
  bool in_place = false;          // exchange, gather_all, permute and their _x: the source is the destination
  bool wide_perm = false;         // permute_x: the permutation's elements have 8 bytes, not 4
  caller by = caller::collective; // for messages
  bool large = false;             // computations: a member has more elements than a pass may touch
  bool by_ranges = false;         // computations: members work on ranges, whichever rank has the elements
  bool apart = false;             // the operands lie at another place on each thread
  bool whole = false;       // sort: a member's row has all of its elements; reduce: the root's range too;
                            // vectors: a member combines alone, for it calls a function of the user
  bool other_order = false; // computations: the elements are in another order than the ranks

  // Compared with every call: as words.
  bool operator==(const request& other) const {
    using words = std::array<std::uint64_t, 3>;
    return std::bit_cast<words>(*this) == std::bit_cast<words>(other);
  }
};
static_assert(std::has_unique_object_representations_v<request>);

// In how many bytes a block goes to another host: in one message with its signal, and in a series of
// messages, each of which is an operation. 0 on one host.
struct in_messages {
  std::uint64_t one = 0, several = 0;
};

// An operation on its operands.
struct bound_request {
  request of;
  graph::binding at;
};

} // namespace weft::collectives
