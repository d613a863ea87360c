// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <span>

namespace calls {

// Operators that the program makes: one that commutes, and one that does not.
inline constexpr upc_op_t first_of_program = 1u << 31;

// Of every type, by the functions of C and by those of C++; the orders of sorts; what vectors have.
std::span<const elements> reduced_elements();
std::span<const elements> sorted_elements();
std::span<const elements> vector_elements();

} // namespace calls
