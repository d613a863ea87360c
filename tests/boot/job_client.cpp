// SPDX-License-Identifier: BSD-3-Clause
// One rank of a program that uses the library: job_client WHAT. Says "ready RANK PID" when the job has begun.
// What it does then is for those who end it to interrupt, but for "ends".

#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

// Never calls the library.
[[noreturn]] void compute() {
  for (volatile unsigned long steps = 0;;)
    steps = steps + 1;
}

// The last rank does not come.
void wait_in_barrier() {
  if (weft::upc_mythread() == weft::upc_threads() - 1)
    for (;;)
      pause();
  upc_barrier();
}

volatile std::sig_atomic_t hangups = 0;

} // namespace

WEFT_PROGRAM(job_client) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what == "forgets") upc_barrier(); // and catches nothing
  if (what == "other") throw std::runtime_error("the program's own");
  if (what == "handles") std::signal(SIGHUP, [](int) { hangups = hangups + 1; });
  weft::weft_init(nullptr, nullptr);
  upc_barrier();
  std::printf("ready %d %d\n", weft::upc_mythread(), static_cast<int>(getpid()));
  std::fflush(stdout);
  if (what == "computes") compute();
  if (what == "waits") wait_in_barrier();
  while (what == "handles" && hangups == 0)
    pause();
  while (what == "works")
    upc_barrier();
  for (int i = 0; i < 100; ++i)
    upc_barrier();
  weft::weft_finalize();
  return what == "ends" || what == "handles" ? 0 : 2;
}
