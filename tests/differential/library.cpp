#include "tests/differential/library.hpp"

namespace differential {

namespace {

using pointer = upc_shared_ptr_t;

upc_flag_t mode_of(const call& c) {
  static constexpr int in[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
  static constexpr int out[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
  upc_flag_t mode = c.hints;
  if (c.say_in) mode |= in[static_cast<int>(c.in)];
  if (c.say_out) mode |= out[static_cast<int>(c.out)];
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

} // namespace

unsigned long long post(const call& c, upc_team_t team, const members& m, const arena& memory) {
  if (is_cray(c.what)) return post_cray(c, team, memory);
  if (is_x(c.what)) return post_x(c, team, memory);
  return post_regular(c, team, m, memory);
}

} // namespace differential
