// SPDX-License-Identifier: BSD-3-Clause
// The benchmark driver: one run of one library. Rank 0 writes one JSON object per line and measurement.
#include "perf/bench/measurements.hpp"
#include "perf/bench/pin.hpp"
#include "perf/bench/record_line.hpp"
#include "tools/options/command_line.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace perf;

std::vector<std::string> all_operations() {
  std::vector<std::string> names;
  for (const operation op : operations)
    names.emplace_back(name_of(op));
  return names;
}

struct options {
  std::vector<std::string> benches{"blocking", "loop"};
  std::vector<std::string> operations = all_operations();
  std::vector<std::size_t> sizes{8, 1024, 16384};
  std::size_t overlap_from = 16384;
  double budget_ms = 100;
  double idle_seconds = 2;
  limits settings;
  bool pin = true;
  std::string meeting;
};

void describe(weft::command_line& app, options& chosen) {
  std::vector<std::string> bench_names;
  for (const bench& one : benches())
    bench_names.emplace_back(one.name);
  app.add("--benches", &chosen.benches, "what to measure").separated_by(',').one_of(bench_names);
  app.add("--ops", &chosen.operations, "which operations").separated_by(',').one_of(all_operations());
  app.add("--sizes", &chosen.sizes, "bytes per block, multiples of 8; suffixes K and M are allowed")
      .separated_by(',')
      .in_bytes();
  app.add("--overlap-from", &chosen.overlap_from, "least block of overlap, pipeline and independence")
      .in_bytes();
  app.add("--budget-ms", &chosen.budget_ms, "wall time of one measurement");
  app.add("--minimum-iterations", &chosen.settings.minimum_iterations).positive();
  app.add("--maximum-iterations", &chosen.settings.maximum_iterations).positive();
  app.add("--independence-iterations", &chosen.settings.independence_iterations).positive();
  app.add("--beside-bytes", &chosen.settings.beside_bytes, "of a rank, in the large exchange of beside")
      .in_bytes();
  app.add("--skew", &chosen.settings.skew,
          "of the sizes of skewed: the k-th largest block has 1/k^skew of the bytes of the largest")
      .not_negative();
  app.add("--idle-seconds", &chosen.idle_seconds).positive();
  app.add_flag("--processor-time", chosen.settings.processor_time,
               "add cpu_us, what all ranks use during what is measured, by the calls");
  app.add("--meeting", &chosen.meeting,
          "HOST:PORT of rank 0, where the ranks meet if they are on several hosts");
  app.add_flag("!--no-pin", chosen.pin, "leave the placement of the ranks to the system");
}

void print(const backend& library, const bench& kind, operation op, std::size_t bytes, const record& result) {
  print_record({kind.name, kind.of == subject::process ? "none" : name_of(op), library.size(), bytes, "MY/MY",
                library.name(), result.us},
               result.figures);
}

void measure(session& shared, const bench& kind, operation op, std::size_t bytes) {
  const record result = kind.measure(shared, op, bytes);
  if (shared.library().rank() == 0) print(shared.library(), kind, op, bytes, result);
}

constexpr std::size_t small = 8;

// The sizes in which a bench measures an operation. A barrier has no size.
std::vector<std::size_t> sizes_of(const bench& kind, operation op, const options& chosen) {
  std::vector<std::size_t> sizes = chosen.sizes;
  switch (kind.of) {
  case subject::every_call:
    if (!carries_data(op)) sizes = {0};
    break;
  case subject::long_calls:
    std::erase_if(sizes, [&](std::size_t bytes) { return !carries_data(op) || bytes < chosen.overlap_from; });
    break;
  case subject::small_collectives:
    sizes.assign(carries_data(op) && op < operation::permute ? 1 : 0, small);
    break;
  case subject::small_exchange:
    sizes.assign(op == operation::exchange ? 1 : 0, small);
    break;
  case subject::every_exchange:
    if (op != operation::exchange) sizes.clear();
    break;
  case subject::process:
    sizes.clear();
    break;
  }
  return sizes;
}

void measure_all(session& shared, const options& chosen) {
  for (const std::string& name : chosen.benches)
    for (const bench& kind : benches()) {
      if (kind.name != name) continue;
      if (kind.of == subject::process) measure(shared, kind, operation::barrier, 0);
      for (const std::string& op : chosen.operations)
        for (const std::size_t bytes : sizes_of(kind, *operation_named(op), chosen))
          measure(shared, kind, *operation_named(op), bytes);
    }
}

void run(backend& library, const options& chosen) {
  if (library.size() < 2) throw std::runtime_error("one rank has no partner, start at least two");
  std::size_t largest = 8;
  for (const std::size_t bytes : chosen.sizes)
    largest = std::max(largest, bytes);
  const std::unique_ptr<meeting> ranks =
      chosen.meeting.empty() ? meet_in_memory(library)
                             : meet_over_sockets(library.rank(), library.size(), chosen.meeting);
  session shared(library, *ranks, chosen.settings, largest * static_cast<std::size_t>(library.size()));
  measure_all(shared, chosen);
}

} // namespace

int main(int argc, char** argv) {
  weft::command_line app("measures the collectives of one library");
  options chosen;
  describe(app, chosen);
  if (const auto status = app.parse(argc, argv)) return *status;
  chosen.settings.budget_us = chosen.budget_ms * 1000;
  chosen.settings.idle_us = chosen.idle_seconds * 1e6;

  std::unique_ptr<backend> library;
  try {
    if (usable_cores() == 0) throw std::runtime_error("the system does not tell which cores may be used");
    if (chosen.pin) pin_by_rank(rank_variable);
    library = make_backend(&argc, &argv);
    run(*library, chosen);
  } catch (const std::exception& error) {
    // Without finalising, which would wait for the others: the launcher sees the status and ends the job.
    std::cerr << "weft_bench: " << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);
  }
  return EXIT_SUCCESS;
}
