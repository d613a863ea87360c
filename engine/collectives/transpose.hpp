// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/relocate.hpp"

namespace weft::collectives {

// Exchange in place: for each pair of members the blocks i -> j and j -> i change places. No second matrix:
// on one host a pair is claimed piece by piece and swapped through a few KiB of the carrier's; between hosts
// one end of the pair leads, with 64 KiB of scratch.
//
// Steps and bytes (n bytes a block): near pairs 3n copied, by either end; far pairs: get n, put n, n copied
// by the leader, piece after piece, then one count. The diagonal stays where it is.
graph::plan transpose(const request& r, const graph::block_rule& rule, const graph::topology& g,
                      const tuning& t, const graph::indirection& indirect = {});

} // namespace weft::collectives
