// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/inquiries.hpp"
#include "progress/control/lock_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::control {

// The locks whose home is this rank: their memory, and the rank that waits for them, in the order in which
// the requests came. See locks.hpp. All of it is under progress ownership.
//
// Memory is taken from the local heap in slabs of 63 locks, a line each, and never given back: so a place
// where a lock was never becomes anything but another lock, and its serial tells the two apart. The first
// line of a slab is none: it is what a free of the heap's would be given.
template <transport::transport T> class lock_home {
public:
  // A lock goes to the waiter of the longest wait. While one of the host of the last holder waits too, that
  // one goes first, so that the data of the lock stay on the host; but no rank is overtaken so more often
  // than this.
  static constexpr std::uint32_t most_overtakings = 4;

  lock_home(T& net, heap_service<T>& heap, inquiries<T>& asked, const std::vector<std::uint32_t>& nodes)
      : net_(net), heap_(heap), asked_(asked), nodes_(nodes) {}

  lock_name allocate() {
    if (unused_.empty() && !add_slab()) return {};
    const std::uint64_t offset = unused_.back();
    unused_.pop_back();
    const std::uint32_t last = lock_word::read(net_.load(word_at(offset))).serial;
    const std::uint32_t serial = last == lock_word::most_serial ? 1 : last + 1;
    net_.store(word_at(offset), lock_word::make({serial, false, lock_word::no_rank}));
    return {net_.rank(), serial, offset};
  }

  bool has(std::uint64_t offset, std::uint64_t serial) {
    return is_line(offset) &&
           lock_word::read(net_.load(word_at(offset))).is(static_cast<std::uint32_t>(serial));
  }

  // Those that wait hear that it is gone. False if there is no such lock.
  bool free(std::uint64_t offset, std::uint64_t serial) {
    if (!has(offset, serial)) return false;
    const auto gone = lock_word::make({static_cast<std::uint32_t>(serial), false, lock_word::no_lock});
    std::uint64_t seen = net_.load(word_at(offset)); // a near thread may take it, or return it, meanwhile
    while (!net_.cas(word_at(offset), seen, gone)) {
    }
    if (const auto found = queues_.find(offset); found != queues_.end())
      refuse_all(found, {lock_status::no_lock});
    unused_.push_back(offset); // there is room
    return true;
  }

  // A rank that asks and holds it by the word has returned it with a message that is still on its way.
  void on_request(std::uint32_t from, const want_lock& r) {
    if (!is_line(r.offset)) return tell(from, r.id, {lock_status::no_lock});
    std::uint64_t seen = net_.load(word_at(r.offset));
    for (;;) {
      const lock_word::state s = lock_word::read(seen);
      if (!s.is(r.serial)) return tell(from, r.id, {lock_status::no_lock});
      if (s.holder == lock_word::no_rank && !s.waited) {
        if (net_.cas(word_at(r.offset), seen, lock_word::make({s.serial, false, from})))
          return tell(from, r.id, {});
        continue;
      }
      if (s.holder != lock_word::no_rank && heap_.lost(s.holder))
        return tell(from, r.id, {lock_status::holder_died, s.holder});
      if (r.only_try != 0) return tell(from, r.id, {lock_status::busy, s.holder});
      if (s.waited || net_.cas(word_at(r.offset), seen, lock_word::make({s.serial, true, s.holder})))
        return let_wait(from, r, s.holder);
    }
  }

  // The word is the home's alone to change while it is passing, or held by a rank that cannot reach it.
  void on_request(std::uint32_t from, const return_lock& r) {
    if (!has(r.offset, r.serial)) return; // freed meanwhile
    const lock_word::state s = lock_word::read(net_.load(word_at(r.offset)));
    if (r.by_word != 0 ? s.passing() : s.holder == from) pass_on(r.offset, from);
  }

  // Of a rank that cannot reach it.
  void on_request(std::uint32_t from, const control::unlock& r) {
    if (!has(r.offset, r.serial)) return tell(from, r.id, {lock_status::no_lock});
    const std::uint32_t holder = lock_word::read(net_.load(word_at(r.offset))).holder;
    if (holder != from) return tell(from, r.id, {lock_status::not_held, holder});
    pass_on(r.offset, from);
    tell(from, r.id, {});
  }

  void on_request(std::uint32_t from, const free_lock& r) {
    tell(from, r.id, {free(r.offset, r.serial) ? lock_status::done : lock_status::no_lock});
  }

  // The rank is dead, and heap_service knows it.
  void lose(std::uint32_t rank) {
    for (auto at = queues_.begin(); at != queues_.end();) {
      const auto here = at++;
      const lock_word::state s = lock_word::read(net_.load(word_at(here->first)));
      if (s.holder == rank)
        refuse_all(here, {lock_status::holder_died, rank});
      else if (s.passing()) // perhaps by a message that will not come
        pass_on(here->first, rank);
    }
  }

  // Those for which a rank waits, for a report.
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (const auto& [offset, waiters] : queues_) {
      std::string text = "the lock at " + place(offset) + ", " + holder_text(net_.load(word_at(offset)));
      text += waiters.size() == 1 ? "; awaited by thread" : "; awaited by threads";
      for (std::size_t k = 0; k < waiters.size(); ++k)
        text += (k == 0 ? " " : ", ") + std::to_string(waiters[k].rank);
      all.push_back(std::move(text));
    }
    return all;
  }
  static std::string holder_text(std::uint64_t word) {
    const std::uint32_t holder = lock_word::read(word).holder;
    return holder == lock_word::no_rank ? "about to be passed on"
                                        : "held by thread " + std::to_string(holder);
  }

private:
  static constexpr std::uint64_t line = 64, lines = 64;
  struct waiter {
    std::uint32_t rank = 0, overtaken = 0;
    std::uint64_t id = 0; // of its inquiry
  };
  using queue = std::deque<waiter>;
  using queue_map = std::unordered_map<std::uint64_t, queue>;

  engine::word& word_at(std::uint64_t offset) {
    return *reinterpret_cast<engine::word*>(net_.segment() + offset);
  }
  bool is_line(std::uint64_t offset) const {
    const auto behind = slabs_.upper_bound(offset);
    if (behind == slabs_.begin()) return false;
    const std::uint64_t at = offset - *std::prev(behind);
    return at != 0 && at % line == 0 && at < line * lines;
  }
  bool add_slab() {
    unused_.reserve((slabs_.size() + 1) * (lines - 1)); // so that a free needs none
    std::set<std::uint64_t> fresh{0};
    auto entry = fresh.extract(fresh.begin());
    const std::uint64_t slab = heap_.allocate_local(line * lines);
    if (slab == 0) return false;
    entry.value() = slab;
    slabs_.insert(std::move(entry));
    for (std::uint64_t k = lines - 1; k != 0; --k) {
      net_.store(word_at(slab + k * line), lock_word::make({0, false, lock_word::no_lock}));
      unused_.push_back(slab + k * line);
    }
    return true;
  }

  void let_wait(std::uint32_t from, const want_lock& r, std::uint32_t holder) {
    try {
      queues_[r.offset].push_back({from, 0, r.id});
    } catch (const std::bad_alloc&) {
      tell(from, r.id, {lock_status::no_memory});
    }
    if (holder == lock_word::no_rank)
      pass_on(r.offset, from); // before the message of the rank that has returned it
  }

  // To the next one behind `last`, or to no rank.
  void pass_on(std::uint64_t offset, std::uint32_t last) {
    const std::uint32_t serial = lock_word::read(net_.load(word_at(offset))).serial;
    const auto found = queues_.find(offset);
    if (found != queues_.end())
      std::erase_if(found->second, [&](const waiter& w) { return heap_.lost(w.rank); });
    if (found == queues_.end() || found->second.empty()) {
      if (found != queues_.end()) queues_.erase(found);
      return net_.store(word_at(offset), lock_word::make({serial, false, lock_word::no_rank}));
    }
    const waiter next = take_next(found->second, last);
    const bool more = !found->second.empty();
    if (!more) queues_.erase(found);
    net_.store(word_at(offset), lock_word::make({serial, more, next.rank}));
    tell(next.rank, next.id, {});
  }

  waiter take_next(queue& q, std::uint32_t holder) {
    auto next = q.begin();
    if (next->overtaken < most_overtakings && nodes_[next->rank] != nodes_[holder])
      if (const auto near =
              std::ranges::find(q, nodes_[holder], [&](const waiter& w) { return nodes_[w.rank]; });
          near != q.end())
        next = near;
    if (next != q.begin()) ++q.front().overtaken;
    const waiter taken = *next;
    q.erase(next);
    return taken;
  }

  void refuse_all(typename queue_map::iterator at, const lock_outcome& why) {
    const queue refused = std::move(at->second);
    queues_.erase(at);
    for (const waiter& w : refused)
      if (!heap_.lost(w.rank)) tell(w.rank, w.id, why);
  }
  void tell(std::uint32_t peer, std::uint64_t id, const lock_outcome& o) {
    asked_.answer(peer, id, {static_cast<std::uint64_t>(o.status), {o.holder, 0}});
  }

  T& net_;
  heap_service<T>& heap_;
  inquiries<T>& asked_;
  const std::vector<std::uint32_t> nodes_; // by rank of the job
  std::set<std::uint64_t> slabs_;
  std::vector<std::uint64_t> unused_;
  queue_map queues_; // by the offset of the lock; of those for which a rank waits
};

} // namespace weft::control
