// SPDX-License-Identifier: BSD-3-Clause
// The C forms of all functions: the C++ forms under the same names, with the error handler instead of
// exceptions. Those of the collectives are in collectives.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/failure.hpp"
#include "include/upc.h"
#include "include/upc_atomic.h"
#include "include/upc_castable.h"
#include "include/upc_collective_cray.h"
#include "include/upc_nb.h"
#include "include/upc_tick.h"
#include "include/weft/completion.h"
#include "include/weft/direct.h"
#include "include/weft/lock.h"

using weft::api::guard;

extern "C" {

// weft/job.h
WEFT_EXPORT void weft_init(int* argc, char*** argv) {
  return guard<weft::weft_init>(argc, argv);
}
WEFT_EXPORT void weft_init_with(const weft_exchange_t* exchange) {
  return guard<weft::weft_init_with>(exchange);
}
WEFT_EXPORT void weft_finalize() {
  return guard<weft::weft_finalize>();
}
WEFT_EXPORT void upc_global_exit(int status) {
  weft::upc_global_exit(status);
}
WEFT_EXPORT weft_error_handler_t weft_set_error_handler(weft_error_handler_t handler) {
  return guard<weft::weft_set_error_handler>(handler);
}
WEFT_EXPORT uint64_t weft_setting(const char* name) {
  return guard<weft::weft_setting>(name);
}
WEFT_EXPORT uint64_t weft_statistic(const char* name) {
  return guard<weft::weft_statistic>(name);
}
WEFT_EXPORT int upc_mythread() {
  return guard<weft::upc_mythread, -1>();
}
WEFT_EXPORT int upc_threads() {
  return guard<weft::upc_threads>();
}

// weft/rows.h
WEFT_EXPORT upc_coll_handle_t weft_put_rows(upc_shared_ptr_t dst, size_t dst_stride, const void* src,
                                            size_t src_stride, size_t nbytes, size_t rows,
                                            upc_shared_ptr_t signal, uint64_t value, weft_signal_t how) {
  return guard<weft::weft_put_rows>(dst, dst_stride, src, src_stride, nbytes, rows, signal, value, how);
}
WEFT_EXPORT upc_coll_handle_t weft_get_rows(void* dst, size_t dst_stride, upc_shared_ptr_t src,
                                            size_t src_stride, size_t nbytes, size_t rows) {
  return guard<weft::weft_get_rows>(dst, dst_stride, src, src_stride, nbytes, rows);
}

// weft/signal.h
WEFT_EXPORT upc_coll_handle_t weft_put_signal(upc_shared_ptr_t dst, const void* src, size_t nbytes,
                                              upc_shared_ptr_t signal, uint64_t value, weft_signal_t how) {
  return guard<weft::weft_put_signal>(dst, src, nbytes, signal, value, how);
}
WEFT_EXPORT uint64_t weft_wait_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value) {
  return guard<weft::weft_wait_until>(signal, cmp, value);
}
WEFT_EXPORT int weft_test_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value) {
  return guard<weft::weft_test_until>(signal, cmp, value);
}

// weft/pointer.h
WEFT_EXPORT upc_shared_ptr_t upc_ptradd(upc_shared_ptr_t p, size_t block_elems, size_t elem_size,
                                        ptrdiff_t inc) {
  return guard<weft::upc_ptradd>(p, block_elems, elem_size, inc);
}
WEFT_EXPORT ptrdiff_t upc_ptrdiff(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems,
                                  size_t elem_size) {
  return guard<weft::upc_ptrdiff>(a, b, block_elems, elem_size);
}
WEFT_EXPORT int upc_ptrcmp(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size) {
  return guard<weft::upc_ptrcmp>(a, b, block_elems, elem_size);
}
WEFT_EXPORT size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid) {
  return guard<weft::upc_affinitysize>(totalsize, nbytes, threadid);
}

// weft/heap.h
WEFT_EXPORT upc_shared_ptr_t upc_all_alloc(size_t nblocks, size_t nbytes) {
  return guard<weft::upc_all_alloc>(nblocks, nbytes);
}
WEFT_EXPORT upc_shared_ptr_t upc_global_alloc(size_t nblocks, size_t nbytes) {
  return guard<weft::upc_global_alloc>(nblocks, nbytes);
}
WEFT_EXPORT upc_shared_ptr_t upc_alloc(size_t nbytes) {
  return guard<weft::upc_alloc>(nbytes);
}
WEFT_EXPORT void upc_free(upc_shared_ptr_t ptr) {
  return guard<weft::upc_free>(ptr);
}
WEFT_EXPORT void upc_all_free(upc_shared_ptr_t ptr) {
  return guard<weft::upc_all_free>(ptr);
}
WEFT_EXPORT void weft_register_shared(upc_shared_ptr_t* where, size_t block_elems, size_t elem_size,
                                      size_t elems, int per_thread) {
  return guard<weft::weft_register_shared>(where, block_elems, elem_size, elems, per_thread);
}
WEFT_EXPORT void upc_memcpy(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memcpy>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memget(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memget>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memput(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  return guard<weft::upc_memput>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memset(upc_shared_ptr_t dst, int c, size_t nbytes) {
  return guard<weft::upc_memset>(dst, c, nbytes);
}

// weft/synchronization.h
WEFT_EXPORT void weft_barrier() {
  return guard<weft::weft_barrier>();
}
WEFT_EXPORT void weft_barrier_value(int value) {
  return guard<weft::weft_barrier_value>(value);
}
WEFT_EXPORT void weft_notify() {
  return guard<weft::weft_notify>();
}
WEFT_EXPORT void weft_notify_value(int value) {
  return guard<weft::weft_notify_value>(value);
}
WEFT_EXPORT void weft_wait() {
  return guard<weft::weft_wait>();
}
WEFT_EXPORT void weft_poll() {
  return guard<weft::weft_poll>();
}
WEFT_EXPORT int weft_wait_attempt() {
  return guard<weft::weft_wait_attempt>();
}
WEFT_EXPORT void upc_barrier_wait(int value) {
  return guard<weft::upc_barrier_wait>(value);
}
WEFT_EXPORT weft_nothing_t weft_fence() {
  return weft::weft_fence();
}
WEFT_EXPORT void weft_wait_handle(upc_coll_handle_t* handle) {
  return guard<weft::weft_wait_handle>(handle);
}
WEFT_EXPORT void upc_wait_value(upc_coll_handle_t handle) {
  return guard<weft::upc_wait_value>(handle);
}
WEFT_EXPORT int weft_test_handle(upc_coll_handle_t* handle) {
  return guard<weft::weft_test_handle, -1>(handle);
}
WEFT_EXPORT int upc_test_value(upc_coll_handle_t handle) {
  return guard<weft::upc_test_value, -1>(handle);
}
WEFT_EXPORT int upc_get_status(upc_coll_handle_t handle) {
  return guard<weft::upc_get_status, -1>(handle);
}

// upc_nb.h
WEFT_EXPORT upc_handle_t upc_memcpy_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memcpy_nb>(dst, src, nbytes);
}
WEFT_EXPORT upc_handle_t upc_memget_nb(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memget_nb>(dst, src, nbytes);
}
WEFT_EXPORT upc_handle_t upc_memput_nb(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  return guard<weft::upc_memput_nb>(dst, src, nbytes);
}
WEFT_EXPORT upc_handle_t upc_memset_nb(upc_shared_ptr_t dst, int c, size_t nbytes) {
  return guard<weft::upc_memset_nb>(dst, c, nbytes);
}
WEFT_EXPORT void upc_memcpy_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memcpy_nbi>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memget_nbi(void* dst, upc_shared_ptr_t src, size_t nbytes) {
  return guard<weft::upc_memget_nbi>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memput_nbi(upc_shared_ptr_t dst, const void* src, size_t nbytes) {
  return guard<weft::upc_memput_nbi>(dst, src, nbytes);
}
WEFT_EXPORT void upc_memset_nbi(upc_shared_ptr_t dst, int c, size_t nbytes) {
  return guard<weft::upc_memset_nbi>(dst, c, nbytes);
}
WEFT_EXPORT void upc_sync(upc_handle_t handle) {
  return guard<weft::upc_sync>(handle);
}
WEFT_EXPORT int upc_sync_attempt(upc_handle_t handle) {
  return guard<weft::upc_sync_attempt>(handle);
}
WEFT_EXPORT void upc_synci() {
  return guard<weft::upc_synci>();
}
WEFT_EXPORT int upc_synci_attempt() {
  return guard<weft::upc_synci_attempt>();
}

// upc_collective_cray.h
WEFT_EXPORT void cray_upc_team_alltoall(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        cray_upc_team_t team) {
  return guard<weft::cray_upc_team_alltoall>(dst, src, nbytes, team);
}
WEFT_EXPORT upc_handle_t cray_upc_team_alltoall_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                   cray_upc_team_t team) {
  return guard<weft::cray_upc_team_alltoall_nb>(dst, src, nbytes, team);
}
WEFT_EXPORT upc_handle_t cray_upc_team_alltoall_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    cray_upc_team_t team) {
  return guard<weft::cray_upc_team_alltoall_nbi>(dst, src, nbytes, team);
}
WEFT_EXPORT void cray_upc_team_barrier(cray_upc_team_t team) {
  return guard<weft::cray_upc_team_barrier>(team);
}

// upc_tick.h
WEFT_EXPORT upc_tick_t upc_ticks_now() {
  return weft::upc_ticks_now();
}
WEFT_EXPORT uint64_t upc_ticks_to_ns(upc_tick_t ticks) {
  return weft::upc_ticks_to_ns(ticks);
}

// upc_castable.h
WEFT_EXPORT void* upc_cast(upc_shared_ptr_t ptr) {
  return guard<weft::upc_cast>(ptr);
}
WEFT_EXPORT upc_thread_info_t upc_thread_info(size_t thread) {
  return guard<weft::upc_thread_info>(thread);
}
WEFT_EXPORT weft_direct_t weft_direct(size_t thread) {
  return guard<weft::weft_direct>(thread);
}
WEFT_EXPORT const uint64_t* weft_reach() {
  return guard<weft::weft_reach>();
}

WEFT_EXPORT upc_lock_t upc_global_lock_alloc() {
  return guard<weft::upc_global_lock_alloc>();
}
WEFT_EXPORT upc_lock_t upc_all_lock_alloc() {
  return guard<weft::upc_all_lock_alloc>();
}
WEFT_EXPORT void upc_lock_free(upc_lock_t lock) {
  return guard<weft::upc_lock_free>(lock);
}
WEFT_EXPORT void upc_all_lock_free(upc_lock_t lock) {
  return guard<weft::upc_all_lock_free>(lock);
}
WEFT_EXPORT void upc_lock(upc_lock_t lock) {
  return guard<weft::upc_lock>(lock);
}
WEFT_EXPORT int upc_lock_attempt(upc_lock_t lock) {
  return guard<weft::upc_lock_attempt>(lock);
}
WEFT_EXPORT void upc_unlock(upc_lock_t lock) {
  return guard<weft::upc_unlock>(lock);
}

WEFT_EXPORT upc_atomicdomain_t upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops,
                                                          upc_atomichint_t hints) {
  return guard<weft::upc_all_atomicdomain_alloc>(type, ops, hints);
}
WEFT_EXPORT void upc_all_atomicdomain_free(upc_atomicdomain_t domain) {
  return guard<weft::upc_all_atomicdomain_free>(domain);
}
WEFT_EXPORT void upc_atomic_relaxed(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                    upc_shared_ptr_t target, const void* operand1, const void* operand2) {
  return guard<weft::upc_atomic_relaxed>(domain, fetch_ptr, op, target, operand1, operand2);
}
WEFT_EXPORT void upc_atomic_strict(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                   upc_shared_ptr_t target, const void* operand1, const void* operand2) {
  return guard<weft::upc_atomic_strict>(domain, fetch_ptr, op, target, operand1, operand2);
}
WEFT_EXPORT int upc_atomic_isfast(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return guard<weft::upc_atomic_isfast>(type, ops, addr);
}
WEFT_EXPORT int upc_atomic_query(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return guard<weft::upc_atomic_query>(type, ops, addr);
}

WEFT_EXPORT int upc_waitany(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitany, -1>(count, handles);
}
WEFT_EXPORT int upc_testany(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testany, -1>(count, handles);
}
WEFT_EXPORT void upc_waitall(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitall>(count, handles);
}
WEFT_EXPORT int upc_testall(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testall, -1>(count, handles);
}
WEFT_EXPORT int upc_waitsome(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitsome>(count, handles);
}
WEFT_EXPORT int upc_testsome(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testsome>(count, handles);
}
WEFT_EXPORT int weft_waitany_for(int count, upc_coll_handle_t* handles, uint64_t nanoseconds) {
  return guard<weft::weft_waitany_for, -1>(count, handles, nanoseconds);
}
WEFT_EXPORT int weft_waitsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return guard<weft::weft_waitsome_indices>(count, handles, indices);
}
WEFT_EXPORT int weft_testsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return guard<weft::weft_testsome_indices>(count, handles, indices);
}

} // extern "C"
