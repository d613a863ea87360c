/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of scenes.c with arrays of requests of all kinds. */
#pragma once

/* A request of the program's own, of no rank, of any, none, and a message that nobody sends. */
static int answer(void* extra, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = 42;
  (void)extra;
  return MPI_SUCCESS;
}
static int note_end(void* ended) {
  ++*(int*)ended;
  return MPI_SUCCESS;
}
static int leave_it(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}
static void all_kinds(int round) {
  enum { n = 7 };
  int ended = 0, token = -1, mine = me, sum = -1, none, index, some, flag = 0, seen[n] = {0}, indices[n];
  MPI_Request r[n], own;
  MPI_Status status[n];
  MPI_Grequest_start(answer, note_end, leave_it, &ended, &r[0]);
  own = r[0];
  MPI_Irecv(&none, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[1]);
  r[2] = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[3]);
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 1000 + round, MPI_COMM_WORLD, &r[4]);
  MPI_Isend(&mine, 1, MPI_INT, (me + 1) % size, 1000 + round, MPI_COMM_WORLD, &r[5]);
  MPI_Irecv(&none, 1, MPI_INT, 0, 999, MPI_COMM_WORLD, &r[6]);
  MPI_Cancel(&r[6]);
  if (round % 3 == 0) {
    for (int k = 0; k < 5; ++k) {
      MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE);
      require(index > 0 && !seen[index], "a request is told twice, or one that is not done");
      seen[index] = 1;
    }
    MPI_Testany(n, r, &index, &flag, &status[0]);
    require(!flag, "a request of the program's is done");
    MPI_Grequest_complete(own);
    MPI_Waitany(n, r, &index, &status[0]);
    require(index == 0 && status[0].MPI_SOURCE == 42, "a request of the program's is not told");
  } else if (round % 3 == 1) {
    MPI_Grequest_complete(own);
    MPI_Waitall(n, r, status);
    int cancelled = 0, bytes = -1;
    MPI_Test_cancelled(&status[6], &cancelled);
    require(cancelled && status[0].MPI_TAG == 42 && status[4].MPI_SOURCE == (me + size - 1) % size,
            "a status is wrong");
    MPI_Test_cancelled(&status[3], &cancelled);
    MPI_Get_count(&status[3], MPI_BYTE, &bytes);
    require(!cancelled && bytes == 0, "the status of a collective is wrong");
  } else {
    for (int k = 0; k < 5; k += some)
      MPI_Waitsome(n, r, &some, indices, status);
    MPI_Grequest_complete(own);
    MPI_Testsome(n, r, &some, indices, status);
    require(some == 1 && indices[0] == 0, "some requests are wrong");
  }
  require(ended == 1 && sum == size * (size - 1) / 2 && token == (me + size - 1) % size,
          "one of all kinds is wrong");
  for (int k = 0; k < n; ++k)
    require(r[k] == MPI_REQUEST_NULL, "a request of some kind is left");
}

/* Arrays of both kinds: what is there first is told first, and none waits for the other. */
static void mixed(void) {
  const int next = (me + 1) % size, before = (me + size - 1) % size;
  for (int round = 0; round < 50; ++round) {
    int token = 0, mine = me, sum = 0, index = -1, some = 0, indices[3];
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(&token, 1, MPI_INT, before, round, MPI_COMM_WORLD, &r[0]);
    /* Rank 0 comes to the sum only behind the message of the others. */
    if (me == 0) {
      MPI_Send(&round, 1, MPI_INT, next, round, MPI_COMM_WORLD);
      MPI_Wait(&r[0], MPI_STATUS_IGNORE);
      MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
    } else {
      MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
      MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
      require(index == 0 && token == round, "the message was not the first");
      MPI_Send(&round, 1, MPI_INT, next, round, MPI_COMM_WORLD);
    }
    MPI_Waitsome(3, r, &some, indices, MPI_STATUSES_IGNORE);
    require(some == 1 && indices[0] == 1 && sum == size * (size - 1) / 2, "the sum is wrong");
    MPI_Waitsome(3, r, &some, indices, MPI_STATUSES_IGNORE);
    require(some == MPI_UNDEFINED, "a request is left");
    MPI_Status status;
    int flag = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &r[2]);
    while (!flag)
      MPI_Request_get_status(r[2], &flag, &status);
    require(r[2] != MPI_REQUEST_NULL, "asking has ended a request");
    MPI_Test(&r[2], &flag, &status);
    require(flag && r[2] == MPI_REQUEST_NULL, "a test is wrong");
    all_kinds(round);
  }
}
