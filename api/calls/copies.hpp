#pragma once
#include "api/runtime/runtime.hpp"

#include <cstddef>

namespace weft::api {

// Copies between two threads' shared memory, by this one, whoever they are; complete on return. The ends have
// been checked, and do not overlap.
void copy(runtime& rt, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t bytes);

} // namespace weft::api
