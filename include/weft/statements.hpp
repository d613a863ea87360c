// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "synchronization_calls.h"

#include <exception>

// The statements of the language that stand without parentheses: `upc_barrier;`, `upc_notify;`, `upc_wait;`.
// Each name makes a temporary object. Called with an argument it acts at once; otherwise its destructor does,
// at the end of the statement, and may throw.
namespace weft {

namespace detail {

// Whether a statement has still to be carried out when its object is destroyed: not if it was called with an
// argument, nor if evaluating that argument threw.
class unfinished {
public:
  unfinished() noexcept : exceptions_(std::uncaught_exceptions()) {}
  void finish() noexcept { finished_ = true; }
  explicit operator bool() const noexcept { return !finished_ && std::uncaught_exceptions() == exceptions_; }

private:
  int exceptions_;
  bool finished_ = false;
};

} // namespace detail

class barrier_statement {
public:
  barrier_statement() noexcept = default;
  barrier_statement(const barrier_statement&) = delete;
  barrier_statement& operator=(const barrier_statement&) = delete;
  ~barrier_statement() noexcept(false) {
    if (unfinished_) weft_barrier();
  }
  void operator()() const noexcept {}
  void operator()(int value) {
    unfinished_.finish();
    weft_barrier_value(value);
  }

private:
  detail::unfinished unfinished_;
};

class notify_statement {
public:
  notify_statement() noexcept = default;
  notify_statement(const notify_statement&) = delete;
  notify_statement& operator=(const notify_statement&) = delete;
  ~notify_statement() noexcept(false) {
    if (unfinished_) weft_notify();
  }
  void operator()() const noexcept {}
  void operator()(int value) {
    unfinished_.finish();
    weft_notify_value(value);
  }

private:
  detail::unfinished unfinished_;
};

class wait_statement {
public:
  wait_statement() noexcept = default;
  wait_statement(const wait_statement&) = delete;
  wait_statement& operator=(const wait_statement&) = delete;
  ~wait_statement() noexcept(false) {
    if (unfinished_) weft_wait();
  }
  void operator()() const noexcept {}
  void operator()(int value) {
    unfinished_.finish();
    upc_barrier_wait(value);
  }
  void operator()(upc_coll_handle_t& handle) {
    unfinished_.finish();
    weft_wait_handle(&handle);
  }
  void operator()(const upc_coll_handle_t& handle) {
    unfinished_.finish();
    upc_wait_value(handle);
  }

private:
  detail::unfinished unfinished_;
};

// Completes the handle and sets it to UPC_HANDLE_COMPLETE if its operation is complete: positive, else
// negative.
inline int upc_test(upc_coll_handle_t& handle) {
  return weft_test_handle(&handle);
}
inline int upc_test(const upc_coll_handle_t& handle) {
  return upc_test_value(handle);
}

#if !WEFT_GLOBAL_NAMES
inline void upc_fence() {
  weft_fence();
}
inline void upc_barrier() {
  weft_barrier();
}
inline void upc_barrier(int value) {
  weft_barrier_value(value);
}
inline void upc_notify() {
  weft_notify();
}
inline void upc_notify(int value) {
  weft_notify_value(value);
}
inline void upc_wait() {
  weft_wait();
}
inline void upc_wait(int value) {
  upc_barrier_wait(value);
}
inline void upc_wait(upc_coll_handle_t& handle) {
  weft_wait_handle(&handle);
}
inline void upc_wait(const upc_coll_handle_t& handle) {
  upc_wait_value(handle);
}
#endif

} // namespace weft

#if WEFT_GLOBAL_NAMES
using weft::upc_test;
#define upc_fence ::weft::weft_fence()
#define upc_barrier ::weft::barrier_statement()
#define upc_notify ::weft::notify_statement()
#define upc_wait ::weft::wait_statement()
#endif
