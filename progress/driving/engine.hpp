#pragma once
#include "progress/driving/baton.hpp"
#include "progress/execution/completion_table.hpp"
#include "progress/driving/cores.hpp"
#include "progress/execution/executor.hpp"
#include "progress/driving/fact.hpp"
#include "progress/driving/idle.hpp"
#include "progress/driving/sleeper.hpp"
#include "progress/execution/operation_error.hpp"
#include "progress/execution/operation_pool.hpp"
#include "progress/execution/plan_store.hpp"
#include "progress/driving/submission_queue.hpp"
#include "progress/driving/watcher.hpp"

#include <exception>
#include <new>
#include <utility>

namespace weft::progress {

struct engine_options {
  mode drive = mode::caller;
  idle_policy idle;
  std::chrono::nanoseconds park_limit = std::chrono::milliseconds(10);
  std::size_t operations_cap = completion_table::slots_max;
  std::size_t cache_bytes = 4 << 20;
  collectives::tuning tuning;
  user_memory user; // where the pointers of users may lead
  faults broken;
};

// One rank: posts operations, drives them, completes them. Nothing in it is global, so that many ranks live
// in one process; the dedicated thread (progress_thread.hpp) is one more caller of drive_until_idle().
//
// Who drives. Everything behind the baton (executor, plans, transport) is touched by its holder only. A
// poster that finds it free starts its operation itself; one that does not leaves it in the queue. No
// operation is stranded there: the holder releases, fences and looks into the queue; the poster pushes,
// fences and looks at the baton; one of the two sees the other.
//
// Who comes first. A pass over the operations carries about one piece of a large copy (see quota), what is
// small first. Who waits for something small carries no piece of anything else for its first few empty
// passes: what it waits for is most likely on its way. Between two passes a driver lets go for whoever needs
// the baton itself.
//
// Who sleeps. A waiting thread climbs the idle ladder; at its end it goes to sleep, see sleeper.hpp.
//
// What throws. Nothing does while the baton is held, or it is caught and thrown on when it has been let go of.
template <transport::transport T> class engine {
public:
  using handle = std::uint64_t;
  using request = collectives::request;
  using status = completion_table::status;

  engine(T& net, engine_options options)
      : net_(net), options_(options), table_(options.operations_cap),
        plans_(options.cache_bytes, options.tuning),
        executor_(
            net, counts_, [this](operation& op) { finish(static_cast<posted&>(op)); }, options.broken,
            options.user),
        sleeper_(net, executor_.members().node(), counts_) {}
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  team_state& add_team(weft::engine::team_info info) { return executor_.add_team(std::move(info)); }
  void remove_team(std::uint32_t id) { executor_.remove_team(id); }
  // The ranks of the job on this node, this one included: those who can be rung and can ring.
  void meet_neighbours(const std::vector<std::uint32_t>& ranks) { executor_.members().node().meet(ranks); }
  void serve(typename inbox<T>::request_handler h) { executor_.messages().serve(std::move(h)); }

  // Starts an operation and returns; 0 when as many as allowed are outstanding. What throws (for want of
  // memory) does so before the entry is published: nothing was started then, and the call may be made again.
  handle post(team_state& team, const request& r, const graph::binding& at, const barrier_summary& value = {},
              barrier_summary* heard = nullptr) {
    reserved_handle h(table_);
    if (h.value() == 0) return 0;
    posted& op = operations_.at(completion_table::index(h.value()));
    prepare(op, team, r, at, value);
    op.heard = heard;
    op.handle = h.value();
    op.lent = options_.drive != mode::dedicated;
    if (turn mine(*this); mine.take()) {
      counts_.inline_posts.add();
      drain();
      begin(mine, op);
      executor_.issue(op);
    } else {
      counts_.queued_posts.add_concurrent();
      op.seq = next_sequence(team);
      enqueue(op);
    }
    return h.release();
  }

  // Post and wait in one, without a handle: however many operations are outstanding, a blocking call has
  // room.
  void run(team_state& team, const request& r, const graph::binding& at, const barrier_summary& value = {}) {
    posted op;
    prepare(op, team, r, at, value);
    turn mine(*this);
    if (!mine.take()) [[unlikely]]
      return run_queued(op);
    drain();
    begin(mine, op);
    if (!executor_.advance_only(op)) drive_to_end(mine, op);
    mine.let_go();
    check(op);
  }

  status query(handle h) const noexcept { return table_.query(h); }

  std::uint64_t completions() const noexcept { return table_.completions(); }

  // Moves things on once, unless somebody else does already.
  void progress() {
    turn mine(*this);
    if (!mine.take()) return;
    drain();
    executor_.sweep();
  }

  // Moves things on once if it can, then looks. Throws what the operation failed with, once.
  status test(handle h) {
    if (table_.query(h) == status::pending) progress();
    return collect(h);
  }

  void wait(handle h) {
    if (table_.query(h) == status::pending) {
      turn mine(*this);
      const auto is_light = [&] { // what is pending under the baton stays what it is
        return table_.query(h) == status::pending && operations_.at(completion_table::index(h)).light;
      };
      drive(
          mine, [&] { return table_.query(h) != status::pending; }, is_light);
    }
    collect(h);
  }

  // Drives, or lets others drive, until `fact` has said yes. It is asked with and without the baton.
  template <class Fact> void drive_until(Fact&& fact) {
    turn mine(*this);
    drive(mine, fact, [] { return false; });
  }

  // Until every member of the team has entered the operation of this handle, or it is complete.
  void await_all_entered(team_state& team, handle h) {
    weft::engine::sequence n = 0;
    with_baton([&] {
      if (table_.query(h) == status::pending) n = operations_.at(completion_table::index(h)).seq;
      for (std::uint32_t member = 0; n != 0 && member < team.info.size(); ++member)
        executor_.members().view(team, member); // connects
    });
    if (n == 0) return;
    std::uint32_t first = 0; // all members before it have entered
    drive_until([&] {
      while (first < team.info.size() && net_.load(team.boards[first].entered()) >= n)
        ++first;
      return first == team.info.size() || table_.query(h) != status::pending;
    });
  }

  // One transfer of the caller's own, to or from a rank of the job; complete on return. `start` calls the
  // transport.
  template <class Start> void transfer(std::uint32_t rank, Start&& start) {
    struct waited : transport::completion {
      std::atomic<int> status{1};
    } c;
    c.done = [](transport::completion* done, int status) {
      static_cast<waited*>(done)->status.store(status, std::memory_order_release);
    };
    int status = 0;
    with_baton([&] { status = start(c).status(); });
    if (status > 0) {
      drive_until([&] { return c.status.load(std::memory_order_acquire) <= 0; });
      status = c.status.load(std::memory_order_relaxed);
    }
    if (status < 0) fail_transfer(rank, T::explain(status));
  }

  // This rank of the job is dead: what needs it fails, now and from now on. From a thread that does not
  // drive.
  void lose(std::uint32_t rank) {
    with_baton([&] {
      executor_.lose(rank);
      executor_.sweep();
    });
    place_.bell.ring(); // who waits for something else of it looks again
  }

  // Runs `work` under the baton.
  template <class Work> void with_baton(Work&& work) {
    const baton_request wish(baton_);
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

  // The right to drive, if it is to be had, until the end of the scope, however that is left.
  class [[nodiscard]] turn {
  public:
    explicit turn(engine& of) noexcept : engine_(of) {}
    ~turn() { let_go(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    bool take() noexcept { return held_ = held_ || engine_.baton_.try_acquire(); }
    bool held() const noexcept { return held_; }
    void let_go() {
      if (std::exchange(held_, false)) engine_.leave();
    }

  private:
    engine& engine_;
    bool held_ = false;
  };

  // A dedicated thread's turn, with the baton held on entry and on return. True: come again at once.
  bool sweep_for_thread() {
    drain();
    return executor_.sweep();
  }
  // Under the baton: whoever sleeps next must look again soon, for no event comes.
  bool tries_again() { return executor_.tries_again(); }
  baton& right_to_drive() { return baton_; }
  sleeper<T>& sleeps() { return sleeper_; }
  void watched_by(watcher* w) { watcher_ = w; }
  void sleeps_watched_by(sleep_watcher* w) {
    with_baton([&] { sleep_watcher_ = w; });
  }

  T& net() { return net_; }
  executor<T>& works() { return executor_; }
  const engine_options& options() const { return options_; }
  statistics& counts() { return counts_; }
  plan_store& plans() { return plans_; }
  std::size_t outstanding() const { return executor_.outstanding(); }

private:
  // Releases the baton; nobody's operation stays behind in the queue.
  void leave() {
    for (;;) {
      const bool undriven = watcher_ != nullptr && wants_watcher();
      baton_.release();
      if (undriven) ring_watcher();
      full_fence();
      if (queue_.empty() || !baton_.try_acquire()) return;
      drain();
    }
  }

  void prepare(posted& op, team_state& team, const request& r, const graph::binding& at,
               const barrier_summary& value) {
    op.team = &team;
    op.key = r;
    op.at = at;
    op.value = value;
    op.handle = 0;
    op.lent = op.light = false;
    op.status = 0;
    op.unreachable = op.told_by = 0;
    op.bad.reset();
    op.flights = 0;
    op.finished.store(false, std::memory_order_relaxed);
    op.program = nullptr;
    op.run = nullptr;
  }

  // Draws the number and publishes the entry in one.
  weft::engine::sequence next_sequence(team_state& team) { return net_.add(team.own.entered(), 1) + 1; }

  // The only step of a beginning that may fail.
  std::exception_ptr find_plan(posted& op) noexcept {
    try {
      op.program = plans_.pin(op.key, op.team->info, counts_);
      counts_.posts.add();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void begin(turn& mine, posted& op) {
    if (std::exception_ptr wrong = find_plan(op)) [[unlikely]] {
      mine.let_go();
      std::rethrow_exception(std::move(wrong));
    }
    op.seq = next_sequence(*op.team);
    executor_.start(op);
  }

  // Somebody else drives: it takes the operation from the queue, or I do when it has let go.
  [[gnu::noinline]] void run_queued(posted& op) {
    counts_.queued_posts.add_concurrent();
    op.seq = next_sequence(*op.team);
    enqueue(op);
    turn mine(*this);
    drive_to_end(mine, op);
    check(op);
  }

  void enqueue(posted& op) {
    queue_.push(&op);
    full_fence();
    turn mine(*this); // the holder looks into the queue after it has released
    if (mine.take()) drain();
  }

  void drain() {
    if (queue_.empty()) [[likely]]
      return;
    for (operation* op = queue_.take_all(); op != nullptr;) {
      operation* next = op->next;
      begin_queued(static_cast<posted&>(*op));
      op = next;
    }
  }

  // Its entry is published, so it must begin: if there is no memory for its plan, at another turn.
  void begin_queued(posted& op) {
    if (find_plan(op)) [[unlikely]] {
      shortage_.met("the plan of an operation");
      queue_.push(&op);
      return;
    }
    shortage_.over();
    executor_.start(op);
  }

  void drive_to_end(turn& mine, const posted& op) {
    drive(
        mine, [&] { return op.finished.load(std::memory_order_acquire); }, [&] { return op.light; });
  }

  // Sweeps until `fact` has said yes, with the baton if it is to be had. Under the baton `light` says whether
  // it is something small.
  template <class Fact, class Light> void drive(turn& mine, Fact&& fact, Light&& light) {
    latched awaited(fact);
    baton_request wish(baton_, baton_request::what::to_drive, false); // raised as long as somebody else drives
    idle_ladder ladder(options_.idle);
    for (unsigned turn = 1; !awaited.holds(); ++turn) {
      if (!mine.held()) {
        wish.set(true);
        wish.set(!mine.take());
      }
      bool patient = false;
      if (mine.held()) {
        drain();
        patient = executor_.carries_large() && ladder.steps() < patience && light();
        // Within the node nothing arrives by the transport but rings and requests: it can wait a little.
        const bool polls = turn % polls_every == 0 || executor_.needs_driver();
        const bool moved = executor_.sweep(polls, patient ? pass::light : pass::full);
        if (baton_.needed()) [[unlikely]]
          step_aside(mine);
        if (moved) {
          ladder.reset();
          continue;
        }
      }
      pause(ladder, mine, awaited, patient);
    }
    mine.let_go();
    awaited.rethrow();
  }
  using pass = typename executor<T>::pass;
  static constexpr unsigned polls_every = 32;
  static constexpr unsigned helps_every = 16; // yields
  static constexpr unsigned patience = 16;    // empty passes

  // For who needs the baton itself, until it has had it.
  [[gnu::cold, gnu::noinline]] void step_aside(turn& mine) {
    mine.let_go();
    while (baton_.needed())
      net_.yield();
  }

  // Between two unsuccessful sweeps.
  template <class Fact>
  void pause(idle_ladder& ladder, turn& mine, latched<Fact>& awaited, bool patient) {
    switch (ladder.next()) {
    case idle_ladder::step::spin:
      return net_.relax();
    case idle_ladder::step::yield:
      if (mine.held() && !patient && ladder.yields() % helps_every == 1 && executor_.help_lenders()) return;
      return yield(ladder);
    case idle_ladder::step::sleep:
      break;
    }
    if (!mine.held())
      sleeper_.sleep_beside_driver(place_, [&] { return awaited.holds(look::all); });
    else if (!executor_.help_lenders())
      park(mine, awaited);
  }

  // A yield that comes back late has given the core to a computation, and would every time: sleep instead,
  // the scheduler favours who wakes up. To look at the clock costs a tenth of a small operation, so the first
  // yield of a wait is only timed behind a late one.
  void yield(idle_ladder& ladder) {
    if (ladder.yields() == 1 && !late_yields_.load(std::memory_order_relaxed)) return net_.yield();
    const auto before = net_.now();
    net_.yield();
    const bool late = net_.now() - before > std::chrono::milliseconds(1);
    late_yields_.store(late, std::memory_order_relaxed);
    if (late) ladder.skip_to_sleep();
  }

  // Sleeps until something may have happened, without the baton.
  template <class Fact> void park(turn& mine, latched<Fact>& awaited) {
    const auto finds_work = [&] {
      return executor_.sweep() || !queue_.empty() || awaited.holds(look::all);
    };
    sleeper_.sleep(place_, true, finds_work, [&] {
      if (sleep_watcher_ != nullptr) sleep_watcher_->on_sleep();
      mine.let_go();
      return std::chrono::duration_cast<std::chrono::milliseconds>(options_.park_limit);
    });
  }

  void finish(posted& op) {
    plans_.unpin(op.program);
    if (op.handle != 0 && op.heard != nullptr) [[unlikely]]
      *op.heard = op.value;
    if (op.handle == 0)
      op.finished.store(true, std::memory_order_release);
    else if (went_well(op)) [[likely]]
      table_.complete(op.handle);
    else
      table_.fail(op.handle, error_in(op));
    place_.wake();
  }

  static std::exception_ptr error_in(const posted& op) noexcept {
    try {
      return error_of(op, T::explain(op.status));
    } catch (...) { // for want of memory: then that is what it failed with
      return std::current_exception();
    }
  }
  static void check(const posted& op) {
    if (!went_well(op)) [[unlikely]]
      std::rethrow_exception(error_of(op, T::explain(op.status)));
  }
  status collect(handle h) {
    const status s = table_.query(h);
    if (s != status::complete) return s;
    if (auto error = table_.take_error(h)) std::rethrow_exception(error);
    return s;
  }

  bool wants_watcher() {
    if (executor_.tries_again()) [[unlikely]]
      return true;
    if (sleeper_.took_events() && watcher_->listens()) return true;
    return executor_.outstanding() != 0 && watcher_->wants_ring(executor_.needs_driver());
  }
  void ring_watcher() {
    counts_.rings.add_concurrent();
    watcher_->ring();
  }

  T& net_;
  const engine_options options_;
  statistics counts_;
  baton baton_;
  submission_queue<operation, &operation::next> queue_;
  weft::engine::shortage shortage_; // of plans
  completion_table table_;
  operation_pool operations_;
  plan_store plans_;
  executor<T> executor_;
  watcher* watcher_ = nullptr;
  sleep_watcher* sleep_watcher_ = nullptr;
  sleeper<T> sleeper_;
  sleeping_place place_; // of the application's threads
  std::atomic<bool> late_yields_{false}; // the last one that was timed came back late
};

} // namespace weft::progress
