// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/relocate.hpp"
#include "engine/memory/full_fence.hpp"
#include "progress/driving/cores.hpp"
#include "progress/driving/event_gate.hpp"
#include "progress/driving/idle.hpp"
#include "progress/driving/ownership.hpp"
#include "progress/driving/sleeper.hpp"
#include "progress/execution/completion_table.hpp"
#include "progress/execution/executor.hpp"
#include "progress/execution/user_code.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace weft::progress {

struct engine_options {
  mode drive = mode::caller;
  idle_policy idle;
  std::chrono::nanoseconds park_limit = std::chrono::milliseconds(10); // should a wake be missing
  std::size_t operations_cap = completion_table::slots_max;
  std::size_t cache_bytes = 4 << 20;
  collectives::tuning tuning;
  user_memory user; // where the pointers of users may lead
  faults broken;
};

// The driving half of an engine (engine.hpp is the other): which thread holds the right to drive, what it
// does with it, and how it sleeps.
//
// Ownership. Everything behind progress ownership (executor, plans, transport) is touched by its holder only.
// A thread that posts and finds it free starts its operation itself; one that does not leaves it in the
// queue. No operation is stranded there: the holder releases, fences and looks into the queue; the posting
// thread pushes, fences and looks at progress ownership; one of the two sees the other.
// Order. A pass carries about one piece of a large copy (see quota), what is small first. A thread that waits
// for something small carries nothing else in its first few empty passes: that is most likely on its way.
// Between two passes it lets go for a thread that needs ownership itself.
// Sleep. A waiting thread climbs the idle ladder; at its end it goes to sleep, see sleeper.hpp.
// Exceptions. What is thrown while progress ownership is held is caught, and thrown on behind its release.
//
// `Engine` begins what was queued (begin_queued) and completes what is over (finish).
template <transport::transport T, class Engine> class driver {
public:
  driver(T& net, const engine_options& options)
      : net_(net), options_(options),
        executor_({net, counts_, options.broken, options.user},
                  [this](operation& op) { self().finish(static_cast<posted&>(op)); }),
        sleeper_(executor_.members()) {}
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  // Moves things on once, unless another thread does already.
  void progress() {
    turn mine(*this);
    if (!mine.take()) return;
    drain();
    const bool watched = watcher_ != nullptr && polls_by_calls() && leaves_something();
    executor_.sweep();
    run_user_code(mine);
    executor_.members().ring_ready();
    if (watched && mine.held() && !leaves_something()) watcher_->mute_for_a_while();
  }

  // Drives, or waits for the thread that does, until `fact` is true. It is asked with and without progress
  // ownership, at least every `nap`, in whole milliseconds.
  template <class Fact> void drive_until(Fact&& fact, std::chrono::nanoseconds nap = never) {
    turn mine(*this);
    drive(
        mine, fact, [] { return false; }, nap);
  }

  // Runs `work` under progress ownership.
  template <class Work> void with_ownership(Work&& work) {
    const ownership_request wish(ownership_);
    turn mine(*this);
    while (!mine.take())
      net_.yield();
    drain();
    std::exception_ptr wrong;
    try {
      work();
    } catch (...) {
      wrong = std::current_exception();
    }
    mine.let_go();
    if (wrong) std::rethrow_exception(std::move(wrong));
  }

  // The right to drive, if it is free, until the end of the scope.
  class [[nodiscard]] turn {
  public:
    explicit turn(driver& of) noexcept : of_(of) {}
    ~turn() { let_go(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    bool take() noexcept { return held_ = held_ || of_.ownership_.try_acquire(); }
    bool held() const noexcept { return held_; }
    // `asleep`: by the watcher, which has looked at everything and armed the transport.
    template <bool asleep = false> void let_go() {
      if (std::exchange(held_, false)) of_.template leave<asleep>();
    }

  private:
    driver& of_;
    bool held_ = false;
  };

  // What plans have come to: a piece of it, with nothing held, so that another thread may drive meanwhile.
  void run_user_code(turn& mine) {
    if (has_user_code()) [[unlikely]]
      run_piece(mine);
  }
  // A function of a user that reads memory of another host drives until it has it: no other one begins then.
  bool has_user_code() { return executor_.computations().waiting() && !running_user_code; }

  // A dedicated thread's turn, with progress ownership held on entry and on return. True: come again at once.
  bool sweep_for_thread() {
    drain();
    return executor_.sweep();
  }
  // Under progress ownership, by the progress thread that is about to sleep: it must look again soon, for no
  // event comes.
  bool tries_again() {
    if (away_is_rung_) executor_.list_waits();
    return looks_again_ = executor_.tries_again() || waits_unlisted();
  }
  ownership& right_to_drive() { return ownership_; }
  sleeper<T>& sleeps() { return sleeper_; }
  void watched_by(watcher* w) { watcher_ = w; }
  void sleeps_watched_by(sleep_watcher* w) {
    with_ownership([&] { sleep_watcher_ = w; });
  }

  // A thread of this process has stored what another rank of the host may wait for.
  void tell_host() {
    with_ownership([&] {
      executor_.members().node().wake();
      place_.wake();
    });
  }

  T& net() { return net_; }
  executor<T>& works() { return executor_; }
  const engine_options& options() const { return options_; }
  statistics& counts() { return counts_; }
  std::size_t outstanding() const { return executor_.outstanding(); }

protected:
  ~driver() = default;

  void enqueue(operation& op) {
    queue_.push(&op);
    engine::full_fence();
    turn mine(*this); // the holder looks into the queue after it has released
    if (mine.take()) drain();
  }

  void drain() {
    if (queue_.empty()) [[likely]]
      return;
    for (operation* op = queue_.take_all(); op != nullptr;) {
      operation* next = op->next;
      self().begin_queued(static_cast<posted&>(*op));
      op = next;
    }
  }

  void drive_to_end(turn& mine, const posted& op) {
    drive(
        mine, [&] { return op.finished.load(std::memory_order_acquire); }, [&] { return op.light; });
  }

  // Sweeps until `fact` has said yes, with progress ownership if it is to be had. Under progress ownership
  // `light` says whether it is something small.
  template <class Fact, class Light>
  void drive(turn& mine, Fact&& fact, Light&& light, std::chrono::nanoseconds nap = never) {
    if (executor_.members().record != nullptr) [[unlikely]]
      drive_noted(mine, fact, light, nap);
    else
      sweep_until(mine, fact, light, nap);
  }
  template <class Fact, class Light>
  [[gnu::cold, gnu::noinline]] void drive_noted(turn& mine, Fact& fact, Light& light,
                                                std::chrono::nanoseconds nap) {
    recorder& record = *executor_.members().record;
    const std::uint64_t since = record.waiting();
    sweep_until(mine, fact, light, nap);
    record.waited(since);
  }
  template <class Fact, class Light>
  void sweep_until(turn& mine, Fact& fact, Light& light, std::chrono::nanoseconds nap) {
    latched awaited(fact, nap);
    ownership_request wish(ownership_, ownership_request::what::to_drive,
                           false); // raised as long as another thread drives
    idle_ladder ladder(options_.idle);
    listening_alone alone;
    for (unsigned turn = 1; !awaited.holds(); ++turn) {
      if (!mine.held()) {
        wish.set(true);
        wish.set(!mine.take());
      }
      bool patient = false, dear = false;
      if (mine.held()) {
        drain();
        patient = executor_.carries_large() && ladder.steps() < patience && light();
        // Within the host nothing arrives by the transport but rings and requests: it can wait a little.
        const bool polled = turn % polls_every == 0 || executor_.needs_driver();
        dear = polled && polls_by_calls();
        if (dear) alone.begin(watcher_);
        bool moved = executor_.sweep(polled, patient ? pass::light : pass::full);
        if (has_user_code()) [[unlikely]] {
          moved = true;
          alone.end();
          run_piece(mine);
        }
        if (ownership_.needed()) [[unlikely]]
          step_aside(mine);
        if (moved) {
          ladder.reset();
          continue;
        }
      }
      if (mine.held() && ladder.steps() % looks_for_away == 0) executor_.members().ring_ready();
      pause(ladder, mine, awaited, {.patient = patient, .dear = dear});
    }
    if (mine.held()) alone.end_call(leaves_something());
    mine.let_go();
    awaited.rethrow();
  }
  [[gnu::noinline]] void run_piece(turn& mine) {
    flight& f = executor_.computations().take(); // in place until it is done
    graph::work w = computations<T>::piece_of(f, net_);
    mine.let_go();
    const auto begin = net_.now();
    const bool through = computations<T>::run(*f.op, w);
    const std::chrono::nanoseconds took = net_.now() - begin;
    const ownership_request wish(ownership_);
    while (!mine.take())
      net_.yield();
    executor_.moves_on();
    executor_.computations().ran(f, w, through, took);
  }

  // Before a call that waits sends: what neighbours send that enter now goes along. Not beside computations.
  [[gnu::noinline]] void let_neighbours_enter(operation& op) {
    if (late_yields_.last_was_late() || executor_.members().neighbours_entered(op)) return;
    late_yields_.yield(net_);
  }

  using pass = typename executor<T>::pass;
  static constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();
  static constexpr unsigned polls_every = 32, helps_every = 16; // sweeps; yields
  static constexpr unsigned patience = 64, looks_for_away = 8;  // empty passes

  // For a thread that needs progress ownership itself, until it has had it.
  [[gnu::cold, gnu::noinline]] void step_aside(turn& mine) {
    mine.let_go();
    while (ownership_.needed())
      net_.yield();
  }

  watcher* watching() const { return watcher_; }
  // Something is left to the progress thread that no call waits for.
  void is_left_to_watcher() {
    if (watcher_ != nullptr) watcher_->not_later();
  }
  bool leaves_something() { return executor_.outstanding() != 0 || executor_.needs_driver(); }
  bool polls_by_calls() const {
    if constexpr (requires { net_.polls_by_calls(); }) return net_.polls_by_calls();
    return false;
  }

  // What the last sweep was like that found nothing.
  struct empty_sweep {
    bool patient; // carried nothing large
    bool dear;    // asked the transport, by a system call
  };
  // Between two of them.
  template <class Fact>
  void pause(idle_ladder& ladder, turn& mine, latched<Fact>& awaited, const empty_sweep& last) {
    switch (ladder.next()) {
    case idle_ladder::step::spin:
      return last.dear ? yield(ladder, true) : net_.relax();
    case idle_ladder::step::yield:
      if (mine.held() && !last.patient && ladder.yields() % helps_every == 1 && executor_.help_lenders())
        return;
      return yield(ladder, last.dear);
    case idle_ladder::step::sleep:
      break;
    }
    if (!mine.held())
      sleeper_.sleep_beside_driver(place_, [&] { return awaited.holds(look::all); });
    else if (!executor_.help_lenders())
      park(mine, awaited);
  }

  // A yield that comes back late is followed by sleep. To look at the clock costs a tenth of a small
  // operation, so the first yield of a wait is only timed behind a late one.
  void yield(idle_ladder& ladder, bool over_sockets) {
    if (over_sockets && late_yields_.sleeps_instead()) return ladder.skip_to_sleep();
    if (ladder.yields() == 1 && !late_yields_.last_was_late()) return net_.yield();
    if (late_yields_.yield(net_)) ladder.skip_to_sleep();
  }

  // Sleeps until something may have happened, without progress ownership.
  template <class Fact> void park(turn& mine, latched<Fact>& awaited) {
    const auto finds_work = [&] {
      return executor_.sweep() || !queue_.empty() || awaited.holds(look::all) ||
             executor_.members().ring_ready();
    };
    sleeper_.sleep(place_, true, finds_work, [&] {
      if (sleep_watcher_ != nullptr) sleep_watcher_->on_sleep();
      const auto limit = executor_.chooses() ? std::chrono::milliseconds(1) : options_.park_limit;
      mine.let_go();
      return std::chrono::ceil<std::chrono::milliseconds>(std::min(awaited.nap(), limit));
    });
  }

private:
  Engine& self() { return static_cast<Engine&>(*this); }

  // Releases progress ownership; no operation stays in the queue: it wakes a watcher that falls asleep.
  template <bool asleep> void leave() {
    release<asleep>();
    if (!queue_.empty()) [[unlikely]]
      serve_queue(asleep);
  }

  template <bool asleep = false> [[gnu::always_inline]] void release() {
    const bool goes_on = (executor_.has_waits() || beyond_host_) && tell_waits();
    const bool undriven = watcher_ != nullptr && (goes_on || (asleep ? no_event_comes() : wants_watcher()));
    ownership_.release();
    if (undriven) [[unlikely]]
      ring_watcher();
    engine::full_fence();
  }
  [[gnu::noinline]] void serve_queue(bool asleep) {
    while (!queue_.empty() && ownership_.try_acquire()) {
      drain();
      release();
    }
    if (asleep) watcher_->ring();
  }

  // What this rank waits for is listed for the others of its host, and what they wait for is looked at: where
  // ranks of several hosts work together, none of this host may be waiting. True if the progress thread is to
  // look at once: what was listed has come meanwhile, and no waiting rank is awake to find it; or it cannot
  // be listed, and the thread sleeps without an end.
  [[gnu::noinline]] bool tell_waits() {
    const bool lists = executor_.has_waits() && away_is_rung_ && watcher_ != nullptr;
    if (!lists && !beyond_host_) return false;
    if (lists) executor_.list_waits();
    if (!executor_.listed() && !beyond_host_) return false;
    engine::full_fence();
    if (beyond_host_) executor_.members().ring_ready();
    if (!executor_.listed()) return false;
    if (waits_unlisted() && !looks_again_) return true;
    neighbours<T>& node = executor_.members().node();
    return (beyond_host_ || node.any_asleep()) && node.can_go_on();
  }
  bool waits_unlisted() { return executor_.listed() && !executor_.members().node().waits().complete(); }

  bool no_event_comes() { return (sleeper_.took_events() || executor_.tries_again()) && watcher_->listens(); }
  bool wants_watcher() {
    if (no_event_comes()) [[unlikely]]
      return true;
    return executor_.outstanding() != 0 &&
           watcher_->wants_ring(executor_.needs_driver() || executor_.listed());
  }
  [[gnu::noinline]] void ring_watcher() {
    counts_.rings.add_concurrent();
    watcher_->ring();
  }

protected:
  bool beyond_host_ = false; // ranks of other hosts are in the job

  T& net_;
  const engine_options options_;
  statistics counts_;
  submission_queue<operation, &operation::next> queue_;
  executor<T> executor_;
  sleeping_place place_; // of the application's threads

private:
  ownership ownership_;
  sleeper<T> sleeper_;
  watcher* watcher_ = nullptr;
  sleep_watcher* sleep_watcher_ = nullptr;
  late_yields late_yields_;
  // A progress thread that stays awake while something is outstanding asks for a ring for every store.
  const bool away_is_rung_ = options_.drive == mode::helping;
  bool looks_again_ = false; // the progress thread sleeps a millisecond at most
};

} // namespace weft::progress
