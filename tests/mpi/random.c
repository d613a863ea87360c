// SPDX-License-Identifier: BSD-3-Clause
/* Random non-blocking and persistent collectives of MPI, many under way at once on several communicators,
 * beside messages, completed in random ways; what each gives is compared with what the blocking call gives.
 * The last line has a sum of all results: an unchanged program of MPI, it prints the same with libweft-mpi
 * and without.
 *
 *   random PROGRAMS SEED [MOST [STORED]]    blocks of up to MOST bytes; 1: some are persistent (those of
 * MPICH 4.0 itself hang or end with an error) */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { comms = 4, most_under_way = 12 };
enum what {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  scan,
  exscan,
  scatter_block,
  scatter_sums,
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
  message,
  kinds
};
static const char* const names[] = {"barrier",
                                    "bcast",
                                    "gather",
                                    "scatter",
                                    "allgather",
                                    "alltoall",
                                    "reduce",
                                    "allreduce",
                                    "scan",
                                    "exscan",
                                    "reduce_scatter_block",
                                    "reduce_scatter",
                                    "allgatherv",
                                    "gatherv",
                                    "scatterv",
                                    "alltoallv",
                                    "alltoallw",
                                    "message"};
static int combines(enum what what) {
  return what >= reduce && what <= scatter_sums;
}

static unsigned long long state;
static unsigned draw(unsigned below) { /* the same on all ranks */
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}
static unsigned long long own_state;
static unsigned draw_own(unsigned below) { /* another one on each */
  own_state = own_state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(own_state >> 33) % below;
}

static int me, failures, stores;
static unsigned long long digest = 14695981039346656037ull;
static MPI_Comm comm_of[comms];
static MPI_Datatype gaps, swapped; /* three ints of four; two ints the other way round */
static MPI_Datatype triple;        /* three ints */

/* Operators of the program: the maps x -> a*x + b of 16 bits, one after the other; sums of squares, say. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  const unsigned *f = in, mask = 0xffff;
  unsigned* g = inout;
  for (size_t k = 0; k < (size_t)*count * (size_t)size / sizeof *g; ++k)
    g[k] =
        (((g[k] & mask) * (f[k] >> 16) + (g[k] >> 16)) & mask) << 16 | ((g[k] & mask) * (f[k] & mask) & mask);
}
static void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  const unsigned* x = in;
  unsigned* y = inout;
  for (size_t k = 0; k < (size_t)*count * (size_t)size / sizeof *y; ++k)
    y[k] = x[k] + y[k] + x[k] * y[k];
}

struct task {
  enum what what;
  MPI_Comm comm;
  int rank, size, root, count, in_place, stored, made, op_kind;
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes; /* of all blocks, with gaps */
  char *in, *out, *wanted;
  int counts[64], places[64]; /* of allgatherv */
  int given[64], taken[64], byte_places[64];
  MPI_Datatype types[64];
  MPI_Request request;
};

static const struct reduction {
  int type, op;
} reductions[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {2, 4}, {2, 5}, {3, 0},
                  {0, 6}, {4, 5}, {0, 7}, {6, 5}, {0, 8}, {5, 8}, {5, 9}, {1, 9}};
static MPI_Datatype type_number(int k) {
  MPI_Datatype all[] = {MPI_INT, MPI_DOUBLE,           MPI_2INT, MPI_LONG, MPI_DOUBLE_INT,
                        triple,  MPI_2DOUBLE_PRECISION};
  return all[k];
}
static MPI_Op op_number(int k) {
  MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_LAND, MPI_LXOR}, made;
  if (k < 8) return all[k];
  MPI_Op_create(k == 8 ? compose : combine, k != 8, &made);
  return made;
}

static void fill(struct task* t) {
  if (t->type == MPI_DOUBLE || t->type == MPI_2DOUBLE_PRECISION)
    for (size_t k = 0; k < t->bytes / sizeof(double); ++k)
      ((double*)t->in)[k] = (double)draw_own(1000); /* sums are exact */
  else if (t->type == MPI_DOUBLE_INT)
    for (size_t k = 0; k < t->bytes / 16; ++k) {
      ((double*)t->in)[2 * k] = (double)draw_own(5);
      ((int*)t->in)[4 * k + 2] = (int)draw_own(100);
      ((int*)t->in)[4 * k + 3] = 0;
    }
  else
    for (size_t k = 0; k < t->bytes; ++k)
      t->in[k] = (char)draw_own(t->type == MPI_2INT ? 3 : 256);
}

static void make(struct task* t, int most) {
  memset(t, 0, sizeof *t);
  t->what = (enum what)draw(kinds);
  t->comm = comm_of[draw(comms)];
  MPI_Comm_rank(t->comm, &t->rank);
  MPI_Comm_size(t->comm, &t->size);
  const unsigned root = draw(64);
  t->root = (int)(root % (unsigned)t->size);
  t->in_place = draw(3) == 0;
  t->stored = draw(4) == 0; /* persistent */
  const unsigned size = draw(4), choice = draw(1000), from = draw(1u << 20);
  t->type = choice % 8 == 0 ? gaps : choice % 8 == 1 ? swapped : choice % 2 ? MPI_INT : MPI_CHAR;
  if (combines(t->what)) {
    const struct reduction r = reductions[choice % (sizeof reductions / sizeof *reductions)];
    t->type = type_number(r.type);
    t->op = op_number(r.op);
    t->made = r.op >= 8;
    t->op_kind = r.op;
  }
  MPI_Aint lower, extent;
  MPI_Type_get_extent(t->type, &lower, &extent);
  const unsigned limits[] = {8, 1024, 20000, (unsigned)most};
  t->count = (int)((from % limits[size]) / (unsigned)extent);
  if (combines(t->what) && t->count == 0) t->count = 1;
  const unsigned less = draw(3);
  for (int k = 0; k < t->size; ++k) {
    t->counts[k] = less == 0   ? t->count
                   : less == 1 ? t->count - (k * 3) % (t->count + 1)
                   : k == 0    ? t->count
                               : 0;
    t->places[k] = k * t->count;
  }
  for (int k = 0; k < t->size; ++k) { /* from rank i to j, whatever i and j; and alike both ways */
    const int i = t->rank < k ? t->rank : k, j = t->rank < k ? k : t->rank;
    t->given[k] = t->in_place ? (i * 5 + j * 3) % (t->count + 1) : (t->rank * 5 + k * 3) % (t->count + 1);
    t->taken[k] = t->in_place ? t->given[k] : (k * 5 + t->rank * 3) % (t->count + 1);
    t->byte_places[k] = t->places[k] * (int)extent;
    t->types[k] = t->type;
  }
  t->bytes = (size_t)extent * (size_t)t->count * (size_t)t->size;
  t->in = malloc(t->bytes + 1);
  t->out = malloc(t->bytes + 1);
  t->wanted = malloc(t->bytes + 1);
  fill(t);
  memset(t->out, 7, t->bytes);
  memset(t->wanted, 7, t->bytes);
  if (t->what == bcast) {
    memcpy(t->out, t->in, t->bytes);
    memcpy(t->wanted, t->in, t->bytes);
  }
}

/* Where what is in place begins: this rank's own block, or all. */
static void* source(struct task* t, char* results) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(t->type, &lower, &extent);
  const size_t block = (size_t)extent * (size_t)t->count;
  const int root = t->rank == t->root;
  if (!t->in_place || t->size == 1) return t->in; /* MPICH 4.0 reads it there */
  if (t->what == allgatherv) {
    memcpy(results + (size_t)t->rank * block, t->in, (size_t)extent * (size_t)t->counts[t->rank]);
    return MPI_IN_PLACE;
  }
  if (t->what == allgather || (t->what == gather && root)) {
    memcpy(results + (size_t)t->rank * block, t->in, block);
    return MPI_IN_PLACE;
  }
  if (t->what == gatherv && root) {
    memcpy(results + (size_t)t->rank * block, t->in, (size_t)extent * (size_t)t->counts[t->rank]);
    return MPI_IN_PLACE;
  }
  if (t->what == alltoallv) {
    for (int k = 0; k < t->size; ++k)
      memcpy(results + (size_t)k * block, t->in + (size_t)k * block, (size_t)extent * (size_t)t->taken[k]);
    return MPI_IN_PLACE;
  }
  if (t->what == scatter_block || t->what == scatter_sums) {
    memcpy(results, t->in, t->bytes);
    return MPI_IN_PLACE;
  }
  if (t->what == alltoall || t->what == allreduce || t->what == scan || t->what == exscan ||
      (t->what == reduce && root)) {
    memcpy(results, t->in, t->what == alltoall ? t->bytes : block);
    return MPI_IN_PLACE;
  }
  return t->in;
}

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
 * instructions. */
static void combine_beside(void) {
  enum { several = 6, elements = 400, rounds = 300, uses = 3000 };
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
  combine_beside();
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
