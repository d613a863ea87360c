// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/driving/driver.hpp"
#include "progress/driving/series_posts.hpp"
#include "progress/execution/completion_table.hpp"
#include "progress/execution/operation_error.hpp"
#include "progress/execution/operation_pool.hpp"
#include "progress/execution/plan_store.hpp"

#include <exception>
#include <new>
#include <utility>

namespace weft::progress {

// One rank: posts operations, drives them, completes them. Nothing in it is global, so that many ranks live
// in one process; the dedicated thread (progress_thread.hpp) is one more that drives. Which thread
// drives and which sleeps: driver.hpp.
template <transport::transport T> class engine : public driver<T, engine<T>> {
  using base = driver<T, engine<T>>;

public:
  using base::drive_until, base::progress, base::with_ownership;
  using typename base::turn;
  using handle = std::uint64_t;
  using request = collectives::request;
  using status = completion_table::status;

  engine(T& net, const engine_options& options)
      : base(net, options), table_(options.operations_cap), plans_(options.cache_bytes, options.tuning) {
    executor_.transfers().when_ended([this](one_sided& t) { finish(t); });
    executor_.transfers().when_call_over([this] { wake(); });
    executor_.messages().when_rung([this] { wake(); });
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  channel& add_channel(weft::engine::team_info info) { return executor_.add_channel(std::move(info)); }
  void remove_channel(std::uint32_t id) { executor_.remove_channel(id); }
  // The ranks of the job on this host, this one included: they ring each other.
  void meet_neighbours(const std::vector<std::uint32_t>& ranks) {
    executor_.members().node().meet(ranks);
    beyond_host_ = ranks.size() != net_.size();
  }
  void serve(typename inbox<T>::request_handler h) { executor_.messages().serve(std::move(h)); }

  // What begins on this rank's own channel the others must hear of: `ask` tells them, under progress
  // ownership.
  using asking = std::function<void(const posted&)>;
  void ask_others_by(asking ask) { ask_others_ = std::move(ask); }
  // Begins what another rank has asked for; no thread of this rank waits for it. Under progress ownership, in
  // the order of their numbers.
  void begin_part(channel& on, const request& r, const graph::binding& at) {
    posted* const op = parts_.take();
    if (op == nullptr) weft::engine::end_out_of_memory("a part of an operation of another rank");
    op->prepare(on, r, at);
    if (at.task != nullptr) weft::engine::must_have_memory("a task", [&] { op->keep(*at.task); });
    op->asked = true;
    enter(*op);
    queue_.push(op);
  }

  // `ended` hears when such a part is over, under progress ownership.
  using part_handler = std::function<void(const posted&)>;
  void when_part_ended(part_handler ended) { part_ended_ = std::move(ended); }

  // For what others carry alone: a handle, 0 when as many as allowed are outstanding, and its completion.
  // Under progress ownership.
  handle promise() {
    reserved_handle h(table_);
    if (h.value() != 0) operations_.at(completion_table::index(h.value())).light = true;
    return h.release();
  }
  void keep(handle h, std::exception_ptr failed) {
    if (failed)
      table_.fail(h, std::move(failed));
    else
      table_.complete(h);
  }

  // Starts an operation and returns; 0 when as many as allowed are outstanding. What throws (for want of
  // memory) does so before the entry is published: nothing was started then, and the call may be made again.
  handle post(channel& team, const request& r, const graph::binding& at, const barrier_summary& value = {},
              barrier_summary* heard = nullptr) {
    reserved_handle h(table_);
    if (h.value() == 0) return 0;
    posted& op = operations_.at(completion_table::index(h.value()));
    op.prepare(team, r, at, value);
    if (at.task != nullptr) [[unlikely]]
      op.keep(*at.task);
    op.heard = heard;
    op.handle = h.value();
    op.lent = options_.drive != mode::dedicated;
    listening_alone quiet;
    if (turn mine(*this); mine.take()) {
      counts_.inline_posts.add();
      drain();
      begin(mine, op);
      if (executor_.goes_straight(op) && op.program->straight_posted != 0) {
        if (op.program->straight_posted != op.program->straight_count)
          executor_.post_straight(op);
        else if (executor_.run_straight(op))
          finish(op);
        return h.release();
      }
      executor_.start(op);
      const bool tells_hosts = op.program->far && op.program->alone != 0;
      if (op.lent && tells_hosts && polls_by_calls() && watching() != nullptr)
        issue_over_sockets(op, quiet);
      else
        executor_.issue(op);
    } else {
      counts_.queued_posts.add_concurrent();
      enqueue(op);
    }
    return h.release();
  }

  // Several, that are one to the program: see series.hpp.
  handle post(channel& team, std::span<const collectives::bound_request> series) {
    return series_posts(*this).post(team, series);
  }

  // Post and wait in one, without a handle: however many operations are outstanding, a blocking call has
  // room.
  [[gnu::always_inline]] void run(channel& team, const request& r, const graph::binding& at,
                                  const barrier_summary& value = {}) {
    turn mine(*this);
    const bool drives = mine.take(); // first: it would wait for all that is stored before
    posted op(team, r, at, value);
    if (!drives) [[unlikely]]
      return run_queued(op);
    drain();
    begin(mine, op);
    if (!executor_.goes_straight(op)) [[unlikely]]
      executor_.start(op);
    else if (executor_.run_straight(op)) [[likely]]
      return end_straight(mine, op);
    go_on(mine, op);
  }

  status query(handle h) const noexcept { return table_.query(h); }
  std::uint64_t completions() const noexcept { return table_.completions(); }
  std::size_t unfinished() const noexcept { return table_.outstanding(); }

  // Moves things on once if it can, then looks. Throws what the operation failed with, once.
  status test(handle h) {
    if (table_.query(h) == status::pending) progress();
    return collect(h);
  }

  void wait(handle h) {
    if (table_.query(h) == status::pending) {
      turn mine(*this);
      const auto is_light = [&] { // what is pending under progress ownership stays what it is
        return table_.query(h) == status::pending && operations_.at(completion_table::index(h)).light;
      };
      drive(
          mine, [&] { return table_.query(h) != status::pending; }, is_light);
    }
    collect(h);
  }

  // Until every member of the team has entered the operation of this handle, or it is complete.
  void await_all_entered(channel& team, handle h) {
    weft::engine::sequence n = 0;
    with_ownership([&] {
      if (table_.query(h) == status::pending) n = operations_.at(completion_table::index(h)).seq;
      for (std::uint32_t member = 0; n != 0 && member < team.info.size(); ++member)
        executor_.members().view(team, member); // connects
    });
    if (n == 0) return;
    std::uint32_t first = 0; // all members before it have entered
    drive_until([&] {
      while (first < team.info.size() && net_.load(team.mailboxes[first].entered()) >= n)
        ++first;
      return first == team.info.size() || table_.query(h) != status::pending;
    });
  }

  // One transfer of the caller's own, to or from a rank of the job; complete on return. `start` calls the
  // transport.
  template <class Start> void transfer(std::uint32_t rank, Start&& start) {
    typename one_sided_transfers<T>::waited c;
    with_ownership([&] { executor_.transfers().begin(c, start); });
    const auto over = [&] { return c.status.load(std::memory_order_acquire) <= 0; };
    if (!over()) drive_until(over);
    if (const int status = c.status.load(std::memory_order_relaxed); status < 0)
      fail_transfer(rank, T::explain(status));
  }

  // The same, without waiting; 0 when as many as allowed are outstanding. It is begun at once, or by the
  // thread that drives, and goes on like an operation.
  handle post(const one_sided_request& r) {
    reserved_handle h(table_);
    if (h.value() == 0) return 0;
    posted& op = operations_.at(completion_table::index(h.value()));
    one_sided& t = transfers_.at(completion_table::index(h.value()));
    t.prepare(r, h.value());
    op.channel = nullptr; // what tells it from an operation in the queue
    op.handle = h.value();
    op.light = r.rows == 1 && r.bytes <= quota::always;
    transfers_outstanding_.fetch_add(1, std::memory_order_relaxed);
    if (turn mine(*this); mine.take()) {
      drain();
      executor_.transfers().begin(t);
      is_left_to_watcher();
    } else {
      enqueue(op);
    }
    return h.release();
  }
  // Until all of them have ended. None may be posted meanwhile.
  void finish_transfers() {
    drive_until([&] { return transfers_outstanding_.load(std::memory_order_acquire) == 0; });
  }

  // This rank of the job is dead, or not to be reached: what needs it fails, now and from now on. From a
  // thread that does not drive.
  void lose(std::uint32_t rank, const fate& f = {}) {
    with_ownership([&] {
      executor_.lose(rank, f);
      executor_.sweep();
    });
    place_.ring(); // threads that wait for something else of it look again
  }

  // What a thread of this process waits for has come by a message. Under progress ownership.
  void wake() { place_.wake(); }

  plan_store& plans() { return plans_; }

private:
  friend base;
  friend class series_posts<engine>;
  using base::beyond_host_, base::counts_, base::executor_, base::net_, base::options_, base::place_,
      base::queue_;
  using base::drain, base::drive, base::drive_to_end, base::enqueue, base::let_neighbours_enter;
  using base::is_left_to_watcher, base::leaves_something, base::polls_by_calls, base::watching;

  // Draws the number and publishes the entry in one. Under progress ownership: so the word has one writer,
  // and operations are numbered in the order in which they were posted, also those from the queue.
  void enter(posted& op) {
    op.seq = net_.load(op.channel->own.entered()) + 1;
    executor_.members().note_entry(op);
    net_.store(op.channel->own.entered(), op.seq);
  }

  // The only step of a beginning that may fail.
  bool find_plan(posted& op) noexcept {
    try {
      op.program = plans_.pin(op.key, op.channel->info, counts_);
      counts_.posts.add();
      return true;
    } catch (...) {
      no_plan_ = std::current_exception();
      return false;
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_without_plan(turn& mine) {
    std::exception_ptr wrong = std::exchange(no_plan_, nullptr);
    mine.let_go();
    std::rethrow_exception(std::move(wrong));
  }

  [[gnu::always_inline]] void begin(turn& mine, posted& op) {
    if (!find_plan(op)) [[unlikely]]
      fail_without_plan(mine);
    enter(op);
    note_own(op);
  }
  void note_own(const posted& op) {
    if (op.channel->is_mine) [[unlikely]]
      ask_others_(op);
  }

  // A blocking call whose operation was not finished at once.
  [[gnu::noinline]] void go_on(turn& mine, posted& op) {
    if (op.program->together && (options_.idle.scarce || polls_by_calls())) let_neighbours_enter(op);
    if (!executor_.advance_only(op)) {
      if (op.run != nullptr) executor_.leaves(op);
      drive_to_end(mine, op);
    }
    mine.let_go();
    check(op);
  }
  // And one that was: no other thread knows of it.
  void end_straight(turn& mine, posted& op) {
    plans_.unpin(op.program);
    op.release_task();
    place_.wake();
    mine.let_go();
    check(op);
  }

  // What comes over sockets during a post wakes no thread: the post takes it in. It sends about as much as
  // the longest message has, or some short ones, so that it returns soon, and leaves the rest to the progress
  // thread.
  static constexpr std::int64_t most_of_a_post = graph::message_worth + 128 * 1024;
  void issue_over_sockets(posted& op, listening_alone& quiet) {
    quiet.begin(watching());
    if (op.run == nullptr) return is_left_to_watcher(); // it has no slot yet
    const std::int64_t rest = executor_.issue(op, most_of_a_post);
    if (op.run != nullptr) {
      if (!op.program->prompt) is_left_to_watcher();
      if (executor_.outstanding() > 1 || watching()->wakes_later()) return;
      net_.poll();
      if (op.run != nullptr) executor_.issue(op, rest);
    }
    if (!leaves_something()) quiet.end_call(false);
  }

  // Another thread drives: it takes the operation from the queue, or this one does when that has let go.
  [[gnu::noinline]] void run_queued(posted& op) {
    counts_.queued_posts.add_concurrent();
    enqueue(op);
    turn mine(*this);
    drive_to_end(mine, op);
    check(op);
  }

  // Its entry is published first, so it must begin: if there is no memory for its plan, at another turn.
  void begin_queued(posted& op) {
    is_left_to_watcher();
    if (op.channel == nullptr) [[unlikely]]
      return executor_.transfers().begin(transfers_.at(completion_table::index(op.handle)));
    begin_entered(op);
  }
  void begin_entered(posted& op) {
    if (op.seq == 0) enter(op);
    if (!find_plan(op)) [[unlikely]] {
      no_plan_ = nullptr;
      shortage_.met("the plan of an operation");
      queue_.push(&op);
      return;
    }
    shortage_.over();
    note_own(op);
    executor_.start(op);
    executor_.is_left_alone(op);
  }

  void finish(posted& op) {
    plans_.unpin(op.program);
    op.release_task();
    if (op.series == nullptr) [[likely]]
      complete(op);
    else if (posted* const last = series_posts(*this).end(op))
      complete(*last);
  }
  void complete(posted& op) {
    if (op.asked) [[unlikely]] {
      part_ended_(op);
      return parts_.give_back(op);
    }
    if (op.handle != 0 && op.heard != nullptr) [[unlikely]]
      *op.heard = op.value;
    if (op.handle == 0)
      op.finished.store(true, std::memory_order_release);
    else if (went_well(op)) [[likely]]
      table_.complete(op.handle);
    else
      table_.fail(op.handle, error_of(op, T::explain(op.status)));
    place_.wake();
  }

  void finish(const one_sided& t) {
    if (const handle h = t.handle; t.status == 0) [[likely]]
      table_.complete(h);
    else
      table_.fail(h, transfer_error(t.peer(), T::explain(t.status)));
    transfers_outstanding_.fetch_sub(1, std::memory_order_release);
    place_.wake();
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

  completion_table table_;
  operation_pool operations_;
  slot_pool<one_sided> transfers_;
  std::atomic<std::size_t> transfers_outstanding_{0};
  weft::engine::item_pool<posted> parts_; // of operations that other ranks have called
  asking ask_others_;
  part_handler part_ended_;
  std::exception_ptr no_plan_; // why find_plan has found none
  plan_store plans_;
  weft::engine::shortage shortage_; // of plans
};

} // namespace weft::progress
