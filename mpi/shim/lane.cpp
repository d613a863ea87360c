// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/lane.hpp"
#include "mpi/shim/carrier.hpp"

#include <upc_castable.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::uint64_t pieces_of_a_ring = 3; // that are under way together, of a call that is cut

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line - 1) / line * line;
}

// What a member gives and gets at most, the same on all, and which members have a block for themselves.
struct blocks_of_call {
  enum blocks : std::uint8_t { none, one, for_each } given, got;
  enum members : std::uint8_t { no_member, root, all } own;
  bool from_root; // else from each member
};
constexpr blocks_of_call blocks_of_calls[] = {
    {blocks_of_call::none, blocks_of_call::none, blocks_of_call::no_member, false},   // barrier
    {blocks_of_call::one, blocks_of_call::one, blocks_of_call::no_member, true},      // bcast
    {blocks_of_call::one, blocks_of_call::for_each, blocks_of_call::root, false},     // gather
    {blocks_of_call::for_each, blocks_of_call::one, blocks_of_call::root, true},      // scatter
    {blocks_of_call::one, blocks_of_call::for_each, blocks_of_call::all, false},      // allgather
    {blocks_of_call::for_each, blocks_of_call::for_each, blocks_of_call::all, false}, // alltoall
    {blocks_of_call::one, blocks_of_call::one, blocks_of_call::no_member, false},     // reduce
    {blocks_of_call::one, blocks_of_call::one, blocks_of_call::no_member,
     false}, // allreduce, and those behind
};
const blocks_of_call& blocks_of(collective what) {
  return blocks_of_calls[static_cast<std::size_t>(std::min(what, collective::allreduce))];
}
std::uint64_t number(blocks_of_call::blocks b, std::uint64_t members) {
  return b == blocks_of_call::for_each ? members : std::uint64_t{b};
}
std::uint64_t most_in(collective what, std::uint64_t members) {
  return number(blocks_of(what).given, members);
}
std::uint64_t most_out(collective what, std::uint64_t members) {
  return number(blocks_of(what).got, members);
}

// The C library copies what is large past the caches, where another member finds it late.
void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t most = 128 << 10;
  if (bytes >= least_lent) bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
  for (std::size_t at = 0; at < bytes; at += most)
    std::memcpy(to + at, from + at, std::min(most, bytes - at));
}

// Held up by what other members still read, of which no completion tells.
constexpr std::uint64_t most_of_a_nap = 100'000;
void nap(std::uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

// Does a member give each another block?
bool differ(collective what) {
  return blocks_of(what).given == blocks_of_call::for_each;
}

} // namespace

bool operation::done() const {
  return std::ranges::all_of(pieces, [](const piece& p) { return p.is == piece::state::done; });
}

lane::lane(upc_team_t team, std::vector<std::uint32_t> threads, const memory& m)
    : team_(team), area_(m.area), threads_(std::move(threads)), areas_(threads_.size()),
      on_one_host_(m.on_one_host), least_found_(m.least_found), rank_(cray_upc_team_rank(team)) {
  for (int member = 0; member != size(); ++member)
    areas_[static_cast<std::size_t>(member)] = static_cast<std::byte*>(upc_cast(at(member, 0)));
  for (std::size_t k = 0; k != m.rooms.size(); ++k) {
    ring r{.base = m.rooms[k].place, .size = m.rooms[k].size, .next = m.begin, .read = m.begin};
    for (int member = 0; on_one_host_ && member != size(); ++member)
      r.words.push_back(reinterpret_cast<std::atomic<std::uint64_t>*>(
          memory_of(member, m.words + k * sizeof(std::uint64_t))));
    if (on_one_host_) r.words[static_cast<std::size_t>(rank_)]->store(m.begin, std::memory_order_release);
    rings_.push_back(std::move(r));
  }
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

// Such blocks are read where they lie.
bool lane::lends(const call& c) const {
  return on_one_host_ && c.bytes >= least_lent && !combines(c.what) && !finds(c);
}

// A side of fewer bytes the program has in small allocations, which others do not reach.
bool lane::finds(const call& c) const {
  if (!on_one_host_ || combines(c.what) || by_blocks(c.what) || c.what == collective::barrier) return false;
  const std::size_t least_blocks = c.what == collective::alltoall ? threads_.size() : 1;
  return c.bytes >= least_lent && c.bytes * least_blocks >= least_found_;
}

// For pointers to a block of each thread, on both sides.
std::uint64_t lane::bytes_of_rows(const call& c) const {
  return finds(c) ? whole_lines(2 * static_cast<std::uint64_t>(THREADS) * sizeof(upc_shared_ptr_t)) : 0;
}

// Between hosts a member's own block of the results lies where it has given it: no one copies it there.
bool lane::shares(const call& c) const {
  return !on_one_host_ && c.bytes >= least_lent && c.what >= collective::bcast &&
         c.what <= collective::allgather;
}

// What a member has room for. Its own block is not lent.
std::uint64_t lane::blocks_given(const call& c) const {
  return most_in(c.what, static_cast<std::uint64_t>(size())) - (lends(c) && differ(c.what) ? 1 : 0);
}

// Of what member `giver` gives, the one for member `taker`.
std::size_t lane::place_of_block(const call& c, int giver, int taker) const {
  if (!differ(c.what)) return 0;
  return static_cast<std::size_t>(lends(c) && taker > giver ? taker - 1 : taker);
}

std::uint64_t lane::length(const call& c, std::size_t bytes) const {
  const auto members = static_cast<std::uint64_t>(size());
  if (shares(c)) return whole_lines(std::max(blocks_given(c), most_out(c.what, members)) * bytes);
  const std::uint64_t given = bytes_of_rows(c) + whole_lines(blocks_given(c) * bytes);
  const std::uint64_t rest =
      lends(c) ? line + whole_lines(members * sizeof(token)) : whole_lines(most_out(c.what, members) * bytes);
  return std::max(given + rest, line); // each has a place of its own
}

void lane::cut(operation& op) {
  const auto members = static_cast<std::uint64_t>(size());
  const call& c = op.c;
  if (by_blocks(c.what)) { // staged elsewhere
    op.pieces.assign(1, {});
    return;
  }
  const bool lent = lends(c);
  const std::uint64_t whole = length(c, c.bytes);
  const auto of =
      std::ranges::find_if(rings_, [&](const ring& r) { return whole * pieces_of_a_ring <= r.size; });
  ring& r = of == rings_.end() ? rings_.back() : *of;
  std::size_t most = c.bytes;
  if (of == rings_.end()) {
    const std::uint64_t given = blocks_given(c), got = lent ? 0 : most_out(c.what, members);
    const std::uint64_t blocks = shares(c) ? std::max(given, got) : given + got;
    const std::uint64_t rest = length(c, 0) + 2 * line;
    most = (r.size / pieces_of_a_ring - rest) / blocks / c.unit * c.unit;
  }
  op.pieces.clear();
  std::size_t from = 0;
  do {
    const std::size_t bytes = std::min(most, c.bytes - from);
    piece p{.from = from,
            .bytes = bytes,
            .lent = lent,
            .found = finds(c),
            .in = &r,
            .length = bytes == c.bytes ? whole : length(c, bytes)};
    p.begin = r.take(p.length);
    op.pieces.push_back(p);
    from += bytes;
  } while (from < c.bytes);
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

// Of what a member gives: in what it shares with the results, in front or at the block of the root or its
// own.
std::uint64_t lane::place_of_given(const call& c, const piece& p) const {
  const int before = !shares(c)                        ? 0
                     : c.what == collective::gather    ? c.root
                     : c.what == collective::allgather ? rank_
                                                       : 0;
  return p.in->place(p.begin) + bytes_of_rows(c) + static_cast<std::uint64_t>(before) * p.bytes;
}

// Behind the room for what a member gives, or in it.
std::uint64_t lane::place_of_results(const call& c, const piece& p) const {
  const std::uint64_t begin = p.in->place(p.begin) + bytes_of_rows(c);
  if (!shares(c)) return begin + whole_lines(blocks_given(c) * p.bytes);
  return begin + (c.what == collective::scatter ? static_cast<std::uint64_t>(c.root) * p.bytes : 0);
}

std::optional<own_block> lane::own(const call& c) const {
  using b = blocks_of_call;
  const b& of = blocks_of(c.what);
  if (of.own == b::no_member || (of.own == b::root && rank_ != c.root)) return std::nullopt;
  const auto mine = static_cast<std::size_t>(rank_);
  return own_block{of.given == b::for_each ? mine : 0, of.got == b::for_each ? mine : 0,
                   of.given == b::one && of.own == b::all};
}

void lane::stage(const call& c, const piece& p) {
  std::byte* const staged = memory_of(rank_, place_of_given(c, p));
  const std::optional<own_block> mine = own(c);
  const std::size_t left_out = mine && !mine->taken && !p.found ? mine->given : c.in_blocks;
  for (std::size_t k = 0; k != c.in_blocks; ++k)
    if (k != left_out)
      copy(staged + place_of_block(c, rank_, static_cast<int>(k)) * p.bytes, c.in + k * c.bytes + p.from,
           p.bytes);
  if (!mine || c.out_blocks == 0 || p.found) return;
  const std::byte* const from = c.in + mine->given * c.bytes + p.from;
  std::byte* const to = c.out + mine->got * c.bytes + p.from;
  if (from != to) copy(to, from, p.bytes);
}

const std::byte* lane::lent_by(int giver, const call& c, const piece& p) const {
  return memory_of(giver, p.in->place(p.begin)) + place_of_block(c, giver, rank_) * p.bytes;
}

void lane::finish(const operation& op, piece& p) {
  const call& c = op.c;
  if (by_blocks(c.what)) {
    p.is = piece::state::done;
    return;
  }
  if (is_scattered(c.what) && !p.to_program) {
    const std::span<std::byte> to = scattered_to(c, p);
    const std::byte* const from = memory_of(rank_, place_of_results(c, p));
    copy(to.data(), from, to.size());
  }
  const auto blocks = is_scattered(c.what) || p.to_program ? 0 : static_cast<int>(c.out_blocks);
  const std::optional<own_block> mine = own(c);
  const bool of_root = blocks_of(c.what).from_root;
  // Each member begins behind itself: they do not all read at the same one.
  for (int j = 0; j != blocks; ++j) {
    const int block = (rank_ + j) % blocks;
    const auto number = static_cast<std::size_t>(block);
    if (!p.found && mine && number == mine->got) continue;
    const std::byte* const from = p.lent ? lent_by(of_root ? c.root : block, c, p)
                                         : memory_of(rank_, place_of_results(c, p)) + number * p.bytes;
    copy(c.out + number * c.bytes + p.from, from, p.bytes);
  }
  p.is = piece::state::done;
  p.in->leave(p);
  if (on_one_host_)
    p.in->words[static_cast<std::size_t>(rank_)]->store(p.in->read, std::memory_order_release);
}

bool lane::try_finish(const operation& op, piece& p) {
  if (p.is != piece::state::posted || weft_test_handle(&p.handle) < 0) return false;
  finish(op, p);
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
  if (waiting)
    reap();
  else if (finished)
    compact();
  return op.done();
}

void lane::list(const operation& op, std::vector<upc_coll_handle_t>& handles) {
  const turn mine(mutex_, needs_turn());
  const std::size_t before = handles.size();
  for (const piece& p : op.pieces)
    if (p.is == piece::state::posted) handles.push_back(p.handle);
  // What holds it up comes first.
  if (handles.size() == before && posted_ != 0) handles.push_back(order_.front().part->handle);
}

void wait_for_any(std::span<operation* const> operations, std::uint64_t nanoseconds) {
  thread_local std::vector<upc_coll_handle_t> handles;
  handles.clear();
  for (const operation* const op : operations)
    op->on->list(*op, handles);
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
  for (ring& r : rings_)
    r.drop();
  return known_ == 0 && std::ranges::all_of(rings_, [](const ring& r) { return r.live.empty(); });
}

std::uint64_t lane::end() const {
  std::uint64_t last = 0;
  for (const ring& r : rings_)
    last = std::max(last, r.next);
  return whole_lines(last);
}

} // namespace weft::mpi
