// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/failure.hpp"
#include "api/runtime/runtime.hpp"
#include "include/weft/handle.hpp"

#include <cstdio>
#include <mutex>

namespace weft {
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
