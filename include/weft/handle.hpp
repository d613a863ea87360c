// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "error.hpp"
#include "synchronization.h"
#include "types.h"

#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft {

class pending;
template <class F> class followed;

namespace detail {

// A coroutine that waits for an operation: a link of the list of all of them, in the coroutine's own frame.
struct suspended_coroutine {
  upc_coll_handle_t handle = UPC_HANDLE_COMPLETE;
  std::coroutine_handle<> coroutine;
  suspended_coroutine *previous = nullptr, *next = nullptr;
  bool listed = false;
};

WEFT_EXPORT bool is_pending(upc_coll_handle_t handle);
WEFT_EXPORT void complete_in_destructor(upc_coll_handle_t handle) noexcept;
WEFT_EXPORT void suspend(suspended_coroutine& coroutine);
WEFT_EXPORT void forget(suspended_coroutine& coroutine) noexcept;

// What `co_await` does. A frame that is destroyed while it is suspended leaves the list.
class awaiter {
public:
  explicit awaiter(pending& operation) noexcept : operation_(operation) {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() { forget(link_); }

  bool await_ready() const;
  void await_suspend(std::coroutine_handle<> coroutine); // another thread may resume it at once
  void await_resume();

private:
  pending& operation_;
  suspended_coroutine link_;
};

} // namespace detail

// The owner of an asynchronous operation: it is complete at the latest when its owner's life ends.
//
//   weft::pending transpose(upc_all_exchange(dst, src, nbytes, UPC_ASYNC));
//   compute();
//   transpose.wait();      // or co_await transpose;
//
// What the operation failed with is thrown by the call that completes it. A destructor throws nothing: it
// prints the error.
//
// `co_await` suspends the coroutine until its operation is complete. The coroutine goes on inside of
// weft::poll or weft::run_all, on the thread that calls it, and nowhere else: neither the progress thread nor
// any other call of the library resumes one. Any thread may call them, also from a coroutine. While a
// coroutine waits, its `pending` must stay where it is. Collectives of one team are matched by the order of
// their calls: where several coroutines wait at once, they may go on in another order on every thread, so let
// them post before.
class [[nodiscard]] pending {
public:
  pending() noexcept = default; // nothing is under way
  explicit pending(upc_coll_handle_t handle) noexcept : handle_(handle) {}
  pending(pending&& other) noexcept : handle_(other.release()) {}
  // What it owned before is completed first, like in the destructor.
  pending& operator=(pending&& other) noexcept {
    const pending before(std::exchange(handle_, other.release()));
    return *this;
  }
  ~pending() {
    if (active()) detail::complete_in_destructor(handle_);
  }

  // Not yet completed by this owner.
  bool active() const noexcept { return handle_ != UPC_HANDLE_COMPLETE; }
  // upc_wait and upc_test. Nothing under way is complete.
  void wait(line_of_call where = line_of_call::here()) {
    const detail::at_site here(where);
    weft_wait_handle(&handle_);
  }
  bool test() { return weft_test_handle(&handle_) > 0; }
  // The handle, for the calls that take several; the owner keeps it.
  upc_coll_handle_t handle() const noexcept { return handle_; }
  // The handle, which the caller completes from now on.
  [[nodiscard]] upc_coll_handle_t release() noexcept { return std::exchange(handle_, UPC_HANDLE_COMPLETE); }

  detail::awaiter operator co_await() noexcept { return detail::awaiter(*this); }
  // What is to follow it: f() is called by the wait, test or co_await of what this returns, see
  // weft/completion.hpp.
  //   weft::exchange(b, a).then([&] { transform(b); }).wait();
  template <class F> followed<std::decay_t<F>> then(F&& f) &&;

private:
  upc_coll_handle_t handle_ = UPC_HANDLE_COMPLETE;
};

// Moves operations on once and resumes the coroutines whose operation is complete. Returns how many it
// resumed. What leaves a coroutine as an exception leaves this call; the others wait for the next.
WEFT_EXPORT std::size_t poll();

// Waits, and resumes coroutines as their operations complete, until none is suspended in a co_await.
WEFT_EXPORT void run_all();

inline bool detail::awaiter::await_ready() const {
  return !is_pending(operation_.handle());
}
inline void detail::awaiter::await_suspend(std::coroutine_handle<> coroutine) {
  link_.handle = operation_.handle();
  link_.coroutine = coroutine;
  suspend(link_);
}
inline void detail::awaiter::await_resume() {
  operation_.wait(line_of_call()); // no place of the program
}

} // namespace weft
