// SPDX-License-Identifier: BSD-3-Clause
// The MPI form of NAS FT, to be shown beside ft_main.cpp: the same transforms, packing and checksums; blocks
// travel by MPI_Alltoall, or by MPI_Ialltoall while the next piece is transformed.
//
//   ft_openmpi [CLASS]
#include "examples/ft/ft_benchmark.hpp"
#include "examples/support/mpi_ranks.hpp"

#include <stdexcept>

namespace {

constexpr std::size_t pieces = 4; // ft's own default

class mpi_carrier {
public:
  using travelling = MPI_Request;

  explicit mpi_carrier(std::size_t nbytes)
      : source_(nbytes / sizeof(ft::complex)), destination_(source_.size()) {}

  static std::size_t ranks() { return example::mpi_ranks().ranks(); }
  ft::complex* source() { return source_.data(); }
  ft::complex* destination() { return destination_.data(); }

  void exchange(std::size_t nbytes) {
    const int count = static_cast<int>(nbytes / sizeof(ft::complex));
    MPI_Alltoall(source(), count, MPI_C_DOUBLE_COMPLEX, destination(), count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
  }
  travelling begin(std::size_t nbytes) {
    const int count = static_cast<int>(nbytes / sizeof(ft::complex));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(source(), count, MPI_C_DOUBLE_COMPLEX, destination(), count, MPI_C_DOUBLE_COMPLEX,
                  MPI_COMM_WORLD, &request);
    return request;
  }
  static void complete(travelling t) {
    if (t != travelling{}) MPI_Wait(&t, MPI_STATUS_IGNORE);
  }

private:
  std::vector<ft::complex> source_, destination_;
};

bool run_variant(const ft::problem& p, const char* variant, ft::timed_transposition& transposition) {
  example::mpi_ranks ranks;
  const ft::outcome result =
      ft::solve(p, transposition, ft::planning::measure, ranks, [](std::size_t, ft::complex) {});
  if (ranks.rank() == 0)
    example::print_seconds("ft", p.name, ranks.ranks(), variant, result.verified, result.slowest.total);
  return result.verified;
}

bool run(const std::string& name) {
  const ft::problem& p = ft::find_problem(name);
  const auto counts = ft::thread_counts(p);
  if (std::find(counts.begin(), counts.end(), mpi_carrier::ranks()) == counts.end())
    throw std::runtime_error(
        "the grid cannot be cut into so many slabs: start it with a power of two of ranks");
  ft::blocking_transposition<mpi_carrier> blocking(p);
  ft::pipelined_transposition<mpi_carrier> pipelined(p, pieces);
  const bool right = run_variant(p, "blocking", blocking);
  return run_variant(p, "pipelined", pipelined) && right;
}

} // namespace

int main(int argc, char** argv) {
  return example::run_mpi_program("ft", argc, argv, run);
}
