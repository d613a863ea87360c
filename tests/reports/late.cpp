// SPDX-License-Identifier: BSD-3-Clause
// One thread comes late to an exchange, or never: late HOW SECONDS [before | after]
//   computes    it is in no call of the library meanwhile; it sleeps, for that takes no core from other tests
//   stopped     its process is stopped, and no signal lets it go on
//   continues   it computes, and lets thread 0 go on by SIGCONT twice a second, as a launcher that ends a job
//   does elsewhere   it waits in a barrier of another team, for a thread that waits in the exchange
// With `before` or `after` the program has a handler of its own for SIGTERM, installed before weft_init or
// after, and thread 0 gets the signal.
#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace weft;

namespace {

void on_signal(int) {
  constexpr char text[] = "the handler of the program itself\n";
  static_cast<void>(!write(STDERR_FILENO, text, sizeof text - 1));
}

void computes(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void lets_go_on(pid_t process, double seconds) {
  for (double gone = 0; gone < seconds; gone += 0.5) {
    computes(0.5);
    kill(process, SIGCONT);
  }
}

} // namespace

WEFT_PROGRAM(late) {
  const std::string how = argc > 1 ? argv[1] : "computes";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  const std::string handler = argc > 3 ? argv[3] : "none";
  if (handler == "before") std::signal(SIGTERM, on_signal);
  weft_init(&argc, &argv);
  if (handler == "after") std::signal(SIGTERM, on_signal);
  std::vector<int> list(THREADS);
  std::iota(list.begin(), list.end(), 0);
  upc_team_t other = 0;
  weft_team_from_threads(UPC_TEAM_ALL, THREADS, list.data(), &other);
  const upc_shared_ptr_t dst = upc_all_alloc(THREADS, 1024), src = upc_all_alloc(THREADS, 1024);
  shared_array<pid_t> processes(per_thread(1));
  processes[MYTHREAD] = getpid();
  weft_barrier();
  const pid_t first = processes[0];
  if (MYTHREAD == 0 && handler != "none") raise(SIGTERM);
  if (MYTHREAD == THREADS - 1) {
    if (how == "stopped") raise(SIGSTOP);
    if (how == "elsewhere") cray_upc_team_barrier(other);
    if (how == "continues") lets_go_on(first, seconds);
    computes(seconds);
  }
  upc_all_exchange(dst, src, 8, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC, UPC_TEAM_ALL);
  if (MYTHREAD == 0) std::puts("exchanged");
  weft_finalize();
  return 0;
}
