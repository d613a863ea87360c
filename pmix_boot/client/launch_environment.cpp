// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/launch_environment.hpp"

#include "pmix_boot/client/pmix_info.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace weft::boot {

const char* const without_announcement =
    "start all ranks anew with weft run -n N, mpirun or srun --mpi=pmix, or this program alone with "
    "weft run -n 1 or env -u PMIX_NAMESPACE";

namespace {

// Carried by what a rank starts. Its name makes it go where the names of a job go: `weft run` drops them all.
constexpr const char* member_variable = "PMIX_WEFT_MEMBER";

struct other_launcher {
  const char* size; // the variable that holds the number of processes
  const char*
      member; // set only in a process that was started as one of them, not in a shell of the allocation
  const char* name;
  const char* way_out;
};

constexpr const char* use_another = "start it with weft run -n N, Open MPI's mpirun or srun --mpi=pmix";

// Those that also set the variables of another come first.
constexpr other_launcher other_launchers[] = {
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun without PMIx", "add --mpi=pmix to srun"},
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "an mpirun of Open MPI that offers no PMIx",
     "use the mpirun of Open MPI 4 or 5 without its settings against PMIx, or weft run -n N"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "a launcher of MVAPICH2", use_another},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "Flux without its PMIx plugin", "add -o pmi=pmix to flux run"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun without PMIx", use_another},
    {"PALS_SIZE", "PALS_RANKID", "a launcher of PALS", "add --pmi=pmix to mpiexec, or use srun --mpi=pmix"},
    {"PMI_SIZE", "PMI_RANK", "a launcher that speaks PMI only, such as mpiexec of MPICH or Intel MPI",
     use_another},
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "mpiexec of MPICH or Intel MPI", use_another},
};

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string value_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

// The namespace is the last, for it may hold any character.
std::string membership(const std::string& pid, const std::string& rank, const std::string& nspace) {
  return pid + " " + rank + " " + nspace;
}

// The variable as this process was started with it, which setenv() does not change.
std::string value_at_start(const std::string& variable) {
  std::ifstream all("/proc/self/environ");
  for (std::string entry; std::getline(all, entry, '\0');)
    if (entry.starts_with(variable + "=")) return entry.substr(variable.size() + 1);
  return {};
}

template <class Function> Function* function_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// How many processes MPI's world has, if MPI is in this process and in use. A program's own MPI is asked as
// it is found: the library is built without any.
std::optional<int> size_of_mpi_world() {
  const auto begun = function_of<int(int*)>("MPI_Initialized"),
             over = function_of<int(int*)>("MPI_Finalized");
  if (begun == nullptr || over == nullptr) return std::nullopt;
  int yes = 0, no = 0, size = 0;
  if (begun(&yes) != 0 || over(&no) != 0 || yes == 0 || no != 0) return std::nullopt;
  // Open MPI's communicators are objects; those of MPICH and all that keep its binary interface are numbers.
  if (void* const world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) {
    const auto size_of = function_of<int(void*, int*)>("MPI_Comm_size");
    return size_of != nullptr && size_of(world, &size) == 0 ? std::optional(size) : std::nullopt;
  }
  constexpr int world = 0x44000000;
  const auto size_of = function_of<int(int, int*)>("MPI_Comm_size");
  const auto name_of = function_of<int(char*, int*)>("MPI_Get_library_version");
  if (name_of == nullptr || size_of == nullptr) return std::nullopt;
  std::string name(8192, '\0'); // MPI_MAX_LIBRARY_VERSION_STRING of these
  int length = 0;
  if (name_of(name.data(), &length) != 0) return std::nullopt;
  const auto is = [&name](const char* word) { return name.find(word) != std::string::npos; };
  if (!is("MPICH") && !is("MVAPICH") && !is("Intel")) return std::nullopt;
  return size_of(world, &size) == 0 ? std::optional(size) : std::nullopt;
}

constexpr const char* start_as_mpi = "start a program that uses MPI too with Open MPI's mpirun or srun "
                                     "--mpi=pmix, which start both as one job";

} // namespace

bool announces_a_job() {
  return std::getenv("PMIX_NAMESPACE") != nullptr;
}

void refuse_other_launchers() {
  for (const other_launcher& launcher : other_launchers) {
    const auto size = number_in(launcher.size);
    if (!size || *size < 2 || std::getenv(launcher.member) == nullptr) continue;
    throw boot_error(std::string(launcher.size) + "=" + std::to_string(*size) +
                     ": this process is one of several, but it was started by " + launcher.name +
                     ", and ranks find each other through PMIx only; " + launcher.way_out +
                     "; for a job of one rank each, put weft run -n 1 before the program");
  }
}

void refuse_child_of_rank() {
  const std::string member = value_of(member_variable);
  const std::string parent = member.substr(0, member.find(' '));
  if (parent == std::to_string(getpid())) return;
  if (member.empty() || member != membership(parent, value_of("PMIX_RANK"), value_of("PMIX_NAMESPACE")))
    return;
  throw boot_error("this process has the PMIX_* variables of the process " + parent + ", which is " +
                   announced_rank() + " and started it; " + without_announcement);
}

void refuse_job_of_mpi() {
  const std::string variable(started_by_us.substr(0, started_by_us.size() - 1));
  std::istringstream text(value_of(variable.c_str()));
  std::uint32_t ranks = 0;
  std::string nspace;
  text >> ranks >> nspace;
  // Another launcher may have been started by a rank; what it starts has its own namespace from the
  // beginning.
  if (ranks < 2 || value_of("PMIX_NAMESPACE") == nspace || value_at_start("PMIX_NAMESPACE") != nspace) return;
  throw boot_error("weft run started this process as rank " + value_at_start("PMIX_RANK") + " of " +
                   std::to_string(ranks) + ", but MPI_Init has made it a job of its own (PMIX_NAMESPACE=" +
                   value_of("PMIX_NAMESPACE") + "): " + start_as_mpi);
}

void refuse_world_of_one(std::uint32_t ranks) {
  if (ranks < 2 || size_of_mpi_world() != 1) return;
  throw boot_error(
      "this job has " + std::to_string(ranks) +
      " ranks, but to MPI_Init this process was alone, since this MPI does not start through PMIx; build "
      "the program with Open MPI: " +
      start_as_mpi);
}

void mark_as_rank(const std::string& nspace, std::uint32_t rank) {
  const std::string member = membership(std::to_string(getpid()), std::to_string(rank), nspace);
  setenv(member_variable, member.c_str(), 1);
}

std::string announced_number() {
  return value_of("PMIX_RANK");
}

std::string announced_rank() {
  return "rank " + announced_number() + " of the job " + value_of("PMIX_NAMESPACE");
}

} // namespace weft::boot
