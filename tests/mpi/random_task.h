/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a random program: one task each, drawn alike on all ranks, with data that differ on each. */
#pragma once
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
