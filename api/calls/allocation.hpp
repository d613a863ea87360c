#pragma once
#include "api/include/weft/types.h"
#include "api/runtime/runtime.hpp"

#include <cstddef>
#include <string>

namespace weft::api {

// The bytes on each thread of `blocks` blocks of `block_bytes` bytes that go round the threads.
std::size_t bytes_per_thread(const char* call, std::size_t blocks, std::size_t block_bytes,
                             std::uint32_t threads);

// A pointer to the first byte of what the runtime allocated. Errors: offset 0, which is no room; `asked` is
// what the caller asked for, in words, `bytes` what that is on a thread.
upc_shared_ptr_t allocated(const runtime& rt, const char* call, const char* argument, std::string asked,
                           std::size_t bytes, std::uint64_t offset, std::uint32_t thread);

} // namespace weft::api
