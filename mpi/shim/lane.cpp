#include "mpi/shim/lane.hpp"

#include <upc_castable.h>
#include <upc_collective.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t pieces_of_a_ring = 3; // that are under way together, of a call that is cut
constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line - 1) / line * line;
}

// The most that a member has of it: the same on all.
std::uint64_t most_in(collective what, std::uint64_t members) {
  return what == collective::scatter || what == collective::alltoall ? members : what != collective::barrier;
}
std::uint64_t most_out(collective what, std::uint64_t members) {
  const bool all =
      what == collective::gather || what == collective::allgather || what == collective::alltoall;
  return all ? members : what != collective::barrier;
}

// Posts for calls that are held up, while the program is elsewhere.
class carrier {
public:
  void look_after(lane& l) {
    const std::lock_guard lock(mutex_);
    held_up_.insert(&l);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    wakes_.notify_one();
  }
  void forget(lane& l) {
    std::unique_lock lock(mutex_);
    held_up_.erase(&l);
    idle_.wait(lock, [&] { return busy_with_ != &l; });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      wakes_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wakes_.wait(lock, [this] { return over_ || !held_up_.empty(); });
      if (over_) return;
      for (lane* const l : std::vector<lane*>(held_up_.begin(), held_up_.end())) {
        if (over_ || !held_up_.contains(l)) continue;
        busy_with_ = l;
        lock.unlock();
        const bool again = l->carry_one();
        lock.lock();
        busy_with_ = nullptr;
        idle_.notify_all();
        if (!again) held_up_.erase(l);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wakes_, idle_;
  std::set<lane*> held_up_;
  lane* busy_with_ = nullptr;
  bool over_ = false;
  std::thread thread_;
};

carrier& the_carrier() {
  static carrier& one = *new carrier; // a program may end with it under way
  return one;
}

} // namespace

void stop_carrier() {
  the_carrier().stop();
}

bool operation::done() const {
  return std::ranges::all_of(pieces, [](const piece& p) { return p.is == piece::state::done; });
}

std::uint64_t ring::take(std::uint64_t length) {
  if (next % size + length > size) next += size - next % size;
  return std::exchange(next, next + length);
}

bool ring::fits(const piece& p) const {
  return live.empty() || p.begin + p.length - live.front().begin <= size;
}

void ring::leave(const piece& p) {
  for (extent& e : live)
    if (e.begin == p.begin) e.done = true;
  while (!live.empty() && live.front().done)
    live.pop_front();
}

lane::lane(upc_team_t team, std::vector<std::uint32_t> threads, upc_shared_ptr_t area,
           const std::vector<room>& rooms)
    : team_(team), area_(area), threads_(std::move(threads)), rank_(cray_upc_team_rank(team)) {
  for (const room& r : rooms)
    rings_.push_back({r.place, r.size, 0, {}});
}

lane::~lane() {
  the_carrier().forget(*this);
  if (team_ != UPC_TEAM_ALL) cray_upc_team_free(team_);
}

upc_shared_ptr_t lane::at(int member, std::uint64_t place) const {
  upc_shared_ptr_t p = area_;
  p.thread = threads_[static_cast<std::size_t>(member)];
  p.addr += place;
  return p;
}

void lane::cut(operation& op) {
  const auto members = static_cast<std::uint64_t>(size());
  const call& c = op.c;
  const std::uint64_t blocks = most_in(c.what, members) + most_out(c.what, members);
  const auto length = [&](std::size_t bytes) {
    return whole_lines(most_in(c.what, members) * bytes) + whole_lines(most_out(c.what, members) * bytes);
  };
  const auto of = std::ranges::find_if(
      rings_, [&](const ring& r) { return length(c.bytes) * pieces_of_a_ring <= r.size; });
  ring& r = of == rings_.end() ? rings_.back() : *of;
  std::size_t most = c.bytes;
  if (of == rings_.end()) most = (r.size / pieces_of_a_ring - 2 * line) / blocks / c.unit * c.unit;
  op.pieces.clear();
  std::size_t from = 0;
  do {
    const std::size_t bytes = std::min(most, c.bytes - from);
    piece p{.from = from, .bytes = bytes, .in = &r, .length = length(bytes)};
    p.begin = r.take(p.length);
    op.pieces.push_back(p);
    from += bytes;
  } while (from < c.bytes);
}

void lane::post(operation& op) {
  const std::lock_guard lock(mutex_);
  op.on = this;
  cut(op);
  for (piece& p : op.pieces)
    order_.push_back({&op, &p});
  while (post_next())
    ;
  if (posted_ == order_.size()) return;
  reap();
  if (posted_ != order_.size()) the_carrier().look_after(*this);
}

bool lane::post_next() {
  if (posted_ == order_.size()) return false;
  const entry next = order_[posted_];
  if (!next.part->in->fits(*next.part)) return false;
  start(*next.op, *next.part);
  ++posted_;
  return true;
}

// Behind the room for what a member gives.
std::uint64_t lane::place_of_results(const call& c, const piece& p) const {
  return p.in->place(p.begin) + whole_lines(most_in(c.what, static_cast<std::uint64_t>(size())) * p.bytes);
}

void lane::start(const operation& op, piece& p) {
  const call& c = op.c;
  const std::uint64_t from = p.in->place(p.begin);
  const std::uint64_t to = place_of_results(c, p);
  auto* const staged = static_cast<std::byte*>(upc_cast(at(rank_, from)));
  for (std::size_t k = 0; k != c.in_blocks; ++k)
    std::memcpy(staged + k * p.bytes, c.in + k * c.bytes + p.from, p.bytes);
  p.in->live.push_back({p.begin, false});
  p.is = piece::state::posted;
  const std::size_t elements = p.bytes / c.unit;
  switch (c.what) {
  case collective::barrier:
    p.handle = cray_upc_team_barrier_nb(team_);
    break;
  case collective::bcast:
    p.handle = upc_all_broadcast_team(at(0, to), at(c.root, from), p.bytes, mode, team_);
    break;
  case collective::gather:
    p.handle = upc_all_gather_team(at(c.root, to), at(0, from), p.bytes, mode, team_);
    break;
  case collective::scatter:
    p.handle = upc_all_scatter_team(at(0, to), at(c.root, from), p.bytes, mode, team_);
    break;
  case collective::allgather:
    p.handle = upc_all_gather_all_team(at(0, to), at(0, from), p.bytes, mode, team_);
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
  }
}

void lane::finish(const operation& op, piece& p) {
  const call& c = op.c;
  const std::uint64_t to = place_of_results(c, p);
  if (c.out_blocks != 0) {
    const auto* const staged = static_cast<const std::byte*>(upc_cast(at(rank_, to)));
    for (std::size_t k = 0; k != c.out_blocks; ++k)
      std::memcpy(c.out + k * c.bytes + p.from, staged + k * p.bytes, p.bytes);
  }
  p.is = piece::state::done;
  p.in->leave(p);
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
  const std::lock_guard lock(mutex_);
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

bool lane::carry_one() {
  upc_coll_handle_t first = UPC_HANDLE_COMPLETE;
  {
    const std::lock_guard lock(mutex_);
    if (posted_ == order_.size()) return false;
    if (posted_ != 0) first = order_.front().part->handle;
  }
  weft_wait_handle(&first);
  const std::lock_guard lock(mutex_);
  reap();
  return posted_ != order_.size();
}

} // namespace weft::mpi
