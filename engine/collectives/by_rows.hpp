// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/relocate.hpp"

namespace weft::collectives {

// Operations in which a member's row in shared memory names the other end of its block. A row is data of its
// owner: it is read when the owner may be read, never at post, and not after the owner has left. So the owner
// publishes it (near members read its copy, or the row itself as long as that copy is not there), and far
// members are sent it, or ask for it.

// Each member's row names where its block goes; everybody is named once (a permutation).
//
// Steps and bytes (n bytes a block):
//   eager  (small, IN_MY, not OUT_ALL) everybody publishes whom it names and its block, n + 8 bytes, or sends
//          them to a far one.
//   near   the entry word, one copy of n by either end, two counts; the named one finds who names it by
//          reading its neighbours' rows.
//   far    IN_MY: one token from the source, which tells the destination who it is, one get of n, one count.
//          Otherwise one put of n, flush, one count.
// In place a cycle of the permutation that lies on one host is rotated, piece after piece, by whoever of it
// has come (n*(L + 1) bytes for L members); so nobody of it waits for another under IN_NO. Along other
// cycles, and under IN_MY, each block moves on in pieces of 64 KiB, taken aside by its destination before
// that one gives its own away (2n bytes a member).
graph::plan relocate_permuted(const request& r, graph::naming names, const graph::block_rule& rule,
                              const graph::topology& g, const tuning& t, const graph::indirection& indirect);

// Each member's row names the root as the source (by_destination) or the destination (by_source) of its
// block, or nobody where the block is empty. Nobody else knows the root: so a member carries its own block,
// and who may be the root reads the rows of the others when they have entered, until it knows that it is not,
// or how much it has to expect.
//
// Steps and bytes: each member one copy, get or put of n and one count; under IN_MY between hosts one
// question and one answer. The root (and under OUT_MY a member with an empty block) one row of each other
// member.
graph::plan relocate_rooted_by_rows(const request& r, graph::pattern pairs, const graph::block_rule& rule,
                                    const graph::topology& g, const tuning& t,
                                    const graph::indirection& indirect);

} // namespace weft::collectives
