// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/pin.hpp"

#include <cerrno>
#include <cstdlib>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace perf {
namespace {

std::vector<int> cores_at_start() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  return cores;
}

const std::vector<int>& cores() {
  static const std::vector<int> found = cores_at_start();
  return found;
}

} // namespace

int usable_cores() {
  return static_cast<int>(cores().size());
}

void pin_by_rank(const char* rank_variable) {
  const char* rank = std::getenv(rank_variable);
  if (!rank) {
    const std::string name = rank_variable;
    throw std::runtime_error("cannot pin the rank: no launcher has set " + name +
                             ", start one or give --no-pin");
  }
  const int core = cores().at(static_cast<std::size_t>(std::atoi(rank)) % cores().size());
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(core, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "cannot pin the rank to core " + std::to_string(core));
}

} // namespace perf
