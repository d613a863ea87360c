// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/full_fence.hpp"
#include "engine/memory/ring_list.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::progress {

// "I sleep, ring me": how a rank that waits for a store in shared memory sleeps without missing it, and how
// the others find out that they have to ring. A store alone wakes no rank, and a ring costs microseconds.
//
// Words, both in memory that all ranks of the host map, both zero at first
//   word       one per rank: 1 while it sleeps or is about to; written by that rank only, by one thread at a
//              time (the one that may block on the rank's doorbell)
//   sleepers   one per host: how many words are 1; each rank adds and removes itself
//
//   sleeper                                      signaller
//     announce():  count and word up               store the data
//                  full fence                      needs_ring():  full fence
//     look for data once more                                     sleepers == 0 ? no
//     nothing: block until rung                                   word == 0 ? no : ring
//     cancel():    word and count down
//
// This is Dekker's pattern: each side stores, fences, and reads what the other has stored. The fences are
// sequentially consistent, hence one of them comes first, and the side whose fence comes second sees the
// other's store: the sleeper sees the data, or the signaller sees the sleeper. Acquire and release would
// allow both to miss (a store may wait in the store buffer while the next load is served).
//
// The flag carries no data: a rank that finds the data acquires it from the signal itself. Everything else is
// therefore relaxed.
//
// Every signaller that finds the flag rings, although one would do: if the first could claim the ring and was
// then stopped or died, no other would wake the sleeper. The surplus rings are absorbed by the doorbell.
// For the same reason a rank that dies asleep does no harm: its count stays up and costs the others the
// look at one more word.
//
// Lifetime: a view; the words outlive it.
class sleep_flag {
public:
  sleep_flag(std::atomic<std::uint32_t>& word, std::atomic<std::uint32_t>& sleepers) noexcept
      : word_{&word}, sleepers_{&sleepers} {}

  // The sleeper, before it looks for the last time. Must not be announced already.
  void announce() noexcept {
    sleepers_->fetch_add(1, std::memory_order_relaxed);
    word_->store(1, std::memory_order_relaxed);
    engine::full_fence();
  }

  // The sleeper, when it is awake again or found something at the last look.
  void cancel() noexcept {
    word_->store(0, std::memory_order_relaxed);
    sleepers_->fetch_sub(1, std::memory_order_relaxed);
  }

  // A signaller, after the store of the data. When all are awake this reads the host's word alone.
  [[nodiscard]] bool needs_ring() const noexcept {
    engine::full_fence();
    return needs_ring_after_fence();
  }

  // The same for a signaller of several ranks: it stores all the data, calls full_fence() once, and then
  // asks for each.
  [[nodiscard]] bool needs_ring_after_fence() const noexcept {
    return sleepers_->load(std::memory_order_relaxed) != 0 && word_->load(std::memory_order_relaxed) != 0;
  }

private:
  std::atomic<std::uint32_t>* word_;
  std::atomic<std::uint32_t>* sleepers_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the words are shared between processes");

// The owner's side of a list of what a rank waits for.
template <class T> class ring_list_writer {
public:
  ring_list_writer(T& net, engine::ring_list& list) : net_(&net), list_(&list) {}

  // Nothing is listed.
  void clear() {
    if (count_ == 0 && complete_) return;
    count_ = 0;
    complete_ = true;
    net_->store(list_->state, ++version_ << engine::ring_list::count_bits);
  }
  void add(std::uint32_t rank, std::uint64_t offset, std::uint64_t value) {
    if (count_ + added_ == engine::ring_list::most) return give_up();
    engine::ring_list::entry& e = list_->entries[count_ + added_++];
    net_->store(e.where, engine::ring_list::place{rank, offset}.packed());
    net_->store(e.value, value);
  }
  // A group of nothing is no group: the rank waits for something else.
  void end_group() {
    if (added_ == 0) return;
    engine::word& where = list_->entries[count_ + added_ - 1].where;
    net_->store(where, net_->load(where) | 1);
    count_ += std::exchange(added_, 0);
  }
  // A group that has come already: there is something to do now.
  void add_ready(std::uint32_t rank) {
    add(rank, 0, 0);
    end_group();
  }
  // There is something to wait for that cannot be listed: the rank looks for itself, now and then.
  void give_up() { complete_ = false; }
  // What was added is to be seen.
  void publish() { net_->store(list_->state, version_ << engine::ring_list::count_bits | count_); }

  bool any() const { return count_ != 0; }
  bool complete() const { return complete_; }

private:
  T* net_;
  engine::ring_list* list_;
  std::uint64_t version_ = 0;
  std::uint32_t count_ = 0, added_ = 0;
  bool complete_ = true;
};

// Has a group of the list come? `base` finds the segment of a rank of the host.
template <class T, class Base>
bool has_come(T& net, engine::ring_list& list, std::uint64_t state, Base&& base) {
  bool whole = true; // so far, of this group
  for (std::uint32_t k = 0; k < engine::ring_list::count_in(state); ++k) {
    const auto at = engine::ring_list::place::of(net.load(list.entries[k].where));
    const std::uint64_t value = net.load(list.entries[k].value);
    if (whole && value != 0) {
      std::byte* const segment = base(at.rank);
      if (net.load(list.state) != state || segment == nullptr) return false; // the place may be no place
      whole = net.load(*reinterpret_cast<engine::word*>(segment + at.offset)) >= value;
    }
    if (!at.last) continue;
    if (whole) return net.load(list.state) == state;
    whole = true;
  }
  return false;
}

// The processes of this host whose sleep must be ended by a ring, because a store into shared memory wakes
// no process. The protocol is that of sleep_flag; its two fences are the transport's light one
// (signaller, on every signal) and heavy one (sleeper), which together order as two full ones do.
template <class T> class neighbours {
public:
  explicit neighbours(T& net) : net_(net) {}

  // `ranks` are the ranks of the job on this host in rank order, this one included.
  void meet(const std::vector<std::uint32_t>& ranks) {
    auto header = [this](std::uint32_t rank) {
      std::byte* base = rank == net_.rank() ? net_.segment() : net_.direct(rank);
      if (base == nullptr)
        throw std::runtime_error("the memory of rank " + std::to_string(rank) +
                                 " on this node is out of reach");
      return reinterpret_cast<engine::segment_header*>(base);
    };
    sleepers_ = &header(ranks.front())->sleepers;
    for (std::uint32_t rank : ranks) {
      if (rank == net_.rank())
        mine_.emplace(header(rank)->sleeping, *sleepers_), waits_.emplace(net_, header(rank)->waits_for);
      else
        others_.push_back({rank, sleep_flag(header(rank)->sleeping, *sleepers_), header(rank)->waits_for});
    }
  }

  // After facts were stored: rings the ranks that sleep. If none does, it costs a light fence and a load.
  [[gnu::always_inline]] unsigned wake() {
    if (others_.empty()) return 0;
    net_.light_fence();
    if (sleepers_->load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return ring_sleepers();
  }

  // Rings the ranks that are away and can go on: see ring_list.hpp. True if there were any.
  bool ring_ready() {
    bool rung = false;
    for (other& o : others_) {
      std::uint64_t state = net_.load(o.waits_for.state);
      if (engine::ring_list::count_in(state) == 0) [[likely]]
        continue;
      rung |= ring_if_ready(o, state);
    }
    return rung;
  }
  // What this rank itself waits for.
  ring_list_writer<T>& waits() { return *waits_; }
  // Has something of it come?
  bool can_go_on() {
    engine::ring_list& mine = own()->waits_for;
    return has_come(net_, mine, net_.load(mine.state), segments());
  }
  bool any_asleep() const { return sleepers_->load(std::memory_order_relaxed) != 0; }

  bool met() const { return mine_.has_value(); }
  // This process is about to sleep: from here on the others ring. Look once more before sleeping.
  void announce() {
    mine_->announce();
    net_.heavy_fence();
  }
  void cancel() { mine_->cancel(); }

private:
  struct other {
    std::uint32_t rank;
    sleep_flag flag;
    engine::ring_list& waits_for;
  };

  engine::segment_header* own() { return reinterpret_cast<engine::segment_header*>(net_.segment()); }
  auto segments() {
    return [this](std::uint32_t rank) { return rank == net_.rank() ? net_.segment() : net_.direct(rank); };
  }
  [[gnu::noinline]] unsigned ring_sleepers() {
    unsigned rung = 0;
    for (other& o : others_) {
      if (!o.flag.needs_ring_after_fence()) continue;
      net_.ring(o.rank);
      ++rung;
    }
    return rung;
  }
  [[gnu::noinline]] bool ring_if_ready(other& o, std::uint64_t state) {
    if (!has_come(net_, o.waits_for, state, segments())) return false;
    const std::uint64_t rung = state & ~std::uint64_t{(1u << engine::ring_list::count_bits) - 1};
    for (std::uint64_t seen = state; seen == state;)
      if (net_.cas(o.waits_for.state, seen, rung)) {
        net_.ring(o.rank);
        return true;
      }
    return false;
  }

  T& net_;
  std::atomic<std::uint32_t>* sleepers_ = nullptr;
  std::optional<sleep_flag> mine_;
  std::optional<ring_list_writer<T>> waits_;
  std::vector<other> others_;
};

} // namespace weft::progress
