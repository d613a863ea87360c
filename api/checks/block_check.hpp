#pragma once
#include "api/runtime/runtime.hpp"

namespace weft::api::block_check {

// Checked mode: what a call touches lies within one block that is allocated, not just within the heap.
extern bool on;

// The bytes at p, which are in the heap, on p's thread or at this place on all. Asks who keeps the books;
// waits for the answer. No bytes lie anywhere.
[[gnu::cold, gnu::noinline]] void require_one_block(const runtime& rt, const char* call, const char* argument,
                                                    upc_shared_ptr_t p, engine::checked bytes);

} // namespace weft::api::block_check
