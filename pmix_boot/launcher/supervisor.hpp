// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// One running job: starts the ranks, watches over them, and decides how the job ends.

#include "pmix_boot/client/report_desk.hpp"
#include "pmix_boot/launcher/launcher.hpp"
#include "pmix_boot/launcher/line_output.hpp"
#include "pmix_boot/launcher/rank_layout.hpp"
#include "pmix_boot/launcher/rank_process.hpp"
#include "pmix_boot/launcher/server_process.hpp"
#include "pmix_boot/launcher/signal_gate.hpp"
#include "pmix_boot/launcher/terminal_input.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::boot {

class supervisor {
public:
  supervisor(const launch_options& options, const std::string& program_path);

  // Until all ranks have ended and their output is written; returns the status of the job.
  int run();

private:
  struct rank_state {
    pid_t pid = -1;
    bool running = false;
    // As the PMIx server saw it.
    bool joined = false;
    bool left = false;
  };
  struct failure {
    int status;
    std::string text;
  };
  using clock = std::chrono::steady_clock;

  void start_all();
  void start(std::uint32_t rank, int null_input);
  void wait_for_something();
  void handle_signal(signal_gate::received received);
  void handle_server_events();
  void handle_abort();
  void look_for_guardian();
  void handle_join(std::uint32_t rank);
  void reap(pid_t first);
  std::optional<siginfo_t> reap(std::uint32_t rank);
  void handle_end(std::uint32_t rank, const siginfo_t& end);
  std::optional<failure> judge(const rank_state& rank, const siginfo_t& end) const;
  void begin_report(const std::string& why, int signal);
  void end_report();
  std::string state_of(std::uint32_t rank) const;
  std::vector<std::string> environment_of(std::uint32_t rank) const;
  void handle_failure(std::uint32_t rank, const failure& failure);
  void abandon(const std::string& reason, int status);
  void end_job();
  bool lines_to_come() const;
  void request_end();
  void signal_all(int signal);
  bool any_joined() const;

  const launch_options& options_;
  const program program_;
  const rank_layout layout_;
  // What a rank inherits is what was there before the launcher took room and the gate.
  const inherited_state inherited_;
  signal_gate signals_;
  guardian guardian_;
  server_process server_;
  report_desk reports_;
  line_output output_;
  terminal_input input_;

  std::vector<rank_state> ranks_;
  std::uint32_t running_ = 0;
  // Ended in whatever way without ever joining: if others join, their first fence cannot complete.
  std::optional<std::uint32_t> never_joined_;
  int status_ = 0;
  bool ending_ = false;
  std::optional<server_event> abort_; // the first, until it is judged
  int interrupts_ = 0;
  struct request {
    int signal = 0;
    clock::time_point when;
  };
  request last_request_; // to end the job
  std::optional<clock::time_point> kill_time_;
  // Until when ranks may print the lines that are to come, before they are told to end.
  std::optional<clock::time_point> lines_time_;

  // A report under way: until when ranks may answer, what it says first, and the signal that it holds up.
  struct inquiry {
    clock::time_point end;
    std::string why;
    int signal;
  };
  std::optional<inquiry> inquiry_;
  clock::time_point quiet_until_{}; // several ranks are late at about the same time
};

} // namespace weft::boot
