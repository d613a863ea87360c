// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "array.hpp"
#include "team.hpp"
#include "value.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What the collectives on spans make of their operands.
namespace weft {
namespace detail {

// Where a span lies in the segment of the calling rank. Errors: it is ordinary memory.
WEFT_EXPORT std::size_t place_of(const char* call, const char* argument, const void* first,
                                 std::size_t bytes);

// In the place of a root: the result is on all, or it is that of the ranks up to the calling one, or before
// it.
constexpr int on_all = -1, of_prefix = -2, of_exclusive_prefix = -3;

// Posts a reduction of vectors, element by element, by a function. root: its rank in the team, or one of
// those.
WEFT_EXPORT upc_coll_handle_t reduce_spans(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                           std::size_t count, element_kind of, const user_operator* f,
                                           int root, upc_team_t team);

// Posts a movement of blocks of so many bytes between operands of the calling rank's own, null where it has
// none. root: of a permutation, the rank that gets what the calling one gives.
enum class moved_spans { exchange, gather_all, broadcast, scatter, gather, permute };
WEFT_EXPORT upc_coll_handle_t move_spans(const char* call, moved_spans what, upc_shared_ptr_t dst,
                                         upc_shared_ptr_t src, std::size_t block, int root, upc_team_t team);

template <class R>
concept span_like = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
template <class R> using element_in = std::ranges::range_value_t<R>;
template <class R> constexpr bool is_array = false;
template <class T> constexpr bool is_array<array<T>> = true;
template <class T> constexpr bool is_array<array_part<T>> = true;
// What is written is not const, and must last until the operation is complete: a container that ends with the
// statement does not.
template <class R>
concept destination =
    span_like<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>> &&
    (std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R> || is_array<std::remove_cvref_t<R>>);
template <class A, class B>
concept alike = destination<A> && span_like<B> && std::is_same_v<element_in<A>, element_in<B>> &&
    std::is_trivially_copyable_v<element_in<A>>;

constexpr upc_flag_t posted = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;

// One operand of a call, as the calls of upc_collective.h take it: its first byte is on the team's first
// rank.
template <span_like R>
[[gnu::always_inline]] inline std::size_t place(const char* call, const char* argument, const R& part) {
  const own_process& mine = own();
  const void* const first = std::ranges::data(part);
  const std::size_t bytes = std::ranges::size(part) * sizeof(element_in<R>);
  const std::size_t at = reinterpret_cast<std::uintptr_t>(first) - mine.segment, inside = at - mine.begin;
  if (inside > mine.bytes || bytes > mine.bytes - inside) [[unlikely]]
    return place_of(call, argument, first, bytes);
  return at;
}
// An operand of the calling rank's own, wherever it lies.
template <span_like R> [[gnu::always_inline]] inline upc_shared_ptr_t own_operand(const R& part) {
  const own_process& mine = own();
  const void* const first = std::ranges::data(part);
  const std::size_t at = reinterpret_cast<std::uintptr_t>(first) - mine.segment;
  if (at - mine.begin < mine.bytes) [[likely]]
    return {at, mine.rank, 0};
  return std::ranges::size(part) == 0 ? upc_shared_ptr_t{mine.begin, mine.rank, 0} : weft_lend(first);
}
// The calls whose operands are at the same place on all ranks.
template <class... R> constexpr bool of_arrays = (is_array<std::remove_cvref_t<R>> && ...);

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_moved(const char* call, const char* argument) {
  throw error(call, argument, "0 elements",
              "is a weft::array that was moved from: pass the one that it was moved to");
}
template <span_like R>
[[gnu::always_inline]] inline upc_shared_ptr_t operand(const char* call, const char* argument, const R& part,
                                                       const team& of) {
  if constexpr (is_array<R>) { // an array knows its place
    const std::uint64_t at = base_of(part).addr;
    if (at == 0) [[unlikely]]
      fail_moved(call, argument);
    return {at, static_cast<std::uint32_t>(of.first()), 0};
  } else
    return {place(call, argument, part), static_cast<std::uint32_t>(of.first()), 0};
}

// What is wrong is put into words apart from the calls, which stay small.
[[gnu::cold, gnu::noinline]] inline void require_members(const char* call, std::size_t ranks) {
  if (ranks == 0)
    throw error(call, "team", "0", "has ended, was moved from, or the calling rank is none of it");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_block(const char* call, const char* argument,
                                                              std::size_t all, std::size_t ranks) {
  require_members(call, ranks);
  fail_length(call, argument, all,
              "must be a multiple of the team's ranks, " + std::to_string(ranks) + ": a block for each");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_same(const char* call, const char* argument,
                                                             std::size_t given, std::size_t wanted) {
  fail_length(call, argument, given, "must be " + std::to_string(wanted) + ": dst and src go together");
}

// The elements of one block, of as many as the team has ranks.
[[gnu::always_inline]] inline std::size_t block_of(const char* call, const char* argument, std::size_t all,
                                                   const team& of) {
  const auto ranks = static_cast<std::size_t>(of.size());
  if (ranks == 1) return all;
  std::size_t rest = 1, each = 0;
  if (ranks != 0 && (all >> 32) == 0) [[likely]] { // a division of 32 bits takes half as long
    each = static_cast<std::uint32_t>(all) / static_cast<std::uint32_t>(ranks);
    rest = static_cast<std::uint32_t>(all) % static_cast<std::uint32_t>(ranks);
  } else if (ranks != 0) {
    each = all / ranks;
    rest = all % ranks;
  }
  if (rest != 0) [[unlikely]]
    fail_block(call, argument, all, ranks);
  return each;
}
[[gnu::always_inline]] inline void require_same(const char* call, const char* argument, std::size_t given,
                                                std::size_t wanted) {
  if (given != wanted) [[unlikely]]
    fail_same(call, argument, given, wanted);
}

inline void require_rank(const char* call, const char* argument, int rank, const team& of) {
  if (rank < 0 || rank >= of.size()) [[unlikely]] {
    require_members(call, static_cast<std::size_t>(of.size()));
    throw error(call, argument, std::to_string(rank),
                "must be a rank of the team, 0 to " + std::to_string(of.size() - 1));
  }
}
inline void require_root(const char* call, int root, const team& of) {
  require_rank(call, "root", root, of);
}
// Of what lies on one rank: that rank of the team; and its place, if it is the calling one.
template <class T>
int root_of(const char* call, const char* argument, const remote_span<T>& there, const team& of) {
  const int root = of.rank_of(there.rank());
  if (root < 0) [[unlikely]]
    throw error(call, argument, "rank " + std::to_string(there.rank()), "is none of the team");
  return root;
}
template <class T> upc_shared_ptr_t if_own(const remote_span<T>& there) {
  const upc_shared_ptr_t at = there.data();
  return at.thread == own().rank ? upc_shared_ptr_t{at.addr, at.thread, 0} : upc_shared_ptr_t{};
}
inline pending move_own(const char* call, moved_spans what, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                        std::size_t block, int root, const team& of) {
  return pending(move_spans(call, what, dst, src, block, root, of.handle()));
}

// Counts of elements as bytes and places, for the calls that take those.
struct byte_counts {
  std::vector<std::size_t> bytes;
  std::vector<std::ptrdiff_t> places;

  void set(const char* call, const char* counts_are, std::span<const std::size_t> counts,
           const char* argument, std::size_t length, std::size_t size, const team& of) {
    const auto ranks = static_cast<std::size_t>(of.size());
    if (counts.size() != ranks) [[unlikely]] {
      require_members(call, ranks);
      fail_length(call, counts_are, counts.size(),
                  "must be " + std::to_string(ranks) + ", one for each rank of the team");
    }
    bytes.resize(ranks);
    places.resize(ranks);
    std::size_t left = length;
    for (std::size_t r = 0; r != ranks; ++r) {
      if (counts[r] > left) [[unlikely]]
        fail_length(call, argument, length, std::string("are fewer than ") + counts_are + " asks for");
      places[r] = static_cast<std::ptrdiff_t>((length - left) * size);
      bytes[r] = counts[r] * size;
      left -= counts[r];
    }
    if (left != 0) [[unlikely]]
      fail_length(call, argument, length,
                  std::string("are ") + std::to_string(left) + " more than " + counts_are +
                      " asks for: pass a part");
  }
};

// What an operator of the standard library is for numbers: the same as the library's.
template <class F, class T> constexpr upc_op_t builtin_of() {
  constexpr auto is = []<class... G>(std::type_identity<G>...) { return (std::is_same_v<F, G> || ...); };
  if (reduction_type<T>() < 0) return 0;
  if (is(std::type_identity<std::plus<>>(), std::type_identity<std::plus<T>>())) return UPC_ADD;
  if (is(std::type_identity<std::multiplies<>>(), std::type_identity<std::multiplies<T>>())) return UPC_MULT;
  return 0;
}

template <class F, class T>
concept operator_of =
    std::is_convertible_v<F, upc_op_t> || std::is_invocable_r_v<T, const F&, const T&, const T&>;

// Of numbers, by one of the calls that there are for all languages, or by a series of them. of_arrays: its
// operands are.
WEFT_EXPORT upc_coll_handle_t reduce_numbers(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t count,
                                             int number, upc_op_t op, int root, bool of_arrays,
                                             upc_team_t team);

template <class Dst, class Src, class F>
pending reduce_by(const char* call, Dst& dst, const Src& src, const F& f, int root, const team& of) {
  using T = element_in<Src>;
  const std::size_t count = std::ranges::size(src);
  require_same(call, "dst", std::ranges::size(dst), count);
  const upc_shared_ptr_t to = own_operand(dst), from = own_operand(src);
  const auto numbers = [&](upc_op_t op) {
    return pending(reduce_numbers(upc_ptreq(to, from) != 0 ? upc_shared_ptr_t{} : to, from, count,
                                  reduction_type<T>(), op, root, of_arrays<Dst, Src>, of.handle()));
  };
  if constexpr (std::is_convertible_v<F, upc_op_t>) {
    static_assert(reduction_type<T>() >= 0,
                  "an operator UPC_... takes numbers: pass a function of two elements");
    return numbers(static_cast<upc_op_t>(f));
  } else if constexpr (constexpr upc_op_t op = builtin_of<F, T>(); op != 0) {
    return numbers(op);
  } else {
    const user_operator table = call_of_user<T, F>::table(f);
    return pending(reduce_spans(call, to, from, count, kind_of<T>(), &table, root, of.handle()));
  }
}

} // namespace detail

} // namespace weft
