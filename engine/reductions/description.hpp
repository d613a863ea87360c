// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/reduction.hpp"

#include <optional>
#include <type_traits>

namespace weft::reductions {

// A reduction with an operator of the library, as one rank tells it to another: without addresses,
// and by place.
struct description {
  std::uint64_t elements = 0, block = 1;
  std::uint64_t from_at = 0, to_at = 0;
  std::uint32_t from_phase = 0, from_first = 0, to_phase = 0, to_first = 0;
  std::uint32_t threads = 1;
  std::uint8_t type = 0, op = 0, what = 0;
  std::uint8_t in_order : 1 = 0;
  std::uint8_t by_ranges : 1 = 0;
  std::uint8_t unused : 6 = 0;

  // Whether it can be one where memory ends at `end`.
  bool fits(std::uint64_t end) const;
};
static_assert(std::is_trivially_copyable_v<description>);

description describe(const reduction& r);
// The task again, prepared.
reduction described(const description& d);

} // namespace weft::reductions
