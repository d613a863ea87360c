// SPDX-License-Identifier: BSD-3-Clause
// What would go wrong in the job that this process is a rank of: the library is started in it, and copies
// between its ranks are made and timed.

#include "engine/format.hpp"
#include "include/weft/weft.hpp"
#include "progress/driving/cores.hpp"
#include "tools/doctor_findings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace weft::tool {

namespace {

struct place {
  std::array<char, 64> host{};
  double cores = 0;
};

bool is_near(std::size_t thread) {
  return upc_thread_info(thread).guaranteedCastable != 0;
}

// Of each rank. Collective.
std::vector<place> places_of_ranks() {
  const shared_array<place> all(per_thread(1));
  const auto me = static_cast<std::ptrdiff_t>(upc_mythread());
  place own;
  gethostname(own.host.data(), own.host.size() - 1);
  own.cores = progress::usable_cores();
  all[me] = own;
  upc_barrier();
  std::vector<place> places;
  for (std::size_t t = 0; t != all.size(); ++t)
    places.push_back(all[static_cast<std::ptrdiff_t>(t)]);
  upc_barrier();
  return places;
}

using clock = std::chrono::steady_clock;

// Median of some copies to a rank's memory, in microseconds.
double copy_time(upc_shared_ptr_t to, const std::vector<char>& from, std::size_t bytes, int times) {
  std::vector<double> each;
  for (int k = 0; k != times; ++k) {
    const auto begun = clock::now();
    upc_memput(to, from.data(), bytes);
    each.push_back(std::chrono::duration<double, std::micro>(clock::now() - begun).count());
  }
  std::ranges::nth_element(each, each.begin() + times / 2);
  return each[static_cast<std::size_t>(times / 2)];
}

// What the interface that UCX uses was made for, in bytes for each microsecond; nothing if the system does
// not tell.
std::optional<double> made_for(const char* device) {
  if (device == nullptr) return std::nullopt;
  const std::string name(device);
  std::ifstream file("/sys/class/net/" + name.substr(0, name.find_first_of(",:")) + "/speed");
  double megabits = 0;
  if (!(file >> megabits) || megabits <= 0) return std::nullopt;
  return megabits / 8;
}

// By rank 0, to the first rank of each other host and one of its own, a few of them.
void time_copies(findings& f, const std::vector<place>& places) {
  constexpr std::size_t small = 8, large = std::size_t{1} << 20, most_hosts = 8;
  using block = std::array<char, large>;
  const shared_array<block> targets(per_thread(1));
  const std::vector<char> source(large);
  std::vector<std::string> seen;
  for (std::size_t t = 1; upc_mythread() == 0 && t != places.size() && seen.size() != most_hosts; ++t) {
    const std::string host = is_near(t) ? "this host" : engine::format("host {}", places[t].host.data());
    if (std::ranges::find(seen, host) != seen.end()) continue;
    seen.push_back(host);
    const upc_shared_ptr_t to = targets + static_cast<std::ptrdiff_t>(t);
    copy_time(to, source, large, 3); // connects, and maps pages
    const double little = copy_time(to, source, small, 21), much = copy_time(to, source, large, 9);
    const double speed = static_cast<double>(large) / much;
    const char* const device = std::getenv("UCX_NET_DEVICES");
    const std::string found =
        engine::format("to rank {} on {}: 8 bytes in {} us, 1 MiB at {:.0f} MB/s", t, host,
                       little < 0.05 ? "0.1" : engine::format("{:.1f}", little), speed);
    const std::optional<double> possible = is_near(t) ? std::nullopt : made_for(device);
    if (possible && speed < *possible / 4)
      f.note("copies", engine::format("{}; {} is made for {:.0f} MB/s", found, device, *possible),
             "look at the load of the network, or name another device in WEFT_NET_DEVICES");
    else
      f.good("copies", found);
  }
  upc_barrier();
}

std::string count_of(std::size_t n, const char* what) {
  return engine::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void look_at_ranks(findings& f, const std::vector<place>& places) {
  std::vector<std::string> hosts;
  for (const place& p : places)
    hosts.emplace_back(p.host.data());
  std::ranges::sort(hosts);
  hosts.erase(std::ranges::unique(hosts).begin(), hosts.end());
  unsigned near = 0;
  for (std::size_t t = 0; t != places.size(); ++t)
    near += is_near(t);
  f.good("job", engine::format("{} on {}; {} on this one, reached by loads and stores",
                               count_of(places.size(), "rank"), count_of(hosts.size(), "host"), near));

  const double cores = places[static_cast<std::size_t>(upc_mythread())].cores;
  const auto ranks = static_cast<unsigned>(places.size());
  const std::string here = engine::format("{:.1f} cores for {} on this host", cores, count_of(near, "rank"));
  if (ranks == 1)
    f.good("progress", "a rank alone needs no progress thread");
  else if (progress::resolve(progress::mode::automatic, cores, near, ranks) == progress::mode::dedicated)
    f.good("progress", here + ": a progress thread of each rank stays awake");
  else
    f.note("progress", here + ": progress threads sleep until there is work for them",
           "for the shortest waits leave one core of each rank to its progress thread: half as many ranks on "
           "a host, or srun -c 2");
  if (cores < near)
    f.note("binding", here + ": ranks take turns on a core",
           "start as many ranks as there are cores, or fewer; programs of MPI too: --bind-to none");
}

} // namespace

void look_at_job(findings& f) {
  try {
    weft_init(nullptr, nullptr);
    const std::vector<place> places = places_of_ranks();
    look_at_ranks(f, places);
    time_copies(f, places);
    weft_finalize();
  } catch (const std::exception& e) {
    f.wrong("job", e.what());
  }
}

} // namespace weft::tool
