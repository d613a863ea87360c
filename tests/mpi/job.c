// SPDX-License-Identifier: BSD-3-Clause
/* A program of MPI that uses the library beside it, as a user writes one: communicators become teams.
 *
 *   job COMMUNICATORS    so many are made, used and freed, one after the other */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>
#include <weft/mpi.h>

static int failures;
static void expect(int ok, const char* what) {
  if (ok) return;
  printf("thread %d: %s\n", MYTHREAD, what);
  ++failures;
}

static upc_shared_ptr_t dst, src; /* words for each thread */
static int* words(upc_shared_ptr_t area) {
  area.thread = (uint32_t)MYTHREAD;
  return upc_cast(area);
}

/* Each member of the team sends its rank and the reader's to each. */
static void exchange(upc_team_t team, const char* what) {
  const int me = cray_upc_team_rank(team), size = cray_upc_team_size(team);
  int first[1] = {MYTHREAD}, ok = 1;
  upc_shared_ptr_t to = dst, from = src;
  int* lowest = malloc(sizeof *lowest * (size_t)THREADS);
  MPI_Allgather(first, 1, MPI_INT, lowest, 1, MPI_INT, MPI_COMM_WORLD); /* MPI goes on beside */
  for (int k = 0; k < THREADS; ++k)
    ok &= lowest[k] == k;
  expect(ok, "a thread is the rank of MPI_COMM_WORLD");
  free(lowest);
  for (int k = 0; k < size; ++k)
    words(src)[k] = 1000 * me + k;
  cray_upc_team_barrier(team);
  /* Pointers lead to the thread of rank 0, which all hear: the others say 0. */
  upc_shared_ptr_t said = dst, heard = dst;
  said.thread = heard.thread = (uint32_t)MYTHREAD;
  said.addr += sizeof(int) * (size_t)size;
  heard.addr += sizeof(int) * (size_t)(size + 1);
  words(dst)[size] = me == 0 ? MYTHREAD : 0;
  cray_upc_team_allreduce(heard, said, 1, CRAY_UPC_INT, UPC_MAX, team, NULL);
  to.thread = from.thread = (uint32_t)words(dst)[size + 1];
  cray_upc_team_alltoall(to, from, sizeof(int), team);
  for (int k = 0; k < size; ++k)
    expect(words(dst)[k] == 1000 * k + me, what);
  cray_upc_team_barrier(team);
}

static int errors;
static void note(const char* message, const weft_error_info_t* info) {
  (void)info;
  errors += strstr(message, "exchange") != NULL;
}

static void wrong_calls(void) {
  MPI_Comm comm = MPI_COMM_WORLD;
  weft_exchange_t e = weft_mpi_exchange(&comm);
  upc_team_t team;
  weft_error_handler_t before = weft_set_error_handler(note);
  expect(weft_team_with(NULL, &team) < 0, "no exchange is an error");
  e.allgather = NULL;
  expect(weft_team_with(&e, &team) < 0, "no function is an error");
  e = weft_mpi_exchange(&comm);
  e.rank = e.size;
  expect(weft_team_with(&e, &team) < 0, "a rank that there is not is an error");
  expect(errors == 3, "three errors that name the exchange");
  weft_set_error_handler(before);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  weft_init_from_mpi(MPI_COMM_WORLD);
  const int many = argc > 1 ? atoi(argv[1]) : 10;
  dst = upc_all_alloc((size_t)THREADS, sizeof(int) * (size_t)(THREADS + 2));
  src = upc_all_alloc((size_t)THREADS, sizeof(int) * (size_t)(THREADS + 2));
  exchange(UPC_TEAM_ALL, "all");
  wrong_calls();
  for (int k = 0; k < many; ++k) {
    MPI_Comm part;
    /* the members of one color only make a team */
    MPI_Comm_split(MPI_COMM_WORLD, (MYTHREAD + k) % 2, -MYTHREAD, &part);
    if ((MYTHREAD + k) % 2 == 0 || k % 3 == 0) {
      upc_team_t team = weft_team_from_mpi(part);
      int rank, size;
      MPI_Comm_rank(part, &rank);
      MPI_Comm_size(part, &size);
      expect(team != 0 && cray_upc_team_rank(team) == rank && cray_upc_team_size(team) == size,
             "a team's ranks");
      cray_upc_team_barrier(team);
      cray_upc_team_free(team);
    }
    MPI_Comm_free(&part);
  }
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -MYTHREAD, &reversed);
  upc_team_t team = weft_team_from_mpi(reversed);
  MPI_Comm_free(&reversed);
  exchange(team, "a team of all in the other order");
  cray_upc_team_free(team);
  upc_barrier();
  if (failures == 0 && MYTHREAD == 0) printf("%d threads of MPI are right\n", THREADS);
  weft_finalize();
  MPI_Finalize();
  return failures != 0;
}
