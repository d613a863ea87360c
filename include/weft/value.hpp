// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "handle.hpp"
#include "reduction.hpp"
#include "team.hpp"

#include <concepts>
#include <memory>
#include <utility>

// Reductions of one value of each thread, without arrays:
//
//   weft::value<double> norm = weft::reduce_all(local_sum, UPC_ADD);
//   compute();
//   double all = std::sqrt(norm.get());
//
// They are collectives of the team like all others, posted at once, in the modes UPC_IN_MYSYNC and
// UPC_OUT_MYSYNC. op is an operator of the library, for the types of reduction.h, or a callable, for any type
// that is trivially copyable: structs and std::array too. Values are combined in the order of the ranks.
namespace weft {
namespace detail {

enum class reduced_value { on_all, prefix, exclusive_prefix };

WEFT_EXPORT upc_coll_handle_t reduce_values(reduced_value what, element_kind of, void* result,
                                            const void* value, upc_op_t op, const user_operator* f,
                                            upc_team_t team);

template <class F, class T>
concept combines_values =
    std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, const F&, const T&, const T&>;

// A team, or the handle of one.
template <class G>
concept names_team = std::same_as<G, team> || std::convertible_to<G, upc_team_t>;
inline upc_team_t handle_of(const team& of) noexcept {
  return of.handle();
}
inline upc_team_t handle_of(upc_team_t of) noexcept {
  return of;
}

} // namespace detail

// A value that is on its way. Whatever owns it may move it; it is complete at the latest when its life ends.
// `co_await` gives what get does, by the rules of weft::pending.
template <class T> class [[nodiscard]] value {
public:
  value() noexcept = default; // nothing is under way, and there is nothing to get
  value(value&&) noexcept = default;
  value& operator=(value&& other) noexcept {
    operation_ = std::move(other.operation_); // complete first what writes to the state
    state_ = std::move(other.state_);
    return *this;
  }

  // Waits, once. Throws what the operation, or its callable, failed with. Errors: nothing was posted, or it
  // was moved from.
  const T& get(line_of_call where = line_of_call::here()) & {
    if (state_ == nullptr) [[unlikely]]
      fail_empty(where);
    operation_.wait(where);
    return state_->result;
  }
  T get(line_of_call where = line_of_call::here()) && { return get(where); }
  bool ready() { return operation_.test(); }
  // Not yet completed by this owner.
  bool active() const noexcept { return operation_.active(); }
  // For the calls that take several handles; the owner keeps it.
  upc_coll_handle_t handle() const noexcept { return operation_.handle(); }

  auto operator co_await() noexcept {
    struct awaited : detail::awaiter {
      explicit awaited(value& v) : detail::awaiter(v.operation_), whole(v) {}
      T await_resume() { return whole.get(line_of_call()); }
      value& whole;
    };
    return awaited(*this);
  }

  // Posts it. `first`: what the thread of rank 0 gets where nothing is in front of it.
  value(detail::reduced_value what, const T& mine, upc_op_t op, upc_team_t team, const T& first = T{})
      : state_(std::make_unique<state>(mine, first)) {
    post(what, op, nullptr, team);
  }
  template <class F>
  value(detail::reduced_value what, const T& mine, const F& f, upc_team_t team, const T& first = T{})
      : state_(std::make_unique<state_with<F>>(mine, first, f)) {
    const auto table = detail::call_of_user<T, F>::table(static_cast<const state_with<F>&>(*state_).f);
    post(what, UPC_NONCOMM_FUNC, &table, team);
  }

private:
  struct state {
    state(const T& own, const T& first) : mine(own), result(first) {}
    virtual ~state() = default;
    T mine, result;
  };
  template <class F> struct state_with : state {
    state_with(const T& own, const T& first, const F& function) : state(own, first), f(function) {}
    F f;
  };

  [[noreturn, gnu::cold]] static void fail_empty(line_of_call where) {
    const detail::at_site here(where);
    throw error("weft::value::get", "", "", "nothing was posted for this value, or it was moved from");
  }
  void post(detail::reduced_value what, upc_op_t op, const detail::user_operator* f, upc_team_t team) {
    operation_ = pending(
        detail::reduce_values(what, detail::kind_of<T>(), &state_->result, &state_->mine, op, f, team));
  }

  std::unique_ptr<state> state_; // outlives the operation
  pending operation_;
};

// On all threads of the team, the same in every bit. In the order of the ranks; f must be associative. The
// team is a weft::team or the handle of one.
template <class T, detail::names_team Team = team>
requires(detail::reduction_type<T>() >= 0) value<T> reduce_all(const T& mine, upc_op_t op,
                                                               const Team& of = {},
                                                               line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::on_all, mine, op, detail::handle_of(of)};
}
template <class T, class F, detail::names_team Team = team>
requires detail::combines_values<F, T> value<T> reduce_all(const T& mine, F f, const Team& of = {},
                                                           line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::on_all, mine, f, detail::handle_of(of)};
}

// Of the threads up to the calling one.
template <class T, detail::names_team Team = team>
requires(detail::reduction_type<T>() >= 0) value<T> prefix_reduce(const T& mine, upc_op_t op,
                                                                  const Team& of = {},
                                                                  line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::prefix, mine, op, detail::handle_of(of)};
}
template <class T, class F, detail::names_team Team = team>
requires detail::combines_values<F, T> value<T> prefix_reduce(const T& mine, F f, const Team& of = {},
                                                              line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::prefix, mine, f, detail::handle_of(of)};
}

// Of the threads before the calling one; that of rank 0 gets `first`.
template <class T, detail::names_team Team = team>
requires(detail::reduction_type<T>() >=
         0) value<T> exclusive_prefix_reduce(const T& mine, upc_op_t op, const T& first = T{},
                                             const Team& of = {}, line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::exclusive_prefix, mine, op, detail::handle_of(of), first};
}
template <class T, class F, detail::names_team Team = team>
requires detail::combines_values<F, T> value<T>
exclusive_prefix_reduce(const T& mine, const F& f, const T& first = T{}, const Team& of = {},
                        line_of_call where = line_of_call::here()) {
  const detail::at_site here(where);
  return {detail::reduced_value::exclusive_prefix, mine, f, detail::handle_of(of), first};
}

} // namespace weft
