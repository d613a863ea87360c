// SPDX-License-Identifier: BSD-3-Clause
// What a lane asks of the library, by collective.
#include "mpi/shim/lane.hpp"

#include <upc_collective.h>

#include <algorithm>
#include <numeric>

namespace weft::mpi {

namespace {

constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;

// Others reach these bytes where they are.
bool are_reached(const std::byte* first, std::size_t bytes) {
  return bytes != 0 && weft_lend(first).phase == 0 && weft_lend(first + bytes - 1).phase == 0;
}

// The same, of a call's operand of which these are a part: counted. Few bytes are copied sooner than looked
// at.
bool are_in_place(const std::byte* first, std::size_t bytes, std::size_t part) {
  if (part < least_lent || !are_reached(first, bytes)) return false;
  bytes_in_place.fetch_add(part, std::memory_order_relaxed);
  return true;
}

weft_movement_t movement_of(collective what) {
  switch (what) {
  case collective::bcast:
    return WEFT_MOVE_BROADCAST;
  case collective::gather:
    return WEFT_MOVE_GATHER;
  case collective::scatter:
    return WEFT_MOVE_SCATTER;
  case collective::allgather:
    return WEFT_MOVE_GATHER_ALL;
  default:
    return WEFT_MOVE_EXCHANGE;
  }
}

} // namespace

void lane::start(const operation& op, piece& p) {
  const call& c = op.c;
  if (p.in == nullptr) return start_by_blocks(c, p);
  p.in->live.push_back({p.begin, p.begin + p.length, p.lent, false});
  p.is = piece::state::posted;
  if (p.found) return start_found(c, p);
  if (combines(c.what)) return start_vectors(c, p);
  if (p.lent) return lend(c, p);
  if (by_blocks(c.what)) {
    write_slots(c, p);
  } else {
    stage(c, p);
    copy_own(c, p);
  }
  const upc_flag_t how = mode | (p.shared ? UPC_IN_PLACE : 0);
  const std::uint64_t to = p.got;
  // In place an all-gather has one array.
  const std::uint64_t from = p.shared && c.what == collective::allgather ? to : p.given;
  switch (c.what) {
  case collective::barrier:
    p.handle = cray_upc_team_barrier_nb(team_);
    break;
  case collective::bcast:
    p.handle = upc_all_broadcast_team(at(0, to), at(c.root, from), p.bytes, how, team_);
    break;
  case collective::gather:
  case collective::gatherv:
    p.handle = upc_all_gather_team(at(c.root, to), at(0, from), p.bytes, how, team_);
    break;
  case collective::scatter:
  case collective::scatterv:
    p.handle = upc_all_scatter_team(at(0, to), at(c.root, from), p.bytes, how, team_);
    break;
  case collective::allgather:
  case collective::allgatherv:
    p.handle = upc_all_gather_all_team(at(0, to), at(0, from), p.bytes, how, team_);
    break;
  default: // alltoall, alltoallv, alltoallw
    p.handle = upc_all_exchange_team(at(0, to), at(0, from), p.bytes, mode, team_);
  }
}

// Of each member its own operands: where the program has them, if those that a block goes to or comes from
// reach it there, or get it in a message; else in its ring.
void lane::start_found(const call& c, piece& p) {
  auto* const dst = reinterpret_cast<upc_shared_ptr_t*>(memory_of(rank_, p.at));
  upc_shared_ptr_t* const src = dst + THREADS;
  const auto each = static_cast<std::size_t>(size());
  // In place what is given is overwritten.
  const bool overwritten = c.what == collective::alltoall && c.in == c.out;
  const bool gives_own = !overwritten && are_in_place(c.in, c.in_blocks * c.bytes, c.in_blocks * p.bytes);
  p.to_program = are_in_place(c.out, c.out_blocks * c.bytes, c.out_blocks * p.bytes);
  const auto near = [&](int member) { return member != rank_ && is_reached(member); };
  const auto near_takes = [&](std::size_t k) {
    if (c.what == collective::gather) return near(c.root);
    if (differ(c.what)) return near(static_cast<int>(k));
    int member = 0;
    while (member != size() && !near(member))
      ++member;
    return member != size();
  };
  for (std::size_t k = 0; k != c.in_blocks; ++k) {
    const std::byte* const from = c.in + k * c.bytes + p.from;
    const bool own = differ(c.what) && static_cast<int>(k) == rank_;
    const bool there = gives_own || (!on_one_host_ && (own || (!overwritten && !near_takes(k))));
    if (!there) copy_block(memory_of(rank_, p.given) + k * p.bytes, from, p.bytes);
    src[c.in_blocks == each ? threads_[k] : 0] = there ? weft_lend(from) : at(rank_, p.given + k * p.bytes);
  }
  for (std::size_t k = 0; k != c.out_blocks; ++k)
    dst[c.out_blocks == each ? threads_[k] : 0] = brings(c, p, static_cast<int>(k))
                                                      ? at(rank_, p.got + k * p.bytes)
                                                      : weft_lend(c.out + k * c.bytes + p.from);
  // The root's block for itself stays where it is, if the program does not get it.
  if (c.out_blocks == 0 && c.in_blocks != 0)
    dst[0] = src[c.in_blocks == each ? threads_[static_cast<std::size_t>(rank_)] : 0];
  upc_shared_ptr_t first = area_, second = area_;
  first.addr += p.at;
  second.addr = first.addr + static_cast<std::uint64_t>(THREADS) * sizeof *dst;
  p.handle = weft_all_move_x(movement_of(c.what), first, second, p.bytes, c.root, mode, team_);
}

// The library takes vectors from where they are, and puts results there. Where no other member is on its host
// it copies none that is short, wherever it is.
void lane::start_vectors(const call& c, piece& p) {
  const std::size_t elements = p.bytes / c.unit;
  const auto aligned = [](const std::byte* b) {
    return reinterpret_cast<std::uintptr_t>(b) % alignof(std::max_align_t) == 0;
  };
  const bool alone = alone_ && p.bytes <= message_;
  const auto left = [&](const std::byte* first, std::size_t bytes, std::size_t part) {
    return first != nullptr && aligned(first) && (alone || are_in_place(first, bytes, part));
  };
  const bool gives_own = left(c.in, c.bytes, p.bytes);
  const bool scatters = is_scattered(c.what);
  const std::span<std::byte> part = scatters ? scattered_to(c, p) : std::span<std::byte>();
  // In place what is scattered would lie among elements that are still read.
  p.to_program = !(scatters && c.in == c.out) &&
                 left(scatters ? part.data() : c.out, c.out_bytes, scatters ? part.size() : p.bytes);
  if (!gives_own) stage(c, p);
  const upc_shared_ptr_t from = gives_own ? weft_lend(c.in + p.from) : at(rank_, p.given);
  const upc_shared_ptr_t to = !p.to_program ? at(rank_, p.got)
                              : gives_own && c.in == c.out
                                  ? UPC_SHARED_NULL
                                  : weft_lend(scatters ? part.data() : c.out + p.from);
  switch (c.what) {
  case collective::reduce:
    cray_upc_team_reduce(to, from, elements, c.element, c.op, c.root, team_, &p.handle);
    break;
  case collective::allreduce:
    cray_upc_team_allreduce(to, from, elements, c.element, c.op, team_, &p.handle);
    break;
  case collective::scan:
    cray_upc_team_scan(to, from, elements, c.element, c.op, team_, &p.handle);
    break;
  case collective::exscan:
    cray_upc_team_exscan(to, from, elements, c.element, c.op, team_, &p.handle);
    break;
  default: { // reduce_scatter
    const std::span each(c.elements, threads_.size());
    const bool equal = p.bytes == c.bytes && std::ranges::count(each, each[0]) == std::ssize(each);
    if (equal)
      cray_upc_team_reduce_scatter(to, from, each[0], c.element, c.op, team_, &p.handle);
    else
      cray_upc_team_reduce_scatterv(to, from, clipped(c, p).data(), c.element, c.op, team_, &p.handle);
  }
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

// Where the program wants what a piece has of its own block.
std::span<std::byte> lane::scattered_to(const call& c, const piece& p) const {
  const auto me = static_cast<std::size_t>(rank_);
  const std::size_t block = std::accumulate(c.elements, c.elements + me, std::size_t{0}) * c.unit;
  const std::size_t from = std::max(block, p.from),
                    end = std::min(block + c.elements[me] * c.unit, p.from + p.bytes);
  return {c.out + (from - block), end - std::min(from, end)};
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
  const std::uint64_t from = p.got, to = from + line;
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
