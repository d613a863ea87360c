// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/issue.hpp"

#include "tests/calls/elements.hpp"

namespace calls {

upc_flag_t in_flag(sync in) {
  static constexpr int flags[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
  return flags[static_cast<int>(in)];
}
upc_flag_t out_flag(sync out) {
  static constexpr int flags[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
  return flags[static_cast<int>(out)];
}

namespace {

using pointer = upc_shared_ptr_t;

upc_flag_t mode_of(const call& c) {
  upc_flag_t mode = c.hints;
  if (c.say_in) mode |= in_flag(c.in);
  if (c.say_out) mode |= out_flag(c.out);
  if (c.async) mode |= UPC_ASYNC;
  if (c.own == in_place::root_block || c.own == in_place::flag_and_null || c.own == in_place::flag_and_same)
    mode |= UPC_IN_PLACE;
  return mode;
}

// The source or, in its place, what says that there is none.
pointer source_or_in_place(const call& c, pointer src, pointer dst) {
  switch (c.own) {
  case in_place::flag_and_null:
    return UPC_SHARED_NULL;
  case in_place::flag_and_same:
    return dst;
  case in_place::instead_of_source:
    return UPC_IN_PLACE_SRC;
  default:
    return src;
  }
}

using plain_call = upc_coll_handle_t (*)(pointer, pointer, size_t, upc_flag_t);
using team_call = upc_coll_handle_t (*)(pointer, pointer, size_t, upc_flag_t, upc_team_t);
struct regular_calls {
  plain_call plain;
  team_call team_name, team_overload;
};
constexpr regular_calls regular[] = {
    {upc_all_broadcast, upc_all_broadcast_team, upc_all_broadcast},
    {upc_all_scatter, upc_all_scatter_team, upc_all_scatter},
    {upc_all_gather, upc_all_gather_team, upc_all_gather},
    {upc_all_gather_all, upc_all_gather_all_team, upc_all_gather_all},
    {upc_all_exchange, upc_all_exchange_team, upc_all_exchange},
};

unsigned long long post_permute(const call& c, pointer dst, pointer src, pointer perm, upc_flag_t mode,
                                upc_team_t team) {
  switch (c.spelling) {
  case form::plain:
    return upc_all_permute(dst, src, perm, c.nbytes, mode);
  case form::team_name:
    return upc_all_permute_team(dst, src, perm, c.nbytes, mode, team);
  default:
    return upc_all_permute(dst, src, perm, c.nbytes, mode, team);
  }
}

unsigned long long post_regular(const call& c, upc_team_t team, const members& m, const arena& memory) {
  const pointer dst = memory.at(c.dst);
  const pointer src = source_or_in_place(c, memory.at(c.src), dst);
  const upc_flag_t mode = mode_of(c);
  if (c.what == kind::permute) return post_permute(c, dst, src, memory.at(c.perm_at, m[0]), mode, team);
  const regular_calls& calls = regular[static_cast<std::size_t>(c.what)];
  switch (c.spelling) {
  case form::plain:
    return calls.plain(dst, src, c.nbytes, mode);
  case form::team_name:
    return calls.team_name(dst, src, c.nbytes, mode, team);
  default:
    return calls.team_overload(dst, src, c.nbytes, mode, team);
  }
}

unsigned long long post_x(const call& c, upc_team_t team, const arena& memory) {
  const pointer dst = memory.at(c.dst_at, 0), sizes = memory.at(c.sizes_at, 0),
                perm = memory.at(c.perm_at, 0);
  const pointer src = source_or_in_place(c, memory.at(c.src_at, 0), dst);
  const upc_flag_t mode = mode_of(c);
  switch (c.what) {
  case kind::broadcast_x:
    return upc_all_broadcast_x(dst, memory.at(c.src), c.nbytes, mode, team);
  case kind::scatter_x:
    return upc_all_scatter_x(dst, src, sizes, mode, team);
  case kind::gather_x:
    return upc_all_gather_x(dst, src, sizes, mode, team);
  case kind::gather_all_x:
    return upc_all_gather_all_x(dst, src, sizes, mode, team);
  case kind::exchange_x:
    return upc_all_exchange_x(dst, src, sizes, mode, team);
  case kind::permute_x:
    return upc_all_permute_x(dst, src, perm, sizes, mode, team);
  default:
    return upc_all_permute_xi(dst, src, perm, sizes, mode, team);
  }
}

unsigned long long post_cray(const call& c, upc_team_t team, const arena& memory) {
  const pointer dst = memory.at(c.dst), src = memory.at(c.src);
  switch (c.what) {
  case kind::alltoall:
    cray_upc_team_alltoall(dst, src, c.nbytes, team);
    return UPC_COMPLETE_HANDLE;
  case kind::alltoall_nb:
    return cray_upc_team_alltoall_nb(dst, src, c.nbytes, team);
  default:
    return cray_upc_team_alltoall_nbi(dst, src, c.nbytes, team);
  }
}

unsigned long long post_array(const call& c, upc_team_t team, const arena& memory) {
  const pointer dst = memory.at(c.dst), src = source_or_in_place(c, memory.at(c.src), dst);
  return c.of->post(c, dst, src, c.what == kind::sort ? mode_of(c) & ~UPC_IN_PLACE : mode_of(c), team);
}

unsigned long long post_vector(const call& c, upc_team_t team, const arena& memory) {
  const auto me = static_cast<std::size_t>(MYTHREAD);
  const bool own = c.own != in_place::no;
  const pointer there = memory.at(c.dst_table[me]), dst = own ? UPC_SHARED_NULL : there;
  const pointer src = own ? there : memory.at(c.src_table[me]);
  const auto type = static_cast<cray_upc_dtype_t>(c.of->type);
  upc_handle_t handle = UPC_COMPLETE_HANDLE;
  upc_handle_t* const posted = c.async ? &handle : nullptr;
  const bool made = c.op >= first_of_program;
  const upc_op_t op = made ? c.of->make(c.op) : c.op;
  const std::vector<std::size_t> counts(c.sizes.begin(), c.sizes.end());
  switch (c.what) {
  case kind::team_allreduce:
    cray_upc_team_allreduce(dst, src, c.nelems, type, op, team, posted);
    break;
  case kind::team_scan:
    cray_upc_team_scan(dst, src, c.nelems, type, op, team, posted);
    break;
  case kind::team_exscan:
    cray_upc_team_exscan(dst, src, c.nelems, type, op, team, posted);
    break;
  case kind::team_reduce_scatter:
    if (c.blk_size != 0)
      cray_upc_team_reduce_scatter(dst, src, c.blk_size, type, op, team, posted);
    else
      cray_upc_team_reduce_scatterv(dst, src, counts.data(), type, op, team, posted);
    break;
  default:
    cray_upc_team_reduce(dst, src, c.nelems, type, op, static_cast<int>(c.root), team, posted);
  }
  if (made) cray_upc_op_free(op); // the operation keeps it
  return handle;
}

// A block of the arena, by the thread that calls: its size, and how far behind the arena's beginning.
struct ends {
  std::vector<std::size_t> nbytes;
  std::vector<std::ptrdiff_t> places;
};
template <class Number>
ends ends_of(const call& c, const members& m, const std::vector<place>& table, Number&& number) {
  ends all;
  for (const std::uint32_t t : m) {
    const std::size_t at = number(t);
    all.nbytes.push_back(c.sizes[at]);
    all.places.push_back(static_cast<std::ptrdiff_t>(table[at].offset));
  }
  return all;
}

unsigned long long post_unequal(const call& c, upc_team_t team, const members& m, const arena& memory) {
  const auto me = static_cast<std::uint32_t>(MYTHREAD);
  const std::size_t T = static_cast<std::size_t>(THREADS);
  const auto to_me = [=](std::uint32_t t) { return t * T + me; };
  const auto of_me = [=](std::uint32_t t) { return me * T + t; };
  const ends dst = ends_of(c, m, c.dst_table, to_me), src = ends_of(c, m, c.src_table, of_me);
  const pointer base = memory.at(0, me);
  upc_handle_t handle = UPC_COMPLETE_HANDLE;
  upc_handle_t* const posted = c.async ? &handle : nullptr;
  const int root = static_cast<int>(c.root);
  const std::uint32_t at_root = m[c.root];
  const bool own = c.own != in_place::no;
  switch (c.what) {
  case kind::team_alltoallv:
    cray_upc_team_alltoallv(base, dst.nbytes.data(), dst.places.data(), base, src.nbytes.data(),
                            src.places.data(), team, posted);
    break;
  case kind::team_allgatherv:
    cray_upc_team_allgatherv(base, dst.nbytes.data(), dst.places.data(),
                             own ? UPC_SHARED_NULL : memory.at(c.src_table[of_me(me)]), src.nbytes[0], team,
                             posted);
    break;
  case kind::team_gatherv:
    cray_upc_team_gatherv(base, dst.nbytes.data(), dst.places.data(),
                          own && me == at_root ? UPC_SHARED_NULL : memory.at(c.src_table[of_me(at_root)]),
                          c.sizes[of_me(at_root)], root, team, posted);
    break;
  default:
    cray_upc_team_scatterv(own && me == at_root ? UPC_SHARED_NULL : memory.at(c.dst_table[to_me(at_root)]),
                           c.sizes[to_me(at_root)], base, src.nbytes.data(), src.places.data(), root, team,
                           posted);
  }
  return handle;
}

// The forms of the text, without flags.
unsigned long long run_one_sided(const call& c, pointer dst, pointer src) {
  using form = void (*)(pointer, pointer, std::size_t);
  static constexpr form moves[] = {weft::upc_broadcast, weft::upc_scatter, weft::upc_gather,
                                   weft::upc_gather_all, weft::upc_exchange};
  using reduction = void (*)(pointer, pointer, upc_type_t, upc_op_t);
  static constexpr reduction reductions[] = {weft::upc_reduce, nullptr, weft::upc_prefix_reduce,
                                             weft::upc_xprefix_reduce};
  if (is_array(c.what))
    reductions[static_cast<int>(c.what) - static_cast<int>(kind::reduce)](dst, src, UPC_UINT64, c.op);
  else
    moves[static_cast<int>(c.what)](dst, src, c.nbytes);
  return UPC_HANDLE_COMPLETE;
}

template <class Among>
unsigned long long post_one_sided(const call& c, pointer dst, pointer src, Among those) {
  const upc_flag_t flags = c.async ? UPC_ASYNC : 0;
  switch (c.what) {
  case kind::broadcast:
    return weft::upc_broadcast(dst, src, c.nbytes, those, flags);
  case kind::scatter:
    return weft::upc_scatter(dst, src, c.nbytes, those, flags);
  case kind::gather:
    return weft::upc_gather(dst, src, c.nbytes, those, flags);
  case kind::gather_all:
    return weft::upc_gather_all(dst, src, c.nbytes, those, flags);
  case kind::exchange:
    return weft::upc_exchange(dst, src, c.nbytes, those, flags);
  case kind::reduce:
    return weft::upc_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.blk_size, those, flags);
  case kind::prefix_reduce:
    return weft::upc_prefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.blk_size, those, flags);
  default:
    return weft::upc_xprefix_reduce(dst, src, UPC_UINT64, c.op, c.nelems, c.blk_size, those, flags);
  }
}

unsigned long long post_by_one(const call& c, upc_team_t team, const members& m, const arena& memory) {
  const pointer dst = memory.at(c.dst), src = memory.at(c.src);
  if (c.spelling == form::plain) return run_one_sided(c, dst, src);
  if (c.spelling != form::list) return post_one_sided(c, dst, src, team);
  const std::vector<int> threads(m.begin(), m.end());
  return post_one_sided(c, dst, src, std::span<const int>(threads));
}

} // namespace

unsigned long long post(const call& c, upc_team_t team, const members& m, const arena& memory) {
  if (c.one_sided()) return post_by_one(c, team, m, memory);
  if (is_array(c.what)) return post_array(c, team, memory);
  if (is_vector(c.what)) return post_vector(c, team, memory);
  if (is_unequal(c.what)) return post_unequal(c, team, m, memory);
  if (is_cray(c.what)) return post_cray(c, team, memory);
  if (is_x(c.what)) return post_x(c, team, memory);
  return post_regular(c, team, m, memory);
}

} // namespace calls
