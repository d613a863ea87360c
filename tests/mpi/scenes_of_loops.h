/* SPDX-License-Identifier: BSD-3-Clause */
/* A scene of scenes.c: calls of a loop that are as the one before but for one thing. */
#pragma once

enum loop_call {
  loop_bcast,
  loop_gather,
  loop_scatter,
  loop_allgather,
  loop_alltoall,
  loop_allgatherv,
  loop_gatherv,
  loop_scatterv,
  loop_alltoallv,
  loop_reduce,
  loop_scan,
  loop_allreduce,
  loop_reduce_scatter,
  loop_calls
};
enum { loop_ranks = 8, loop_ints = 16 * loop_ranks };

/* Alike on all ranks. Pairs are two ints each, `gap` ints from one to the other. */
struct loop {
  int what, root, buffers, shift, reversed, pairs, gap, other_comm, turned, maximum;
  MPI_Datatype pair;
  MPI_Comm comm;
};
struct loop_task {
  struct loop is;
  int round, rank, blocks_given, blocks_got;
  int counts[2][loop_ranks], places[2][loop_ranks];
  int buffers[2][2][loop_ints], *in, *out;
  MPI_Request request;
};

static int loop_value(const struct loop_task* t, int from, int to, int k) {
  return t->round * 1009 + from * 331 + to * 31 + k;
}
static int loop_combines(const struct loop_task* t) {
  return t->is.what >= loop_reduce;
}
static int loop_is_v(const struct loop_task* t) {
  return t->is.what >= loop_allgatherv && t->is.what <= loop_alltoallv;
}
/* Elements that one rank gives another. */
static int loop_count(const struct loop_task* t, int from, int to) {
  if (t->is.what == loop_alltoallv) return (from + to + t->is.shift) % 3;
  const int by = t->is.what == loop_scatterv ? to : from;
  return loop_is_v(t) ? (by + t->is.shift) % 3 : 1 + t->is.shift % 2;
}
static int* loop_int(const struct loop_task* t, int* buffer, int element, int k) {
  if (!t->is.pairs || loop_combines(t)) return buffer + element;
  return buffer + element * (t->is.gap + 1) + k * t->is.gap;
}
static int loop_ints_of(const struct loop_task* t) {
  return t->is.pairs && !loop_combines(t) ? 2 : 1;
}
static int loop_place(const struct loop_task* t, int block) {
  if (!loop_is_v(t)) return block * loop_count(t, 0, 0);
  return 2 * (t->is.reversed ? size - 1 - block : block);
}

static void loop_post(struct loop_task* t) {
  const struct loop* l = &t->is;
  const int root = t->rank == l->root, n = loop_count(t, t->rank, t->rank);
  const int to_all = l->what == loop_alltoall || l->what == loop_alltoallv || l->what == loop_reduce_scatter;
  const int scatters = l->what == loop_scatter || l->what == loop_scatterv;
  const int gathers = l->what == loop_gather || l->what == loop_gatherv;
  const int by_all = l->what == loop_allgather || l->what == loop_allgatherv || l->what == loop_alltoall ||
                     l->what == loop_alltoallv;
  int *const counts = t->counts[1], *const places = t->places[1];
  const MPI_Datatype type = l->pairs ? l->pair : MPI_INT;
  const MPI_Op op = l->maximum ? MPI_MAX : MPI_SUM;
  const MPI_Comm comm = l->other_comm ? l->comm : MPI_COMM_WORLD;
  MPI_Request* const r = &t->request;
  t->in = t->buffers[l->buffers % 2][0];
  t->out = t->buffers[l->buffers / 2][1];
  t->blocks_given = scatters || l->what == loop_bcast ? (root ? (scatters ? size : 1) : 0)
                    : to_all                          ? size
                                                      : 1;
  t->blocks_got = by_all || (gathers && root) ? size : gathers || (l->what == loop_reduce && !root) ? 0 : 1;
  for (int k = 0; k < size; ++k)
    for (int side = 0; side < 2; ++side) {
      t->counts[side][k] = side == 0 ? loop_count(t, t->rank, k) : loop_count(t, k, t->rank);
      t->places[side][k] = loop_place(t, k);
    }
  memset(t->in, 0x55, sizeof t->buffers[0][0]);
  memset(t->out, 0x55, sizeof t->buffers[0][0]);
  for (int to = 0; to < t->blocks_given; ++to)
    for (int e = 0; e < (t->blocks_given == 1 ? n : t->counts[0][to]); ++e)
      for (int k = 0; k < loop_ints_of(t); ++k)
        *loop_int(t, t->in, (t->blocks_given == 1 ? 0 : loop_place(t, to)) + e, k) =
            loop_value(t, t->rank, t->blocks_given == 1 ? 0 : to, 2 * e + k);
  switch (l->what) {
  case loop_bcast:
    MPI_Ibcast(root ? t->in : t->out, n, type, l->root, comm, r);
    break;
  case loop_gather:
    MPI_Igather(t->in, n, type, t->out, n, type, l->root, comm, r);
    break;
  case loop_scatter:
    MPI_Iscatter(t->in, n, type, t->out, n, type, l->root, comm, r);
    break;
  case loop_allgather:
    MPI_Iallgather(t->in, n, type, t->out, n, type, comm, r);
    break;
  case loop_alltoall:
    MPI_Ialltoall(t->in, n, type, t->out, n, type, comm, r);
    break;
  case loop_allgatherv:
    MPI_Iallgatherv(t->in, n, type, t->out, counts, places, type, comm, r);
    break;
  case loop_gatherv:
    MPI_Igatherv(t->in, n, type, t->out, root ? counts : NULL, root ? places : NULL, type, l->root, comm, r);
    break;
  case loop_scatterv:
    MPI_Iscatterv(t->in, root ? t->counts[0] : NULL, root ? places : NULL, type, t->out, n, type, l->root,
                  comm, r);
    break;
  case loop_alltoallv:
    MPI_Ialltoallv(t->in, t->counts[0], places, type, t->out, counts, places, type, comm, r);
    break;
  case loop_reduce:
    MPI_Ireduce(t->in, t->out, n, MPI_INT, op, l->root, comm, r);
    break;
  case loop_scan:
    MPI_Iscan(t->in, t->out, n, MPI_INT, op, comm, r);
    break;
  case loop_allreduce:
    MPI_Iallreduce(t->in, t->out, n, MPI_INT, op, comm, r);
    break;
  default:
    MPI_Ireduce_scatter(t->in, t->out, counts, MPI_INT, op, comm, r);
  }
}

static int loop_expected(const struct loop_task* t, int from, int k) {
  const int to_all = t->is.what == loop_alltoall || t->is.what == loop_alltoallv ||
                     t->is.what == loop_scatter || t->is.what == loop_scatterv ||
                     t->is.what == loop_reduce_scatter;
  const int to = to_all ? t->rank : 0, last = t->is.what == loop_scan ? t->rank : size - 1;
  if (!loop_combines(t)) return loop_value(t, from, to, k);
  if (t->is.maximum) return loop_value(t, last, to, k);
  int sum = 0;
  for (int by = 0; by <= last; ++by)
    sum += loop_value(t, by, to, k);
  return sum;
}
static void loop_check(struct loop_task* t) {
  static int expected[loop_ints];
  MPI_Wait(&t->request, MPI_STATUS_IGNORE);
  memset(expected, 0x55, sizeof expected);
  const int of_root = t->is.what == loop_bcast && t->rank == t->is.root;
  for (int from = 0; from < t->blocks_got && !of_root; ++from) {
    const int all = t->blocks_got == 1, by = all ? t->is.root : from;
    const int n =
        all ? loop_count(t, t->is.what == loop_scatterv ? by : t->rank, t->rank) : t->counts[1][from];
    for (int e = 0; e < n; ++e)
      for (int k = 0; k < loop_ints_of(t); ++k)
        *loop_int(t, expected, (all ? 0 : loop_place(t, from)) + e, k) = loop_expected(t, by, 2 * e + k);
  }
  require(memcmp(expected, t->out, sizeof expected) == 0, "a call that is like the one before is wrong");
}

/* The one that is freed and the new one often have one handle. */
static void make_pair(struct loop* l) {
  if (l->pair != MPI_DATATYPE_NULL) MPI_Type_free(&l->pair);
  MPI_Type_vector(2, 1, l->gap, MPI_INT, &l->pair);
  MPI_Type_commit(&l->pair);
}
static void make_comm(struct loop* l) {
  if (l->comm != MPI_COMM_NULL) MPI_Comm_free(&l->comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, l->turned ? -me : me, &l->comm);
}

static void alike(void) {
  static struct loop_task tasks[2];
  struct loop l = {.gap = 1, .pair = MPI_DATATYPE_NULL, .comm = MPI_COMM_NULL};
  unsigned random = 1;
  make_pair(&l);
  make_comm(&l);
  for (int round = 0; round < 6000; ++round) {
    struct loop_task* const t = &tasks[round % 2];
    random = random * 1103515245u + 12345u;
    const int draw = (int)(random >> 16);
    int* const fields[] = {&l.root, &l.shift, &l.reversed, &l.pairs, &l.other_comm, &l.maximum};
    if (t->round != 0) loop_check(t);
    if (draw % 3 == 0) *fields[draw / 3 % 6] = draw / 18 % 2;
    if (draw % 3 == 1 && draw / 3 % 4 == 0) l.what = draw / 12 % loop_calls;
    if (draw % 3 == 1 && draw / 3 % 4 == 1) l.buffers = draw / 12 % 4;
    if (draw % 64 == 2) {
      l.gap = 1 + draw / 64 % 3;
      make_pair(&l);
    }
    if (draw % 512 == 5) {
      l.turned = draw / 512 % 2;
      make_comm(&l);
    }
    t->is = l;
    t->round = round + 1;
    MPI_Comm_rank(l.other_comm ? l.comm : MPI_COMM_WORLD, &t->rank);
    loop_post(t);
  }
  loop_check(&tasks[0]);
  loop_check(&tasks[1]);
  MPI_Type_free(&l.pair);
  MPI_Comm_free(&l.comm);
}
