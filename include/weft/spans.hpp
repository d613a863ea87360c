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

// Collectives on spans: a weft::array, or a part of one, on each rank at the same place of it. Counts are
// elements. Every call posts the operation and returns what completes it; the modes are UPC_IN_MYSYNC and
// UPC_OUT_MYSYNC: until it is complete, dst is not read, and neither is changed.
//
//   weft::array<double> a(n * weft::team().size()), b(a.size());
//   weft::pending transpose = weft::exchange(b, a);
//   compute();
//   transpose.wait();
//
// The last argument is a team, all ranks by default; blocks are in the order of its ranks. What lies on one
// rank alone is named by it: a.on(root).
//
// Errors of all: a span of ordinary memory, which another rank cannot reach; spans of lengths that do not go
// together; and those of the call of upc_collective.h that it stands for. WEFT_CHECK=1 finds lengths that are
// not the same on all ranks.
namespace weft {
namespace detail {

// Where a span lies in the memory of the calling rank. Errors: it is ordinary memory.
WEFT_EXPORT std::size_t place_of(const char* call, const char* argument, const void* first,
                                 std::size_t bytes);

// Posts a reduction of vectors, element by element, by a function. root: its rank in the team, or -1: on all.
WEFT_EXPORT upc_coll_handle_t reduce_spans(const char* call, std::size_t dst, std::size_t src,
                                           std::size_t count, element_kind of, const user_operator* f,
                                           int root, upc_team_t team);

template <class R>
concept span_like = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
template <class R> using element_in = std::ranges::range_value_t<R>;
template <class A, class B>
concept alike = span_like<A> && span_like<B> && std::is_same_v<element_in<A>, element_in<B>> &&
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
template <span_like R>
[[gnu::always_inline]] inline upc_shared_ptr_t operand(const char* call, const char* argument, const R& part,
                                                       const team& of) {
  return {place(call, argument, part), static_cast<std::uint32_t>(of.first()), 0};
}

// The elements of one block, of as many as the team has ranks.
inline std::size_t block_of(const char* call, const char* argument, std::size_t all, const team& of) {
  const auto ranks = static_cast<std::size_t>(of.size());
  if (ranks == 0) [[unlikely]]
    throw error(call, "team", "0", "has ended, was moved from, or the calling rank is none of it");
  const std::size_t block = ranks == 1 ? all : all / ranks;
  if (block * ranks != all) [[unlikely]]
    fail_length(call, argument, all,
                "must be a multiple of the team's ranks, " + std::to_string(ranks) + ": a block for each");
  return block;
}
inline void require_same(const char* call, const char* argument, std::size_t given, std::size_t wanted) {
  if (given != wanted) [[unlikely]]
    fail_length(call, argument, given, "must be " + std::to_string(wanted) + ": dst and src go together");
}

// Counts of elements as bytes and places, for the calls that take those.
struct byte_counts {
  std::vector<std::size_t> bytes;
  std::vector<std::ptrdiff_t> places;

  void set(const char* call, const char* counts_are, std::span<const std::size_t> counts,
           const char* argument, std::size_t length, std::size_t size, const team& of) {
    const auto ranks = static_cast<std::size_t>(of.size());
    if (counts.size() != ranks) [[unlikely]]
      fail_length(call, counts_are, counts.size(),
                  "must be " + std::to_string(ranks) + ", one for each rank of the team");
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

// Of what is there for all languages, by the call that they have.
inline pending reduce_numbers(std::size_t dst, std::size_t src, std::size_t count, int number, upc_op_t op,
                              int root, upc_team_t of) {
  const std::uint32_t me = own().rank;
  const upc_shared_ptr_t to = dst == src ? upc_shared_ptr_t{} : upc_shared_ptr_t{dst, me, 0};
  const auto type = static_cast<cray_upc_dtype_t>(number);
  upc_handle_t handle = 0;
  if (root < 0)
    cray_upc_team_allreduce(to, {src, me, 0}, count, type, op, of, &handle);
  else
    cray_upc_team_reduce(to, {src, me, 0}, count, type, op, root, of, &handle);
  return pending(handle);
}

template <class Dst, class Src, class F>
pending reduce_by(const char* call, Dst& dst, const Src& src, const F& f, int root, const team& of) {
  using T = element_in<Src>;
  const std::size_t count = std::ranges::size(src);
  require_same(call, "dst", std::ranges::size(dst), count);
  const std::size_t to = place(call, "dst", dst), from = place(call, "src", src);
  if constexpr (std::is_convertible_v<F, upc_op_t>) {
    static_assert(reduction_type<T>() >= 0,
                  "an operator UPC_... takes numbers: pass a function of two elements");
    return reduce_numbers(to, from, count, reduction_type<T>(), static_cast<upc_op_t>(f), root, of.handle());
  } else if constexpr (constexpr upc_op_t op = builtin_of<F, T>(); op != 0) {
    return reduce_numbers(to, from, count, reduction_type<T>(), op, root, of.handle());
  } else {
    const user_operator table = call_of_user<T, F>::table(f);
    return pending(reduce_spans(call, to, from, count, kind_of<T>(), &table, root, of.handle()));
  }
}

} // namespace detail

// Block i of src goes to rank i, and block j of dst comes from rank j: MPI_Ialltoall. The lengths are equal,
// and a multiple of the team's size.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending exchange(Dst&& dst, const Src& src, const team& of = {},
                                                  line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "src", std::ranges::size(src), of);
  detail::require_same(call, "dst", std::ranges::size(dst), std::ranges::size(src));
  const upc_shared_ptr_t to = detail::operand(call, "dst", dst, of),
                         from = detail::operand(call, "src", src, of);
  return pending(
      upc_all_exchange(to, from, count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}
// In place.
template <detail::span_like Both>
pending exchange(Both&& both, const team& of = {}, line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "both", std::ranges::size(both), of);
  const upc_shared_ptr_t at = detail::operand(call, "both", both, of);
  return pending(upc_all_exchange(at, at, count * sizeof(detail::element_in<Both>),
                                  detail::posted | static_cast<upc_flag_t>(UPC_IN_PLACE), of.handle()));
}

// Blocks of lengths of their own: src has src_counts[i] elements for rank i, one behind the other, and dst
// gets dst_counts[j] from rank j, likewise: MPI_Ialltoallv. Both are the calling rank's own, at places that
// need not be those of other ranks; counts have an element for each rank of the team, and are read before the
// call returns. Errors: other lengths than the sums of the counts; as cray_upc_team_alltoallv.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending exchange_v(Dst&& dst, std::span<const std::size_t> dst_counts,
                                                    const Src& src, std::span<const std::size_t> src_counts,
                                                    const team& of = {},
                                                    line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange_v";
  const detail::at_site here(where);
  const std::uint32_t me = detail::own().rank;
  const upc_shared_ptr_t to{detail::place(call, "dst", dst), me, 0};
  const upc_shared_ptr_t from{detail::place(call, "src", src), me, 0};
  constexpr std::size_t size = sizeof(detail::element_in<Src>);
  thread_local detail::byte_counts arriving, leaving; // keep their memory
  arriving.set(call, "dst_counts", dst_counts, "dst", std::ranges::size(dst), size, of);
  leaving.set(call, "src_counts", src_counts, "src", std::ranges::size(src), size, of);
  upc_handle_t handle = 0;
  cray_upc_team_alltoallv(to, arriving.bytes.data(), arriving.places.data(), from, leaving.bytes.data(),
                          leaving.places.data(), of.handle(), &handle);
  return pending(handle);
}

// Block i of dst is src of rank i, on all: MPI_Iallgather.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending gather_all(Dst&& dst, const Src& src, const team& of = {},
                                                    line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::gather_all";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "dst", std::ranges::size(dst), of);
  detail::require_same(call, "src", std::ranges::size(src), count);
  const upc_shared_ptr_t to = detail::operand(call, "dst", dst, of),
                         from = detail::operand(call, "src", src, of);
  return pending(
      upc_all_gather_all(to, from, count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}

// dst of all ranks becomes what lies at src on one: weft::broadcast(b, a.on(root)).
template <detail::span_like Dst>
pending broadcast(Dst&& dst, remote_span<detail::element_in<Dst>> src, const team& of = {},
                  line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::broadcast";
  const detail::at_site here(where);
  detail::require_same(call, "dst", std::ranges::size(dst), src.size());
  return pending(upc_all_broadcast(detail::operand(call, "dst", dst, of), src.data(),
                                   src.size() * sizeof(detail::element_in<Dst>), detail::posted,
                                   of.handle()));
}
// In place: the same array on all, and `root` is a rank of the team.
template <detail::span_like Both>
pending broadcast(Both&& both, int root, const team& of = {}, line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::broadcast";
  const detail::at_site here(where);
  const upc_shared_ptr_t at = detail::operand(call, "both", both, of);
  return pending(upc_all_broadcast(at, {at.addr, static_cast<std::uint32_t>(of.thread(root)), 0},
                                   std::ranges::size(both) * sizeof(detail::element_in<Both>),
                                   detail::posted | static_cast<upc_flag_t>(UPC_IN_PLACE), of.handle()));
}

// Rank i gets block i of src, which lies on one rank: weft::scatter(part, whole.on(root)).
template <detail::span_like Dst>
pending scatter(Dst&& dst, remote_span<detail::element_in<Dst>> src, const team& of = {},
                line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::scatter";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "src", src.size(), of);
  detail::require_same(call, "dst", std::ranges::size(dst), count);
  return pending(upc_all_scatter(detail::operand(call, "dst", dst, of), src.data(),
                                 count * sizeof(detail::element_in<Dst>), detail::posted, of.handle()));
}
// Block i of dst, which lies on one rank, comes from rank i: weft::gather(whole.on(root), part).
template <detail::span_like Src>
pending gather(remote_span<detail::element_in<Src>> dst, const Src& src, const team& of = {},
               line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::gather";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "dst", dst.size(), of);
  detail::require_same(call, "src", std::ranges::size(src), count);
  return pending(upc_all_gather(dst.data(), detail::operand(call, "src", src, of),
                                count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}

// src of each rank goes to dst of the rank that `to` of it says, an element of weft::array<int>.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending permute(Dst&& dst, const Src& src, const array<int>& to,
                                                 const team& of = {},
                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::permute";
  const detail::at_site here(where);
  detail::require_same(call, "dst", std::ranges::size(dst), std::ranges::size(src));
  return pending(upc_all_permute(detail::operand(call, "dst", dst, of), detail::operand(call, "src", src, of),
                                 detail::operand(call, "to", to, of),
                                 std::ranges::size(src) * sizeof(detail::element_in<Src>), detail::posted,
                                 of.handle()));
}

// Element i of dst becomes what f makes of the elements i of src of all ranks, in the order of the ranks: on
// all, the same in every bit, or on the rank `root` of the team alone. f: UPC_ADD and its like for numbers,
// std::plus<>(), or an associative function of two elements, of any type that is trivially copyable; it is
// copied. dst and src are of one length, the same span or ones that have no element in common; they need not
// lie at the same place on all ranks.
template <class Dst, class Src, detail::operator_of<detail::element_in<Src>> F>
requires detail::alike<Dst, Src> pending reduce_all(Dst&& dst, const Src& src, const F& f,
                                                    const team& of = {},
                                                    line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::reduce_all";
  const detail::at_site here(where);
  return detail::reduce_by(call, dst, src, f, -1, of);
}
template <class Dst, class Src, detail::operator_of<detail::element_in<Src>> F>
requires detail::alike<Dst, Src> pending reduce(Dst&& dst, const Src& src, F f, int root, const team& of = {},
                                                line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::reduce";
  const detail::at_site here(where);
  if (root < 0 || root >= of.size()) [[unlikely]]
    throw error(call, "root", std::to_string(root),
                "must be a rank of the team, 0 to " + std::to_string(of.size() - 1));
  return detail::reduce_by(call, dst, src, f, root, of);
}

} // namespace weft
