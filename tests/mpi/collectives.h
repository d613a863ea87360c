// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/* What the programs have in common that check each collective of MPI: the checks, the ways to complete
 * requests, the communicators. They are unchanged programs of MPI, so they print the same with libweft-mpi
 * and without. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16, most_posted = 2 * most_ranks, filler = 0x55 };
static long checks, failures;
static int me_in_world, cell;

static void check(int right, const char* call, MPI_Datatype type, int count, int root, int in_place) {
  ++checks;
  if (right) return;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  if (++failures < 10)
    printf("rank %d, cell %d: %s of %d %s, root %d, in place %d\n", me_in_world, cell, call, count, name,
           root, in_place);
}

/* All requests by one of the ways to complete them. */
static void complete(int count, MPI_Request* r) {
  int flag = 0, index = 0, some = 0, indices[most_posted];
  switch (cell++ % 6) {
  case 0:
    for (int k = count - 1; k >= 0; --k)
      MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    break;
  case 1:
    MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
    break;
  case 2:
    while (index != MPI_UNDEFINED)
      MPI_Waitany(count, r, &index, MPI_STATUS_IGNORE);
    break;
  case 3:
    while (some != MPI_UNDEFINED)
      MPI_Waitsome(count, r, &some, indices, MPI_STATUSES_IGNORE);
    break;
  case 4:
    while (!flag)
      MPI_Testall(count, r, &flag, MPI_STATUSES_IGNORE);
    break;
  default:
    for (int k = 0; k < count; ++k)
      for (flag = 0; !flag;)
        MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE);
  }
}

/* All ranks, this one, all again, all the other way round, every other one. */
enum { communicators = 5 };
static void begin(int* argc, char*** argv, MPI_Comm comms[communicators]) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me_in_world);
  comms[0] = MPI_COMM_WORLD;
  comms[1] = MPI_COMM_SELF;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me_in_world, &comms[3]);
  MPI_Comm_split(MPI_COMM_WORLD, me_in_world % 2, me_in_world, &comms[4]);
}
static int end(MPI_Comm comms[communicators]) {
  long all[2], mine[2] = {checks, failures};
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (me_in_world == 0) printf("%ld checks, %ld wrong\n", all[0], all[1]);
  for (int c = 2; c < communicators; ++c)
    MPI_Comm_free(&comms[c]);
  MPI_Finalize();
  return all[1] != 0;
}
