// SPDX-License-Identifier: BSD-3-Clause
// What the MPI forms of the examples have in common: the ranks of MPI_COMM_WORLD, and numbers of all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

namespace example {

class mpi_ranks {
public:
  std::size_t rank() const { return number(MPI_Comm_rank); }
  std::size_t ranks() const { return number(MPI_Comm_size); }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

  template <class T> T sum(T value) { return reduced(value, MPI_SUM); }
  template <class T> T max(T value) { return reduced(value, MPI_MAX); }
  template <class T> T min(T value) { return reduced(value, MPI_MIN); }
  // 0 on the first rank.
  template <class T> T max_before(T value) {
    T before{};
    MPI_Exscan(&value, &before, 1, type(value), MPI_MAX, MPI_COMM_WORLD);
    return rank() == 0 ? T{} : before;
  }
  // The values of all ranks in their order.
  template <class T> std::vector<T> gather(const T& value) {
    std::vector<T> values(ranks());
    const int bytes = static_cast<int>(sizeof(T));
    MPI_Allgather(&value, bytes, MPI_BYTE, values.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    return values;
  }

private:
  static std::size_t number(int (*of)(MPI_Comm, int*)) {
    int n = 0;
    of(MPI_COMM_WORLD, &n);
    return static_cast<std::size_t>(n);
  }
  template <class T> static T reduced(T value, MPI_Op op) {
    T result{};
    MPI_Allreduce(&value, &result, 1, type(value), op, MPI_COMM_WORLD);
    return result;
  }
  static MPI_Datatype type(double) { return MPI_DOUBLE; }
  static MPI_Datatype type(int) { return MPI_INT; }
  static MPI_Datatype type(std::uint32_t) { return MPI_UINT32_T; }
  static MPI_Datatype type(std::uint64_t) { return MPI_UINT64_T; }
};

// The whole of main: `run(problem class)` says whether the results are right. A failure ends the job.
inline int run_mpi_program(const char* name, int argc, char** argv, bool (*run)(const std::string&)) {
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    right = run(argc > 1 ? argv[1] : "S");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

// One line of JSON, with the members that the demo reads of every benchmark.
inline void print_seconds(const char* benchmark, std::string_view problem, std::size_t ranks,
                          const char* variant, bool verified, double seconds) {
  std::printf("{\"benchmark\": \"%s\", \"class\": \"%.*s\", \"threads\": %zu, \"variant\": \"%s\", "
              "\"verified\": %s, \"seconds\": %.6f}\n",
              benchmark, static_cast<int>(problem.size()), problem.data(), ranks, variant,
              verified ? "true" : "false", seconds);
}

} // namespace example
