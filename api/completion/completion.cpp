// SPDX-License-Identifier: BSD-3-Clause
#include "api/completion/completion.hpp"

#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "api/checks/handle_record.hpp"
#include "api/runtime/runtime.hpp"
#include "include/weft/handle.hpp"
#include "include/weft/synchronization.h"

#include <cstdio>
#include <mutex>

namespace weft {
namespace api {

void fail_never_issued(const char* call, const char* argument, handle h) {
  char value[24];
  std::snprintf(value, sizeof value, "0x%llx", static_cast<unsigned long long>(h));
  fail(call, argument, value, "was never issued: pass what an asynchronous call returned on this thread");
}

void complete(const char* call, handle h) {
  if (h == UPC_HANDLE_COMPLETE) return;
  require_outside_user_code(call);
  runtime& rt = runtime::get(call);
  if (rt.query(h) == runtime::state::never_issued) [[unlikely]]
    fail_never_issued(call, "handle", h);
  const handle_record::completing noted(call, h);
  naming(call, [&] { rt.wait(h); });
}

bool try_complete(const char* call, handle h) {
  if (h == UPC_HANDLE_COMPLETE) return true;
  require_outside_user_code(call);
  runtime& rt = runtime::get(call);
  handle_record::completing noted(call, h);
  const runtime::state s = naming(call, [&] { return rt.test(h); });
  if (s != runtime::state::complete) noted.still_pending();
  if (s == runtime::state::never_issued) [[unlikely]]
    fail_never_issued(call, "handle", h);
  return s == runtime::state::complete;
}

namespace {

void require_handle(const char* call, const upc_coll_handle_t* handle) {
  if (handle == nullptr) fail(call, "handle", "null", "must be the address of a handle");
}

// A handle that is waited for is complete whether its operation went well or not; one that was never issued
// stays.
bool issued(const char* call, handle h) {
  return h != UPC_HANDLE_COMPLETE && runtime::get(call).query(h) != runtime::state::never_issued;
}

} // namespace
} // namespace api

void weft_wait_handle(upc_coll_handle_t* handle) {
  constexpr const char* call = "upc_wait";
  api::require_handle(call, handle);
  const upc_coll_handle_t h = *handle;
  if (api::issued(call, h)) *handle = UPC_HANDLE_COMPLETE;
  api::complete(call, h);
}

void upc_wait_value(upc_coll_handle_t handle) {
  api::complete("upc_wait", handle);
}

int weft_test_handle(upc_coll_handle_t* handle) {
  constexpr const char* call = "upc_test";
  api::require_handle(call, handle);
  if (*handle == UPC_HANDLE_COMPLETE) return 1;
  const upc_coll_handle_t h = *handle;
  // Cleared first: an operation that failed is complete, too.
  if (api::issued(call, h)) *handle = UPC_HANDLE_COMPLETE;
  if (api::try_complete(call, h)) return 1;
  *handle = h;
  return -1;
}

int upc_test_value(upc_coll_handle_t handle) {
  return api::try_complete("upc_test", handle) ? 1 : -1;
}

// Moves things on like a test: two threads that only ask would otherwise wait for each other.
int upc_get_status(upc_coll_handle_t handle) {
  constexpr const char* call = "upc_get_status";
  if (handle == UPC_HANDLE_COMPLETE) return 1;
  api::runtime& rt = api::runtime::get(call);
  if (rt.query(handle) == api::runtime::state::pending) api::naming(call, [&] { rt.progress(); });
  const api::runtime::state now = rt.query(handle);
  if (now == api::runtime::state::never_issued) api::fail_never_issued(call, "handle", handle);
  return now == api::runtime::state::complete ? 1 : -1;
}

namespace api {
namespace {

using link = detail::suspended_coroutine;

// The coroutines that wait for an operation, those that were looked at last at the end. A coroutine is
// resumed without the lock and after it has left the list: it may wait again, end, or destroy another one.
class suspended_list {
public:
  void add(link& c) {
    const std::lock_guard guard(lock_);
    append(c);
    ++additions_;
  }
  void remove(link& c) {
    const std::lock_guard guard(lock_);
    if (c.listed) unlink(c);
  }
  std::size_t size() {
    const std::lock_guard guard(lock_);
    return size_;
  }

  // The next one whose operation is complete, no more in the list; null after that many looks.
  link* take_ready(runtime& rt, std::size_t& looks) {
    const std::lock_guard guard(lock_);
    for (; looks != 0 && first_ != nullptr; --looks) {
      link& c = *first_;
      unlink(c);
      if (rt.query(c.handle) != runtime::state::pending) return &c;
      append(c);
    }
    return nullptr;
  }

  // What a waiting call knows: nothing is ready as long as neither of these has moved.
  struct knowledge {
    bool any = false;
    std::uint64_t completions = 0, additions = 0;
  };
  // Whether there is something to resume, or nothing left to wait for.
  bool worth_polling(runtime& rt, knowledge& known) {
    const std::uint64_t completions = rt.completions(); // read first: what completes later moves it
    const std::lock_guard guard(lock_);
    if (first_ == nullptr) return true;
    if (known.any && known.completions == completions && known.additions == additions_) return false;
    known = {true, completions, additions_};
    const link* c = first_;
    while (c != nullptr && rt.query(c->handle) == runtime::state::pending)
      c = c->next;
    return c != nullptr;
  }

private:
  void append(link& c) {
    c.previous = last_;
    c.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &c;
    last_ = &c;
    c.listed = true;
    ++size_;
  }
  void unlink(link& c) {
    (c.previous == nullptr ? first_ : c.previous->next) = c.next;
    (c.next == nullptr ? last_ : c.next->previous) = c.previous;
    c.listed = false;
    --size_;
  }

  std::mutex lock_;
  link *first_ = nullptr, *last_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t additions_ = 0;
};

suspended_list suspended;

} // namespace
} // namespace api

bool detail::is_pending(upc_coll_handle_t handle) {
  if (handle == UPC_HANDLE_COMPLETE) return false;
  return api::runtime::get("co_await").query(handle) == api::runtime::state::pending;
}

void detail::complete_in_destructor(upc_coll_handle_t handle) noexcept {
  try {
    upc_wait_value(handle);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: an operation failed whose owner did not wait for it: %s\n", e.what());
  }
}

void detail::suspend(suspended_coroutine& coroutine) {
  api::suspended.add(coroutine);
}

void detail::forget(suspended_coroutine& coroutine) noexcept {
  api::suspended.remove(coroutine);
}

std::size_t poll() {
  constexpr const char* call = "weft::poll";
  api::runtime& rt = api::runtime::get(call);
  api::naming(call, [&] { rt.progress(); });
  std::size_t resumed = 0;
  std::size_t looks = api::suspended.size();
  while (api::link* c = api::suspended.take_ready(rt, looks)) {
    --looks;
    c->coroutine.resume();
    ++resumed;
  }
  return resumed;
}

void run_all() {
  constexpr const char* call = "weft::run_all";
  api::runtime& rt = api::runtime::get(call);
  api::suspended_list::knowledge known;
  while (api::suspended.size() != 0) {
    if (poll() != 0) continue;
    api::naming(call, [&] {
      rt.drive_until([&](progress::look) { return api::suspended.worth_polling(rt, known); });
    });
  }
}

} // namespace weft
