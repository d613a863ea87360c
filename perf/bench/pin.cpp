#include "perf/bench/pin.hpp"

#include <cstdlib>
#include <sched.h>
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

int rank_from_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return -1;
}

} // namespace

int usable_cores() {
  return static_cast<int>(cores().size());
}

int pin_by_rank() {
  const int rank = rank_from_environment();
  if (rank < 0 || cores().empty()) return -1;
  const int core = cores()[static_cast<std::size_t>(rank) % cores().size()];
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(core, &mask);
  return sched_setaffinity(0, sizeof mask, &mask) == 0 ? core : -1;
}

} // namespace perf
