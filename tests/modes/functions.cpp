// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/functions.hpp"

namespace modes {
namespace {

using calls::kind;

constexpr function all[] = {
    {"upc_all_broadcast", kind::broadcast},
    {"upc_all_scatter", kind::scatter},
    {"upc_all_gather", kind::gather},
    {"upc_all_gather_all", kind::gather_all},
    {"upc_all_exchange", kind::exchange},
    {"upc_all_permute", kind::permute},
    {"upc_all_broadcast_x", kind::broadcast_x},
    {"upc_all_scatter_x", kind::scatter_x},
    {"upc_all_gather_x", kind::gather_x},
    {"upc_all_gather_all_x", kind::gather_all_x},
    {"upc_all_exchange_x", kind::exchange_x},
    {"upc_all_permute_x", kind::permute_x},
    {"upc_all_gather_all in place", kind::gather_all, true},
    {"upc_all_exchange in place", kind::exchange, true},
    {"upc_all_permute in place", kind::permute, true},
    {"upc_all_gather_all_x in place", kind::gather_all_x, true},
    {"upc_all_exchange_x in place", kind::exchange_x, true},
    {"upc_all_permute_x in place", kind::permute_x, true},
    {"cray_upc_team_alltoall", kind::alltoall},
    {"cray_upc_team_alltoall_nb", kind::alltoall_nb},
    {"cray_upc_team_alltoall_nbi", kind::alltoall_nbi},
    {"upc_barrier", kind::exchange, false, barrier::of_all},
    {"upc_notify and upc_wait", kind::exchange, false, barrier::split},
    {"cray_upc_team_barrier", kind::exchange, false, barrier::of_team},
    {"cray_upc_team_barrier_nb", kind::exchange, false, barrier::of_team_nb},
};

} // namespace

std::span<const function> functions() {
  return all;
}

out_mode function::fixed_out() const {
  return cray() && what != kind::alltoall ? out_mode::local : out_mode::all;
}

pattern function::shape() const {
  switch (what) {
  case kind::broadcast:
  case kind::scatter:
  case kind::broadcast_x:
  case kind::scatter_x:
    return pattern::from_root;
  case kind::gather:
  case kind::gather_x:
    return pattern::to_root;
  case kind::permute:
  case kind::permute_x:
  case kind::permute_xi:
    return pattern::permuted;
  default:
    return pattern::all_pairs;
  }
}

int flow::permuted(int rank) const {
  if (turn % 3 == 0) return (rank + 1) % threads;
  if (turn % 3 == 1) return threads - 1 - rank;
  return (rank ^ 1) < threads ? rank ^ 1 : rank;
}

bool flow::sends(int i, int j) const {
  switch (what.shape()) {
  case pattern::from_root:
    return i == root;
  case pattern::to_root:
    return j == root;
  case pattern::permuted:
    return permuted(i) == j;
  default:
    return true;
  }
}

} // namespace modes
