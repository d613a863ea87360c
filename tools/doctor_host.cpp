// SPDX-License-Identifier: BSD-3-Clause
// What would go wrong on this host, found before a job is started.

#include "api/runtime/start.hpp"
#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/context.hpp"
#include "engine/transport/ucx/devices.hpp"
#include "engine/transport/ucx/segment.hpp"
#include "pmix_boot/client/job.hpp"
#include "pmix_boot/client/launch_environment.hpp"
#include "pmix_boot/client/limits.hpp"
#include "pmix_boot/client/pmix_info.hpp"
#include "progress/driving/cores.hpp"
#include "tools/doctor_findings.hpp"
#include "tools/mpi_program.hpp"
#include "weft/version.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace weft::tool {

namespace {

// The oldest that the library is tested with.
constexpr std::array<int, 2> least_ucx{1, 13}, least_pmix{4, 2};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The first two numbers of a text such as "OpenPMIx 4.2.2 (PMIx Standard: ...)".
std::array<int, 2> version_in(const std::string& text) {
  std::array<int, 2> numbers{};
  const std::size_t at = text.find_first_of("0123456789");
  if (at != std::string::npos) std::sscanf(text.c_str() + at, "%d.%d", numbers.data(), numbers.data() + 1);
  return numbers;
}

void look_at_versions(findings& f) {
  const std::string ucx = transport::ucx::version(), pmix = boot::pmix_version();
  const std::string all = engine::format("weft {}, UCX {}, PMIx {}", WEFT_VERSION, ucx, pmix);
  if (version_in(ucx) < least_ucx || version_in(pmix) < least_pmix)
    f.note("versions", all,
           engine::format("the library is tested with UCX {}.{}, PMIx {}.{} and later: install these",
                          least_ucx[0], least_ucx[1], least_pmix[0], least_pmix[1]));
  else
    f.good("versions", all);
}

engine::settings look_at_settings(findings& f) {
  std::vector<std::string> warnings;
  engine::settings present;
  try {
    present = engine::present_settings(warnings);
  } catch (const engine::setting_error& e) {
    f.wrong("settings", e.what());
    return {};
  }
  for (const std::string& each : warnings)
    f.note("settings", each, "correct its name, or unset it");
  if (warnings.empty()) f.good("settings", "every WEFT_ variable is known, and its value allowed");
  return present;
}

void look_at_cores(findings& f) {
  const double cores = progress::usable_cores(), bound = progress::affinity_cores();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const std::string all = engine::format("{:.1f} of {} may be used by this process", cores, online);
  if (bound > progress::quota_cores())
    f.note("cores", all,
           "the cgroup's cpu quota is below the cores of the affinity mask: ask for more of them");
  else if (bound < 2 && online > 1)
    f.note("cores", all,
           "the progress thread shares the one core of its rank and helps only: for a core of its own bind "
           "each rank to two, as by srun -c 2 or mpirun --map-by slot:PE=2");
  else
    f.good("cores", all);
}

// What a start needs of the user's limits. The numbers are those that the start itself asks for.
void look_at_limits(findings& f) {
  using needs = api::start_needs; // and ranks of the host, a few
  const std::string start = "the start of a rank";
  bool all = true;
  const auto holds = [&](const char* limit, auto&& need) {
    try {
      need();
    } catch (const boot::boot_error& e) {
      f.wrong(limit, e.what());
      all = false;
    }
  };
  holds("ulimit -n", [&] { boot::require_files(needs::files + needs::files_of_ucx + 8, start); });
  holds("ulimit -d", [&] { boot::require_data(needs::data, start); });
  holds("ulimit -u", [&] { boot::require_threads(needs::threads, start); });
  if (all) f.good("limits", "open files, memory and threads suffice for a rank");
  rlimit locked{};
  getrlimit(RLIMIT_MEMLOCK, &locked);
  if (transport::ucx::has_adapters() && locked.rlim_cur != RLIM_INFINITY)
    f.note("ulimit -l",
           engine::format("{} may be locked, and an adapter needs its memory locked",
                          engine::show_size(locked.rlim_cur)),
           "set memlock to unlimited in /etc/security/limits.conf, and LimitMEMLOCK of Slurm's daemon");
}

void look_at_memory(findings& f, const engine::settings& s) {
  // A rank has its heap twice: what all allocate, and what it allocates alone.
  const std::size_t bytes = 2 * s.heap_size;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const auto ranks = static_cast<std::size_t>(cores > 0 ? cores : 1);
  const std::string needed = engine::format("{} for each rank (WEFT_HEAP_SIZE={})", engine::show_size(bytes),
                                            engine::show_size(s.heap_size));
  const transport::ucx::memory_trial trial(bytes, ranks);
  struct statvfs room {};
  const bool mounted = statvfs("/dev/shm", &room) == 0;
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::string files =
      mounted ? engine::format("/dev/shm has {} MiB free", free >> 20) : "there is no /dev/shm";
  try {
    const std::vector<transport::ucx::memory_offer> offer{trial.found()};
    const bool segments =
        transport::ucx::choose_memory(offer, bytes) == transport::ucx::shared_memory::system_v;
    if (segments)
      f.good("memory", needed + " as segments of System V; " + files);
    else
      f.note("memory", needed + " as files, for the limits on segments are too small; " + files,
             "raise kernel.shmmax, kernel.shmall and kernel.shmmni: the system removes segments with their "
             "ranks");
  } catch (const std::runtime_error& e) {
    f.wrong("memory", e.what());
  }
  const std::string pages = first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  if (pages.find("[never]") != std::string::npos || pages.find("[deny]") != std::string::npos)
    f.note("huge pages", "the system gives shared memory none",
           "for blocks of a megabyte and more, as root: echo advise > "
           "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  else if (!pages.empty())
    f.good("huge pages", "for shared memory: " + pages);
}

void look_at_networks(findings& f, const engine::settings& s) {
  const char* const tls = std::getenv("UCX_TLS");
  const std::string chosen = tls == nullptr ? "all that UCX finds" : engine::format("UCX_TLS={}", tls);
  if (!s.net_devices.empty())
    if (const std::string why = transport::ucx::wrong_devices(s.net_devices); !why.empty())
      f.wrong("networks", "WEFT_NET_DEVICES=" + s.net_devices + ": " + why,
              "name another device, or unset it");
  if (transport::ucx::has_adapters())
    f.good("networks", "adapters that reach memory by themselves; transports: " + chosen);
  else
    f.good("networks", "no InfiniBand or the like: hosts are reached over sockets; transports: " + chosen);
}

// What a command prints, at most a few seconds long. Empty if it cannot be started.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(("timeout 5 " + command + " 2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) return text;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr)
    text += part.data();
  pclose(pipe);
  return text;
}

// Only without a job: in one its launcher is known.
void look_at_launchers(findings& f) {
  std::string good = "weft run";
  if (!program_file("srun").empty()) {
    if (output_of("srun --mpi=list").find("pmix") != std::string::npos)
      good += ", srun --mpi=pmix";
    else
      f.note("launchers", "srun has no plugin for PMIx (srun --mpi=list)",
             "install Slurm's pmix plugin; programs of MPI start through weft mpi srun without it");
  }
  if (!program_file("mpirun.openmpi").empty() ||
      output_of("mpirun --version").find("Open MPI") != std::string::npos)
    good += ", mpirun of Open MPI";
  if (!program_file("mpiexec.hydra").empty())
    good += "; mpiexec of MPICH starts programs of MPI, through weft mpi, and no others";
  f.good("launchers", good);
}

} // namespace

void look_at_host(findings& f) {
  look_at_versions(f);
  const engine::settings present = look_at_settings(f);
  look_at_cores(f);
  look_at_limits(f);
  look_at_memory(f, present);
  look_at_networks(f, present);
  if (!boot::announces_a_job()) look_at_launchers(f);
}

} // namespace weft::tool
