// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong at the start: another MPI than this library was built for, two in one process, ranks
// without this library, a launcher that does not speak to this MPI. Each is a line, and the end.
#include "mpi/shim/start.hpp"
#include "mpi/shim/real.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <link.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace weft::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char *own = "Open MPI", *own_name = "openmpi", *other_name = "mpich";
const int own_version = OMPI_MAJOR_VERSION;
#else
constexpr const char *own = "MPICH", *own_name = "mpich", *other_name = "openmpi";
const int own_version = std::atoi(MPICH_VERSION);
#endif
constexpr double patience_with_ranks = 20; // seconds

[[noreturn]] void end(const std::string& why) {
  std::fprintf(stderr, "weft: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}
struct loaded {
  std::string open_mpi, mpich;
};
int note(dl_phdr_info* of, std::size_t, void* to) {
  const char* const name = std::strrchr(of->dlpi_name, '/');
  auto& all = *static_cast<loaded*>(to);
  if (name == nullptr) return 0;
  if (std::strncmp(name, "/libmpi.so", 10) == 0) all.open_mpi = of->dlpi_name;
  if (std::strncmp(name, "/libmpich.so", 12) == 0) all.mpich = of->dlpi_name;
  return 0;
}

// The first number behind the name of the MPI.
int version_in(const char* text) {
  while (*text != '\0' && (*text < '0' || *text > '9'))
    ++text;
  return std::atoi(text);
}

// Rank 0 hears of all others, and they of it. A rank without this library says nothing.
void require_all_ranks(int rank, int size) {
  constexpr int tag = 32109;
  constexpr timespec nap{0, 1'000'000};
  const std::string way_out = std::string(": preload libweft-mpi-") + own_name +
                              " on all ranks, as `weft mpi` does, with the same WEFT_MPI";
  std::vector<MPI_Request> answers(rank == 0 ? static_cast<std::size_t>(size) - 1 : 1);
  if (rank != 0) WEFT_REAL(Send)(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  for (std::size_t k = 0; k != answers.size(); ++k)
    WEFT_REAL(Irecv)
  (nullptr, 0, MPI_BYTE, rank == 0 ? static_cast<int>(k) + 1 : 0, tag, MPI_COMM_WORLD, &answers[k]);
  // The others wait for rank 0 as it waits for the last of them.
  const double until = MPI_Wtime() + (rank == 0 ? 1 : 2) * patience_with_ranks;
  for (unsigned looks = 0;; ++looks) {
    int all = 0;
    WEFT_REAL(Testall)(static_cast<int>(answers.size()), answers.data(), &all, MPI_STATUSES_IGNORE);
    if (all != 0) break;
    if (MPI_Wtime() > until) {
      std::size_t silent = 0;
      for (int arrived = 1; silent + 1 != answers.size(); ++silent) {
        WEFT_REAL(Request_get_status)(answers[silent], &arrived, MPI_STATUS_IGNORE);
        if (arrived == 0) break;
      }
      end_job("rank " + std::to_string(rank == 0 ? silent + 1 : 0) +
              " of MPI_COMM_WORLD runs without libweft-mpi" + way_out);
    }
    if (looks > 1000) nanosleep(&nap, nullptr);
  }
  for (int other = 1; rank == 0 && other != size; ++other)
    WEFT_REAL(Send)(nullptr, 0, MPI_BYTE, other, tag, MPI_COMM_WORLD);
}

} // namespace

void end_job(const std::string& why) {
  std::fprintf(stderr, "weft: %s\n", why.c_str());
  std::fflush(nullptr);
  WEFT_REAL(Abort)(MPI_COMM_WORLD, 1);
  _exit(1);
}

void require_right_mpi() {
  loaded all;
  dl_iterate_phdr(note, &all);
  if (!all.open_mpi.empty() && !all.mpich.empty())
    end("this process has two MPIs, " + all.open_mpi + " and " + all.mpich + ": preload libweft-mpi-" +
        other_name +
        " if the program is linked to that MPI (`weft mpi` finds out), else link it to one of them");
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  WEFT_REAL(Get_library_version)(text, &length);
  const char* const at = std::strstr(text, own);
  const std::string first_line(text, std::strcspn(text, "\n,"));
  if (at == nullptr || version_in(at) != own_version)
    end(std::string("libweft-mpi-") + own_name + " was built for " + own + " " + std::to_string(own_version) +
        ", and this program has " + first_line + ": build Weft with that MPI");
}

bool may_start() {
  const char* const set = std::getenv("WEFT_MPI");
  if (set != nullptr && std::strcmp(set, "off") == 0) return false;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const job = std::getenv("PMIX_WEFT_JOB");
  if (job != nullptr && size < std::atoi(job))
    end_job(std::string("weft run started ") + std::to_string(std::atoi(job)) +
            " ranks of a program of MPI, which are " +
            "jobs of one rank: start it by MPI's launcher, as in weft mpi mpirun -n " +
            std::to_string(std::atoi(job)) + " PROGRAM");
  if (size > 1) require_all_ranks(rank, size);
  return true;
}

} // namespace weft::mpi
