// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/kernels.hpp"
#include "include/weft/types.h"

#include <string>

// What users call types and operators.
namespace weft::reductions {

const char* name_of(operation op);
const char* name_of(element type);

// Of a upc_type_t, and the number where it has none; of operators joined by |, those of atomic operations
// too.
std::string name_of_type(int type);
std::string names_of_operators(upc_op_t ops);

} // namespace weft::reductions
