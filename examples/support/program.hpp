// SPDX-License-Identifier: BSD-3-Clause
// What the examples with options have in common: one thread speaks, and a failure ends the job.
#pragma once

#include "tools/options/command_line.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <upc.h>
#include <utility>

namespace example {

inline bool first_thread() {
  return MYTHREAD == 0;
}

// Only thread 0 speaks, and at once: whoever watches a long run sees each iteration.
template <class... A> void say(fmt::format_string<A...> text, A&&... values) {
  if (!first_thread()) return;
  fmt::print(text, std::forward<A>(values)...);
  std::fflush(stdout);
}

// All threads parse the same arguments and come to the same end, but only one of them says so.
inline int parse_and_run(weft::command_line& app, int argc, char** argv, const std::function<int()>& run) {
  if (const auto status = app.parse(argc, argv, first_thread())) return *status;
  return run();
}

// The whole of main: `run` between weft_init and weft_finalize.
inline int run_program(weft::command_line& app, const char* name, int argc, char** argv,
                       const std::function<int()>& run) {
  weft_init(&argc, &argv);
  try {
    const int status = parse_and_run(app, argc, argv, run);
    weft_finalize();
    return status;
  } catch (const std::exception& error) {
    // The other threads may be waiting for this one: end without them, and let the launcher end the job.
    fmt::print(stderr, "{}: {}\n", name, error.what());
    std::fflush(nullptr);
    std::quick_exit(EXIT_FAILURE);
  }
}

} // namespace example
