// SPDX-License-Identifier: BSD-3-Clause
/* Each non-blocking collective of MPI that combines, over call x type x operator x communicator x root x
 * place: all operators of all types that they are defined for, operators of the program that do not commute,
 * long vectors of them, unequal and zero counts, MPI_IN_PLACE. After the list of MPICH's tests of
 * collectives. The same is combined again by MPI_Reduce_local, rank by rank. */
#include "collectives.h"

enum { reduce, allreduce, scan, exscan, scatter_block, scatter_sums, combinations };
static const char* const names[] = {
    "Ireduce", "Iallreduce", "Iscan", "Iexscan", "Ireduce_scatter_block", "Ireduce_scatter"};
typedef void fill_function(void*, int rank, int count);
static int equal(const void* a, const void* b, int count, MPI_Datatype type) { /* without what is in gaps */
  int size, at = 0, at_b = 0;
  MPI_Type_size(type, &size);
  const size_t length = (size_t)size * (size_t)count;
  char *x = malloc(length + 1), *y = malloc(length + 1);
  MPI_Pack(a, count, type, x, (int)length, &at, MPI_COMM_SELF);
  MPI_Pack(b, count, type, y, (int)length, &at_b, MPI_COMM_SELF);
  /* A long double has 10 bytes. */
  int right = 1;
  for (size_t k = 0; k < length; ++k)
    if (!((type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX) && k % 16 >= 10) &&
        !(type == MPI_LONG_DOUBLE_INT && k % 20 >= 10 && k % 20 < 16))
      right = right && x[k] == y[k];
  free(x);
  free(y);
  return right;
}
static void combine(int call, MPI_Comm comm, MPI_Datatype type, MPI_Op op, fill_function* fill, int count,
                    int in_place) {
  int rank, ranks, counts[most_ranks], all = 0, before = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int k = 0; k < ranks; ++k) {
    counts[k] = call == scatter_block ? count : call == scatter_sums ? count * (k % 3) : k == 0 ? count : 0;
    before += k < rank ? counts[k] : 0;
    all += counts[k];
  }
  if (all == 0) counts[0] = all = 1; /* two ranks of which the second has its share */
  if (call == scatter_sums && ranks == 1) before = 0;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  const size_t bytes = (size_t)extent * (size_t)all;
  const int many = call == reduce ? ranks : 1;
  char *in = calloc(1, bytes), *sum = calloc(1, bytes), *next = calloc(1, bytes), *out[most_ranks];
  fill(in, rank, all);
  MPI_Request r[most_posted];
  for (int root = 0; root < many; ++root) {
    out[root] = malloc(bytes);
    memset(out[root], filler, bytes);
    const int here = in_place && (call != reduce || rank == root);
    if (here) memcpy(out[root], in, bytes);
    void* const from = here ? MPI_IN_PLACE : in;
    switch (call) {
    case reduce:
      MPI_Ireduce(from, out[root], all, type, op, root, comm, &r[root]);
      break;
    case allreduce:
      MPI_Iallreduce(from, out[root], all, type, op, comm, &r[root]);
      break;
    case scan:
      MPI_Iscan(from, out[root], all, type, op, comm, &r[root]);
      break;
    case exscan:
      MPI_Iexscan(from, out[root], all, type, op, comm, &r[root]);
      break;
    case scatter_block:
      MPI_Ireduce_scatter_block(from, out[root], counts[0], type, op, comm, &r[root]);
      break;
    default:
      MPI_Ireduce_scatter(from, out[root], counts, type, op, comm, &r[root]);
    }
  }
  complete(many, r);
  const int last = call == scan ? rank : call == exscan ? rank - 1 : ranks - 1;
  for (int k = 0; k <= last; ++k) {
    memset(next, 0, bytes);
    fill(next, k, all);
    if (k > 0) MPI_Reduce_local(sum, next, all, type, op);
    memcpy(sum, next, bytes);
  }
  const int scattered = call >= scatter_block;
  for (int root = 0; root < many; ++root) {
    if ((call != reduce || rank == root) && last >= 0)
      check(equal(out[root], scattered ? sum + (size_t)extent * (size_t)before : sum,
                  scattered ? counts[rank] : all, type),
            names[call], type, all, root, in_place);
    free(out[root]);
  }
  free(in);
  free(sum);
  free(next);
}

/* Values of which sums and products of 16 are exact. */
#define FILL(name, of, value)                                                                                \
  static void fill_##name(void* to, int rank, int count) {                                                   \
    for (int k = 0; k < count; ++k)                                                                          \
      ((of*)to)[k] = (of)(value);                                                                            \
  }
#define SMALL ((rank * 5 + k * 3) % 2 + 1 - (k % 5 == 0))
/* clang-format off */
FILL(c, signed char, SMALL)
FILL(s, short, SMALL)
FILL(i, int, SMALL)
FILL(l, long, SMALL)
FILL(f, float, SMALL)
FILL(d, double, SMALL)
FILL(ld, long double, SMALL)
FILL(bool, _Bool, (rank + k) % 3 == 0)
FILL(logical, int, (rank + k) % 3 == 0)
FILL(u, unsigned, rank * 2654435761u + (unsigned)k * 40503u)
/* clang-format on */
#define PAIRS(name, of)                                                                                      \
  static void fill_##name(void* to, int rank, int count) {                                                   \
    struct {                                                                                                 \
      of value;                                                                                              \
      int at;                                                                                                \
    }* p = to;                                                                                               \
    for (int k = 0; k < count; ++k)                                                                          \
      p[k].value = (of)((rank * 7 + k * 3) % 4), p[k].at = (rank * 3 + k) % 5;                               \
  }
static void fill_2f(void* to, int rank, int count) {
  for (int k = 0; k < 2 * count; ++k)
    ((float*)to)[k] = (float)((rank * 7 + k * 3) % 4);
}
static void fill_2d(void* to, int rank, int count) {
  for (int k = 0; k < 2 * count; ++k)
    ((double*)to)[k] = (double)((rank * 7 + k * 3) % 4);
}
/* clang-format off */
PAIRS(fi, float)
PAIRS(di, double)
PAIRS(li, long)
PAIRS(si, short)
PAIRS(ii, int)
PAIRS(ldi, long double)
/* clang-format on */
static void fill_complex(void* to, int rank, int count) {
  fill_d(to, rank, 2 * count);
}
static void fill_complex_float(void* to, int rank, int count) {
  fill_f(to, rank, 2 * count);
}
static void fill_complex_long(void* to, int rank, int count) {
  fill_ld(to, rank, 2 * count);
}
static void fill_triples(void* to, int rank, int count) {
  fill_u(to, rank, 3 * count);
}

/* The map x -> a*x + b of 16 bits, one after the other: it does not commute. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  const unsigned *f = in, mask = 0xffff;
  unsigned* g = inout;
  for (int k = 0; k < *count * size / 4; ++k)
    g[k] =
        (((g[k] & mask) * (f[k] >> 16) + (g[k] >> 16)) & mask) << 16 | ((g[k] & mask) * (f[k] & mask) & mask);
}
static void combine_all(int call, MPI_Comm comm, int in_place) {
  enum { whole = 1, bits = 2, logic = 4, order = 8, sums = 16 };
  const struct {
    MPI_Datatype type;
    fill_function* fill;
    int may;
  } types[] = {{MPI_SIGNED_CHAR, fill_c, 31},
               {MPI_UNSIGNED_CHAR, fill_c, 31},
               {MPI_SHORT, fill_s, 31},
               {MPI_UNSIGNED_SHORT, fill_s, 31},
               {MPI_INT, fill_i, 31},
               {MPI_UNSIGNED, fill_i, 31},
               {MPI_LONG, fill_l, 31},
               {MPI_UNSIGNED_LONG, fill_l, 31},
               {MPI_LONG_LONG, fill_l, 31},
               {MPI_UNSIGNED_LONG_LONG, fill_l, 31},
               {MPI_INT8_T, fill_c, 31},
               {MPI_INT16_T, fill_s, 31},
               {MPI_INT32_T, fill_i, 31},
               {MPI_INT64_T, fill_l, 31},
               {MPI_UINT8_T, fill_c, 31},
               {MPI_UINT16_T, fill_s, 31},
               {MPI_UINT32_T, fill_i, 31},
               {MPI_UINT64_T, fill_l, 31},
               {MPI_CHAR, fill_c, 31},
               {MPI_AINT, fill_l, 31},
               {MPI_C_BOOL, fill_bool, logic},
               {MPI_LOGICAL, fill_logical, logic},
               {MPI_INTEGER, fill_i, bits | order | sums},
               {MPI_INTEGER1, fill_c, 31},
               {MPI_INTEGER2, fill_s, 31},
               {MPI_INTEGER8, fill_l, 31},
               {MPI_BYTE, fill_c, bits},
               {MPI_REAL4, fill_f, order | sums},
               {MPI_REAL8, fill_d, order | sums},
               {MPI_COMPLEX8, fill_complex_float, sums},
               {MPI_COMPLEX16, fill_complex, sums},
               {MPI_C_LONG_DOUBLE_COMPLEX, fill_complex_long, sums},
               {MPI_FLOAT, fill_f, order | sums},
               {MPI_DOUBLE, fill_d, order | sums},
               {MPI_LONG_DOUBLE, fill_ld, order | sums},
               {MPI_C_DOUBLE_COMPLEX, fill_complex, sums},
               {MPI_C_FLOAT_COMPLEX, fill_complex_float, sums}};
  const struct {
    MPI_Op op;
    int is;
  } ops[] = {{MPI_SUM, sums},  {MPI_PROD, sums},  {MPI_MAX, order}, {MPI_MIN, order}, {MPI_LAND, logic},
             {MPI_LOR, logic}, {MPI_LXOR, logic}, {MPI_BAND, bits}, {MPI_BOR, bits},  {MPI_BXOR, bits}};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (size_t o = 0; o < sizeof ops / sizeof *ops; ++o)
      if (types[t].may & ops[o].is) combine(call, comm, types[t].type, ops[o].op, types[t].fill, 5, in_place);
  const struct {
    MPI_Datatype type;
    fill_function* fill;
  } pairs[] = {{MPI_FLOAT_INT, fill_fi}, {MPI_DOUBLE_INT, fill_di}, {MPI_LONG_INT, fill_li},
               {MPI_SHORT_INT, fill_si}, {MPI_2INT, fill_ii},       {MPI_LONG_DOUBLE_INT, fill_ldi},
               {MPI_2INTEGER, fill_ii},  {MPI_2REAL, fill_2f},      {MPI_2DOUBLE_PRECISION, fill_2d}};
  for (size_t t = 0; t < sizeof pairs / sizeof *pairs; ++t) {
    combine(call, comm, pairs[t].type, MPI_MAXLOC, pairs[t].fill, 5, in_place);
    combine(call, comm, pairs[t].type, MPI_MINLOC, pairs[t].fill, 5, in_place);
  }
  MPI_Datatype triple;
  MPI_Op own;
  MPI_Type_contiguous(3, MPI_UNSIGNED, &triple);
  MPI_Type_commit(&triple);
  MPI_Op_create(compose, 0, &own);
  combine(call, comm, MPI_UNSIGNED, own, fill_u, 3, in_place);
  combine(call, comm, MPI_UNSIGNED, own, fill_u, 3000, in_place);
  combine(call, comm, triple, own, fill_triples, 11, in_place);
  MPI_Op_free(&own);
  MPI_Type_free(&triple);
}

int main(int argc, char** argv) {
  MPI_Comm comms[communicators];
  begin(&argc, &argv, comms);
  for (int c = 0; c < communicators; ++c)
    for (int call = 0; call < combinations; ++call)
      for (int in_place = 0; in_place < 2; ++in_place)
        combine_all(call, comms[c], in_place);
  return end(comms);
}
