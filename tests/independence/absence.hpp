// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <unistd.h>
#include <weft/weft.hpp>

// A rank that is away: it does not call the library, or is stopped. No clocks: it comes back when all the
// others say that they have left, so a library that needs it hangs, and the test's time limit ends it.
namespace absence {

// On thread 0.
struct scene {
  std::atomic<int> away, left, through, pid; // through: has left its call; left: has looked as well

  void begin() {
    away.store(0);
    left.store(0);
    through.store(0);
    pid.store(getpid());
  }
  void be_away(bool stopped) {
    away.store(1);
    while (left.load() != THREADS - 1) // if stopped, this is where
      if (!stopped) usleep(100);
  }
  void await_absence() const {
    while (away.load() == 0)
      usleep(10);
  }
  // One of the others stops the process that is away; all of them wait until it is gone.
  void see_it_stopped(int absent) const {
    await_absence();
    if (MYTHREAD != (absent + 1) % THREADS) return;
    kill(pid.load(), SIGSTOP);
    while (!is_stopped())
      usleep(100);
  }
  void leave(bool stopped) {
    const bool last = left.fetch_add(1) + 1 == THREADS - 1;
    if (stopped && last) kill(pid.load(), SIGCONT);
  }

private:
  bool is_stopped() const {
    std::ifstream stat("/proc/" + std::to_string(pid.load()) + "/stat");
    std::string text;
    std::getline(stat, text);
    return text.substr(text.rfind(')') + 2, 1) == "T";
  }
};

} // namespace absence
