#pragma once
#include "api/collective_call.hpp"
#include "api/weft/types.h"

#include <cstddef>
#include <cstdint>

// The checks of the operands of the relocalization operations whose blocks lie at the same place on every
// thread of the team.
namespace weft::api {

// One operand: what is there on each thread that has a part in it.
struct area {
  const char* argument;
  upc_shared_ptr_t at;
  std::size_t bytes;
};

// Whether two areas have a byte in common; they are in the heap, or one is empty.
inline bool overlap(const area& a, const area& b) {
  return a.bytes != 0 && b.bytes != 0 && a.at.addr < b.at.addr + b.bytes && b.at.addr < a.at.addr + a.bytes;
}

// nbytes for each thread of the team.
std::size_t bytes_of_all(const collective_call& c, std::size_t nbytes);

// Tied to thread 0: to the thread of rank 0 of the team.
void require_first(const collective_call& c, const char* argument, upc_shared_ptr_t p);

// No byte in common; nothing is asked where there is nothing to copy.
void require_apart(const collective_call& c, const area& dst, const area& src);

// Not in place, and not written as if it were.
void require_not_same(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src);

// dst and src of exchange, gather_all and permute. True: in place, and src is dst.
bool require_symmetric(const collective_call& c, const area& dst, const area& src);

// The rank of the root, on whose thread the operand lies.
std::uint32_t require_root(const collective_call& c, const area& of_root);

// The operand with affinity to the root, and the one that is tied to thread 0: the root's rank. In place the
// root's own block may be the same in both.
std::uint32_t require_rooted(const collective_call& c, const area& of_root, const area& tied);

// Whether the call says that it is in place, and means it: src is null or dst.
bool in_place(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src);

// src of an operation that needs it even in place.
void require_source(const collective_call& c, upc_shared_ptr_t src);

} // namespace weft::api
