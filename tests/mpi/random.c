// SPDX-License-Identifier: BSD-3-Clause
/* Random non-blocking and persistent collectives of MPI, many under way at once on several communicators,
 * beside messages, completed in random ways; what each gives is compared with what the blocking call gives.
 * The last line has a sum of all results: an unchanged program of MPI, it prints the same with libweft-mpi
 * and without.
 *
 *   random PROGRAMS SEED [MOST [STORED]]    blocks of up to MOST bytes; 1: some are persistent (those of
 * MPICH 4.0 itself hang or end with an error) */
#include "random_task.h"

static void post(struct task* t) {
  MPI_Request* r = &t->request;
  void* in = source(t, t->out);
  const int at_root = t->rank == t->root;
  const int n = t->count, next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
  void* to = t->in_place && t->size > 1 && (t->what == scatter || t->what == scatterv) && t->rank == t->root
                 ? MPI_IN_PLACE
                 : t->out;
  switch (t->what) {
  case barrier:
    MPI_Ibarrier(t->comm, r);
    break;
  case bcast:
    MPI_Ibcast(t->out, n, t->type, t->root, t->comm, r);
    break;
  case gather:
    MPI_Igather(in, n, t->type, t->out, n, t->type, t->root, t->comm, r);
    break;
  case scatter:
    MPI_Iscatter(t->in, n, t->type, to, n, t->type, t->root, t->comm, r);
    break;
  case allgather:
    MPI_Iallgather(in, n, t->type, t->out, n, t->type, t->comm, r);
    break;
  case allgatherv:
    MPI_Iallgatherv(in, t->counts[t->rank], t->type, t->out, t->counts, t->places, t->type, t->comm, r);
    break;
  case scan:
    MPI_Iscan(in, t->out, n, t->type, t->op, t->comm, r);
    break;
  case exscan:
    MPI_Iexscan(in, t->out, n, t->type, t->op, t->comm, r);
    break;
  case scatter_block:
    MPI_Ireduce_scatter_block(in, t->out, n, t->type, t->op, t->comm, r);
    break;
  case scatter_sums:
    MPI_Ireduce_scatter(in, t->out, t->counts, t->type, t->op, t->comm, r);
    break;
  case gatherv:
    MPI_Igatherv(in, t->counts[t->rank], t->type, t->out, at_root ? t->counts : NULL,
                 at_root ? t->places : NULL, t->type, t->root, t->comm, r);
    break;
  case scatterv:
    MPI_Iscatterv(t->in, at_root ? t->counts : NULL, at_root ? t->places : NULL, t->type, to,
                  t->counts[t->rank], t->type, t->root, t->comm, r);
    break;
  case alltoallv:
    MPI_Ialltoallv(in, t->given, t->places, t->type, t->out, t->taken, t->places, t->type, t->comm, r);
    break;
  case alltoallw:
    MPI_Ialltoallw(t->in, t->given, t->byte_places, t->types, t->out, t->taken, t->byte_places, t->types,
                   t->comm, r);
    break;
  case alltoall:
    MPI_Ialltoall(in, n, t->type, t->out, n, t->type, t->comm, r);
    break;
  case reduce:
    MPI_Ireduce(in, t->out, n, t->type, t->op, t->root, t->comm, r);
    break;
  case allreduce:
    MPI_Iallreduce(in, t->out, n, t->type, t->op, t->comm, r);
    break;
  default:
    MPI_Irecv(t->out, n, t->type, before, 3, t->comm, r);
    MPI_Send(t->in, t->size == 1 ? 0 : n, t->type, t->size == 1 ? MPI_PROC_NULL : next, 3, t->comm);
    if (t->size == 1) {
      MPI_Cancel(r);
      MPI_Wait(r, MPI_STATUS_IGNORE);
    }
  }
}

static void store(struct task* t) {
  MPI_Request* r = &t->request;
  void* in = source(t, t->out);
  const int at_root = t->rank == t->root;
  const int n = t->count;
  void* to = t->in_place && t->size > 1 && (t->what == scatter || t->what == scatterv) && t->rank == t->root
                 ? MPI_IN_PLACE
                 : t->out;
  switch (t->what) {
  case barrier:
    INIT(Barrier)(t->comm, MPI_INFO_NULL, r);
    break;
  case bcast:
    INIT(Bcast)(t->out, n, t->type, t->root, t->comm, MPI_INFO_NULL, r);
    break;
  case gather:
    INIT(Gather)(in, n, t->type, t->out, n, t->type, t->root, t->comm, MPI_INFO_NULL, r);
    break;
  case scatter:
    INIT(Scatter)(t->in, n, t->type, to, n, t->type, t->root, t->comm, MPI_INFO_NULL, r);
    break;
  case allgather:
    INIT(Allgather)(in, n, t->type, t->out, n, t->type, t->comm, MPI_INFO_NULL, r);
    break;
  case allgatherv:
    INIT(Allgatherv)
    (in, t->counts[t->rank], t->type, t->out, t->counts, t->places, t->type, t->comm, MPI_INFO_NULL, r);
    break;
  case scan:
    INIT(Scan)(in, t->out, n, t->type, t->op, t->comm, MPI_INFO_NULL, r);
    break;
  case exscan:
    INIT(Exscan)(in, t->out, n, t->type, t->op, t->comm, MPI_INFO_NULL, r);
    break;
  case scatter_block:
    INIT(Reduce_scatter_block)(in, t->out, n, t->type, t->op, t->comm, MPI_INFO_NULL, r);
    break;
  case scatter_sums:
    INIT(Reduce_scatter)(in, t->out, t->counts, t->type, t->op, t->comm, MPI_INFO_NULL, r);
    break;
  case gatherv:
    INIT(Gatherv)
    (in, t->counts[t->rank], t->type, t->out, at_root ? t->counts : NULL, at_root ? t->places : NULL, t->type,
     t->root, t->comm, MPI_INFO_NULL, r);
    break;
  case scatterv:
    INIT(Scatterv)
    (t->in, at_root ? t->counts : NULL, at_root ? t->places : NULL, t->type, to, t->counts[t->rank], t->type,
     t->root, t->comm, MPI_INFO_NULL, r);
    break;
  case alltoallv:
    INIT(Alltoallv)
    (in, t->given, t->places, t->type, t->out, t->taken, t->places, t->type, t->comm, MPI_INFO_NULL, r);
    break;
  case alltoallw:
    INIT(Alltoallw)
    (t->in, t->given, t->byte_places, t->types, t->out, t->taken, t->byte_places, t->types, t->comm,
     MPI_INFO_NULL, r);
    break;
  case alltoall:
    INIT(Alltoall)(in, n, t->type, t->out, n, t->type, t->comm, MPI_INFO_NULL, r);
    break;
  case reduce:
    INIT(Reduce)(in, t->out, n, t->type, t->op, t->root, t->comm, MPI_INFO_NULL, r);
    break;
  default:
    INIT(Allreduce)(in, t->out, n, t->type, t->op, t->comm, MPI_INFO_NULL, r);
  }
  MPI_Start(r);
}

static void ask_mpi(struct task* t) {
  void* in = t->in; /* in place MPICH 4.0 crashes in MPI_Reduce */
  const int at_root = t->rank == t->root;
  const int n = t->count, next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
  void* to = t->in_place && t->size > 1 && (t->what == scatter || t->what == scatterv) && t->rank == t->root
                 ? MPI_IN_PLACE
                 : t->wanted;
  switch (t->what) {
  case barrier:
    MPI_Barrier(t->comm);
    break;
  case bcast:
    MPI_Bcast(t->wanted, n, t->type, t->root, t->comm);
    break;
  case gather:
    MPI_Gather(in, n, t->type, t->wanted, n, t->type, t->root, t->comm);
    break;
  case scatter:
    MPI_Scatter(t->in, n, t->type, to, n, t->type, t->root, t->comm);
    break;
  case allgather:
    MPI_Allgather(in, n, t->type, t->wanted, n, t->type, t->comm);
    break;
  case allgatherv:
    MPI_Allgatherv(in, t->counts[t->rank], t->type, t->wanted, t->counts, t->places, t->type, t->comm);
    break;
  case scan:
    MPI_Scan(in, t->wanted, n, t->type, t->op, t->comm);
    break;
  case exscan:
    MPI_Exscan(in, t->wanted, n, t->type, t->op, t->comm);
    break;
  case scatter_block:
    MPI_Reduce_scatter_block(in, t->wanted, n, t->type, t->op, t->comm);
    break;
  case scatter_sums:
    MPI_Reduce_scatter(in, t->wanted, t->counts, t->type, t->op, t->comm);
    break;
  case gatherv:
    MPI_Gatherv(in, t->counts[t->rank], t->type, t->wanted, at_root ? t->counts : NULL,
                at_root ? t->places : NULL, t->type, t->root, t->comm);
    break;
  case scatterv:
    MPI_Scatterv(t->in, at_root ? t->counts : NULL, at_root ? t->places : NULL, t->type, to,
                 t->counts[t->rank], t->type, t->root, t->comm);
    break;
  case alltoallv:
    MPI_Alltoallv(in, t->given, t->places, t->type, t->wanted, t->taken, t->places, t->type, t->comm);
    break;
  case alltoallw:
    MPI_Alltoallw(t->in, t->given, t->byte_places, t->types, t->wanted, t->taken, t->byte_places, t->types,
                  t->comm);
    break;
  case alltoall:
    MPI_Alltoall(in, n, t->type, t->wanted, n, t->type, t->comm);
    break;
  case reduce:
    MPI_Reduce(in, t->wanted, n, t->type, t->op, t->root, t->comm);
    break;
  case allreduce:
    MPI_Allreduce(in, t->wanted, n, t->type, t->op, t->comm);
    break;
  default:
    if (t->size > 1)
      MPI_Sendrecv(t->in, n, t->type, next, 4, t->wanted, n, t->type, before, 4, t->comm, MPI_STATUS_IGNORE);
  }
}

static void finish(struct task* all, int count) {
  MPI_Request requests[most_under_way];
  int indices[most_under_way], flag = 0, left = count, index, some;
  for (int k = 0; k < count; ++k)
    requests[k] = all[k].request;
  switch (draw_own(5)) {
  case 0:
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    break;
  case 1:
    for (int k = count; k-- > 0;)
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    break;
  case 2:
    for (;;) {
      MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      if (index == MPI_UNDEFINED) break;
    }
    break;
  case 3:
    for (;;) {
      MPI_Waitsome(count, requests, &some, indices, MPI_STATUSES_IGNORE);
      if (some == MPI_UNDEFINED) break;
      left -= some;
    }
    break;
  default:
    while (!flag)
      MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  }
  for (int k = 0; k < count; ++k)
    if (all[k].stored)
      MPI_Request_free(&requests[k]);
    else if (requests[k] != MPI_REQUEST_NULL) {
      printf("rank %d: a request is left\n", me);
      ++failures;
    }
}

static void play(int program, int most) {
  struct task all[most_under_way];
  MPI_Op used[most_under_way];
  const int count = 1 + (int)draw(most_under_way);
  for (int k = 0; k < count; ++k) {
    make(&all[k], most);
    all[k].stored = all[k].stored && stores && all[k].what != message && all[k].size > 1;
    (all[k].stored ? store : post)(&all[k]);
    used[k] = all[k].op;
    const int early = draw(2) == 0; /* the call keeps it */
    if (all[k].made && !all[k].stored && early) MPI_Op_free(&used[k]);
  }
  finish(all, count);
  for (int k = 0; k < count; ++k) {
    struct task* t = &all[k];
    if (t->made && used[k] == MPI_OP_NULL) {
      t->op = op_number(t->op_kind);
      used[k] = t->op;
    }
    ask_mpi(t);
    if (t->made) MPI_Op_free(&used[k]);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(t->type, &lower, &extent);
    const size_t block = (size_t)extent * (size_t)t->count;
    size_t defined = t->bytes; /* behind it MPI says nothing of what is in place */
    if (t->what == exscan && t->rank == 0) defined = 0;
    if (t->what == scatter_block) defined = block;
    if (t->what == scatter_sums) defined = (size_t)extent * (size_t)t->counts[t->rank];
    memset(t->out + defined, 0, t->bytes - defined);
    memset(t->wanted + defined, 0, t->bytes - defined);
    if (t->type == MPI_DOUBLE_INT || t->type == gaps) /* what is in a gap is copied in place only */
      for (size_t at = 12; at + 4 <= t->bytes; at += 16) {
        memset(t->out + at, 0, 4);
        memset(t->wanted + at, 0, 4);
      }
    if (memcmp(t->out, t->wanted, t->bytes) != 0) {
      printf(
          "rank %d, program %d, call %d: %s of %d elements, %zu bytes, root %d, in place %d, operator %d is "
          "wrong\n",
          me, program, k, names[t->what], t->count, t->bytes, t->root, t->in_place, t->op_kind);
      ++failures;
    }
    for (size_t at = 0; at < t->bytes; ++at)
      digest = (digest ^ (unsigned char)t->out[at]) * 1099511628211ull;
    free(t->in);
    free(t->out);
    free(t->wanted);
  }
}

/* The program combines by an operator of MPI's and one of its own while reductions by both are under way: of
 * a program that begins with MPI_Init MPI counts their users, and those of types, without atomic
 * instructions. With more ranks than cores it takes long. */
static void combine_beside(int ranks) {
  enum { several = 6, elements = 400, uses = 3000 };
  const int rounds = ranks == 2 ? 300 : 60;
  typedef struct {
    long double value;
    int at;
  } pair;
  static pair in[elements], out[several][elements], x, y;
  static unsigned own_in[3 * elements], own_out[several][3 * elements];
  MPI_Request requests[2 * several];
  MPI_Op own;
  MPI_Op_create(combine, 1, &own);
  for (int k = 0; k < elements; ++k)
    in[k] = (pair){(k * 7 + me * 11) % 31, me};
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < several; ++k) {
      MPI_Iallreduce(in, out[k], elements, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &requests[k]);
      MPI_Iallreduce(own_in, own_out[k], elements, triple, own, MPI_COMM_WORLD, &requests[several + k]);
    }
    for (int k = 0; k < uses; ++k)
      MPI_Reduce_local(&x, &y, 1, k % 2 == 0 ? MPI_LONG_DOUBLE_INT : triple, k % 2 == 0 ? MPI_MAXLOC : own);
    MPI_Waitall(2 * several, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Op_free(&own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int programs = argc > 1 ? atoi(argv[1]) : 100, most = argc > 3 ? atoi(argv[3]) : 200000;
  stores = argc > 4 ? atoi(argv[4]) : 0;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) * 977 : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  own_state = state + (unsigned long long)me * 7919 + 1;
  comm_of[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[1]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comm_of[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm_of[3]);
  const int two[] = {1, 0}, one[] = {1, 1};
  MPI_Type_vector(3, 1, 1, MPI_INT, &gaps);
  MPI_Datatype wide;
  MPI_Type_create_resized(gaps, 0, 16, &wide);
  MPI_Type_free(&gaps);
  gaps = wide;
  MPI_Type_commit(&gaps);
  MPI_Type_indexed(2, one, two, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  MPI_Type_contiguous(3, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  for (int k = 0; k < programs && failures == 0; ++k)
    play(k, most);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  combine_beside(ranks);
  for (int k = 1; k < comms; ++k)
    MPI_Comm_free(&comm_of[k]);
  int sum = 0;
  MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  unsigned long long digests = 0;
  MPI_Reduce(&digest, &digests, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%s, %016llx\n", sum == 0 ? "all right" : "WRONG", digests);
  MPI_Type_free(&gaps);
  MPI_Type_free(&swapped);
  MPI_Type_free(&triple);
  MPI_Finalize();
  return sum != 0;
}
