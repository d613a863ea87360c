/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of scenes.c with arguments that MPI does not read, with wrong ones, and with two jobs. */
#pragma once

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

/* What is significant at the root alone is anything elsewhere, and what MPI_IN_PLACE replaces. The last rank
 * is the root, where blocks begin at `out`. */
static void unread(void) {
  enum { n = 3 };
  const int root = size - 1, at_root = me == root;
  int* const nowhere = (int*)16;
  MPI_Datatype freed;
  MPI_Type_contiguous(3, MPI_INT, &freed);
  const MPI_Datatype none = freed, other = at_root ? MPI_INT : none;
  MPI_Type_free(&freed);
  int in[16 * n], out[16 * n], counts[16], places[16], bytes[16], first[16];
  MPI_Datatype types[16];
  MPI_Request r;
  for (int k = 0; k < size; ++k) {
    counts[k] = n;
    places[k] = k * n;
    bytes[k] = k * n * (int)sizeof(int);
    types[k] = MPI_INT;
    first[k] = k == 0 ? n : 0;
  }
  void *const from = at_root ? in : nowhere, *const to = at_root ? out : nowhere;
  const int read = at_root ? n : -5, *some = at_root ? counts : nowhere, *there = at_root ? places : nowhere;
  enum { calls = 18 };
  for (int what = 0; what < calls; ++what) {
    for (int k = 0; k < size * n; ++k) {
      in[k] = me * 1000 + k;
      out[k] = me * 1000 + k;
    }
    if (what == 0) MPI_Igather(in, n, MPI_INT, to, read, other, root, MPI_COMM_WORLD, &r);
    if (what == 1) MPI_Igatherv(in, n, MPI_INT, to, some, there, other, root, MPI_COMM_WORLD, &r);
    void* const own = at_root ? MPI_IN_PLACE : out; /* as it is in out */
    const int unlike = at_root ? -1 : n;
    if (what == 2) {
      memmove(at_root ? out + root * n : out, in, n * sizeof *out);
      MPI_Igather(own, unlike, at_root ? none : MPI_INT, out, read, other, root, MPI_COMM_WORLD, &r);
    }
    if (what == 3) {
      memmove(at_root ? out + root * n : out, in, n * sizeof *out);
      MPI_Igatherv(own, unlike, at_root ? none : MPI_INT, out, some, there, other, root, MPI_COMM_WORLD, &r);
    }
    if (what == 4) MPI_Iscatter(from, read, other, out, n, MPI_INT, root, MPI_COMM_WORLD, &r);
    if (what == 5) MPI_Iscatterv(from, some, there, other, out, n, MPI_INT, root, MPI_COMM_WORLD, &r);
    if (what == 6)
      MPI_Iscatter(from, read, other, own, unlike, at_root ? none : MPI_INT, root, MPI_COMM_WORLD, &r);
    if (what == 7)
      MPI_Iscatterv(from, some, there, other, own, unlike, at_root ? none : MPI_INT, root, MPI_COMM_WORLD,
                    &r);
    if (what == 8 || what == 9) memmove(out + me * n, in, n * sizeof *out);
    if (what == 8) MPI_Iallgather(MPI_IN_PLACE, -me, none, out, n, MPI_INT, MPI_COMM_WORLD, &r);
    if (what == 9) MPI_Iallgatherv(MPI_IN_PLACE, -me, none, out, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
    if (what == 10) MPI_Ialltoall(MPI_IN_PLACE, -me, none, out, n, MPI_INT, MPI_COMM_WORLD, &r);
    if (what == 11)
      MPI_Ialltoallv(MPI_IN_PLACE, nowhere, nowhere, none, out, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
    if (what == 12)
      MPI_Ialltoallw(MPI_IN_PLACE, nowhere, nowhere, (MPI_Datatype*)nowhere, out, counts, bytes, types,
                     MPI_COMM_WORLD, &r);
    if (what == 13)
      MPI_Ireduce(at_root ? MPI_IN_PLACE : in, to, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD, &r);
    /* one buffer for both, where nothing arrives; none there */
    if (what == 14) MPI_Ireduce(in, at_root ? out : in, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD, &r);
    if (what == 15)
      MPI_Ireduce_scatter(in, me == 0 ? out : NULL, first, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r);
    if (what == 16) MPI_Iexscan(in, me == 0 ? NULL : out, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r);
    if (what == 17) {
      MPI_Scatterv_init(from, some, there, other, out, n, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
      MPI_Start(&r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (what == 17) MPI_Request_free(&r);
    for (int k = 0; k < size * n; ++k) {
      const int block = k / n, place = k % n;
      if (what < 4 && at_root) require(out[k] == block * 1000 + place, "a gather is wrong");
      if ((what == 4 || what == 5 || what == 17) && k < n)
        require(out[k] == root * 1000 + me * n + place, "a scatter is wrong");
      if ((what == 6 || what == 7) && k < n)
        require(out[k] == (at_root ? root * 1000 + k : root * 1000 + me * n + place), "a scatter is wrong");
      if (what == 8 || what == 9) require(out[k] == block * 1000 + place, "an allgather is wrong");
      if (what > 9 && what < 13) require(out[k] == block * 1000 + me * n + place, "an alltoall is wrong");
      const int maximum = what == 13 || what == 14 ? at_root : what == 15 ? me == 0 : what == 16 && me > 0;
      if (maximum && k < n) require(out[k] == (what == 16 ? me - 1 : root) * 1000 + k, "a maximum is wrong");
    }
  }
}

static int number_refused;
static void refused(int code, const char* what) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  require(class != MPI_SUCCESS, what);
  ++number_refused;
}

/* Errors are results, of MPI, and nothing is under way behind them. */
static void wrong_arguments(void) {
  MPI_Comm comm;
  MPI_Request r;
  MPI_Datatype raw;
  int in[64] = {0}, out[64], counts[16], places[16], wrong[16], sum = 0;
  for (int k = 0; k < size; ++k) {
    counts[k] = 1;
    places[k] = k;
    wrong[k] = -1;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Type_vector(2, 1, 2, MPI_INT, &raw); /* not committed */
  const MPI_Datatype none = MPI_DATATYPE_NULL, all[] = {none, raw};
  if (me == 0) refused(MPI_Igather(in, 1, none, out, 1, MPI_INT, 0, comm, &r), "a gather has no type");
  refused(MPI_Iallgather(in, 1, none, out, 1, MPI_INT, comm, &r), "an allgather gives no type");
  refused(MPI_Iallgather(in, 1, MPI_INT, out, 1, none, comm, &r), "an allgather gets no type");
  for (int k = 0; k < 2; ++k) {
    refused(MPI_Ibcast(in, 1, all[k], 0, comm, &r), "a broadcast has no type");
    refused(MPI_Ialltoall(in, 1, all[k], out, 1, MPI_INT, comm, &r), "an alltoall has no type");
    refused(MPI_Ialltoallv(in, counts, places, all[k], out, counts, places, MPI_INT, comm, &r),
            "an alltoallv has no type");
  }
  refused(MPI_Iallgatherv(in, -1, MPI_INT, out, counts, places, MPI_INT, comm, &r), "a count is negative");
  refused(MPI_Ialltoallv(in, wrong, places, MPI_INT, out, counts, places, MPI_INT, comm, &r),
          "counts are negative");
  refused(MPI_Iallreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm, &r), "results are in place");
  refused(MPI_Iallreduce(in, out, 1, MPI_FLOAT, MPI_BAND, comm, &r), "bits of a float are combined");
  refused(MPI_Iallreduce(in, out, 1, MPI_LOGICAL, MPI_SUM, comm, &r), "logical values are added");
  if (me == 0) refused(MPI_Ireduce(in, in, 1, MPI_INT, MPI_SUM, 0, comm, &r), "two operands are one");
#ifdef OPEN_MPI /* others end */
  refused(MPI_Iallreduce(in, out, 1, MPI_FLOAT, MPI_LAND, comm, &r), "floats are logical");
  refused(MPI_Iallgatherv(in, 1, MPI_INT, out, counts, NULL, MPI_INT, comm, &r), "there are no places");
#else
  refused(MPI_Iallreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm, &r), "there is no operand");
  refused(MPI_Iallreduce(in, out, 1, MPI_BYTE, MPI_SUM, comm, &r), "bytes are added");
#endif
  in[0] = me;
  MPI_Iallreduce(in, &sum, 1, MPI_INT, MPI_SUM, comm, &r);
  refused(MPI_Request_free(&r), "a call under way is freed");
  refused(MPI_Cancel(&r), "a call is cancelled");
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  require(sum == size * (size - 1) / 2 && number_refused >= 2 + 6 + 5 + 2, "a sum behind errors is wrong");
  /* Of a call that one rank alone has wrong nothing is under way there: the others wait for it. */
  if (me == 0) {
    refused(MPI_Igatherv(in, 1, MPI_INT, out, wrong, places, MPI_INT, 0, comm, &r),
            "the root's counts are negative");
    refused(MPI_Iscatterv(in, wrong, places, MPI_INT, out, 1, MPI_INT, 0, comm, &r),
            "the root's counts are negative");
    refused(MPI_Ialltoallv(in, wrong, places, MPI_INT, out, counts, places, MPI_INT, comm, &r),
            "a rank's counts are negative");
  }
  MPI_Request right[3];
  int gathered[16], scattered = -1, exchanged[16];
  MPI_Igatherv(in, 1, MPI_INT, gathered, counts, places, MPI_INT, 0, comm, &right[0]);
  MPI_Iscatterv(in, counts, places, MPI_INT, &scattered, 1, MPI_INT, 0, comm, &right[1]);
  MPI_Ialltoallv(in, counts, places, MPI_INT, exchanged, counts, places, MPI_INT, comm, &right[2]);
  MPI_Waitall(3, right, MPI_STATUSES_IGNORE);
  require(scattered == 0, "a scatter behind an error is wrong");
  for (int k = 0; k < size; ++k)
    require((me != 0 || gathered[k] == k) && exchanged[k] == (me == 0 ? k : 0),
            "a block behind an error is wrong");
  MPI_Type_free(&raw);
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* An operator's elements lie behind the place that their type has: MPI knows where. */
static void add_behind(void* in, void* inout, int* n, MPI_Datatype* type) {
  for (int k = 0; k < *n; ++k)
    ((int*)inout)[k + 1] += ((int*)in)[k + 1];
  (void)type;
}
static void elsewhere(void) {
  enum { n = 50 };
  MPI_Datatype behind, type;
  MPI_Op op;
  MPI_Request r;
  const int one = 1;
  const MPI_Aint offset = sizeof(int);
  int in[n + 1], out[n + 1];
  MPI_Type_create_hindexed(1, &one, &offset, MPI_INT, &behind);
  MPI_Type_create_resized(behind, 0, sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_behind, 1, &op);
  for (int k = 0; k <= n; ++k) {
    in[k] = me + k;
    out[k] = -1;
  }
  MPI_Iallreduce(in, out, n, type, op, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  require(out[0] == -1, "what is in front of the elements is written");
  for (int k = 1; k <= n; ++k)
    require(out[k] == size * (size - 1) / 2 + size * k, "a sum of elements elsewhere is wrong");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Type_free(&behind);
}

/* A persistent call outlives its communicator, while others come and go; and is used as MPI allows. */
static void stored(void) {
  MPI_Comm comm, others[3];
  MPI_Request r;
  int mine = me, sum, values[3], sums[3];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 20; ++round) {
    MPI_Request once[3];
    for (int k = 0; k < 3; ++k)
      MPI_Comm_dup(MPI_COMM_WORLD, &others[k]);
    sum = -1;
    MPI_Start(&r);
    for (int k = 0; k < 3; ++k)
      post_sum(others[k], &once[k], &values[k], &sums[k], 1);
    require(MPI_Start(&r) != MPI_SUCCESS && MPI_Request_free(&r) != MPI_SUCCESS,
            "a call under way is started or freed");
    for (int k = 0; k < 3; ++k) {
      check_sum(others[k], &once[k], &sums[k], 1);
      MPI_Comm_free(&others[k]);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    require(sum == size * (size - 1) / 2, "a sum of a freed communicator is wrong");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Request_free(&r);
}

/* MPI_Finalize calls the functions of the program that MPI_COMM_SELF's attributes have: the program completes
 * there, and posts. */
static MPI_Request left;
static int left_in, left_sum;
static int complete_at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  int a, b;
  MPI_Request r;
  check_sum(MPI_COMM_WORLD, &left, &left_sum, 1);
  post_sum(MPI_COMM_WORLD, &r, &a, &b, 1);
  check_sum(MPI_COMM_WORLD, &r, &b, 1);
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}
static void at_end(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete_at_end, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  post_sum(MPI_COMM_WORLD, &left, &left_in, &left_sum, 1);
}

/* Two jobs in one communicator: its collectives are MPI's, those of each job's own are not. */
static void spawned(void) {
  MPI_Comm between, both, half;
  MPI_Request r;
  int a, b;
  MPI_Comm_get_parent(&between);
  const int parent = between == MPI_COMM_NULL;
  char program[4096] = "";
  if (parent && readlink("/proc/self/exe", program, sizeof program - 1) > 0)
    MPI_Comm_spawn(program, (char*[]){"spawned", NULL}, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(between, !parent, &both);
  post_sum(both, &r, &a, &b, 1);
  check_sum(both, &r, &b, 1);
  MPI_Comm_split(both, parent, me, &half);
  post_sum(half, &r, &a, &b, 1);
  check_sum(half, &r, &b, 1);
  MPI_Comm_free(&half);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  if (!parent) me = -1; /* says nothing */
}
