// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/checks.hpp"
#include "api/checks/phase_record.hpp"
#include "api/completion/completion.hpp"
#include "api/runtime/runtime.hpp"
#include "engine/memory/full_fence.hpp"
#include "include/weft/synchronization.h"
#include "include/weft/synchronization_calls.h"

#include <optional>

namespace weft {
namespace api {

std::atomic<bool> barrier_is_split{false};

namespace {

// The barrier between upc_notify and upc_wait; meaningful while barrier_is_split.
struct notification {
  std::optional<int> value;
  handle h = 0;
};
notification notified;

void whole(std::optional<int> value) {
  constexpr const char* call = "upc_barrier";
  runtime& rt = runtime::get(call);
  require_no_split_barrier(call);
  if (phase_record::on) phase_record::end_phase();
  naming(call, [&] { rt.run_barrier(value); });
  if (phase_record::on) phase_record::compare(rt, call);
}

void notify(std::optional<int> value) {
  constexpr const char* call = "upc_notify";
  runtime& rt = runtime::get(call);
  require_no_split_barrier(call);
  const handle h = naming(call, [&] { return rt.post_barrier(value); });
  notified = {value, h};
  if (phase_record::on) phase_record::end_phase();
  barrier_is_split.store(true, std::memory_order_relaxed);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_values(int waited, int given) {
  fail("upc_wait", "value", std::to_string(waited),
       "differs from the value " + std::to_string(given) +
           " that this thread gave to upc_notify: give the same to both, or to one of them none");
}

// A value that this thread gave only now, against those that threads gave to upc_notify.
void require_heard(runtime& rt, int waited) {
  const std::optional<given_value> given = rt.heard();
  if (given && given->value != waited) [[unlikely]]
    fail("upc_wait", "value", std::to_string(waited),
         "differs from the value " + std::to_string(given->value) + " that thread " +
             std::to_string(given->rank) +
             " gave to upc_notify: all threads must give the same value, or none");
}

void wait(std::optional<int> value) {
  constexpr const char* call = "upc_wait";
  runtime& rt = runtime::get(call);
  require_outside_user_code(call);
  if (!barrier_is_split.load(std::memory_order_relaxed))
    fail(call, "", "", "there was no upc_notify before: call upc_notify first, or upc_barrier for both");
  if (value && notified.value && *value != *notified.value) fail_values(*value, *notified.value);
  // It is over even if it fails, for the others are past it.
  barrier_is_split.store(false, std::memory_order_relaxed);
  if (notified.h != 0) naming(call, [&] { rt.wait(notified.h); });
  if (value && !notified.value) require_heard(rt, *value);
  if (phase_record::on) phase_record::compare(rt, call);
}

// Asking drives; the handle stays complete for the wait that follows.
bool arrived() {
  constexpr const char* call = "weft_wait_attempt";
  runtime& rt = runtime::get(call);
  require_outside_user_code(call);
  if (!barrier_is_split.load(std::memory_order_relaxed))
    fail(call, "", "", "there was no upc_notify before: call upc_notify first");
  return notified.h == 0 || naming(call, [&] { return rt.test(notified.h); }) == runtime::state::complete;
}

} // namespace

void abandon_split_barrier() noexcept {
  barrier_is_split.store(false, std::memory_order_relaxed);
}

} // namespace api

void weft_barrier() {
  api::whole(std::nullopt);
}

void weft_barrier_value(int value) {
  api::whole(value);
}

void weft_notify() {
  api::notify(std::nullopt);
}

void weft_notify_value(int value) {
  api::notify(value);
}

void weft_wait() {
  api::wait(std::nullopt);
}

void upc_barrier_wait(int value) {
  api::wait(value);
}

int weft_wait_attempt() {
  return api::arrived();
}

namespace {
void nothing() {}
} // namespace

// Whatever else accesses shared memory for this thread has done so when it returns: puts are flushed. What is
// left is the order of the processor's own loads and stores, and the call keeps the compiler's.
weft_nothing_t weft_fence() {
  engine::full_fence();
  return nothing;
}

} // namespace weft
