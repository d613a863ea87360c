#pragma once
#include "api/runtime.hpp"
#include "api/weft/types.h"

#include <cstddef>

namespace weft::api {

// The checks of gather_all and exchange: both pointers on thread 0, and so many bytes at each on every
// thread.
void require_symmetric(const runtime& rt, const char* call, upc_shared_ptr_t dst, std::size_t dst_bytes,
                       upc_shared_ptr_t src, std::size_t src_bytes);

} // namespace weft::api
