// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/completing.hpp"

#include <coroutine>
#include <exception>
#include <weft/weft.hpp>

namespace calls {

struct completing::selection {
  handles& now;
  const handles before;
  std::size_t active = 0;

  explicit selection(handles& list) : now(list), before(list) {
    for (const auto h : list)
      active += h != UPC_HANDLE_COMPLETE;
  }
  int count() const { return static_cast<int>(now.size()); }
  // How many were set to 0.
  std::size_t zeroed(completing& judge) const {
    std::size_t zeroed = 0;
    for (std::size_t i = 0; i != now.size(); ++i) {
      if (now[i] == before[i]) continue;
      judge.expect(now[i] == UPC_HANDLE_COMPLETE, "a completion call made up a handle");
      ++zeroed;
    }
    return zeroed;
  }
};

void completing::one(unsigned long long& handle) {
  const unsigned long long before = handle;
  upc_coll_handle_t h = before;
  switch (d_.below(5)) {
  case 0:
    upc_wait(h);
    expect(h == UPC_HANDLE_COMPLETE, "upc_wait left its handle as it was");
    handle = UPC_HANDLE_COMPLETE;
    return;
  case 1: {
    const upc_coll_handle_t value = h;
    upc_wait(value);
    expect(upc_test_value(value) > 0, "a copy of a completed handle is not complete");
    handle = UPC_HANDLE_COMPLETE;
    return;
  }
  case 2:
    if (upc_get_status(h) < 0) return;
    expect(h == before && upc_test(h) > 0, "upc_test fails after upc_get_status has said complete");
    handle = UPC_HANDLE_COMPLETE;
    return;
  default:
    for (std::size_t tries = d_.between(1, 20); tries != 0; --tries) {
      const int got = upc_test(h);
      expect(got != 0 && (got > 0) == (h == UPC_HANDLE_COMPLETE) && (got > 0 || h == before),
             "upc_test and its handle disagree");
      if (got < 0) continue;
      handle = UPC_HANDLE_COMPLETE;
      return;
    }
  }
}

void completing::several(handles& list) {
  selection chosen(list);
  const bool wait = d_.chance(40);
  const std::size_t way = d_.below(9);
  if (way == 8) return by_coroutines(chosen);
  if (way < 2) return any(chosen, wait);
  if (way < 4) return all(chosen, wait);
  some(chosen, wait, way < 6);
}

void completing::all(handles& list, bool wait) {
  selection chosen(list);
  all(chosen, wait);
}

void completing::any(selection& some, bool wait) {
  const int got =
      wait ? upc_waitany(some.count(), some.now.data()) : upc_testany(some.count(), some.now.data());
  if (some.active == 0)
    expect(got == -2, "with no active handle, any is not -2");
  else if (got < 0)
    expect(!wait && got == -1, "any found none");
  else
    expect(got < some.count() && some.before[static_cast<std::size_t>(got)] != UPC_HANDLE_COMPLETE &&
               some.now[static_cast<std::size_t>(got)] == UPC_HANDLE_COMPLETE,
           "any named a handle that it did not complete");
  expect(some.zeroed(*this) == (got >= 0 ? 1u : 0u), "any completed another number of handles than it said");
}

void completing::all(selection& some, bool wait) {
  int got = 1;
  if (wait)
    upc_waitall(some.count(), some.now.data());
  else
    got = upc_testall(some.count(), some.now.data());
  expect(got != 0, "upc_testall returned 0");
  expect(some.zeroed(*this) == (got > 0 ? some.active : 0), "all did not complete all or none");
}

void completing::some(selection& some, bool wait, bool indices) {
  const int count = some.count();
  std::vector<int> which(some.now.size() + 1, -7);
  upc_coll_handle_t* const list = some.now.data();
  int got;
  if (indices)
    got = wait ? weft_waitsome_indices(count, list, which.data())
               : weft_testsome_indices(count, list, which.data());
  else
    got = wait ? upc_waitsome(count, list) : upc_testsome(count, list);
  expect(got >= 0 && (!wait || some.active == 0 || got > 0), "some returned too few");
  for (int i = 0; indices && i < got; ++i) {
    const int at = which[static_cast<std::size_t>(i)];
    expect(at >= 0 && at < count && (i == 0 || at > which[static_cast<std::size_t>(i) - 1]) &&
               list[at] == UPC_HANDLE_COMPLETE &&
               some.before[static_cast<std::size_t>(at)] != UPC_HANDLE_COMPLETE,
           "an index of some is not that of a handle that it completed");
  }
  expect(some.zeroed(*this) == static_cast<std::size_t>(got),
         "some completed another number of handles than it said");
}

namespace {

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
detached await(unsigned long long& handle, std::size_t& left) {
  weft::pending mine(std::exchange(handle, UPC_HANDLE_COMPLETE));
  co_await mine;
  --left;
}

} // namespace

void completing::by_coroutines(selection& some) {
  std::size_t left = 0;
  for (auto& h : some.now)
    if (h != UPC_HANDLE_COMPLETE) {
      ++left;
      await(h, left);
    }
  for (std::size_t polls = d_.below(30); polls != 0 && left != 0; --polls)
    weft::poll();
  weft::run_all();
  expect(left == 0, "weft::run_all left a coroutine");
}

} // namespace calls
