// SPDX-License-Identifier: BSD-3-Clause
// What a lane asks of the library, by collective.
#include "mpi/shim/lane.hpp"

#include <upc_collective.h>

#include <algorithm>

namespace weft::mpi {

namespace {

constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;

} // namespace

void lane::start(const operation& op, piece& p) {
  const call& c = op.c;
  if (by_blocks(c.what)) return start_by_blocks(c, p);
  stage(c, p);
  p.in->live.push_back({p.begin, p.begin + p.length, p.lent, false});
  p.is = piece::state::posted;
  const upc_flag_t how = mode | (shares(c) ? UPC_IN_PLACE : 0);
  const std::uint64_t to = place_of_results(c, p);
  // In place an all-gather has one array.
  const std::uint64_t from = shares(c) && c.what == collective::allgather ? to : place_of_given(c, p);
  if (p.lent) return signal(c, p);
  const std::size_t elements = p.bytes / c.unit;
  switch (c.what) {
  case collective::barrier:
    p.handle = cray_upc_team_barrier_nb(team_);
    break;
  case collective::bcast:
    p.handle = upc_all_broadcast_team(at(0, to), at(c.root, from), p.bytes, how, team_);
    break;
  case collective::gather:
    p.handle = upc_all_gather_team(at(c.root, to), at(0, from), p.bytes, how, team_);
    break;
  case collective::scatter:
    p.handle = upc_all_scatter_team(at(0, to), at(c.root, from), p.bytes, how, team_);
    break;
  case collective::allgather:
    p.handle = upc_all_gather_all_team(at(0, to), at(0, from), p.bytes, how, team_);
    break;
  case collective::alltoall:
    p.handle = upc_all_exchange_team(at(0, to), at(0, from), p.bytes, mode, team_);
    break;
  case collective::reduce:
    cray_upc_team_reduce(at(rank_, to), at(rank_, from), elements, c.element, c.op, c.root, team_, &p.handle);
    break;
  case collective::allreduce:
    cray_upc_team_allreduce(at(rank_, to), at(rank_, from), elements, c.element, c.op, team_, &p.handle);
    break;
  case collective::scan:
    cray_upc_team_scan(at(rank_, to), at(rank_, from), elements, c.element, c.op, team_, &p.handle);
    break;
  case collective::exscan:
    cray_upc_team_exscan(at(rank_, to), at(rank_, from), elements, c.element, c.op, team_, &p.handle);
    break;
  default: // reduce_scatter
    cray_upc_team_reduce_scatterv(at(rank_, to), at(rank_, from), clipped(c, p).data(), c.element, c.op,
                                  team_, &p.handle);
  }
}

// What a piece has of the block of each rank, in elements.
std::vector<std::size_t> lane::clipped(const call& c, const piece& p) const {
  std::vector<std::size_t> counts(threads_.size());
  const std::size_t begin = p.from / c.unit, end = begin + p.bytes / c.unit;
  std::size_t block = 0;
  for (std::size_t k = 0; k != counts.size(); ++k) {
    const std::size_t next = block + c.elements[k], from = std::max(begin, block), to = std::min(end, next);
    counts[k] = from < to ? to - from : 0;
    block = next;
  }
  return counts;
}

void lane::start_by_blocks(const call& c, piece& p) {
  p.is = piece::state::posted;
  const staged_blocks &in = *c.given, &out = *c.taken;
  const auto of_root = [&](const staged_blocks& s) { return s.bytes.empty() ? std::size_t{0} : s.bytes[0]; };
  switch (c.what) {
  case collective::allgatherv:
    cray_upc_team_allgatherv(out.at, out.bytes.data(), out.places.data(), in.at, of_root(in), team_,
                             &p.handle);
    break;
  case collective::gatherv:
    cray_upc_team_gatherv(out.at, out.bytes.data(), out.places.data(), in.at, of_root(in), c.root, team_,
                          &p.handle);
    break;
  case collective::scatterv:
    cray_upc_team_scatterv(out.bytes.empty() ? UPC_SHARED_NULL : out.at, of_root(out), in.at, in.bytes.data(),
                           in.places.data(), c.root, team_, &p.handle);
    break;
  default:
    cray_upc_team_alltoallv(out.at, out.bytes.data(), out.places.data(), in.at, in.bytes.data(),
                            in.places.data(), team_, &p.handle);
  }
}

// Tells the members that read that their blocks lie there.
void lane::signal(const call& c, piece& p) {
  const std::uint64_t from = place_of_results(c, p), to = from + line;
  switch (c.what) {
  case collective::bcast:
  case collective::scatter:
    p.handle = upc_all_broadcast_team(at(0, to), at(c.root, from), sizeof(token), mode, team_);
    break;
  case collective::gather:
    p.handle = upc_all_gather_team(at(c.root, to), at(0, from), sizeof(token), mode, team_);
    break;
  default:
    p.handle = upc_all_gather_all_team(at(0, to), at(0, from), sizeof(token), mode, team_);
  }
}

} // namespace weft::mpi
