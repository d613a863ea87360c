#include "pmix_boot/client/launch_environment.hpp"

#include "pmix_boot/client/pmix_info.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
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

void mark_as_rank(const std::string& nspace, std::uint32_t rank) {
  const std::string member = membership(std::to_string(getpid()), std::to_string(rank), nspace);
  setenv(member_variable, member.c_str(), 1);
}

std::string announced_rank() {
  return "rank " + value_of("PMIX_RANK") + " of the job " + value_of("PMIX_NAMESPACE");
}

} // namespace weft::boot
