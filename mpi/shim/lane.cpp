// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/lane.hpp"
#include "mpi/shim/carrier.hpp"

#include <upc_castable.h>
#include <weft/collective_x.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <utility>

namespace weft::mpi {

namespace {

// Held up by what other members still read, of which no completion tells.
constexpr std::uint64_t most_of_a_nap = 100'000;
void nap(std::uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

} // namespace

// The C library copies what is large past the caches.
void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t most = 128 << 10;
  if (bytes >= least_lent) bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
  for (std::size_t at = 0; at < bytes; at += most)
    std::memcpy(to + at, from + at, std::min(most, bytes - at));
}

bool operation::done() const {
  return std::ranges::all_of(pieces, [](const piece& p) { return p.is == piece::state::done; });
}

lane::lane(upc_team_t team, std::vector<std::uint32_t> threads, const memory& m)
    : team_(team), area_(m.area), threads_(std::move(threads)), areas_(threads_.size()),
      on_one_host_(m.on_one_host), least_found_(m.least_found),
      message_(m.on_one_host ? 0 : weft_message_bytes(team)), rank_(cray_upc_team_rank(team)),
      processes_(m.processes) {
  for (int member = 0; member != size(); ++member)
    areas_[static_cast<std::size_t>(member)] = static_cast<std::byte*>(upc_cast(at(member, 0)));
  alone_ = std::ranges::count_if(areas_, [](const std::byte* a) { return a != nullptr; }) == 1;
  for (std::size_t k = 0; k != m.rooms.size(); ++k) {
    ring r{.base = m.rooms[k].place, .size = m.rooms[k].size, .next = m.begin, .read = m.begin};
    for (int member = 0; on_one_host_ && member != size(); ++member)
      r.words.push_back(reinterpret_cast<std::atomic<std::uint64_t>*>(
          memory_of(member, m.words + k * sizeof(std::uint64_t))));
    if (on_one_host_) r.words[static_cast<std::size_t>(rank_)]->store(m.begin, std::memory_order_release);
    rings_.push_back(std::move(r));
  }
  const std::uint64_t slots = 2 * threads_.size() * sizeof(slot); // given and got
  has_slots_ =
      on_one_host_ && least_found_ == ~std::uint64_t{0} && slots * pieces_of_a_ring <= rings_.back().size;
}

lane::~lane() {
  carrier::forget(*this);
  if (team_ != UPC_TEAM_ALL) cray_upc_team_free(team_);
}

upc_shared_ptr_t lane::at(int member, std::uint64_t place) const {
  upc_shared_ptr_t p = area_;
  p.thread = threads_[static_cast<std::size_t>(member)];
  p.addr += place;
  return p;
}

std::byte* lane::memory_of(int member, std::uint64_t place) const {
  return areas_[static_cast<std::size_t>(member)] + place;
}

void lane::post(operation& op) {
  const turn mine(mutex_, needs_turn());
  op.on = this;
  keep();
  cut(op);
  for (piece& p : op.pieces)
    order_.push_back({&op, &p});
  while (post_next())
    ;
  if (posted_ == order_.size()) return;
  reap();
  if (posted_ == order_.size()) return;
  // It is asked once, or it would come again when all is posted and the program's calls take no turn.
  if (held_up_.load(std::memory_order_relaxed)) return;
  held_up_.store(true, std::memory_order_relaxed); // its thread comes behind look_after()
  carrier::look_after(*this);
}

bool lane::post_next() {
  if (posted_ == order_.size()) return false;
  const entry next = order_[posted_];
  if (next.part->in != nullptr && !next.part->in->fits(*next.part)) return false;
  start(*next.op, *next.part);
  ++posted_;
  return true;
}

void lane::stage(const call& c, const piece& p) {
  std::byte* const staged = memory_of(rank_, p.given);
  const std::optional<own_block> mine = own(c);
  const std::size_t left_out = mine && !mine->taken && !p.found ? mine->given : c.in_blocks;
  for (std::size_t k = 0; k != c.in_blocks; ++k)
    if (k != left_out)
      copy_block(staged + place_of_block(c, p, rank_, static_cast<int>(k)) * p.bytes,
                 c.in + k * c.bytes + p.from, p.bytes);
}

void lane::copy_own(const call& c, const piece& p) {
  const std::optional<own_block> mine = own(c);
  if (!mine || c.out_blocks == 0 || p.found) return;
  const std::byte* const from = c.in + mine->given * c.bytes + p.from;
  std::byte* const to = c.out + mine->got * c.bytes + p.from;
  if (from != to) copy_block(to, from, p.bytes);
}

const std::byte* lane::lent_by(int giver, const call& c, const piece& p) const {
  return memory_of(giver, p.at) + place_of_block(c, p, giver, rank_) * p.bytes;
}

// Does this member get such a block in its ring, or at another member? Else it comes to where the program
// wants it.
bool lane::brings(const call& c, const piece& p, int block) const {
  if (p.to_program) return false;
  const int giver = from_root(c.what) ? c.root : block;
  if (p.found) return on_one_host_ || (giver != rank_ && is_reached(giver));
  const std::optional<own_block> mine = own(c);
  return !mine || static_cast<std::size_t>(block) != mine->got;
}

// What this member gets comes to where the program wants it. False if some of it is not there yet.
bool lane::bring(const call& c, piece& p) {
  if (is_scattered(c.what) && !p.to_program) {
    const std::span<std::byte> to = scattered_to(c, p);
    const std::byte* const from = memory_of(rank_, p.got);
    copy_block(to.data(), from, to.size());
  }
  const auto blocks = is_scattered(c.what) ? 0 : static_cast<int>(c.out_blocks);
  // Each member begins behind itself: they do not all read at the same one.
  for (; p.brought < blocks; ++p.brought) {
    const int block = (rank_ + p.brought) % blocks;
    const auto number = static_cast<std::size_t>(block);
    if (!brings(c, p, block)) continue;
    std::byte* const to = c.out + number * c.bytes + p.from;
    if (!p.lent)
      copy_block(to, memory_of(rank_, p.got) + number * p.bytes, p.bytes);
    else if (!take(c, p, from_root(c.what) ? c.root : block, to))
      return false;
  }
  return true;
}

// In place the results of a reduce-scatter come to where its first elements are: not before all members have
// read these, in the pieces before it.
bool lane::ends_in_order(const call& c) {
  return is_scattered(c.what) && c.in == c.out;
}

bool lane::try_finish(const operation& op, piece& p) {
  const call& c = op.c;
  const bool first = &p == op.pieces.data() || (&p - 1)->is == piece::state::done;
  if (ends_in_order(c) && !first) return false;
  if (p.is != piece::state::posted || weft_test_handle(&p.handle) < 0) return false;
  // One may wait for what the other does on another member.
  const bool brought = by_blocks(c.what) ? take_blocks(c, p) : bring(c, p);
  if (!has_given(c, p) || !brought) return false;
  p.is = piece::state::done;
  by_kernel_ -= p.by_kernel;
  if (p.in == nullptr) return true;
  if (p.longest != 0) rooms_.push_back(p.room);
  p.in->leave(p);
  if (on_one_host_)
    p.in->words[static_cast<std::size_t>(rank_)]->store(p.in->read, std::memory_order_release);
  return true;
}

void lane::reap() {
  for (std::size_t k = 0; k != posted_; ++k)
    try_finish(*order_[k].op, *order_[k].part);
  compact();
}

// What is done leaves, and what has room now is posted.
void lane::compact() {
  std::size_t kept = 0;
  for (std::size_t k = 0; k != posted_; ++k)
    if (order_[k].part->is != piece::state::done) order_[kept++] = order_[k];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(kept),
               order_.begin() + static_cast<std::ptrdiff_t>(posted_));
  posted_ = kept;
  while (post_next())
    ;
}

bool lane::test(operation& op) {
  const turn mine(mutex_, needs_turn());
  bool finished = false, waiting = false;
  for (piece& p : op.pieces) {
    finished |= try_finish(op, p);
    waiting |= p.is == piece::state::waiting;
  }
  // A member that waits for this call may have to copy what another one could not read, of any call.
  if (waiting || (by_kernel_ != 0 && !op.done()))
    reap();
  else if (finished)
    compact();
  return op.done();
}

bool lane::list(const operation& op, std::vector<upc_coll_handle_t>& handles) {
  const turn mine(mutex_, needs_turn());
  const std::size_t before = handles.size();
  bool waits = true;
  const auto add = [&](const piece& p) {
    if (p.handle == UPC_HANDLE_COMPLETE)
      waits = false;
    else
      handles.push_back(p.handle);
  };
  for (const piece& p : op.pieces)
    if (p.is == piece::state::posted) {
      add(p);
      if (ends_in_order(op.c)) break;
    }
  // What holds it up comes first.
  if (handles.size() == before && posted_ != 0) add(*order_.front().part);
  return waits;
}

void wait_for_any(std::span<operation* const> operations, std::uint64_t nanoseconds) {
  thread_local std::vector<upc_coll_handle_t> handles;
  handles.clear();
  bool waits = true;
  for (const operation* const op : operations)
    waits &= op->on->list(*op, handles);
  if (!waits) {
    sched_yield();
    return;
  }
  if (!handles.empty()) {
    weft_waitany_for(static_cast<int>(handles.size()), handles.data(), nanoseconds);
    return;
  }
  nap(std::min(nanoseconds, most_of_a_nap));
}

bool lane::carry_one() {
  upc_coll_handle_t first = UPC_HANDLE_COMPLETE;
  {
    const std::lock_guard lock(mutex_);
    if (posted_ == order_.size()) {
      held_up_.store(false, std::memory_order_release);
      return false;
    }
    if (posted_ != 0) first = order_.front().part->handle;
  }
  if (first != UPC_HANDLE_COMPLETE)
    weft_waitany_for(1, &first, UINT64_MAX);
  else
    nap(most_of_a_nap);
  const std::lock_guard lock(mutex_);
  reap();
  const bool more = posted_ != order_.size();
  held_up_.store(more, std::memory_order_release);
  return more;
}

bool lane::quiet() {
  const turn mine(mutex_, needs_turn());
  reap();
  static_cast<void>(take_back_rooms(UINT64_MAX)); // none is kept
  for (ring& r : rings_)
    r.drop();
  return known_ == 0 && rooms_.empty() &&
         std::ranges::all_of(rings_, [](const ring& r) { return r.live.empty(); });
}

std::uint64_t lane::end() const {
  std::uint64_t last = 0;
  for (const ring& r : rings_)
    last = std::max(last, r.next);
  return whole_lines(last);
}

} // namespace weft::mpi
