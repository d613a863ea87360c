// SPDX-License-Identifier: BSD-3-Clause
// A program of MPI that has its transposes by Weft: communicators are teams. It stands twice, as the programs
// of tests/users/pairs.cpp do: the first half of the ranks runs it over the names of UPC, the other half over
// the scopes of C++, each half as a job of its own. Both send their results through MPI, and compare each
// element with the other form's and with what it is to be; sums by MPI and by Weft are the same number.
//
// Mutations that this catches: the team in the order of the job; a transpose that is read before it has come.
#include <cstdio>
#include <span>
#include <vector>
#include <weft/mpi.h>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t block = 100;

void fill(std::span<double> blocks, int rank) {
  for (std::size_t i = 0; i != blocks.size(); ++i)
    blocks[i] = double(i) + 1000 * rank;
}
double energy(std::span<const double> all) {
  double sum = 0;
  for (const double x : all)
    sum += x * x; // whole numbers: no bit depends on the order
  return sum;
}

// The blocks that have come, and behind them what all have sent, and what all have got.
using result = std::vector<double>;

// [before: MPI]
result transposed_before(MPI_Comm comm) {
  weft_init_from_mpi(comm);
  MPI_Comm row;
  MPI_Comm_split(comm, MYTHREAD % 2, -MYTHREAD, &row);
  const upc_team_t mates = weft_team_from_mpi(row);
  if (mates == 0) upc_global_exit(1);
  const std::size_t count = block * static_cast<std::size_t>(cray_upc_team_size(mates));
  const std::size_t bytes = static_cast<std::size_t>(THREADS) * block * sizeof(double);
  const upc_shared_ptr_t src = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
  const upc_shared_ptr_t dst = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
  double* const mine = static_cast<double*>(upc_cast(upc_ptradd(src, 1, bytes, MYTHREAD)));
  const double* const come = static_cast<double*>(upc_cast(upc_ptradd(dst, 1, bytes, MYTHREAD)));
  fill({mine, count}, cray_upc_team_rank(mates));
  const int first = weft_team_thread(mates, 0);
  upc_coll_handle_t transpose =
      upc_all_exchange_team(upc_ptradd(dst, 1, bytes, first), upc_ptradd(src, 1, bytes, first),
                            block * sizeof(double), UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC, mates);
  const double own = energy({mine, count});
  double sent = 0, got = 0;
  MPI_Allreduce(&own, &sent, 1, MPI_DOUBLE, MPI_SUM, row);
  upc_wait(transpose);
  const double received = energy({come, count});
  cray_upc_team_allreduce(weft_pointer_to(&got), weft_pointer_to(&received), 1, CRAY_UPC_DOUBLE, UPC_ADD,
                          mates, nullptr);
  result all(come, come + count);
  all.insert(all.end(), {sent, got});
  upc_all_free(src);
  upc_all_free(dst);
  cray_upc_team_free(mates);
  MPI_Comm_free(&row);
  weft_finalize();
  return all;
}
// [end]

// [after: MPI]
result transposed_after(MPI_Comm comm) {
  const weft::mpi_job job(comm);
  MPI_Comm row;
  MPI_Comm_split(comm, job.rank() % 2, -job.rank(), &row);
  const weft::team mates = weft::team_from_mpi(row);
  weft::array<double> src(block * job.size()), dst(block * job.size());
  const auto mine = src.part(0, block * mates.size()), come = dst.part(0, mine.size());
  fill(mine, mates.rank());
  weft::pending transpose = weft::exchange(come, mine, mates);
  const double own = energy(mine);
  double sent = 0;
  MPI_Allreduce(&own, &sent, 1, MPI_DOUBLE, MPI_SUM, row);
  transpose.wait();
  const double got = weft::reduce_all(energy(come), UPC_ADD, mates).get();
  result all(come.begin(), come.end());
  all.insert(all.end(), {sent, got});
  MPI_Comm_free(&row);
  return all;
}
// [end]

result transposed_alone(int me, int ranks) {
  std::vector<int> mates;
  for (int rank = ranks - 1; rank >= 0; --rank)
    if (rank % 2 == me % 2) mates.push_back(rank);
  result all;
  double sent = 0;
  for (std::size_t from = 0; from != mates.size(); ++from) {
    std::vector<double> blocks(block * mates.size());
    fill(blocks, int(from));
    sent += energy(blocks);
    for (std::size_t to = 0; to != mates.size(); ++to)
      if (mates[to] == me)
        all.insert(all.end(), blocks.begin() + long(block * to), blocks.begin() + long(block * (to + 1)));
  }
  all.insert(all.end(), {sent, sent});
  return all;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int half = ranks / 2, me = rank % half;
  MPI_Comm form;
  MPI_Comm_split(MPI_COMM_WORLD, rank / half, rank, &form);
  const result mine = rank < half ? transposed_before(form) : transposed_after(form);
  const result wanted = transposed_alone(me, half);
  result other(wanted.size());
  MPI_Sendrecv(mine.data(), int(mine.size()), MPI_DOUBLE, (rank + half) % ranks, 0, other.data(),
               int(other.size()), MPI_DOUBLE, (rank + half) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = mine != wanted || mine != other, all = 0;
  if (wrong != 0) std::printf("rank %d: the two forms, or what is wanted, differ\n", rank);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) std::printf("%d ranks of each form are right\n", half);
  MPI_Comm_free(&form);
  MPI_Finalize();
  return wrong;
}
