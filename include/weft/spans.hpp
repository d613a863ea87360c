// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "span_operands.hpp"

#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

// Collectives on spans. Counts are elements. Every call posts the operation and returns what completes it;
// the modes are UPC_IN_MYSYNC and UPC_OUT_MYSYNC: until it is complete, dst is not read, and neither is
// changed or ends.
//
//   weft::array<double> a(n * weft::team().size()), b(a.size());
//   weft::pending transpose = weft::exchange(b, a);
//   compute();
//   transpose.wait();
//
// Operands are of two kinds, by their type, so that all ranks agree. weft::arrays, and what a.part(offset,
// count) gives of them, lie at the same place on all ranks, and their blocks are moved in one copy. Any other
// contiguous range, std::vector, std::span, a part of a.local(), is the calling rank's own: it may be
// ordinary memory or shared, at another place on each rank, and which of them may differ from rank to rank. A
// call all of whose operands are arrays on one rank has arrays on all; WEFT_CHECK=1 finds it where not.
//
// What of the second kind is ordinary memory: blocks up to 2 KiB go from it and to it, and between ranks that
// are alone on their hosts blocks and vectors that go in messages. Of others the source is copied into the shared heap when the call posts; the destination is written where it is. Both
// vectors of a reduction are copied, the result when the operation completes. A call whose longest source has
// 8 MiB or more goes in up to 16 pieces: the first three are copied by the post, the others while those
// before them travel, so that it takes the room of three. weft::exchange_v copies its source whole.
// weft_statistic("bytes_staged") says how much was copied. With WEFT_MALLOC=1 large memory of std::vector and
// its like is shared, and not copied. Operands stay until the operation is complete.
//
// The last argument is a team, all ranks by default; blocks are in the order of its ranks. What lies on one
// rank alone is named by it: a.on(root), or by a rank of the team behind the spans.
//
// Errors of all: spans of lengths that do not go together; two that overlap; no room in the shared heap for
// what is copied; and those of the call of upc_collective.h that it stands for. WEFT_CHECK=1 finds lengths
// that are not the same on all ranks.
namespace weft {

// Block i of src goes to rank i, and block j of dst comes from rank j: MPI_Ialltoall. The lengths are equal,
// and a multiple of the team's size.
template <class Dst, class Src>
requires detail::alike<Dst, Src>
[[gnu::always_inline]] inline pending exchange(Dst&& dst, const Src& src, const team& of = {},
                                               line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "src", std::ranges::size(src), of);
  detail::require_same(call, "dst", std::ranges::size(dst), std::ranges::size(src));
  if constexpr (!detail::of_arrays<Dst, Src>)
    return detail::move_own(call, detail::moved_spans::exchange, detail::own_operand(dst),
                            detail::own_operand(src), count * sizeof(detail::element_in<Src>), 0, of);
  const upc_shared_ptr_t to = detail::operand(call, "dst", dst, of),
                         from = detail::operand(call, "src", src, of);
  return pending(
      upc_all_exchange(to, from, count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}
// In place. What is no weft::array is copied first.
template <detail::destination Both>
pending exchange(Both&& both, const team& of = {}, line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "both", std::ranges::size(both), of);
  if constexpr (!detail::of_arrays<Both>) {
    const upc_shared_ptr_t at = detail::own_operand(both);
    return detail::move_own(call, detail::moved_spans::exchange, at, at,
                            count * sizeof(detail::element_in<Both>), 0, of);
  }
  const upc_shared_ptr_t at = detail::operand(call, "both", both, of);
  return pending(upc_all_exchange(at, at, count * sizeof(detail::element_in<Both>),
                                  detail::posted | static_cast<upc_flag_t>(UPC_IN_PLACE), of.handle()));
}

// Blocks of lengths of their own: src has src_counts[i] elements for rank i, one behind the other, and dst
// gets dst_counts[j] from rank j, likewise: MPI_Ialltoallv. Both are the calling rank's own, arrays too;
// counts have an element for each rank of the team, and are read before the call returns. Errors: other
// lengths than the sums of the counts; as cray_upc_team_alltoallv.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending exchange_v(Dst&& dst, std::span<const std::size_t> dst_counts,
                                                    const Src& src, std::span<const std::size_t> src_counts,
                                                    const team& of = {},
                                                    line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exchange_v";
  const detail::at_site here(where);
  const upc_shared_ptr_t to = detail::own_operand(dst), from = detail::own_operand(src);
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
requires detail::alike<Dst, Src>
[[gnu::always_inline]] inline pending gather_all(Dst&& dst, const Src& src, const team& of = {},
                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::gather_all";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "dst", std::ranges::size(dst), of);
  detail::require_same(call, "src", std::ranges::size(src), count);
  if constexpr (!detail::of_arrays<Dst, Src>)
    return detail::move_own(call, detail::moved_spans::gather_all, detail::own_operand(dst),
                            detail::own_operand(src), count * sizeof(detail::element_in<Src>), 0, of);
  const upc_shared_ptr_t to = detail::operand(call, "dst", dst, of),
                         from = detail::operand(call, "src", src, of);
  return pending(
      upc_all_gather_all(to, from, count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}

// dst of all ranks becomes what lies at src on one: weft::broadcast(b, a.on(root)).
template <detail::destination Dst>
pending broadcast(Dst&& dst, remote_span<detail::element_in<Dst>> src, const team& of = {},
                  line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::broadcast";
  const detail::at_site here(where);
  detail::require_same(call, "dst", std::ranges::size(dst), src.size());
  if constexpr (!detail::of_arrays<Dst>)
    return detail::move_own(call, detail::moved_spans::broadcast, detail::own_operand(dst),
                            detail::if_own(src), src.size() * sizeof(detail::element_in<Dst>),
                            detail::root_of(call, "src", src, of), of);
  return pending(upc_all_broadcast(detail::operand(call, "dst", dst, of), src.data(),
                                   src.size() * sizeof(detail::element_in<Dst>), detail::posted,
                                   of.handle()));
}
// In place: what the rank `root` of the team has in it, all have.
template <detail::destination Both>
pending broadcast(Both&& both, int root, const team& of = {}, line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::broadcast";
  const detail::at_site here(where);
  detail::require_root(call, root, of);
  if constexpr (!detail::of_arrays<Both>) {
    const upc_shared_ptr_t own = detail::own_operand(both);
    return detail::move_own(call, detail::moved_spans::broadcast, own,
                            of.rank() == root ? own : upc_shared_ptr_t{},
                            std::ranges::size(both) * sizeof(detail::element_in<Both>), root, of);
  }
  const upc_shared_ptr_t at = detail::operand(call, "both", both, of);
  return pending(upc_all_broadcast(at, {at.addr, static_cast<std::uint32_t>(of.thread(root)), 0},
                                   std::ranges::size(both) * sizeof(detail::element_in<Both>),
                                   detail::posted | static_cast<upc_flag_t>(UPC_IN_PLACE), of.handle()));
}

// Rank i gets block i of src, which lies on one rank: weft::scatter(part, whole.on(root)).
template <detail::destination Dst>
pending scatter(Dst&& dst, remote_span<detail::element_in<Dst>> src, const team& of = {},
                line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::scatter";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "src", src.size(), of);
  detail::require_same(call, "dst", std::ranges::size(dst), count);
  if constexpr (!detail::of_arrays<Dst>)
    return detail::move_own(call, detail::moved_spans::scatter, detail::own_operand(dst), detail::if_own(src),
                            count * sizeof(detail::element_in<Dst>), detail::root_of(call, "src", src, of),
                            of);
  return pending(upc_all_scatter(detail::operand(call, "dst", dst, of), src.data(),
                                 count * sizeof(detail::element_in<Dst>), detail::posted, of.handle()));
}
// The same of a span of the rank `root` of the team; on the others src is not looked at.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending scatter(Dst&& dst, const Src& src, int root, const team& of = {},
                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::scatter";
  const detail::at_site here(where);
  detail::require_root(call, root, of);
  const bool mine = of.rank() == root;
  const std::size_t count = std::ranges::size(dst);
  if (mine)
    detail::require_same(call, "dst", count, detail::block_of(call, "src", std::ranges::size(src), of));
  return detail::move_own(call, detail::moved_spans::scatter, detail::own_operand(dst),
                          mine ? detail::own_operand(src) : upc_shared_ptr_t{},
                          count * sizeof(detail::element_in<Src>), root, of);
}
// Block i of dst, which lies on one rank, comes from rank i: weft::gather(whole.on(root), part).
template <detail::span_like Src>
pending gather(remote_span<detail::element_in<Src>> dst, const Src& src, const team& of = {},
               line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::gather";
  const detail::at_site here(where);
  const std::size_t count = detail::block_of(call, "dst", dst.size(), of);
  detail::require_same(call, "src", std::ranges::size(src), count);
  if constexpr (!detail::of_arrays<Src>)
    return detail::move_own(call, detail::moved_spans::gather, detail::if_own(dst), detail::own_operand(src),
                            count * sizeof(detail::element_in<Src>), detail::root_of(call, "dst", dst, of),
                            of);
  return pending(upc_all_gather(dst.data(), detail::operand(call, "src", src, of),
                                count * sizeof(detail::element_in<Src>), detail::posted, of.handle()));
}

// The same into a span of the rank `root` of the team; on the others dst is not looked at.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending gather(Dst&& dst, const Src& src, int root, const team& of = {},
                                                line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::gather";
  const detail::at_site here(where);
  detail::require_root(call, root, of);
  const bool mine = of.rank() == root;
  const std::size_t count = std::ranges::size(src);
  if (mine)
    detail::require_same(call, "src", count, detail::block_of(call, "dst", std::ranges::size(dst), of));
  return detail::move_own(call, detail::moved_spans::gather,
                          mine ? detail::own_operand(dst) : upc_shared_ptr_t{}, detail::own_operand(src),
                          count * sizeof(detail::element_in<Src>), root, of);
}

// src of each rank goes to dst of the rank `to` of the team; each rank has another one.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending permute(Dst&& dst, const Src& src, int to, const team& of = {},
                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::permute";
  const detail::at_site here(where);
  detail::require_same(call, "dst", std::ranges::size(dst), std::ranges::size(src));
  detail::require_rank(call, "to", to, of);
  return detail::move_own(call, detail::moved_spans::permute, detail::own_operand(dst),
                          detail::own_operand(src), std::ranges::size(src) * sizeof(detail::element_in<Src>),
                          to, of);
}
// The same of what `to` has on the rank.
template <class Dst, class Src>
requires detail::alike<Dst, Src> pending permute(Dst&& dst, const Src& src, const array<int>& to,
                                                 const team& of = {},
                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::permute";
  const detail::at_site here(where);
  if constexpr (!detail::of_arrays<Dst, Src>) return permute(dst, src, to[0], of, where);
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
  return detail::reduce_by(call, dst, src, f, detail::on_all, of);
}
template <class Dst, class Src, detail::operator_of<detail::element_in<Src>> F>
requires detail::alike<Dst, Src> pending reduce(Dst&& dst, const Src& src, F f, int root, const team& of = {},
                                                line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::reduce";
  const detail::at_site here(where);
  detail::require_root(call, root, of);
  return detail::reduce_by(call, dst, src, f, root, of);
}

// Scans: element i of dst becomes what f makes of the elements i of src of the ranks up to the calling one
// (MPI_Iscan), or before it (MPI_Iexscan); there dst of rank 0 is left as it is. All else is as with
// reduce_all.
template <class Dst, class Src, detail::operator_of<detail::element_in<Src>> F>
requires detail::alike<Dst, Src> pending prefix_reduce(Dst&& dst, const Src& src, const F& f,
                                                       const team& of = {},
                                                       line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::prefix_reduce";
  const detail::at_site here(where);
  return detail::reduce_by(call, dst, src, f, detail::of_prefix, of);
}
template <class Dst, class Src, detail::operator_of<detail::element_in<Src>> F>
requires detail::alike<Dst, Src> pending exclusive_prefix_reduce(Dst&& dst, const Src& src, const F& f,
                                                                 const team& of = {},
                                                                 line_of_call where = line_of_call::here()) {
  constexpr const char* call = "weft::exclusive_prefix_reduce";
  const detail::at_site here(where);
  return detail::reduce_by(call, dst, src, f, detail::of_exclusive_prefix, of);
}

} // namespace weft
