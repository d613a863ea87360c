#include "api/weft/pointer.h"
#include "api/checks.hpp"
#include "api/weft/arithmetic.hpp"

namespace weft {
namespace {

// The threads that the blocks go round.
std::int64_t round_of(const char* call, std::size_t block_elems, std::size_t elem_size) {
  if (elem_size == 0) [[unlikely]]
    api::fail(call, "elem_size", "0", "must be the size of an element in bytes");
  return block_elems == 0 ? 1 : api::runtime::get(call).size();
}

} // namespace

upc_shared_ptr_t upc_ptradd(upc_shared_ptr_t p, size_t block_elems, size_t elem_size, ptrdiff_t inc) {
  return detail::advance(p, block_elems, elem_size, inc, round_of("upc_ptradd", block_elems, elem_size));
}

ptrdiff_t upc_ptrdiff(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size) {
  return detail::distance(a, b, block_elems, elem_size, round_of("upc_ptrdiff", block_elems, elem_size));
}

int upc_ptrcmp(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size) {
  const std::int64_t d =
      detail::distance(a, b, block_elems, elem_size, round_of("upc_ptrcmp", block_elems, elem_size));
  return (d > 0) - (d < 0);
}

size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid) {
  constexpr const char* call = "upc_affinitysize";
  const api::runtime& rt = api::runtime::get(call);
  api::require_thread(rt, call, "threadid", threadid);
  if (nbytes == 0) return threadid == 0 ? totalsize : 0;
  // Full rounds of blocks, and the part of the last round that comes to this thread.
  const size_t threads = rt.size();
  const size_t blocks = totalsize / nbytes, rest = totalsize % nbytes;
  const size_t last = blocks % threads;
  return blocks / threads * nbytes + (threadid < last ? nbytes : threadid == last ? rest : 0);
}

} // namespace weft
