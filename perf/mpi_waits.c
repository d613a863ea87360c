// SPDX-License-Identifier: BSD-3-Clause
/* What an unchanged program of MPI waits for: each non-blocking collective posted and completed, while all
 * ranks do nothing else, and while rank 0 computes. Run it with libweft-mpi and without (mpi_waits.py does,
 * in turns).
 *
 *   mpi_waits MICROSECONDS TRIALS [BYTES...]   rank 0 computes for so long, with each size of a block
 *
 * Rank 0 prints a line for each: call, bytes, time of a call when no rank is late, time of a peer from its
 * post to its completion when rank 0 is, how long rank 0's computation took of what it takes alone; a
 * computation on every rank that is as long as the call, and how long both take with the computation between
 * post and wait; and the time of a call when no rank is late and rank 0 has computed before, so that the data
 * are as far away as when it is. In microseconds, medians; of several ranks the largest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer data take so long to write that the ranks come together behind it. */
enum { longest = 4096 };
enum { calls = 14, most_trials = 1000, most_ranks = 64 };
static const char* const names[] = {"Ibarrier",    "Ibcast",   "Igather",    "Iscatter",        "Iallgather",
                                    "Ialltoall",   "Ireduce",  "Iallreduce", "Ireduce_scatter", "Iscan",
                                    "Iallgatherv", "Igatherv", "Iscatterv",  "Ialltoallv"};
static int rank, size, counts[most_ranks], elements[most_ranks], places[most_ranks];
static char *in, *out;

static void post(int call, int bytes, MPI_Request* r) {
  const int n = bytes / 4 > 0 ? bytes / 4 : 1;
  switch (call) {
  case 0:
    MPI_Ibarrier(MPI_COMM_WORLD, r);
    break;
  case 1:
    MPI_Ibcast(rank == 0 ? in : out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, r);
    break;
  case 2:
    MPI_Igather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 1, MPI_COMM_WORLD, r);
    break;
  case 3:
    MPI_Iscatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, r);
    break;
  case 4:
    MPI_Iallgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, MPI_COMM_WORLD, r);
    break;
  case 5:
    MPI_Ialltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, MPI_COMM_WORLD, r);
    break;
  case 6:
    MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, r);
    break;
  case 7:
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r);
    break;
  case 8:
    MPI_Ireduce_scatter(in, out, elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r);
    break;
  case 9:
    MPI_Iscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r);
    break;
  case 10:
    MPI_Iallgatherv(in, bytes, MPI_CHAR, out, counts, places, MPI_CHAR, MPI_COMM_WORLD, r);
    break;
  case 11:
    MPI_Igatherv(in, bytes, MPI_CHAR, out, counts, places, MPI_CHAR, 1, MPI_COMM_WORLD, r);
    break;
  case 12:
    MPI_Iscatterv(in, counts, places, MPI_CHAR, out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, r);
    break;
  default:
    MPI_Ialltoallv(in, counts, places, MPI_CHAR, out, counts, places, MPI_CHAR, MPI_COMM_WORLD, r);
  }
}

/* A program writes what it gives and reads what it gets: what lies in one core's cache only because nobody
 * writes it is no measure of a copy. */
static size_t of_program(int call, int bytes, int blocks) {
  return (size_t)bytes * (size_t)((blocks >> call & 1) != 0 ? size : 1);
}
static void renew(int call, int bytes, int round) {
  enum { of_each = 1 << 3 | 1 << 5 | 1 << 8 | 1 << 12 | 1 << 13 }; /* a block for each rank is given */
  memset(in, round, of_program(call, bytes, of_each));
}
static volatile long read_so_far;
static void look(int call, int bytes) {
  enum { from_each = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 10 | 1 << 11 | 1 << 13 };
  const size_t all = of_program(call, bytes, from_each);
  long sum = 0;
  for (size_t k = 0; k + sizeof(long) <= all; k += sizeof(long)) {
    long word;
    memcpy(&word, out + k, sizeof word);
    sum += word;
  }
  read_so_far = sum;
}

/* Work of the processor alone; its result is used. */
static volatile double seed = 1;
static double compute(long rounds) {
  double x = seed;
  for (long k = 0; k != rounds; ++k)
    x = x * 0.999999 + 0.000001;
  return x;
}

static int rising(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double median(double* all, int n) {
  qsort(all, (size_t)n, sizeof *all, rising);
  return all[n / 2];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double late = argc > 1 ? atof(argv[1]) : 5000;
  const int trials = argc > 2 && atoi(argv[2]) < most_trials ? atoi(argv[2]) : 50;
  static double alone[most_trials], beside[most_trials], slow[most_trials], overlapped[most_trials],
      paused[most_trials];
  long rounds = 1000000;
  double sink = compute(rounds), begin = MPI_Wtime();
  sink += compute(rounds);
  rounds = (long)(rounds * late / (1e6 * (MPI_Wtime() - begin)));
  for (int k = 3; k < argc || k == 3; ++k) {
    const int bytes = k < argc ? atoi(argv[k]) : 1024;
    const size_t room = ((size_t)bytes + 4) * (size_t)size;
    in = malloc(room);
    out = malloc(room);
    memset(in, 1, room);
    memset(out, 0, room);
    for (int other = 0; other < size; ++other) {
      counts[other] = bytes;
      elements[other] = bytes / 4 > 0 ? bytes / 4 : 1;
      places[other] = other * bytes;
    }
    for (int call = 0; call < calls; ++call) {
      MPI_Request r;
      const int many = 10 * trials < most_trials ? 10 * trials : most_trials;
      for (int t = -20; t < many; ++t) {
        renew(call, bytes, t);
        if (t % 16 == 0 || bytes > longest) MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        post(call, bytes, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (t >= 0) alone[t] = 1e6 * (MPI_Wtime() - begin);
        look(call, bytes);
      }
      double mine = median(alone, many), together = 0, peers = 0, wait = 0, slower = 0;
      MPI_Allreduce(&mine, &together, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      /* Every rank computes between post and wait, for as long as the call alone takes. */
      const long as_long = (long)((double)rounds * together / late) + 1;
      for (int t = 0; t < many; ++t) {
        renew(call, bytes, t);
        if (t % 16 == 0 || bytes > longest) MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        sink += compute(as_long);
        alone[t] = 1e6 * (MPI_Wtime() - begin);
        begin = MPI_Wtime();
        post(call, bytes, &r);
        sink += compute(as_long);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        overlapped[t] = 1e6 * (MPI_Wtime() - begin);
        look(call, bytes);
      }
      double own[2] = {median(alone, many), median(overlapped, many)}, all[2];
      MPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      for (int t = 0; t < trials; ++t) {
        renew(call, bytes, t);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
          begin = MPI_Wtime();
          sink += compute(rounds);
          const double by_itself = MPI_Wtime() - begin;
          MPI_Barrier(MPI_COMM_WORLD);
          post(call, bytes, &r);
          begin = MPI_Wtime();
          sink += compute(rounds);
          slow[t] = (MPI_Wtime() - begin) / by_itself;
        } else {
          MPI_Barrier(MPI_COMM_WORLD);
          begin = MPI_Wtime();
          post(call, bytes, &r);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (rank != 0) beside[t] = 1e6 * (MPI_Wtime() - begin);
      }
      for (int t = 0; t < trials; ++t) {
        renew(call, bytes, t);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) sink += compute(rounds);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        post(call, bytes, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        paused[t] = 1e6 * (MPI_Wtime() - begin);
      }
      double behind = median(paused, trials), pause = 0;
      MPI_Reduce(&behind, &pause, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      wait = rank == 0 ? 0 : median(beside, trials);
      MPI_Reduce(&wait, &peers, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0) slower = median(slow, trials);
      if (rank == 0)
        printf("%s %d %.2f %.2f %.3f %.2f %.2f %.2f\n", names[call], bytes, together, peers, slower, all[0],
               all[1], pause);
      fflush(stdout);
    }
    free(in);
    free(out);
  }
  MPI_Finalize();
  return sink == 0;
}
