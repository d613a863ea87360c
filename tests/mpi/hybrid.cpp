// SPDX-License-Identifier: BSD-3-Clause
// A program of MPI and C++ that has its transposes by Weft: the rows of a grid of ranks are communicators,
// and teams. Sums by MPI tell whether each element has come to its place.
#include <cmath>
#include <cstdio>
#include <weft/mpi.h>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    const weft::mpi_job job(MPI_COMM_WORLD);
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, job.rank() / 2, -job.rank(), &row);
    const weft::team mates = weft::team_from_mpi(row);
    weft::array<double> a(100 * job.size()), b(100 * job.size());
    const auto from = a.local().first(100 * mates.size()), to = b.local().first(100 * mates.size());
    for (std::size_t i = 0; i != from.size(); ++i)
      from[i] = double(i) + 1000 * mates.rank();
    weft::pending transpose = weft::exchange(to, from, mates);
    double mine = 0, sent = 0, got = 0, sums[2];
    for (const double x : from)
      sent += x * x;
    transpose.wait();
    for (std::size_t i = 0; i != to.size(); ++i) {
      const double wanted = double(100 * std::size_t(mates.rank()) + i % 100 + i / 100 * 1000);
      wrong += to[i] != wanted;
      got += to[i] * to[i];
    }
    mine = got - sent;
    MPI_Allreduce(&mine, &sums[0], 1, MPI_DOUBLE, MPI_SUM, row);
    sums[1] = weft::reduce_all(mine, UPC_ADD, mates).get();
    wrong += std::abs(sums[0]) > 1e-3 || std::abs(sums[1]) > 1e-3;
    if (wrong == 0 && job.rank() == 0) std::printf("%d ranks of a grid are right\n", job.size());
    job.barrier();
    MPI_Comm_free(&row);
  }
  MPI_Finalize();
  return wrong;
}
