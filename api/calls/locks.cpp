// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/allocation.hpp"
#include "api/checks/checks.hpp"
#include "include/weft/lock.hpp"

namespace weft {
namespace api {
namespace {

using control::lock_name;
using control::lock_outcome;
using control::lock_status;

constexpr std::size_t line = 64;

// What a program holds is the place of the lock, with its serial as the phase.
upc_lock_t lock_of(const runtime& rt, const char* call, const lock_name& l) {
  if (l.serial == 0) [[unlikely]]
    return allocated(
        rt, call, "lock", [] { return std::string("one"); }, line, 0, l.home);
  return {l.offset, l.home, l.serial};
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_unknown(const char* call, upc_lock_t l) {
  fail_pointer(call, "lock", l, "is no lock: pass what upc_all_lock_alloc or upc_global_lock_alloc returned");
}

// Nothing of the lock's memory is looked at before this.
lock_name checked_lock(const runtime& rt, const char* call, upc_lock_t l) {
  require_outside_user_code(call);
  if (upc_isnull(l)) [[unlikely]]
    fail_pointer(call, "lock", l,
                 "must not be null: pass what upc_all_lock_alloc or upc_global_lock_alloc returned");
  require_thread(rt, call, "lock", l.thread);
  const bool of_heap = rt.in_heap(l.addr, line) && !rt.in_symmetric_heap(l.addr, 1);
  if (!of_heap || l.addr % line != 0 || l.phase == 0) [[unlikely]]
    fail_unknown(call, l);
  return {l.thread, l.phase, l.addr};
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_lock(const char* call, upc_lock_t l, const lock_outcome& o) {
  const std::string holder = "thread " + std::to_string(o.holder);
  std::string rule;
  switch (o.status) {
  case lock_status::no_lock:
    rule = "is no lock, or was freed: pass what upc_all_lock_alloc or upc_global_lock_alloc returned, and "
           "free it when no thread needs it any more";
    break;
  case lock_status::own:
    rule = "is held by this thread already: unlock it first, a lock is not taken twice";
    break;
  case lock_status::not_held:
    rule = "is not held by this thread" + (o.holder == ~0u ? std::string() : ", but by " + holder) +
           ": the thread that has locked it unlocks it";
    break;
  case lock_status::holder_died:
    rule = "is held by " + holder +
           ", which has died or has left by weft_finalize: no thread can have it any more";
    break;
  default:
    rule = "its thread has no memory for another one that waits";
  }
  fail_pointer(call, "lock", l, rule.c_str());
}

// True unless another rank has it.
bool require(const char* call, upc_lock_t l, const lock_outcome& o) {
  if (o.status == lock_status::done) [[likely]]
    return true;
  if (o.status == lock_status::busy) return false;
  fail_lock(call, l, o);
}

} // namespace
} // namespace api

upc_lock_t upc_global_lock_alloc() {
  constexpr const char* call = "upc_global_lock_alloc";
  api::runtime& rt = api::runtime::get(call);
  api::require_outside_user_code(call);
  return api::lock_of(rt, call, api::naming(call, [&] { return rt.locks().allocate(); }));
}

upc_lock_t upc_all_lock_alloc() {
  constexpr const char* call = "upc_all_lock_alloc";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  return api::lock_of(rt, call, api::naming(call, [&] { return rt.locks().allocate_all(); }));
}

void upc_lock_free(upc_lock_t lock) {
  constexpr const char* call = "upc_lock_free";
  api::runtime& rt = api::runtime::get(call);
  if (upc_isnull(lock)) return;
  const api::lock_name l = api::checked_lock(rt, call, lock);
  api::require(call, lock, api::naming(call, [&] { return rt.locks().free(l); }));
}

void upc_all_lock_free(upc_lock_t lock) {
  constexpr const char* call = "upc_all_lock_free";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  if (upc_isnull(lock)) return;
  const api::lock_name l = api::checked_lock(rt, call, lock);
  api::require(call, lock, api::naming(call, [&] { return rt.locks().free_all(l); }));
}

void detail::free_lock(upc_lock_t lock) noexcept {
  api::in_destructor([&] { upc_all_lock_free(lock); });
}

void upc_lock(upc_lock_t lock) {
  constexpr const char* call = "upc_lock";
  api::runtime& rt = api::runtime::get(call);
  const api::lock_name l = api::checked_lock(rt, call, lock);
  api::require(call, lock, api::naming(call, [&] { return rt.locks().lock(l); }));
}

int upc_lock_attempt(upc_lock_t lock) {
  constexpr const char* call = "upc_lock_attempt";
  api::runtime& rt = api::runtime::get(call);
  const api::lock_name l = api::checked_lock(rt, call, lock);
  return api::require(call, lock, api::naming(call, [&] { return rt.locks().attempt(l); })) ? 1 : 0;
}

void upc_unlock(upc_lock_t lock) {
  constexpr const char* call = "upc_unlock";
  api::runtime& rt = api::runtime::get(call);
  const api::lock_name l = api::checked_lock(rt, call, lock);
  api::require(call, lock, api::naming(call, [&] { return rt.locks().unlock(l); }));
}

} // namespace weft
