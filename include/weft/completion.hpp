// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "completion.h"
#include "handle.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

// The completion of several operations, and what is to follow one.
namespace weft {
namespace detail {

static_assert(sizeof(pending) == sizeof(upc_coll_handle_t) && std::is_standard_layout_v<pending>,
              "an array of owners is an array of handles");

template <class R>
concept pendings = std::ranges::contiguous_range<R> && std::is_same_v<std::ranges::range_value_t<R>, pending>;

inline int count_of(std::size_t n) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return static_cast<int>(n < most ? n : most);
}
template <pendings R> upc_coll_handle_t* handles_of(R& all) {
  return reinterpret_cast<upc_coll_handle_t*>(std::ranges::data(all));
}

} // namespace detail

// Of the operations of a contiguous range, such as std::vector<weft::pending>: waits until one is complete
// and returns its place, or nothing at once if none is under way. Of several that are complete it takes
// turns.
template <detail::pendings R> std::optional<std::size_t> wait_any(R&& all) {
  const int which = upc_waitany(detail::count_of(std::ranges::size(all)), detail::handles_of(all));
  return which < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(which));
}
// The same without waiting: nothing also if none is complete.
template <detail::pendings R> std::optional<std::size_t> test_any(R&& all) {
  const int which = upc_testany(detail::count_of(std::ranges::size(all)), detail::handles_of(all));
  return which < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(which));
}
// Until all are complete; test_all says whether they are, and then none is under way any more.
template <detail::pendings R> void wait_all(R&& all) {
  upc_waitall(detail::count_of(std::ranges::size(all)), detail::handles_of(all));
}
template <detail::pendings R> bool test_all(R&& all) {
  return upc_testall(detail::count_of(std::ranges::size(all)), detail::handles_of(all)) > 0;
}
// Until at least one is complete: the places of those that are, rising; none if none was under way.
template <detail::pendings R> std::vector<std::size_t> wait_some(R&& all) {
  std::vector<int> places(std::ranges::size(all));
  const int count =
      weft_waitsome_indices(detail::count_of(places.size()), detail::handles_of(all), places.data());
  return {places.begin(), places.begin() + count};
}

// An operation and what is to follow it, made by weft::pending::then. The function is called once, on the
// thread that completes the operation, inside of wait, test or co_await. If it returns another weft::pending,
// that is waited for too. A destructor waits for the operation, and does not call the function.
template <class F> class [[nodiscard]] followed {
  using result = std::invoke_result_t<F&>;
  static constexpr bool chained = std::is_same_v<result, pending>;

public:
  followed(pending&& first, F f) : operation_(std::move(first)), f_(std::move(f)) {}
  // What is moved from has no operation, and nothing to call.
  followed(followed&& other) : operation_(std::move(other.operation_)), f_(std::move(other.f_)) {
    other.f_.reset();
  }
  followed& operator=(followed&& other) {
    if (this == &other) return *this;
    operation_ = std::move(other.operation_); // completed first is what it had, and its function not called
    f_.reset();
    if (other.f_) f_.emplace(std::move(*other.f_));
    other.f_.reset();
    return *this;
  }

  // The function has not been called yet, or what it posted is under way.
  bool active() const noexcept { return f_.has_value() || operation_.active(); }
  // Returns what the function does; where that is a pending, nothing. A second time there is nothing to do,
  // and it is an error where there is a value to return.
  auto wait(line_of_call where = line_of_call::here()) {
    operation_.wait(where);
    if constexpr (chained) {
      if (f_) operation_ = call();
      operation_.wait(where);
    } else {
      if (!f_) return called_before(where);
      return call();
    }
  }
  // Only where the function returns nothing, or a pending.
  bool test() requires(chained || std::is_void_v<result>) {
    if (!operation_.test()) return false;
    if (!f_) return true;
    if constexpr (chained) {
      operation_ = call();
      return operation_.test();
    } else {
      call();
      return true;
    }
  }

  auto operator co_await() noexcept requires(!chained) {
    struct awaited : detail::awaiter {
      explicit awaited(followed& f) : detail::awaiter(f.operation_), whole(f) {}
      auto await_resume() { return whole.wait(line_of_call()); }
      followed& whole;
    };
    return awaited(*this);
  }

private:
  [[gnu::cold]] static result called_before(line_of_call where) {
    if constexpr (!std::is_void_v<result>) {
      const detail::at_site here(where);
      throw error("weft::pending::then", "", "",
                  "its value was returned before, or it was moved from: wait for it once");
    }
  }
  result call() {
    F f = std::move(*f_);
    f_.reset(); // once, also if it throws
    return f();
  }

  pending operation_;
  std::optional<F> f_;
};

template <class F> followed<std::decay_t<F>> pending::then(F&& f) && {
  return {std::move(*this), std::forward<F>(f)};
}

} // namespace weft
