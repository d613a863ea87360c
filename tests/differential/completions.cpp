#include "tests/differential/completions.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <weft/weft.hpp>

namespace differential {

void completions::expect(bool ok, const char* what) {
  if (!ok) tell_.wrong(what);
}

void completions::add(unsigned long long handle, std::size_t call) {
  expect(handle != UPC_HANDLE_COMPLETE, "an asynchronous call returned UPC_HANDLE_COMPLETE");
  open_.push_back({handle, call, d_.chance(25)});
}

void completions::add_nb(unsigned long long handle, std::size_t call) {
  nb_.push_back({handle, call, d_.chance(25)});
}

std::string completions::open() const {
  std::string calls;
  for (const operation& one : open_)
    calls += fmt::format(" {}", one.call);
  return fmt::format("open calls:{}, {} for upc_sync, {} implicit", calls, nb_.size(), implicit_.size());
}

std::vector<completions::operation*> completions::awake() {
  std::vector<operation*> list;
  for (operation& one : open_)
    if (!one.resting) list.push_back(&one);
  return list;
}

void completions::close(unsigned long long handle) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const operation& o) { return o.handle == handle; });
  if (found == open_.end()) return; // a stale copy
  const std::size_t call = found->call;
  open_.erase(found);
  if (stale_.size() < 8) stale_.push_back(handle);
  left_(call);
}

void completions::turn() {
  if (d_.chance(15)) return turn_nb();
  if (d_.chance(10)) return turn_nbi();
  const std::vector<operation*> list = awake();
  if (!list.empty() && d_.chance(45)) return turn_one(*d_.pick(list));
  if (d_.chance(70)) turn_several();
}

void completions::turn_one(operation& one) {
  const unsigned long long before = one.handle;
  upc_coll_handle_t h = before;
  switch (d_.below(5)) {
  case 0:
    upc_wait(h);
    expect(h == UPC_HANDLE_COMPLETE, "upc_wait left its handle as it was");
    return close(before);
  case 1: {
    const upc_coll_handle_t value = h;
    upc_wait(value);
    expect(upc_test_value(value) > 0, "a copy of a completed handle is not complete");
    return close(before);
  }
  case 2:
    if (upc_get_status(h) < 0) return;
    expect(h == before && upc_test(h) > 0, "upc_test fails after upc_get_status has said complete");
    return close(before);
  default:
    for (std::size_t tries = d_.between(1, 20); tries != 0; --tries) {
      const int got = upc_test(h);
      expect(got != 0 && (got > 0) == (h == UPC_HANDLE_COMPLETE) && (got > 0 || h == before),
             "upc_test and its handle disagree");
      if (got > 0) return close(before);
    }
  }
}

// Some of the handles in any order, with inactive and stale ones between.
completions::selection completions::select() {
  std::vector<unsigned long long> list;
  for (const operation* one : awake())
    if (d_.chance(60)) list.push_back(one->handle);
  if (!stale_.empty() && d_.chance(20)) list.push_back(d_.pick(stale_));
  selection chosen;
  chosen.active = list.size();
  for (std::size_t zeroes = d_.below(4); zeroes != 0; --zeroes)
    list.push_back(UPC_HANDLE_COMPLETE);
  d_.shuffle(list);
  chosen.handles = chosen.before = list;
  return chosen;
}

// Closes those that a call has set to zero, and says how many.
std::size_t completions::close_zeroed(const selection& some) {
  std::size_t count = 0;
  for (std::size_t i = 0; i != some.handles.size(); ++i) {
    if (some.handles[i] == some.before[i]) continue;
    expect(some.handles[i] == UPC_HANDLE_COMPLETE, "a completion call made up a handle");
    ++count;
    close(some.before[i]);
  }
  return count;
}

void completions::turn_several() {
  selection chosen = select();
  const bool wait = d_.chance(40);
  switch (d_.below(4)) {
  case 0:
    return any(chosen, wait);
  case 1:
    return all(chosen, wait);
  case 2:
    return some(chosen, wait, false);
  default:
    return some(chosen, wait, true);
  }
}

void completions::any(selection& some, bool wait) {
  const int count = static_cast<int>(some.handles.size());
  const int got = wait ? upc_waitany(count, some.handles.data()) : upc_testany(count, some.handles.data());
  if (some.active == 0)
    expect(got == -2, "with no active handle, any is not -2");
  else if (got < 0)
    expect(!wait && got == -1, "any found none");
  else
    expect(got < count && some.before[static_cast<std::size_t>(got)] != UPC_HANDLE_COMPLETE &&
               some.handles[static_cast<std::size_t>(got)] == UPC_HANDLE_COMPLETE,
           "any named a handle that it did not complete");
  expect(close_zeroed(some) == (got >= 0 ? 1u : 0u), "any completed another number of handles than it said");
}

void completions::all(selection& some, bool wait) {
  const int count = static_cast<int>(some.handles.size());
  int got = 1;
  if (wait)
    upc_waitall(count, some.handles.data());
  else
    got = upc_testall(count, some.handles.data());
  expect(got != 0, "upc_testall returned 0");
  expect(close_zeroed(some) == (got > 0 ? some.active : 0), "all did not complete all or none");
}

void completions::some(selection& some, bool wait, bool indices) {
  const int count = static_cast<int>(some.handles.size());
  std::vector<int> which(some.handles.size() + 1, -7);
  upc_coll_handle_t* const list = some.handles.data();
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
  expect(close_zeroed(some) == static_cast<std::size_t>(got),
         "some completed another number of handles than it said");
}

void completions::turn_nb() {
  if (nb_.empty()) return;
  const std::size_t i = d_.below(nb_.size());
  const operation one = nb_[i];
  if (one.resting) return;
  if (d_.chance(50))
    upc_sync(one.handle);
  else if (upc_sync_attempt(one.handle) == 0)
    return;
  nb_.erase(nb_.begin() + static_cast<std::ptrdiff_t>(i));
  if (one.call != no_call) left_(one.call);
}

void completions::turn_nbi() {
  if (d_.chance(50))
    upc_synci();
  else if (upc_synci_attempt() == 0)
    return;
  for (const std::size_t call : std::exchange(implicit_, {}))
    left_(call);
}

void completions::finish() {
  for (operation& one : open_)
    one.resting = false;
  for (std::size_t turns = d_.below(6); turns != 0 && !open_.empty(); --turns)
    turn();
  selection rest;
  for (const operation& one : open_)
    rest.handles.push_back(one.handle);
  d_.shuffle(rest.handles);
  rest.before = rest.handles;
  rest.active = rest.handles.size();
  if (d_.chance(50)) all(rest, true);
  while (!open_.empty()) {
    upc_coll_handle_t h = d_.pick(open_).handle;
    const auto before = h;
    upc_wait(h);
    close(before);
  }
  while (!nb_.empty()) {
    const operation one = nb_.back();
    nb_.pop_back();
    upc_sync(one.handle);
    if (one.call != no_call) left_(one.call);
  }
  upc_synci();
  for (const std::size_t call : std::exchange(implicit_, {}))
    left_(call);
}

} // namespace differential
