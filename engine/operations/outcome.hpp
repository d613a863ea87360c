// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace weft::graph {

// What came of a step.
enum class outcome : std::uint8_t {
  done,      // it is finished
  blocked,   // a fact is missing; look again later
  held,      // it could be carried now, but not in this pass: see quota
  again,     // something was carried, there is more
  repeat,    // a piece is in place, the next one begins
  flying,    // a completion will tell
  under_way, // a loop: some of its iterations are not finished
  failed,    // the operation has failed, its status says why; nothing more is to be done for it
};

} // namespace weft::graph
