// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/call_place.hpp"
#include "engine/transport/ucx/transport.hpp"
#include "pmix_boot/client/report_desk.hpp"
#include "progress/driving/engine.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace weft::api {

inline void flush_streams() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// Another thread may hold a stream, as one that waits for input does, and a pipe may have no reader: what is
// not written within the patience is lost.
inline void flush_streams_in_time() {
  constexpr std::chrono::seconds patience{2};
  const auto written = std::make_shared<std::promise<void>>();
  std::future<void> answer = written->get_future();
  try {
    std::thread([written] {
      flush_streams();
      written->set_value();
    }).detach();
  } catch (const std::system_error&) { // no thread is to be had
    return flush_streams();
  }
  answer.wait_for(patience);
}

// Explains waits that last: of an operation that has been the oldest of this rank for WEFT_TIMEOUT seconds
// while a thread waited, or of a thread that waits for an answer (a lock, memory), again after twice as long,
// and so on; and of whatever is outstanding when the user ends the job. It changes nothing: the wait goes on.
//
// A thread that goes to sleep looks at the clock (on_sleep); nothing is done for waits that end before.
// The rest is done by a thread that sleeps until it is rung, so that a rank that computes, or that waits in
// something else, answers as well. Under `weft run` the launcher is told, asks all ranks, and prints one
// report; under other launchers the rank prints its own lines, also for the signals by which users end jobs,
// as long as no other thread has a handler for them: the handler only writes to a descriptor, the thread
// prints and lets the signal do what it does without us. The second signal is not waited for. What the
// program has printed is written first, under each launcher: by such a signal a job ends that upc_global_exit
// ends. SIGCONT asks for a report too, for a launcher that continues processes before it ends them, and then
// kills them at once.
class wait_reporter final : public progress::sleep_watcher {
public:
  using engine_type = progress::engine<transport::ucx::ucx_transport>;

  wait_reporter(engine_type& engine, std::uint32_t rank, std::uint64_t timeout_seconds);
  ~wait_reporter();
  wait_reporter(const wait_reporter&) = delete;
  wait_reporter& operator=(const wait_reporter&) = delete;

  void on_sleep() override; // under progress ownership

private:
  using clock = std::chrono::steady_clock;
  // An operation, or an answer with this number of no team.
  struct subject {
    bool answer = false;
    std::uint32_t team = 0;
    std::uint64_t number = 0; // 0: nothing
    bool operator==(const subject&) const = default;
  };
  struct watched {
    subject what;
    clock::time_point since, last_sleep;
    clock::duration limit{};
    engine::call_place place; // of the call that waits
  };

  void serve();
  void answer_late();
  void look_whether_it_went_on();
  void end_by_signal();
  void go_on();
  bool say(const std::string& why);
  bool said_lately() const;
  boot::rank_report report();
  template <class Work> bool under_the_baton(Work&& work);
  void look_at(watched& w, const subject& oldest, clock::time_point now);
  subject oldest_operation();
  subject oldest_answer();
  std::uint64_t waited(const watched& w, clock::time_point now);
  void print(const boot::rank_report& r, const std::string& why);

  engine_type& engine_;
  const std::uint32_t rank_;
  const clock::duration timeout_; // 0 = never
  boot::report_line line_;
  progress::doorbell bell_;
  std::mutex lock_; // of the three below
  watched operation_, answer_;
  const watched* late_ = nullptr;
  // Of the thread: what was reported and has not gone on; when it has reported at SIGCONT.
  watched told_;
  clock::time_point said_at_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace weft::api
