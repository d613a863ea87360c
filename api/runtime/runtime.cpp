// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/runtime.hpp"
#include "api/runtime/process.hpp"
#include "engine/format.hpp"
#include "engine/log.hpp"
#include "include/weft/error.hpp"

#include <chrono>
#include <memory>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace weft::api {

namespace {

// Made by weft_init, gone with weft_finalize. No other thread deletes it: a thread that exits without
// weft_finalize must not wait for the others on the way out, its launcher sees it go and ends the job.
process_runtime* the_runtime = nullptr;

// Why there is none. A child of fork() has the parent's memory but neither its threads nor its place in the
// job: all that it calls is an error, at no cost elsewhere, since for the child there is no runtime any more.
enum class absence { not_started, ended, forked };
absence why_none = absence::not_started;

void refuse_in_child() {
  if (the_runtime == nullptr) return;
  the_runtime = nullptr; // the parent's: its memory stays
  why_none = absence::forked;
}

[[noreturn, gnu::cold]] void fail_absent(const char* call) {
  switch (why_none) {
  case absence::not_started:
    break;
  case absence::ended:
    throw weft::error(call, "", "", "weft_finalize has ended the library for good: make this call before it");
  case absence::forked:
    throw weft::error(
        call, "", "",
        "this process was forked by a thread of the job and is none itself: call the library in "
        "the parent, or start another program here");
  }
  throw weft::error(call, "", "", "weft_init must be called first");
}

} // namespace

runtime& runtime::get(const char* call) {
  if (the_runtime) [[likely]]
    return *the_runtime;
  fail_absent(call);
}

bool runtime::initialised() noexcept {
  return the_runtime != nullptr;
}

void runtime::init(const boot::exchange* brought) {
  if (why_none != absence::not_started) fail_absent("weft_init");
  std::vector<std::string> warnings;
  const engine::settings s = engine::present_settings(warnings);
  engine::open_log(s.log);
  auto made = std::make_unique<process_runtime>(s, brought);
  if (made->rank() == 0)
    for (const std::string& warning : warnings)
      engine::log(engine::severity::warn, "{}", warning);
  static const int handled = pthread_atfork(nullptr, nullptr, refuse_in_child);
  static_cast<void>(handled);
  the_runtime = made.release();
  ++begun;
}

void runtime::finalize() {
  why_none = absence::ended;
  with_reach = nullptr;
  const std::unique_ptr<process_runtime> last(std::exchange(the_runtime, nullptr));
  last->close();
}

namespace {

// What a rank that leaves behind a death still gives the others: answers for so long, then its farewell. What
// ends together with them by then does not concern them.
constexpr std::chrono::milliseconds grace_of_leaving{300}, farewell{200};

} // namespace

// The end of a job. No rank sends a message to a rank that has left:
//
//   1. Copies that no call completed come to their end, so that none of them touches memory any more; then a
//      barrier of all. Behind it every rank is in this function, so no call waits for anything any more:
//      operations that no call completed, quiet teams and returning memory are of no use to any rank.
//   2. Each rank abandons them: nothing of its own makes it send a message from now on. It still answers what
//      other ranks asked before.
//   3. A second barrier. A rank that leaves it knows that all have abandoned theirs, so what may still arrive
//      is late answers, which it drops; and of this barrier it has sent all that the others need.
//   4. The transport is closed, and drops what would be sent from now on. Messages on their way, those of the
//      barrier among them, need both ends to poll: closing flushes, and the fence polls until all have
//      flushed.
//   5. Behind the fence no rank touches the memory or the worker of another.
//
// When a rank has died, the barriers fail, or the loops in 4 see it. Then what UCX holds is left to the
// operating system, because ending it in order waits for peers; and the caller hears of the death. Before
// that this rank tells the others that it leaves: its process may live for long, and they would wait for its
// answers.
void process_runtime::close() {
  try {
    engine_->finish_transfers();
    trace_.compare_clocks([this] { run_barrier({}); });
    engine_->run(*all_, {.by = collectives::caller::finalize}, place_of_call());
    engine_->with_ownership([&] {
      teams_->abandon();
      engine_->works().abandon();
    });
    leaving_.store(true, std::memory_order_relaxed);
    engine_->run(*all_, {.by = collectives::caller::finalize}, place_of_call());
    engine_->with_ownership([&] { ending_.store(true, std::memory_order_relaxed); });
    reports_.reset();
    thread_.reset();
    if (settings_.statistics) print_statistics();
    disconnect();
    deaths_.stop();
    open_ = false;
    trace_.finish(job_);
    teams_.reset();
    blocks_.reset();
    atomics_.reset();
    locks_.reset();
    inquiries_.reset();
    heap_.reset();
    engine_.reset();
    // Memory that the program still has stays as it is, and with it all of UCX.
    memory_.end() ? net_.reset() : static_cast<void>(net_.release());
    job_.finalize();
  } catch (...) {
    if (open_ && !leaving_.load(std::memory_order_relaxed)) take_leave();
    if (open_) leave_in_disorder();
    throw;
  }
}

// A rank that ends behind the fence looks dead to a rank that has not heard yet that all have come to the
// fence: so there a death only counts when the fence has not ended for a while.
void process_runtime::disconnect() {
  constexpr std::chrono::seconds grace{5};
  const auto died = [this] { return died_at_the_end_.load(std::memory_order_relaxed); };
  auto looked = net_->now();
  const auto look_for_silence = [&] { // what is silent now needs no flush any more
    if (net_->now() - looked < silence_period) return;
    looked = net_->now();
    (void)net_->end_silent_connections();
  };
  std::chrono::nanoseconds since{0};
  const auto goes_on = [&] {
    net_->poll();
    if (!died()) return true;
    if (since.count() == 0) since = net_->now();
    return net_->now() - since < grace;
  };
  const auto flushes = [&] {
    look_for_silence();
    return !died();
  };
  if (!net_->close(flushes) || !job_.fence(goes_on))
    throw progress::operation_error("a thread has died before the end of all; this one ends without it");
}

// Others may be about to end an operation that has ended here; so at first everything goes on.
void process_runtime::take_leave() noexcept {
  leaving_.store(true, std::memory_order_relaxed);
  const auto drive_for = [this](std::chrono::nanoseconds time) {
    const auto end = net_->now() + time;
    engine_->drive_until([&] { return net_->now() >= end; });
  };
  try {
    drive_for(grace_of_leaving);
    engine_->with_ownership([&] {
      for (std::uint32_t rank = 0; rank < job_.size(); ++rank)
        if (rank != job_.rank() && !heap_->lost(rank)) (void)heap_->send(rank, control::departed{});
    });
    drive_for(farewell);
  } catch (...) { // the caller hears of what came before
  }
}

void process_runtime::leave_in_disorder() noexcept {
  open_ = false;
  reports_.reset();
  deaths_.stop();
  thread_.reset();
  (void)net_->close([] { return false; });
  (void)teams_.release();
  (void)blocks_.release();
  (void)atomics_.release();
  (void)locks_.release();
  (void)inquiries_.release();
  (void)heap_.release();
  (void)engine_.release();
  (void)memory_.end();
  (void)net_.release();
}

void process_runtime::print_statistics() const {
  for (const auto& entry : progress::statistics_table)
    engine::print(stderr, "weft: rank {}: {:<20} {:>12}  {}\n", job_.rank(), entry.name,
                  (engine_->counts().*entry.counted).value(), entry.help);
  memory_.print(job_.rank());
}

void process_runtime::abort_job(int status, const std::string& message) {
  job_.abort(status, message);
}

void process_runtime::end_job(int status, const std::string& message) {
  job_.end(status, message);
}

process_runtime::~process_runtime() {
  if (open_) leave_in_disorder(); // close() was not called, or could not begin
}

} // namespace weft::api
