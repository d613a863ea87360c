// SPDX-License-Identifier: BSD-3-Clause
// Independence of an MPI's non-blocking all-to-all, to be shown beside independence.cpp.
#include "examples/independence/measure.hpp"

#include <mpi.h>

namespace {

using independence::word;

#ifdef OPEN_MPI
constexpr const char* name = "Open MPI";
#else
constexpr const char* name = "MPICH";
#endif

class mpi_library {
public:
  mpi_library() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    source_.resize(static_cast<std::size_t>(size_) * independence::largest / sizeof(word));
    destination_.resize(source_.size());
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  std::vector<double> gather(double value) {
    std::vector<double> values(static_cast<std::size_t>(size_));
    MPI_Allgather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return values;
  }
  word* source() { return source_.data(); }
  word* destination() { return destination_.data(); }

  void exchange(std::size_t nbytes) {
    const int count = static_cast<int>(nbytes);
    MPI_Alltoall(source(), count, MPI_BYTE, destination(), count, MPI_BYTE, MPI_COMM_WORLD);
  }
  void post(std::size_t nbytes) {
    const int count = static_cast<int>(nbytes);
    MPI_Ialltoall(source(), count, MPI_BYTE, destination(), count, MPI_BYTE, MPI_COMM_WORLD, &posted_);
  }
  void wait() { MPI_Wait(&posted_, MPI_STATUS_IGNORE); }

private:
  int rank_ = 0, size_ = 0;
  std::vector<word> source_, destination_;
  MPI_Request posted_ = MPI_REQUEST_NULL;
};

int measure() {
  mpi_library library;
  return independence::run(library, name);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = measure();
  MPI_Finalize();
  return status;
}
