#include "tests/modes/functions.hpp"

#include <array>

namespace modes {
namespace {

constexpr function plain(const char* name, operation op, pattern shape, bool slices) {
  return {.name = name, .op = op, .kind = family::plain, .shape = shape, .slices = slices};
}
constexpr function extended(const char* name, operation op, pattern shape, bool slices,
                            bool scalar_size = false) {
  return {.name = name,
          .op = op,
          .kind = family::extended,
          .shape = shape,
          .slices = slices,
          .scalar_size = scalar_size};
}
constexpr function in_place(function f, const char* name) {
  f.name = name;
  f.in_place = true;
  return f;
}
constexpr function fixed(const char* name, operation op, family kind, bool slices, out_mode out) {
  return {.name = name,
          .op = op,
          .kind = kind,
          .shape = pattern::all_pairs,
          .slices = slices,
          .has_modes = false,
          .fixed_out = out};
}

constexpr function exchange = plain("upc_all_exchange", operation::exchange, pattern::all_pairs, true);
constexpr function gather_all = plain("upc_all_gather_all", operation::gather_all, pattern::all_pairs, false);
constexpr function permute = plain("upc_all_permute", operation::permute, pattern::permuted, false);
constexpr function exchange_x = extended("upc_all_exchange_x", operation::exchange, pattern::all_pairs, true);
constexpr function gather_all_x =
    extended("upc_all_gather_all_x", operation::gather_all, pattern::all_pairs, false);
constexpr function permute_x = extended("upc_all_permute_x", operation::permute, pattern::permuted, false);

constexpr std::array all{
    plain("upc_all_broadcast", operation::broadcast, pattern::from_root, false),
    plain("upc_all_scatter", operation::scatter, pattern::from_root, true),
    plain("upc_all_gather", operation::gather, pattern::to_root, false),
    gather_all,
    exchange,
    permute,
    extended("upc_all_broadcast_x", operation::broadcast, pattern::from_root, false, true),
    extended("upc_all_scatter_x", operation::scatter, pattern::from_root, true),
    extended("upc_all_gather_x", operation::gather, pattern::to_root, false),
    gather_all_x,
    exchange_x,
    permute_x,
    in_place(gather_all, "upc_all_gather_all in place"),
    in_place(exchange, "upc_all_exchange in place"),
    in_place(permute, "upc_all_permute in place"),
    in_place(gather_all_x, "upc_all_gather_all_x in place"),
    in_place(exchange_x, "upc_all_exchange_x in place"),
    in_place(permute_x, "upc_all_permute_x in place"),
    fixed("cray_upc_team_alltoall", operation::alltoall, family::cray, true, out_mode::all),
    fixed("cray_upc_team_alltoall_nb", operation::alltoall_nb, family::cray, true, out_mode::local),
    fixed("cray_upc_team_alltoall_nbi", operation::alltoall_nbi, family::cray, true, out_mode::local),
    fixed("upc_barrier", operation::barrier, family::barrier, false, out_mode::all),
    fixed("upc_notify and upc_wait", operation::split_barrier, family::barrier, false, out_mode::all),
    fixed("cray_upc_team_barrier", operation::team_barrier, family::barrier, false, out_mode::all),
    fixed("cray_upc_team_barrier_nb", operation::team_barrier_nb, family::barrier, false, out_mode::all),
};

} // namespace

std::span<const function> functions() {
  return all;
}

int flow::permuted(int rank) const {
  if (turn % 3 == 0) return (rank + 1) % threads;
  if (turn % 3 == 1) return threads - 1 - rank;
  return (rank ^ 1) < threads ? rank ^ 1 : rank;
}

bool flow::sends(int i, int j) const {
  switch (what.shape) {
  case pattern::from_root:
    return i == root;
  case pattern::to_root:
    return j == root;
  case pattern::all_pairs:
    return true;
  case pattern::permuted:
    return permuted(i) == j;
  }
  return false;
}

int flow::destination_blocks() const {
  return what.shape == pattern::to_root || what.shape == pattern::all_pairs ? threads : 1;
}

// In place, what a rank gives to all lies where it will receive its own.
int flow::source_block(int i, int j) const {
  if (what.slices) return j;
  return what.in_place && what.shape == pattern::all_pairs ? i : 0;
}

int flow::destination_block(int i) const {
  return destination_blocks() == 1 ? 0 : i;
}

int flow::sender(int j, int k) const {
  for (int i = 0; i < threads; ++i)
    if (sends(i, j) && destination_block(i) == k) return i;
  return -1;
}

} // namespace modes
