#include "api/checks.hpp"
#include "api/mode.hpp"
#include "api/relocation.hpp"
#include "api/split_barrier.hpp"
#include "api/upc_collective.h"

namespace weft {
namespace api {
namespace {

constexpr const char* block_size = "nbytes * THREADS";

// Nothing is moved where the size is 0, so the pointers need not lead anywhere.
void require_areas(const runtime& rt, const char* call, upc_shared_ptr_t dst, std::size_t dst_bytes,
                   upc_shared_ptr_t src, std::size_t src_bytes) {
  if (dst_bytes == 0) return;
  require_range(rt, call, "dst", dst, dst_bytes);
  require_range(rt, call, "src", src, src_bytes);
  if (dst.addr < src.addr + src_bytes && src.addr < dst.addr + dst_bytes) [[unlikely]]
    fail_pointer(call, "dst", dst, "overlaps src: pass two areas that have no byte in common");
}

upc_coll_handle_t start(runtime& rt, const char* call, const mode& m, collectives::request r,
                        upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  r.in = m.in;
  r.out = m.out;
  r.direction = m.direction;
  return naming(call, [&]() -> upc_coll_handle_t {
    const graph::binding at{.dst = dst.addr, .src = src.addr};
    if (m.async) return rt.teams().post(team_calls::all, r, at);
    rt.teams().run(team_calls::all, r, at);
    return UPC_HANDLE_COMPLETE;
  });
}

} // namespace

void require_symmetric(const runtime& rt, const char* call, upc_shared_ptr_t dst, std::size_t dst_bytes,
                       upc_shared_ptr_t src, std::size_t src_bytes) {
  require_not_null(call, "dst", dst);
  require_not_null(call, "src", src);
  require_thread_zero(call, "dst", dst);
  require_thread_zero(call, "src", src);
  require_areas(rt, call, dst, dst_bytes, src, src_bytes);
}

} // namespace api

upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t sync_mode) {
  constexpr const char* call = "upc_all_broadcast";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::mode m = api::read_mode(call, sync_mode);
  api::require_not_null(call, "dst", dst);
  api::require_not_null(call, "src", src);
  api::require_thread_zero(call, "dst", dst);
  api::require_thread(rt, call, "src", src.thread);
  api::product(call, api::block_size, nbytes, rt.size());
  api::require_areas(rt, call, dst, nbytes, src, nbytes);
  return api::start(rt, call, m,
                    {.op = collectives::operation::broadcast, .root = src.thread, .bytes = nbytes}, dst, src);
}

upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                  upc_flag_t sync_mode) {
  constexpr const char* call = "upc_all_scatter";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::mode m = api::read_mode(call, sync_mode);
  api::require_not_null(call, "dst", dst);
  api::require_not_null(call, "src", src);
  api::require_thread_zero(call, "dst", dst);
  api::require_thread(rt, call, "src", src.thread);
  const std::size_t all = api::product(call, api::block_size, nbytes, rt.size());
  api::require_areas(rt, call, dst, nbytes, src, all);
  return api::start(rt, call, m, {.op = collectives::operation::scatter, .root = src.thread, .bytes = nbytes},
                    dst, src);
}

upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                 upc_flag_t sync_mode) {
  constexpr const char* call = "upc_all_gather";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::mode m = api::read_mode(call, sync_mode);
  api::require_not_null(call, "dst", dst);
  api::require_not_null(call, "src", src);
  api::require_thread(rt, call, "dst", dst.thread);
  api::require_thread_zero(call, "src", src);
  const std::size_t all = api::product(call, api::block_size, nbytes, rt.size());
  api::require_areas(rt, call, dst, all, src, nbytes);
  return api::start(rt, call, m, {.op = collectives::operation::gather, .root = dst.thread, .bytes = nbytes},
                    dst, src);
}

upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t sync_mode) {
  constexpr const char* call = "upc_all_gather_all";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::mode m = api::read_mode(call, sync_mode);
  const std::size_t all = api::product(call, api::block_size, nbytes, rt.size());
  api::require_symmetric(rt, call, dst, all, src, nbytes);
  return api::start(rt, call, m, {.op = collectives::operation::gather_all, .bytes = nbytes}, dst, src);
}

upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t sync_mode) {
  constexpr const char* call = "upc_all_exchange";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const api::mode m = api::read_mode(call, sync_mode);
  const std::size_t all = api::product(call, api::block_size, nbytes, rt.size());
  api::require_symmetric(rt, call, dst, all, src, all);
  return api::start(rt, call, m, {.op = collectives::operation::exchange, .bytes = nbytes}, dst, src);
}

} // namespace weft
