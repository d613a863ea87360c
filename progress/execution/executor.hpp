// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/special_paths.hpp"
#include "progress/execution/awaited_answers.hpp"
#include "progress/execution/inbox.hpp"
#include "progress/execution/one_sided.hpp"
#include "progress/execution/operation_pool.hpp"
#include "progress/execution/plan_runner.hpp"
#include "progress/execution/retirement.hpp"
#include "progress/execution/ring_conditions.hpp"
#include "progress/execution/series.hpp"

#include <algorithm>
#include <memory>

namespace weft::progress {

// Runs the operations of one rank: gives each a slot of its team, steps through its plan as facts arrive, and
// retires it. Driven by the thread that holds progress ownership; knows neither threads nor handles.
template <transport::transport T> class executor {
public:
  // `finished` is called once for every operation, when its plan is done, or with op.status < 0 when the
  // transport failed; the operation is the caller's again then.
  using finished_handler = std::function<void(operation&)>;

  executor(const services<T>& around, finished_handler finished)
      : net_(around.net), counts_(around.counts), finished_(std::move(finished)), steps_(around),
        runner_(steps_), conditions_(steps_, runner_), relays_(steps_.members),
        losses_(steps_.members, channels_, active_, relays_, [this](channel& on) { refuse_held(on); }),
        inbox_(steps_.members, channels_, relays_, steps_.bundles, losses_),
        retirement_(steps_.members, inbox_, [this](channel& on) { activate_waiting(on); }),
        transfers_(net_, counts_) {
    net_.set_sink(&inbox_);
    const auto fail = [this](auto& on, auto n, const auto& why) { losses_.fail_relayed(on, n, why); };
    relays_.report(fail, [this](auto& on) { retirement_.tell(on); });
    steps_.bundles.messages().report(fail);
  }
  executor(const executor&) = delete;
  ~executor() { net_.set_sink(nullptr); }

  // The mailbox must be zero before any member posts.
  channel& add_channel(engine::team_info info) {
    const std::uint32_t id = info.id;
    auto fresh = std::make_unique<channel>(std::move(info), net_.segment());
    return *(channels_[id] = std::move(fresh)); // no entry stays empty for want of memory
  }
  // Nothing of the team may be outstanding here; what still arrives for it is dropped.
  void remove_channel(std::uint32_t id) { channels_.erase(id); }
  // Calls `quiet` once for the team: as soon as all that was posted on it is retired here, perhaps at once.
  void leave(channel& on) {
    on.leaving = true;
    for (operation* op : active_) // their end is waited for
      if (op->channel == &on) is_rung_for(*op);
    retirement_.report_if_quiet(on);
  }
  void when_quiet(std::function<void(channel&)> quiet) { retirement_.when_quiet(std::move(quiet)); }

  // What is outstanding is never finished. For the end of the job, when no rank needs anything of it;
  // transfers under way may still land, in memory that lives as long as this.
  void abandon() {
    active_.clear();
    series_.drop();
    computations().drop_all();
    outstanding_ = far_active_ = heavy_active_ = rung_or_held_ = 0;
    for (auto& [id, on] : channels_) {
      relays_.drop(*on);
      on->waiters.clear();
      retirement_.abandon(*on);
    }
  }

  // Takes an operation whose sequence number has been drawn, i.e. whose entry is published.
  void start(operation& op) {
    if (op.program->awaited) members().wake_near();
    ++outstanding_;
    take_large_places(op);
    if (op.seq > op.channel->admitted || !activate(op)) [[unlikely]]
      hold(op);
  }

  // A rank of the job is dead, or not to be reached: of all its teams, or of one channel. See losses.
  void lose(std::uint32_t rank, const fate& f = {}) { losses_.lose(rank, f); }
  void lose(channel& on, std::uint32_t rank, const fate& f = {}) { losses_.lose(on, rank, f); }

  // What a pass carries: as much as the quota allows, or nothing large.
  enum class pass : std::uint8_t { full, light };

  // One pass over everything active, and over the transport if asked. True if anything moved. What is light
  // comes first; of the others the one that comes first now comes last next time.
  bool sweep(bool poll = true, pass how = pass::full) {
    counts_.sweeps.add();
    conditions_.move_on();
    quota& carries = members().carries;
    how == pass::full ? carries.refill(active_.size()) : carries.withhold();
    members().choosing = false;
    if (steps_.members.later) [[unlikely]]
      try_again();
    bool moved = poll && net_.poll() != 0;
    moved |= transfers_.carry();
    if (series_.looks() && how == pass::full) [[unlikely]]
      moved |= series_.prepare(carries, [this](operation& op) { begin_prepared(op); });
    if (heavy_active_ != active_.size()) moved |= sweep_light();
    if (how == pass::full) moved |= carry_by_transport();
    if (heavy_active_ != 0) moved |= sweep_heavy();
    return moved;
  }

  // The fast way of a blocking call whose plan is straight, instead of start(). True when it is finished: its
  // handler is not called then. False if it has begun, and has to wait.
  bool goes_straight(const operation& op) const {
    return op.program->straight_count != 0 && op.seq <= op.channel->admitted &&
           op.channel->failures.empty() && runner_.is_light(*op.program) &&
           (op.at.task == nullptr || !op.at.task->user) && steps_.plain();
  }
  [[gnu::always_inline]] bool run_straight(operation& op) {
    if (!begin_straight(op, op.program->straight_count)) return false;
    executions_.give_back(*op.run);
    op.run = nullptr;
    retirement_.note(op);
    return true;
  }
  // The same of a post, instead of start() and issue(): of its steps those that a post makes.
  void post_straight(operation& op) {
    if (!begin_straight(op, op.program->straight_posted)) return;
    runner_.note_straight(op, op.program->straight_posted);
    ++outstanding_;
    enlist(op);
    leaves(op);
  }

  // Steps through one operation only, without asking the transport: the fast way of a blocking call.
  // True when it is finished.
  [[gnu::always_inline]] bool advance_only(operation& op) {
    if (op.run == nullptr) return op.finished.load(std::memory_order_relaxed);
    members().carries.refill(1);
    bool moved = runner_.advance(op);
    if (!runner_.over(op, moved)) return false;
    if (active_.back() == &op) [[likely]]
      active_.pop_back();
    else
      active_.erase(std::find(active_.begin(), active_.end(), &op));
    retire(op);
    return true;
  }

  // Starts what can be started without carrying much, see post_only(): takes and returns how much may leave
  // the host. What is finished is not looked at any more.
  std::int64_t issue(operation& op, std::int64_t far = node_steps<T>::all) {
    steps_.post_only(far);
    const bool over = advance_only(op);
    far = steps_.has_posted();
    if (!over && op.run != nullptr) leaves(op);
    return far;
  }

  // The thread that has begun it goes on with other things: what no other rank can do is rung for.
  void leaves(operation& op) {
    if (runner_.is_left_alone_with(op, op.program->alone & ~op.run->done)) is_rung_for(op);
  }
  void is_left_alone(operation& op) {
    if (op.run != nullptr) op.asked || op.series != nullptr ? is_rung_for(op) : leaves(op);
  }
  void is_rung_for(operation& op) { rung_or_held_ += !std::exchange(op.run->rung, true); }
  // For a thread that waits and has nothing of its own to do: carries for members that compute. True if it
  // did.
  bool help_lenders() {
    bool moved = false;
    members().carries.refill(active_.size());
    for (operation* op : active_)
      moved |= op->program->lends() && op->status >= 0 && steps_.help_lenders(*op) == outcome::again;
    return moved;
  }

  bool has_waits() const { return rung_or_held_ != 0; } // is there anything to be rung for?
  // Lists for which words of the host this rank is to be rung while none of its threads drives.
  void list_waits() {
    if (has_waits()) conditions_.list_all(active_);
  }
  void moves_on() { conditions_.move_on(); }           // an operation does, outside of a sweep
  bool listed() const { return conditions_.listed(); } // is something? Under progress ownership, as all of it

  std::size_t outstanding() const { return outstanding_ + transfers_.outstanding(); }
  // There are operations that are not light.
  bool carries_large() const { return heavy_active_ != 0 || transport::carries(net_); }
  // Something waits for time to go by.
  bool chooses() { return members().choosing; }
  // Something waits for nothing but another sweep, or for a thread that drives.
  bool tries_again() {
    return members().later || chooses() || transport::carries(net_) || computations().waiting() ||
           transfers_.tries_again() || series_.looks();
  }
  progress::computations<T>& computations() { return steps_.computations; }
  // Work that only this rank's own process can move on.
  bool needs_driver() {
    return steps_.flights.in_flight() + relays_.in_flight() + steps_.bundles.messages().in_flight() +
                   far_active_ !=
               0 ||
           transfers_.needs_polls() || !answers_.none();
  }
  awaited_answers& answers() { return answers_; }

  reach<T>& members() { return steps_.members; }
  inbox<T>& messages() { return inbox_; }
  void record_by(recorder& r) {
    steps_.record_by(r);
    finished_ = [&r, on = std::move(finished_)](operation& op) { r.ended(op), on(op); };
  }
  one_sided_transfers<T>& transfers() { return transfers_; }

  // The operation that has been under way for longest, as {team, number}.
  std::pair<std::uint32_t, engine::sequence> oldest() const {
    if (active_.empty()) return {};
    return {active_.front()->channel->info.id, active_.front()->seq};
  }

private:
  template <transport::transport> friend class wait_survey;
  // For want of a slot, or because there will never be one.
  [[gnu::cold, gnu::noinline]] void hold(operation& op) {
    if (op.channel->lost != channel::no_rank) return refuse(op);
    ++rung_or_held_;
    op.channel->waiting.insert(op);
  }
  operation& take_held(channel& on) {
    --rung_or_held_;
    return on.waiting.take_first();
  }
  void refuse_held(channel& on) {
    while (!on.waiting.empty())
      refuse(take_held(on));
    series_.look();
  }
  void refuse(operation& op) {
    op.status = losses<T>::team_lost;
    --outstanding_;
    finished_(op);
  }

  // False if there is no memory for its execution: it waits like one that has no slot yet, and the next sweep
  // tries again.
  bool activate(operation& op) { return series_.keeps(op) || activate_prepared(op); }
  void begin_prepared(operation& op) {
    op.channel->lost == channel::no_rank&& activate_prepared(op) ? is_left_alone(op) : hold(op);
  }
  bool activate_prepared(operation& op) {
    execution* const run = executions_.take(op, active_);
    if (run == nullptr) [[unlikely]] {
      members().later = true;
      return false;
    }
    op.run = run;
    runner_.begin(op);
    enlist(op);
    return true;
  }
  [[gnu::always_inline]] void enlist(operation& op) {
    if (op.lent && op.program->lends()) steps_.claims.lend(op);
    op.light = runner_.is_light(*op.program);
    heavy_active_ += !op.light;
    far_active_ += op.program->far;
    active_.push_back(&op);
    if (!op.channel->failures.empty()) [[unlikely]]
      losses_.heed_told_failure(op);
  }

  // True if the steps are done: then it is in no list yet.
  [[gnu::always_inline]] bool begin_straight(operation& op, unsigned steps) {
    if (op.program->awaited) members().wake_near();
    op.run = executions_.take(op, active_);
    if (op.run != nullptr) [[likely]] {
      op.run->begin(*op.program);
      op.light = true;
      if (runner_.run_straight(op, steps)) [[likely]]
        return true;
    }
    enlist_straight(op);
    return false;
  }
  [[gnu::noinline]] void enlist_straight(operation& op) {
    ++outstanding_;
    if (op.run != nullptr) return enlist(op);
    members().later = true;
    hold(op);
  }

  [[gnu::cold, gnu::noinline]] void try_again() {
    bool& short_of_memory = members().later;
    short_of_memory = false;
    for (auto& [id, on] : channels_) {
      losses_.heed_told_loss(*on);
      activate_waiting(*on);
      if (!on->relayed.empty()) relays_.carry_on(*on);
    }
    steps_.bundles.messages().carry_on();
    short_of_memory ? shortage_.met("the state of an operation") : shortage_.over();
    members().unasked().send_again();
  }

  void activate_waiting(channel& on) {
    while (!on.waiting.empty() && on.waiting.first().seq <= on.admitted) {
      operation& next = take_held(on);
      if (!activate(next)) return hold(next);
      is_left_alone(next);
    }
  }

  bool carry_by_transport() {
    const std::uint64_t bytes = transport::carry(net_);
    if (bytes != 0) members().carries.take(bytes);
    return bytes != 0;
  }

  bool sweep_light() {
    bool moved = false;
    for (std::size_t k = 0; k < active_.size();) {
      if (active_[k]->light)
        moved |= visit(k);
      else
        ++k;
    }
    return moved;
  }

  bool sweep_heavy() {
    const quota& carries = members().carries;
    bool moved = false;
    std::size_t k = first_;
    for (std::size_t left = active_.size(); left != 0; --left) {
      if (k >= active_.size()) k = 0;
      if (active_[k]->light) {
        ++k;
        continue;
      }
      const bool spent = carries.spent();
      moved |= visit(k);
      if (!spent && carries.spent()) first_ = k;
    }
    return moved;
  }

  // The operation at this place of the list; leaves the place of the next one. True if it moved.
  bool visit(std::size_t& k) {
    operation& op = *active_[k];
    bool moved = runner_.advance(op);
    if (!runner_.over(op, moved)) {
      ++k;
      return moved;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(k));
    retire(op);
    return true;
  }

  // The operation is over here; so is every older one of its team as soon as those before it are.
  void retire(operation& op) {
    if (op.status < 0) [[unlikely]]
      losses_.look_for_loss(op);
    rung_or_held_ -= op.run->rung;
    executions_.give_back(*op.run);
    op.run = nullptr;
    --outstanding_;
    far_active_ -= op.program->far;
    heavy_active_ -= !op.light;
    retirement_.note(op);
    finished_(op); // the last touch
    series_.look();
  }
  T& net_;
  statistics& counts_;
  finished_handler finished_;
  channel_map channels_;
  node_steps<T> steps_;
  plan_runner<T> runner_;
  ring_conditions<T> conditions_;
  relays<T> relays_;
  losses<T> losses_;
  inbox<T> inbox_;
  retirement<T> retirement_;
  one_sided_transfers<T> transfers_;
  std::vector<operation*> active_;
  series series_;
  engine::shortage shortage_;
  execution_pool executions_;
  std::size_t outstanding_ = 0;
  std::size_t far_active_ = 0;
  std::size_t rung_or_held_ = 0; // left with steps that no other rank can do for this one; without a slot yet
  awaited_answers answers_;
  std::size_t heavy_active_ = 0; // not light
  std::size_t first_ = 0;        // where the next pass over the heavy ones begins
};

} // namespace weft::progress
