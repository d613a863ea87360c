// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"
#include "api/completion/completion.hpp"
#include "api/runtime/runtime.hpp"
#include "include/weft/completion.h"
#include "progress/execution/operation_error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::api {

// Whether a handle is not UPC_HANDLE_COMPLETE. Asks at `first` first, an index unless there are no handles.
bool any_active(std::span<const upc_coll_handle_t> handles, std::size_t first) noexcept;

// The search of one call for a handle that is ready, among many.
//
// No handle is looked at twice before the process has completed something. After completions the search looks
// at a few handles only: those where it began, because operations complete about in the order in which they
// were posted, and the next few of a round through all. Only after some sweeps that completed nothing, when
// there is time, does it bring the round to its end. So what a call costs does not grow with the number of
// handles as long as something completes near the place where the last one did; and a handle far away is
// found however often others complete.
class ready_scan {
public:
  // The search goes from `first` to the end and round to the beginning; `first` is an index unless there are
  // no handles.
  ready_scan(const runtime& rt, std::span<const upc_coll_handle_t> handles, std::size_t first)
      : rt_(rt), handles_(handles), first_(first), round_(first), found_(handles.size()) {
    if (handles.size() > glance) round_ = behind(first, glance); // the glance at `first` comes before
  }

  // A part of the search as above, for a call that waits; before it sleeps, all of it. True, once, if it is
  // over: a handle is ready, or none is active any more because another thread has completed it.
  bool look(progress::look how) noexcept;
  // After it, what look() has not looked at since the last completion, and the rest.
  bool look_at_all() noexcept;

  bool found() const noexcept { return found_ != handles_.size(); }
  std::size_t index() const noexcept { return found_; }

private:
  static constexpr std::size_t glance = 16;
  static constexpr unsigned patience = 6; // looks after which the round is brought to its end

  bool search(std::size_t begin, std::size_t count) noexcept;
  std::size_t behind(std::size_t index, std::size_t count) const noexcept {
    return (index + count) % handles_.size();
  }
  bool completions_moved() noexcept;

  const runtime& rt_;
  std::span<const upc_coll_handle_t> handles_;
  std::size_t first_;
  std::size_t round_;    // where the round goes on
  std::size_t left_ = 0; // of the round
  unsigned idle_ = 0;    // looks since something completed
  std::size_t found_;
  bool looked_ = false;
  std::uint64_t seen_ = 0; // completions when a round was last begun; read before it, so none is missed
};

// Where a search among an array's handles begins, so that none of them starves: behind the one that the last
// call with this array completed. One for each application thread.
//
// An array is known by its address, and a few arrays are remembered, each in the one place that its address
// names. The search in an array that is not remembered begins anywhere, at a pseudo-random place: arrays that
// keep displacing each other do not starve a handle either.
class rotation {
public:
  // An index below count, which is not 0.
  std::size_t begin(const void* array, std::size_t count) noexcept {
    const place& p = at(array);
    if (p.array == array) return p.next % count;
    return static_cast<std::size_t>((next_random() >> 32) * count >> 32);
  }
  void completed(const void* array, std::size_t index) noexcept { at(array) = {array, index + 1}; }

private:
  struct place {
    const void* array = nullptr;
    std::size_t next = 0;
  };
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
  static constexpr unsigned place_bits = 4;

  place& at(const void* array) noexcept {
    return places_[reinterpret_cast<std::uintptr_t>(array) * golden >> (64 - place_bits)];
  }

  // SplitMix64.
  std::uint64_t next_random() noexcept {
    std::uint64_t z = random_ += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<place, std::size_t{1} << place_bits> places_{};
  std::uint64_t random_ = 0;
};

bool any_active(std::span<const upc_coll_handle_t> handles, std::size_t first) noexcept {
  const auto active = [](upc_coll_handle_t h) { return h != UPC_HANDLE_COMPLETE; };
  return std::ranges::any_of(handles.subspan(first), active) ||
         std::ranges::any_of(handles.first(first), active);
}

bool ready_scan::look(progress::look how) noexcept {
  if (completions_moved()) {
    if (search(first_, std::min(glance, handles_.size()))) return true;
    left_ = handles_.size() > glance ? handles_.size() : 0;
    idle_ = 0;
  } else if (left_ == 0) {
    return false;
  }
  const bool in_parts = how == progress::look::part && idle_++ < patience;
  const std::size_t part = in_parts ? std::min(left_, glance) : left_;
  if (search(round_, part)) return true;
  left_ -= part;
  round_ = behind(round_, part);
  return left_ == 0 && !any_active(handles_, first_);
}

bool ready_scan::look_at_all() noexcept {
  if (!completions_moved() && left_ == 0) return false;
  left_ = 0;
  return search(first_, handles_.size());
}

bool ready_scan::search(std::size_t begin, std::size_t count) noexcept {
  while (count != 0) {
    const std::size_t piece = std::min(count, handles_.size() - begin);
    const std::size_t at = rt_.find_ready(handles_.subspan(begin, piece));
    if (at != piece) {
      found_ = begin + at;
      return true;
    }
    begin = behind(begin, piece);
    count -= piece;
  }
  return false;
}

bool ready_scan::completions_moved() noexcept {
  const std::uint64_t now = rt_.completions();
  if (looked_ && now == seen_) return false;
  looked_ = true;
  seen_ = now;
  return true;
}

} // namespace weft::api

namespace weft {
namespace api {
namespace {

using handle_array = std::span<upc_coll_handle_t>;

constexpr int none_ready = -1, none_active = -2;

constinit thread_local rotation places;

handle_array array_of(const char* call, int count, upc_coll_handle_t* handles) {
  require_outside_user_code(call);
  if (count < 0)
    fail(call, "count", std::to_string(count), "must not be negative: pass the number of handles");
  if (count != 0 && handles == nullptr) fail(call, "handles", "null", "must be the address of count handles");
  return {handles, static_cast<std::size_t>(count)};
}

void require_indices(const char* call, int count, const int* indices) {
  if (count > 0 && indices == nullptr)
    fail(call, "indices", "null", "must be the address of room for count indices");
}

std::string element(std::size_t i) {
  return "handles[" + std::to_string(i) + "]";
}

bool active(handle_array all) {
  return any_active(all, 0);
}

// Waits for the operation of an active handle and leaves the handle as it is. Only of an operation that
// failed the handle is cleared, since this is the call that reports it: all the others are still to come.
void settle(const char* call, runtime& rt, handle_array all, std::size_t i) {
  if (rt.query(all[i]) == runtime::state::never_issued) [[unlikely]]
    fail_never_issued(call, element(i).c_str(), all[i]);
  const handle_record::completing noted(call, all[i]);
  try {
    rt.wait(all[i]);
  } catch (const progress::user_code_error& e) {
    all[i] = UPC_HANDLE_COMPLETE;
    std::rethrow_exception(e.thrown);
  } catch (const std::exception& e) {
    all[i] = UPC_HANDLE_COMPLETE;
    fail(call, element(i).c_str(), "", e.what());
  }
}

int complete_one(const char* call, runtime& rt, handle_array all, std::size_t i) {
  settle(call, rt, all, i);
  all[i] = UPC_HANDLE_COMPLETE;
  places.completed(all.data(), i);
  return static_cast<int>(i);
}

void complete_all(const char* call, runtime& rt, handle_array all) {
  for (std::size_t i = 0; i != all.size(); ++i)
    if (all[i] != UPC_HANDLE_COMPLETE) settle(call, rt, all, i);
  for (upc_coll_handle_t& h : all)
    h = UPC_HANDLE_COMPLETE;
}

// Looks at all, also behind the first that is pending: a handle that was never issued is found at once.
bool all_complete(const char* call, runtime& rt, handle_array all) {
  bool complete = true;
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (all[i] == UPC_HANDLE_COMPLETE) continue;
    const runtime::state s = rt.query(all[i]);
    if (s == runtime::state::never_issued) [[unlikely]]
      fail_never_issued(call, element(i).c_str(), all[i]);
    complete = complete && s == runtime::state::complete;
  }
  return complete;
}

// Completes all that are ready. They are cleared at the end, when none can fail any more.
int complete_ready(const char* call, runtime& rt, handle_array all, int* indices) {
  std::size_t count = 0;
  for (std::size_t i = rt.find_ready(all); i != all.size(); i += rt.find_ready(all.subspan(i))) {
    settle(call, rt, all, i);
    indices[count++] = static_cast<int>(i++);
  }
  for (std::size_t k = 0; k != count; ++k)
    all[static_cast<std::size_t>(indices[k])] = UPC_HANDLE_COMPLETE;
  if (count != 0) places.completed(all.data(), static_cast<std::size_t>(indices[count - 1]));
  return static_cast<int>(count);
}

int* room_for_indices(std::size_t count) {
  thread_local std::vector<int> room;
  if (room.size() < count) room.resize(count);
  return room.data();
}

// Drives until a handle is ready; false if none is active any more.
bool wait_for_one(const char* call, runtime& rt, ready_scan& scan) {
  naming(call, [&] { rt.drive_until([&scan](progress::look how) { return scan.look(how); }); });
  return scan.found();
}

// The same, for so long at most.
bool wait_for_one_until(const char* call, runtime& rt, ready_scan& scan, std::chrono::nanoseconds limit) {
  // What comes soon is found without the clock: to read it takes as long as a few looks. These looks take a
  // microsecond or two.
  const unsigned first_looks = limit >= std::chrono::microseconds(20) ? 64 : 0;
  std::optional<std::chrono::steady_clock::time_point> end;
  unsigned looks = 0;
  const auto over = [&](progress::look how) {
    if (scan.look(how)) return true;
    if (how == progress::look::part && looks++ < first_looks) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!end) end = now + limit;
    return now >= *end;
  };
  naming(call, [&] { rt.drive_until(over, limit); });
  return scan.found() || scan.look_at_all();
}

// Moves things on before it looks at all: what is ready is mostly near the place where the last one was.
bool test_for_one(const char* call, runtime& rt, ready_scan& scan) {
  if (!scan.look(progress::look::part)) {
    naming(call, [&] { rt.progress(); });
    scan.look_at_all();
  }
  return scan.found();
}

// `find` is one of the three above.
template <class Find>
int complete_any(const char* call, int count, upc_coll_handle_t* handles, int none_found, Find&& find) {
  const handle_array all = array_of(call, count, handles);
  if (all.empty()) return none_active;
  const std::size_t first = places.begin(handles, all.size());
  if (!any_active(all, first)) return none_active;
  runtime& rt = runtime::get(call);
  ready_scan scan(rt, all, first);
  return find(call, rt, scan) ? complete_one(call, rt, all, scan.index()) : none_found;
}

template <class Find> int complete_some(const char* call, handle_array all, int* indices, Find&& find) {
  if (!active(all)) return 0;
  runtime& rt = runtime::get(call);
  ready_scan scan(rt, all, places.begin(all.data(), all.size()));
  return find(call, rt, scan) ? complete_ready(call, rt, all, indices) : 0;
}

template <class Find>
int complete_some(const char* call, int count, upc_coll_handle_t* handles, Find&& find) {
  const handle_array all = array_of(call, count, handles);
  return complete_some(call, all, room_for_indices(all.size()), find);
}

template <class Find>
int complete_some(const char* call, int count, upc_coll_handle_t* handles, int* indices, Find&& find) {
  const handle_array all = array_of(call, count, handles);
  require_indices(call, count, indices);
  return complete_some(call, all, indices, find);
}

} // namespace
} // namespace api

int upc_waitany(int count, upc_coll_handle_t* handles) {
  return api::complete_any("upc_waitany", count, handles, api::none_active, api::wait_for_one);
}

int weft_waitany_for(int count, upc_coll_handle_t* handles, uint64_t nanoseconds) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 60; // 36 years
  const std::chrono::nanoseconds limit(std::min(nanoseconds, longest));
  const auto find = [limit](const char* call, api::runtime& rt, api::ready_scan& scan) {
    return api::wait_for_one_until(call, rt, scan, limit);
  };
  return api::complete_any("weft_waitany_for", count, handles, api::none_ready, find);
}

int upc_testany(int count, upc_coll_handle_t* handles) {
  return api::complete_any("upc_testany", count, handles, api::none_ready, api::test_for_one);
}

void upc_waitall(int count, upc_coll_handle_t* handles) {
  constexpr const char* call = "upc_waitall";
  const api::handle_array all = api::array_of(call, count, handles);
  if (!api::active(all)) return;
  api::runtime& rt = api::runtime::get(call);
  api::all_complete(call, rt, all); // nothing is waited for if there is a handle that was never issued
  api::complete_all(call, rt, all);
}

int upc_testall(int count, upc_coll_handle_t* handles) {
  constexpr const char* call = "upc_testall";
  const api::handle_array all = api::array_of(call, count, handles);
  if (!api::active(all)) return 1;
  api::runtime& rt = api::runtime::get(call);
  const std::uint64_t seen = rt.completions();
  if (!api::all_complete(call, rt, all)) {
    api::naming(call, [&] { rt.progress(); });
    if (rt.completions() == seen || !api::all_complete(call, rt, all)) return -1;
  }
  api::complete_all(call, rt, all);
  return 1;
}

int upc_waitsome(int count, upc_coll_handle_t* handles) {
  return api::complete_some("upc_waitsome", count, handles, api::wait_for_one);
}

int upc_testsome(int count, upc_coll_handle_t* handles) {
  return api::complete_some("upc_testsome", count, handles, api::test_for_one);
}

int weft_waitsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return api::complete_some("weft_waitsome_indices", count, handles, indices, api::wait_for_one);
}

int weft_testsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return api::complete_some("weft_testsome_indices", count, handles, indices, api::test_for_one);
}

void weft_poll() {
  if (progress::running_user_code) return;
  api::runtime& rt = api::runtime::get("weft_poll");
  rt.progress();
  if (api::runtime::with_reach != nullptr) rt.note_polled();
}

} // namespace weft
