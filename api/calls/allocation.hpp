// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"
#include "include/weft/shared_array.hpp"
#include "include/weft/types.h"

#include <cstddef>
#include <string>

namespace weft::api {

// The bytes on each thread of `blocks` blocks of `block_bytes` bytes that go round the threads.
std::size_t bytes_per_thread(const char* call, std::size_t blocks, std::size_t block_bytes,
                             std::uint32_t threads);

[[noreturn, gnu::cold, gnu::noinline]] void
fail_no_room(const runtime& rt, const char* call, const char* argument, std::string asked, std::size_t bytes);

// A pointer to the first byte of what the runtime allocated. Errors: offset 0, which is no room; `asked` says
// what the caller asked for, `bytes` is what that is on a thread. Words are made for an error only: behind a
// collective a call that failed for want of their memory could not be repeated.
template <class Words>
upc_shared_ptr_t allocated(const runtime& rt, const char* call, const char* argument, Words asked,
                           std::size_t bytes, std::uint64_t offset, std::uint32_t thread) {
  if (offset == 0) [[unlikely]]
    fail_no_room(rt, call, argument, asked(), bytes);
  return {offset, thread, 0};
}

// upc_all_free, without its name on what is thrown below the API.
void free_by_all(runtime& rt, const char* call, upc_shared_ptr_t ptr);

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
