// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/sorting/sorting.hpp"

namespace weft::sorting {

// Of a comparator of C, which is given pointers into the segment, or to what the sort has outside of it:
// those are the memory minus the beginning of the segment, whatever that is. The argument is a
// compared_by_function.
const detail::element_order& order_of_function(std::size_t bytes);

// Numbers of so many bytes, ascending.
const detail::element_order& order_of_numbers(detail::number kind, std::size_t bytes);

} // namespace weft::sorting
