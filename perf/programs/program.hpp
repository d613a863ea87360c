// SPDX-License-Identifier: BSD-3-Clause
// What the benches have in common for which there is no driver of an MPI: programs of Weft. They take
// options, pin their ranks as the driver does, and thread 0 prints records as the driver prints them.
#pragma once

#include "perf/bench/pin.hpp"
#include "perf/bench/record_line.hpp"
#include "perf/bench/statistics.hpp"
#include "tools/options/command_line.hpp"

#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

namespace perf {

// The part of a shared object that lies on `thread`, `offset` bytes behind the place of p.
inline upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, std::size_t offset = 0) {
  return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
}

// Microseconds.
template <class F> double time_of(F&& body) {
  const double begin = now_us();
  body();
  return now_us() - begin;
}

// Prints what thread 0 has measured; `bytes` of all elements of a sort, of a block otherwise.
struct reporter {
  std::string_view bench, mode;

  void operator()(std::string_view op, std::size_t bytes, double us, const figures& more = {}) const {
    if (MYTHREAD == 0) print_record({bench, op, THREADS, bytes, mode, "weft", us}, more);
  }
};

inline void add_sizes(weft::command_line& app, std::vector<std::size_t>& sizes) {
  app.add("--sizes", &sizes, "bytes of a block; suffixes K and M are allowed").separated_by(',').in_bytes();
}
inline void add_repetitions(weft::command_line& app, int& repetitions) {
  app.add("--repetitions", &repetitions, "of each measurement").between(1, 1000).tells_default();
}

// The whole of main.
template <class F> int run_program(weft::command_line& app, int argc, char** argv, F&& measure_all) {
  bool pin = true;
  app.add_flag("!--no-pin", pin, "leave the placement of the ranks to the system");
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    if (pin) pin_by_rank("PMIX_RANK");
    weft_init(&argc, &argv);
    measure_all();
    weft_finalize();
  } catch (const std::exception& error) {
    // Without finalizing, which would wait for the others: the launcher sees the status and ends the job.
    std::cerr << "weft_bench: " << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);
  }
  return EXIT_SUCCESS;
}

} // namespace perf
