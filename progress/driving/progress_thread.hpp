// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/special_paths.hpp"
#include "progress/driving/engine.hpp"
#include "progress/driving/event_gate.hpp"

#include <csignal>
#include <pthread.h>
#include <thread>

namespace weft::progress {

// The thread that drives an engine while its application threads are away.
//
//   watching    asleep on {doorbell, transport events}, the transport armed: see sleeper.hpp. An arrival
//   wakes
//               it.
//   driving     holds progress ownership, sweeps.
//               With cores to spare (mode dedicated) as long as something is outstanding,
//               climbing the idle ladder; without (mode helping) until one sweep finds nothing, then it
//               sleeps at once: it would take the core from the computation that it works for. For the same
//               reason it rests after a sweep that has carried for long, for as long.
//   displaced   an application thread drives: the transport's events are that thread's.
//               Blocked on the doorbell,
//               it looks again every millisecond; an application thread that leaves work behind rings.
//
// `where_` is written here only. `watching` is stored before progress ownership is released, so the next
// holder sees it. A thread that lets go may not see that this one is displaced: then this one looks again
// within its millisecond.
template <transport::transport T> class progress_thread final : public watcher {
public:
  explicit progress_thread(engine<T>& e)
      : engine_(e), spare_(e.options().drive == mode::dedicated), ladder_(e.options().idle),
        gate_(e.net().event_fd()) {
    place_.listens_to = gate_.fd();
    engine_.watched_by(this);
    sigset_t all, before;
    sigfillset(&all); // signals are the application's
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "weft-progress");
  }
  ~progress_thread() {
    stop_.store(true, std::memory_order_relaxed);
    place_.bell.ring();
    thread_.join();
    engine_.watched_by(nullptr);
  }
  progress_thread(const progress_thread&) = delete;
  progress_thread& operator=(const progress_thread&) = delete;

  // While it watches, the transport's events wake it for work of its own; stores of others do not.
  bool wants_ring(bool own) const override {
    const where now = where_.load(std::memory_order_relaxed);
    return (now == where::displaced && (own || spare_)) || (now == where::watching && spare_);
  }
  bool listens() const override { return where_.load(std::memory_order_relaxed) == where::watching; }
  void ring() override { place_.bell.ring(); }
  void mute() override { gate_.mute(); }
  void unmute() override { gate_.unmute(); }
  void unmute_later() override { special::gate_later ? gate_.unmute_later() : gate_.unmute(); }
  void mute_for_a_while() override {
    if (special::gate_later) gate_.mute_for_a_while();
  }
  void not_later() override { gate_.not_later(); }
  bool wakes_later() const override { return gate_.opens_later(); }

private:
  static constexpr std::chrono::microseconds worth_a_rest{20}, longest_rest{1000};
  enum class where : std::uint8_t { driving, watching, displaced };

  void serve() noexcept { // nothing below throws
    while (!stop_.load(std::memory_order_relaxed)) {
      typename engine<T>::turn mine(engine_);
      if (!engine_.right_to_drive().requested() && mine.take())
        drive(mine);
      else
        stand_aside();
    }
  }

  // Until another thread wants to, or there is nothing left to do.
  void drive(typename engine<T>::turn& mine) {
    ladder_.reset();
    for (;;) {
      const auto before = engine_.net().now();
      const bool moved = engine_.sweep_for_thread() || engine_.works().computations().waiting();
      engine_.run_user_code(mine);
      if (stop_.load(std::memory_order_relaxed) || engine_.right_to_drive().requested()) return;
      if (moved) {
        ladder_.reset();
        const auto took = engine_.net().now() - before;
        if (spare_ || took < worth_a_rest) continue;
        mine.let_go();
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(took, longest_rest));
        return;
      }
      if (spare_ && engine_.outstanding() != 0 && climb()) continue;
      if (watch(mine)) return;
    }
  }

  // False at the end of the ladder.
  bool climb() {
    switch (ladder_.next()) {
    case idle_ladder::step::spin:
      engine_.net().relax();
      return true;
    case idle_ladder::step::yield:
      engine_.net().yield();
      return true;
    case idle_ladder::step::sleep:
      break;
    }
    return false;
  }

  // Sleeps until an event; false if there was something to do first. A rank whose thread is to finish
  // operations by itself wants to be rung for its neighbours' stores.
  bool watch(typename engine<T>::turn& mine) {
    const bool tells_node = spare_ && engine_.outstanding() != 0;
    const bool slept = engine_.sleeps().sleep(
        place_, tells_node, [&] { return engine_.sweep_for_thread(); },
        [&] {
          const std::chrono::milliseconds limit(engine_.tries_again() ? 1 : -1);
          where_.store(where::watching, std::memory_order_relaxed);
          mine.template let_go<true>(); // the next holder sees where I am
          return limit;
        });
    if (!slept) return false;
    where_.store(where::driving, std::memory_order_relaxed);
    gate_.woke();
    return true;
  }

  void stand_aside() {
    where_.store(where::displaced, std::memory_order_relaxed);
    const ownership& right = engine_.right_to_drive();
    gate_.mute_for_myself();
    engine_.sleeps().sleep_beside_driver(place_, [&] { return !right.held() && !right.requested(); });
    gate_.woke();
    gate_.unmute();
    where_.store(where::driving, std::memory_order_relaxed);
  }

  engine<T>& engine_;
  const bool spare_;
  idle_ladder ladder_;
  event_gate gate_;
  sleeping_place place_;
  std::atomic<bool> stop_{false};
  std::atomic<where> where_{where::driving};
  std::thread thread_;
};

} // namespace weft::progress
