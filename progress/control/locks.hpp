// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/lock_home.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

namespace weft::control {

// Locks. Each has a home, a rank in whose memory its word lies (lock_calls.hpp), and whose engine keeps the
// queue of those that wait (lock_home.hpp).
//
// Which rank writes the word
//   free -> held        by CAS: a rank that reaches it by loads and stores (the home among them) for itself;
//   the home
//                       for the rank that asks it
//   held -> free        by CAS: the holder, if it reaches the word
//   held -> waited      by CAS: the home, when it lets the first one wait
//   waited -> passing   by CAS: the holder, if it reaches the word, before it tells the home
//   passing, or held by the rank that does not reach the word -> held or waited by the next in the queue, or
//   free
//                       by a store: the home, for no other rank changes it then
//   any -> no lock      by CAS: the home, when it is freed
//
// So a lock that no rank waits for costs those that reach it two CAS and no other rank anything. While a rank
// waits it is never free: no rank takes it past the queue. A rank that finds it held asks the home and waits
// for its answer; where cores are to spare it looks again a few times before. Far ranks always ask. A home
// that takes its own lock looks whether a rank asks: it may be that no other rank drives its engine.
//
// Orders
//   A CAS or store of the word that gives the lock away releases, one that takes it acquires; so does the
//   home in between, which loads the word with acquire (or serves the message of the holder) before it stores
//   it with release and answers. Messages order what was written before they were sent and what is read when
//   they have come. Before a message of this class goes out, or behind one that has come, there is a fence
//   too: memory that the ranks share beside the transport is not the transport's to order.
//
// Deaths: heap_service knows which rank is dead. A home answers all that wait for what a dead rank holds, and
// those that come later; a rank that waits for an answer of a dead home is released by inquiries.
template <transport::transport T> class lock_service final : public lock_calls {
public:
  using engine_type = progress::engine<T>;

  // `near` has the segments that are reached by loads and stores, by rank; null: not reached so. `nodes` says
  // which rank lives on which host.
  lock_service(engine_type& engine, heap_service<T>& heap, inquiries<T>& asked, std::vector<std::byte*> near,
               const std::vector<std::uint32_t>& nodes)
      : engine_(engine), net_(engine.net()), heap_(heap), asked_(asked),
        looks_(engine.options().idle.scarce ? 0 : std::min(engine.options().idle.spins, most_looks)),
        near_(std::move(near)), home_(engine.net(), heap, asked, nodes) {
    engine_.with_ownership(
        [&] { engine_.works().answers().others_wait_for([this] { return home_.texts(); }); });
  }

  lock_name allocate() override {
    lock_name made;
    engine_.with_ownership([&] { made = home_.allocate(); });
    return made;
  }

  // The homes of such locks go round the ranks.
  lock_name allocate_all() override {
    const std::uint32_t home = next_home_ % net_.size();
    const lock_name mine = home == net_.rank() ? allocate() : lock_name{};
    const std::uint64_t word = mine.offset / line << lock_word::serial_bits | mine.serial;
    std::uint64_t all = 0;
    ++next_home_;
    try {
      all = heap_.tell_all(word, home, {collectives::caller::lock_alloc, 0, graph::sync::my});
    } catch (const std::bad_alloc&) { // it has not begun, so the next one has this home, as elsewhere
      --next_home_;
      if (mine.serial != 0) engine_.with_ownership([&] { home_.free(mine.offset, mine.serial); });
      throw;
    }
    return {home, static_cast<std::uint32_t>(all & lock_word::most_serial),
            (all >> lock_word::serial_bits) * line};
  }

  lock_outcome lock(const lock_name& l) override { return take(l, false); }
  lock_outcome attempt(const lock_name& l) override { return take(l, true); }

  lock_outcome unlock(const lock_name& l) override {
    engine::word* const w = word_of(l);
    if (w != nullptr) {
      const lock_outcome known = leave(*w, l);
      if (known.status != lock_status::busy) return known;
    } else if (engine_.options().tuning.check) {
      return unlock_by_home(l);
    } else if (!forget(l)) {
      return {lock_status::not_held};
    }
    require_home(l);
    net_.fence();
    engine::until_there_is_memory("the return of a lock", [&] {
      engine_.with_ownership([&] {
        if (!asked_.hand_to(l.home, return_lock{l.offset, l.serial, w != nullptr})) throw std::bad_alloc();
      });
    });
    return {};
  }

  lock_outcome free(const lock_name& l) override {
    require_home(l);
    const lock_outcome said = outcome(asked_.ask(l.home, free_lock{.offset = l.offset, .serial = l.serial}));
    static_cast<void>(forget(l));
    return said;
  }

  // The home looks when it enters, tells all, and frees it when all have entered.
  lock_outcome free_all(const lock_name& l) override {
    const bool mine = l.home == net_.rank();
    bool there = false;
    if (mine) engine_.with_ownership([&] { there = home_.has(l.offset, l.serial); });
    const std::uint64_t said =
        heap_.tell_all(there, l.home, {collectives::caller::lock_free, l.offset, graph::sync::all, l.serial});
    static_cast<void>(forget(l));
    if (mine && there) engine_.with_ownership([&] { home_.free(l.offset, l.serial); });
    return {said != 0 ? lock_status::done : lock_status::no_lock};
  }

  // The rank is dead, and heap_service knows it. Any thread.
  void lose(std::uint32_t rank) {
    engine_.with_ownership([&] { home_.lose(rank); });
  }

  template <class Request>
  requires requires(lock_home<T>& h, const Request& r) { h.on_request(0u, r); }
  void on_request(std::uint32_t from, const Request& r) { home_.on_request(from, r); }

private:
  static constexpr std::uint64_t line = 64;
  static constexpr unsigned most_looks = 64;

  engine::word* word_of(const lock_name& l) const {
    return near_[l.home] == nullptr ? nullptr : reinterpret_cast<engine::word*>(near_[l.home] + l.offset);
  }

  lock_outcome take(const lock_name& l, bool only_try) {
    require_home(l);
    if (l.home == net_.rank() && net_.size() > 1) engine_.progress();
    engine::word* const w = word_of(l);
    if (w != nullptr) {
      const lock_outcome known = enter(*w, l, only_try);
      if (known.status != lock_status::busy || only_try) return known;
    } else if (holds(l)) {
      return is_gone(l) ? lock_outcome{lock_status::no_lock} : lock_outcome{lock_status::own};
    }
    held_locks::node_type entry = w == nullptr ? entry_of(l) : held_locks::node_type();
    const lock_outcome said = ask_home(l, only_try);
    net_.fence();
    if (said.status == lock_status::done && w == nullptr) remember(std::move(entry));
    return said;
  }

  lock_outcome ask_home(const lock_name& l, bool only_try) {
    const auto holder = [&] {
      const engine::word* const w = word_of(l);
      return w == nullptr ? std::string() : ", " + lock_home<T>::holder_text(net_.load(*w));
    };
    const want_lock r{.offset = l.offset, .serial = l.serial, .only_try = only_try ? 1u : 0u};
    return outcome(asked_.ask(l.home, r, holder));
  }
  // Of one that this rank holds and does not reach: a rank has freed it meanwhile.
  bool is_gone(const lock_name& l) { return ask_home(l, true).status == lock_status::no_lock && forget(l); }
  // Checked mode: it may have been freed, which only the home knows. Without an answer the home could not
  // tell that from a free behind the unlock, for the messages of two ranks pass each other.
  lock_outcome unlock_by_home(const lock_name& l) {
    require_home(l);
    net_.fence();
    held_locks::node_type entry = take_entry(l);
    try {
      return outcome(asked_.ask(l.home, control::unlock{.offset = l.offset, .serial = l.serial}));
    } catch (const std::bad_alloc&) { // it is not asked
      if (entry) remember(std::move(entry));
      throw;
    }
  }

  // By loads and stores; busy: another rank has it, or the home is to pass it on.
  lock_outcome enter(engine::word& w, const lock_name& l, bool only_try) {
    const std::uint64_t free = lock_word::make({l.serial, false, lock_word::no_rank});
    const std::uint64_t mine = lock_word::make({l.serial, false, net_.rank()});
    std::uint64_t seen = free;
    for (unsigned looks = only_try ? 0 : looks_; !net_.cas(w, seen, mine); seen = free) {
      const lock_word::state s = lock_word::read(seen);
      if (!s.is(l.serial)) return {lock_status::no_lock};
      if (s.holder == net_.rank()) return {lock_status::own};
      if (seen == free) continue;
      if (s.holder != lock_word::no_rank && heap_.lost(s.holder)) return {lock_status::holder_died, s.holder};
      if (s.waited || looks == 0) return {lock_status::busy, s.holder};
      wait_until_free(w, free, looks);
    }
    return {};
  }
  void wait_until_free(engine::word& w, std::uint64_t free, unsigned& looks) {
    for (; looks != 0 && net_.load(w) != free; --looks)
      net_.relax();
  }

  // Busy: a rank waits, so the home passes it on.
  lock_outcome leave(engine::word& w, const lock_name& l) {
    std::uint64_t seen = net_.load(w);
    for (;;) {
      const lock_word::state s = lock_word::read(seen);
      if (!s.is(l.serial)) return {lock_status::no_lock};
      if (s.holder != net_.rank()) return {lock_status::not_held, s.holder};
      if (net_.cas(w, seen, lock_word::make({l.serial, s.waited, lock_word::no_rank})))
        return {s.waited ? lock_status::busy : lock_status::done};
    }
  }

  static lock_outcome outcome(const typename inquiries<T>::reply& r) {
    return {static_cast<lock_status>(r.status), static_cast<std::uint32_t>(r.value[0])};
  }
  void require_home(const lock_name& l) const {
    if (heap_.lost(l.home)) [[unlikely]]
      throw progress::operation_error("thread " + std::to_string(l.home) + ", the home of this lock, " +
                                      heap_.fate_of(l.home).words);
  }

  // Of the locks that this rank does not reach, those that it holds.
  using held = std::pair<std::uint64_t, std::uint64_t>;
  using held_locks = std::set<held>;
  static held key(const lock_name& l) { return {l.offset, std::uint64_t{l.home} << 32 | l.serial}; }
  bool holds(const lock_name& l) {
    const std::lock_guard guard(held_lock_);
    return held_.contains(key(l));
  }
  // Made before the lock is asked for: one that is granted and then forgotten could not be returned.
  static held_locks::node_type entry_of(const lock_name& l) {
    held_locks one{key(l)};
    return one.extract(one.begin());
  }
  void remember(held_locks::node_type entry) {
    const std::lock_guard guard(held_lock_);
    held_.insert(std::move(entry));
  }
  held_locks::node_type take_entry(const lock_name& l) {
    const std::lock_guard guard(held_lock_);
    return held_.extract(key(l));
  }
  bool forget(const lock_name& l) { return !take_entry(l).empty(); }

  engine_type& engine_;
  T& net_;
  heap_service<T>& heap_;
  inquiries<T>& asked_;
  const unsigned looks_; // at a word that another rank is about to free
  const std::vector<std::byte*> near_;
  lock_home<T> home_;
  std::uint32_t next_home_ = 0;
  std::mutex held_lock_;
  held_locks held_;
};

} // namespace weft::control
