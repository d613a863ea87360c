// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/cores.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string>

namespace weft::progress {
namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

double ratio(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : unlimited;
}

// cgroup v2: one file "<quota> <period>", the quota may be "max".
double quota_v2(const fs::path& group) {
  std::ifstream file{group / "cpu.max"};
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? ratio(quota, period) : unlimited;
}

// cgroup v1: two files of one number each, the quota may be -1.
double quota_v1(const fs::path& group) {
  std::ifstream quota_file{group / "cpu.cfs_quota_us"};
  std::ifstream period_file{group / "cpu.cfs_period_us"};
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? ratio(quota, period) : unlimited;
}

// A limit anywhere between a group and the root holds for the group. Inside a container the path that the
// kernel reports may be the host's and not exist here; the way up then ends at the container's own group.
template <class Quota> double tightest(const fs::path& mount, fs::path group, Quota quota) {
  double result = quota(mount);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
    result = std::min(result, quota(mount / group));
  }
  return result;
}

bool has_controller(const std::string& controllers, const std::string& wanted) {
  std::istringstream list{controllers};
  for (std::string name; std::getline(list, name, ',');) {
    if (name == wanted) return true;
  }
  return false;
}

// A line of /proc/self/cgroup: "<number>:<controllers>:<path>"; version 2 has no controllers.
double quota_of_line(const std::string& line, const fs::path& cgroup) {
  std::istringstream fields{line};
  std::string number;
  std::string controllers;
  std::string path;
  std::getline(fields, number, ':');
  std::getline(fields, controllers, ':');
  std::getline(fields, path);
  if (controllers.empty()) {
    return std::min(tightest(cgroup, path, quota_v2), tightest(cgroup / "unified", path, quota_v2));
  }
  double result = unlimited;
  if (has_controller(controllers, "cpu")) {
    for (const char* mount : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
      result = std::min(result, tightest(cgroup / mount, path, quota_v1));
    }
  }
  return result;
}

// The kernel refuses a mask that is smaller than its own, of unknown size: empty then, try a larger one.
std::optional<std::vector<std::uint32_t>> list_affinity(int cpus) {
  cpu_set_t* mask = CPU_ALLOC(cpus);
  if (mask == nullptr) return std::vector<std::uint32_t>{0};
  const std::size_t size = CPU_ALLOC_SIZE(cpus);
  std::optional<std::vector<std::uint32_t>> list;
  if (::sched_getaffinity(0, size, mask) == 0) {
    list.emplace();
    for (int cpu = 0; cpu < cpus; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask))
        list->push_back(static_cast<std::uint32_t>(cpu));
  } else if (errno != EINVAL) {
    list = {0};
  }
  CPU_FREE(mask);
  return list;
}

} // namespace

std::vector<std::uint32_t> affinity_list() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    if (auto list = list_affinity(cpus); list && !list->empty()) return *list;
  }
  return {0};
}

double affinity_cores() {
  return static_cast<double>(affinity_list().size());
}

double quota_cores(const fs::path& root) {
  double result = unlimited;
  std::ifstream groups{root / "proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    result = std::min(result, quota_of_line(line, root / "sys/fs/cgroup"));
  }
  return result;
}

double usable_cores(const fs::path& root) {
  return std::min(affinity_cores(), quota_cores(root));
}

mode resolve(mode requested, double cores, unsigned local_ranks, unsigned job_ranks) noexcept {
  if (requested != mode::automatic) return requested;
  if (job_ranks <= 1) return mode::caller;
  return cores >= 2.0 * local_ranks ? mode::dedicated : mode::helping;
}

} // namespace weft::progress
