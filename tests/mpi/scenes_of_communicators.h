/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of scenes.c with communicators of all kinds. */
#pragma once

/* Communicators, up to eight of them at once. */
enum { at_once = 8 };
static void make_eight(int rounds) {
  MPI_Comm comms[at_once];
  int mine[at_once][4], sum[at_once][4];
  for (int round = 0; round < rounds; ++round) {
    MPI_Request r[at_once];
    for (int k = 0; k < at_once; ++k) {
      MPI_Comm_split(MPI_COMM_WORLD, k % 3 == 0 ? me % 2 : 0, k % 2 ? -me : me, &comms[k]);
      post_sum(comms[k], &r[k], mine[k], sum[k], 4);
    }
    for (int k = at_once; k-- > 0;) {
      check_sum(comms[k], &r[k], sum[k], 4);
      MPI_Comm_free(&comms[k]);
    }
  }
}

static void communicators(void) {
  make_eight(125);
}
static void some_communicators(void) {
  make_eight(15);
}

/* What a communicator's members have, by rank, and their sum; then it is freed. */
static void use(MPI_Comm comm, const char* what) {
  int rank, members, mine, sum = -1, all[64];
  MPI_Request r[2];
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &members);
  mine = rank + 1;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
  MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&comm); /* before, Open MPI 4.1 crashes with four ranks */
  require(sum == members * (members + 1) / 2, what);
  for (int k = 0; k < members; ++k)
    require(all[k] == k + 1, what);
}

/* By each function that makes one and waits for its members. */
static int deleted_with_comm;
static int post_when_deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
  int mine, sum;
  MPI_Request r;
  post_sum(MPI_COMM_WORLD, &r, &mine, &sum, 1);
  check_sum(MPI_COMM_WORLD, &r, &sum, 1);
  ++deleted_with_comm;
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}
static void made(void) {
  MPI_Comm comm, grid;
  MPI_Group all, ends;
  MPI_Request r;
  int keyval, mine, sum;
  const int both[] = {size - 1, 0}, before[] = {(me + size - 1) % size}, after[] = {(me + 1) % size};
  const int of_two = size > 1 ? 2 : 1, one = 1, length[] = {size}, ring[] = {1}, kept[] = {1};
  int index[64], edges[64];
  for (int k = 0; k < size; ++k) { /* a line of nodes, each with the next one */
    index[k] = k + 1;
    edges[k] = (k + 1) % size;
  }
  post_sum(MPI_COMM_WORLD, &r, &mine, &sum, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* while a call is under way */
  check_sum(MPI_COMM_WORLD, &r, &sum, 1);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, post_when_deleted, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, NULL);
  use(comm, "a duplicate is wrong");
  require(deleted_with_comm == 1, "an attribute is not deleted");
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  use(comm, "a duplicate with info is wrong");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &comm);
  use(comm, "the ranks of a host are wrong");
  MPI_Comm_split_type(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL,
                      &comm);
  require((comm == MPI_COMM_NULL) == (me == 0), "a rank has a communicator that it did not ask for");
  if (size > 2) use(comm, "all ranks of a host but one are wrong");
  if (size <= 2 && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, of_two, both, &ends);
  MPI_Comm_create(MPI_COMM_WORLD, ends, &comm);
  use(comm, "a group is wrong");
  if (me == 0 || me == size - 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, ends, 11, &comm);
    use(comm, "a group that its members make is wrong");
  }
  MPI_Group_free(&ends);
  MPI_Group_free(&all);
  MPI_Cart_create(MPI_COMM_WORLD, 1, length, ring, 1, &grid);
  MPI_Cart_sub(grid, kept, &comm);
  use(comm, "a part of a grid is wrong");
  use(grid, "a grid is wrong");
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  use(comm, "a graph is wrong");
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  use(comm, "a graph of which each rank knows its part is wrong");
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, before, MPI_UNWEIGHTED, 1, after, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  use(comm, "a graph of neighbours is wrong");
  /* The tags that Open MPI uses for edges come up somewhere on the way. */
  MPI_Comm_dup(MPI_COMM_WORLD, &grid);
  for (int k = 0; k < 12; ++k) {
    MPI_Dist_graph_create(grid, 1, &me, &one, after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    use(comm, "one of many graphs is wrong");
  }
  MPI_Comm_free(&grid);
}

/* More than there is room for; and one that is made while the program goes on: their collectives are MPI's.
 */
static void many(void) {
  enum { n = 70 };
  MPI_Comm comms[n], comm;
  MPI_Request r;
  for (int k = 0; k < n; ++k)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
  for (int k = n; k-- > 0;)
    use(comms[k], "one of many is wrong");
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  use(comm, "a duplicate that is made while the program goes on is wrong");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use(comm, "one behind many is wrong");
}
