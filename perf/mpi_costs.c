// SPDX-License-Identifier: BSD-3-Clause
/* What libweft-mpi costs a program of MPI: run it with and without (mpi_costs.py does, in turns).
 *
 *   mpi_costs messages ROUNDS   no non-blocking collective: messages round a ring, and MPI_Allreduce between them
 *   mpi_costs cache ROUNDS      MPI_Ialltoall of 64 KiB beside a computation of 256 KiB, of each rank
 *   mpi_costs memory ROUNDS     the same beside a computation that walks over 64 MiB
 *   mpi_costs idle SECONDS      collectives, then sleep
 *
 * Rank 0 prints one figure: seconds for all rounds of messages; how long the computation took, of what it takes alone;
 * seconds of processor of the slowest rank while all sleep. What was received is looked at. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { block = 64 * 1024, most_messages = 4096 };
static int rank, size;

static void must(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "mpi_costs: rank %d: wrong %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double messages(int rounds) {
  static int out[most_messages], in[most_messages];
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const double begin = MPI_Wtime();
  for (int k = 0; k < rounds; ++k) {
    MPI_Request r[2];
    const int n = k % 2 == 0 ? 2 : most_messages;
    out[0] = k + rank;
    MPI_Irecv(in, n, MPI_INT, before, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, n, MPI_INT, next, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    must(in[0] == k + before, "message");
    if (k % 8 != 0) continue;
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must(sum == size * (size - 1) / 2, "sum");
  }
  return MPI_Wtime() - begin;
}

/* Walks over the array so many times; its result is used. */
static double walk(double* array, size_t elements, int times) {
  double sum = 0;
  for (int t = 0; t != times; ++t)
    for (size_t i = 0; i != elements; ++i)
      sum += array[i] = array[i] * 0.999 + 0.001;
  return sum;
}

static int rising(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double beside(size_t bytes, int times, int rounds) {
  const size_t elements = bytes / sizeof(double), all = (size_t)size * block;
  double* array = malloc(bytes);
  char *in = malloc(all), *out = malloc(all);
  double* ratio = malloc((size_t)rounds * sizeof *ratio);
  for (size_t i = 0; i != elements; ++i)
    array[i] = (double)i;
  double sink = walk(array, elements, times);
  for (int k = 0; k < rounds; ++k) {
    MPI_Request r;
    memset(in, rank + k, all);
    memset(out, -1, all);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    sink += walk(array, elements, times);
    const double alone = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ialltoall(in, block, MPI_CHAR, out, block, MPI_CHAR, MPI_COMM_WORLD, &r);
    begin = MPI_Wtime();
    sink += walk(array, elements, times);
    ratio[k] = (MPI_Wtime() - begin) / alone;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int from = 0; from < size; ++from)
      must(out[from * block] == (char)(from + k) && out[(from + 1) * block - 1] == (char)(from + k), "block");
  }
  must(sink == sink, "computation");
  qsort(ratio, (size_t)rounds, sizeof *ratio, rising);
  return ratio[rounds / 2];
}

static double processor(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double idle(int seconds) {
  beside(4096, 1, 20);
  const double before = processor();
  sleep((unsigned)seconds);
  return processor() - before;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(argc == 3, "arguments: messages, cache, memory or idle, and a number");
  const int n = atoi(argv[2]);
  double figure = 0, slowest = 0;
  if (strcmp(argv[1], "messages") == 0)
    figure = messages(n);
  else if (strcmp(argv[1], "cache") == 0)
    figure = beside((size_t)256 * 1024, 40, n);
  else if (strcmp(argv[1], "memory") == 0)
    figure = beside((size_t)64 << 20, 1, n);
  else
    figure = idle(n);
  MPI_Reduce(&figure, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f\n", slowest);
  MPI_Finalize();
  return 0;
}
