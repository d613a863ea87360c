#pragma once
#include "api/include/weft/shared_array.hpp"
#include "api/runtime/runtime.hpp"

namespace weft::api {

using layout = detail::array_layout;

// Elements in all, and of a block, on so many threads. Errors: a size that overflows.
std::size_t resolve(const char* call, extent e, std::uint32_t threads);

// Collective: memory for a shared array, not initialised.
upc_shared_ptr_t allocate_array(runtime& rt, const char* call, const layout& l);

// The shared arrays that programs declare before there is a heap, in the order of their registration, which
// is the same in all processes of one program. `where` becomes the pointer to the first element while the
// library runs.
void register_array(upc_shared_ptr_t* where, const layout& l);
void unregister_array(const upc_shared_ptr_t* where);

// Collective: allocates all of them, filled with zeros.
void allocate_registered(runtime& rt);
// The heap is gone: sets all of them to null.
void forget_registered();

} // namespace weft::api
