// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/cost.hpp"
#include "verify/verifier.hpp"

#include <ostream>

namespace weft::graph {

// The plans of all members of one operation as a schedule in the text format GOAL, which LogGOPSim takes: for
// each rank its sends, receives and computations, and what each of these requires. The plans are unfolded as
// the verifier does; what one event of a member tells another member becomes a message.
//
// - A signal to another host is a message with its payload. A far put is one too, and, where its flush waits
//   until it is in place, an answer of no bytes; a far get is a question of no bytes and an answer. What an
//   adapter does by itself at the far end is on `cpu 1`, all else on `cpu 0`.
// - GOAL knows no memory that ranks share: a word of a mailbox that near ranks read is a message of 8 bytes
// to
//   each that waits for it.
// - Copies are computations of the time that `costs` say, in ns. What a task computes takes none.
// - Where any of several members may act, the first acts that can: GOAL knows no choice.
//
// Messages from one rank to another have tags 0, 1, 2 ..., so each receive has one send. Returns what keeps
// the plans from being written: nothing for plans that verify.
verdict write_goal(std::ostream& to, std::span<const plan> plans,
                   const std::vector<std::uint32_t>& host_of_rank, const movement& expected,
                   const collectives::cost_table& costs);

} // namespace weft::graph
