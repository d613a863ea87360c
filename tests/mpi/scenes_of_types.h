/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of scenes.c with types of the program: extents and places of all kinds, freed while a call needs
 * them, and what MPI says of them. */
#pragma once
#include <limits.h>

/* Backwards, with a gap in front, of no bytes. */
static void odd_types(void) {
  MPI_Datatype backwards, behind, nothing, type[16][2];
  MPI_Request r;
  enum { n = 4 };
  int in[64], out[64], counts[16], places[16], zeros[16] = {0}, ones[16];
  for (int k = 0; k < 64; ++k) {
    in[k] = me * 100 + k;
    out[k] = -1;
  }
  MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &backwards);
  MPI_Type_commit(&backwards);
  MPI_Iallgather(in + n - 1, n, backwards, out, n, MPI_INT, MPI_COMM_WORLD, &r);
  MPI_Type_free(&backwards);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int k = 0; k < size * n; ++k)
    require(out[k] == k / n * 100 + n - 1 - k % n, "what is given backwards is wrong");
  memset(out, -1, sizeof out);
  MPI_Type_create_resized(MPI_INT, -8, 16, &behind);
  MPI_Type_commit(&behind);
  MPI_Ialltoall(in, 1, behind, out, 1, behind, MPI_COMM_WORLD, &r);
  MPI_Type_free(&behind);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (int k = 0; k < size; ++k) {
    counts[k] = INT_MAX - k;
    places[k] = k;
    ones[k] = 1;
  }
  MPI_Request all[4];
  MPI_Ialltoall(in, INT_MAX, nothing, out, INT_MAX, nothing, MPI_COMM_WORLD, &all[0]);
  MPI_Iallgatherv(in, INT_MAX - me, nothing, out, counts, places, nothing, MPI_COMM_WORLD, &all[1]);
  MPI_Ialltoallv(in, counts, places, nothing, out, counts, places, nothing, MPI_COMM_WORLD, &all[2]);
  MPI_Ibcast(in, INT_MAX, nothing, 0, MPI_COMM_WORLD, &all[3]);
  MPI_Type_free(&nothing);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  for (int k = 0; k < size; ++k)
    require(out[4 * k] == k * 100 + 4 * me && out[4 * k + 1] == -1, "elements with a gap in front are wrong");
  int given[16], taken[16];
  for (int k = 0; k < size; ++k) { /* addresses, the last of the first */
    const int one = 1;
    int* const at[2] = {&given[k], &taken[size - 1 - k]};
    given[k] = me * 10 + k;
    for (int side = 0; side < 2; ++side) {
      MPI_Aint address;
      MPI_Get_address(at[side], &address);
      MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type[k][side]);
      MPI_Type_commit(&type[k][side]);
    }
  }
  MPI_Datatype from[16], to[16];
  for (int k = 0; k < size; ++k) {
    from[k] = type[k][0];
    to[k] = type[k][1];
  }
  MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, from, MPI_BOTTOM, ones, zeros, to, MPI_COMM_WORLD, &r);
  for (int k = 0; k < 2 * size; ++k)
    MPI_Type_free(&type[k / 2][k % 2]);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int k = 0; k < size; ++k)
    require(taken[size - 1 - k] == k * 10 + me, "a block with an address is wrong");
}

/* Freed behind the post, while others are made, which may have the handles of those before. */
static void made_again(void) {
  for (int round = 0; round < 30; ++round) {
    const int n = 1 + round % 5, one = 2 * n - 1, other = 2 * n + 1;
    MPI_Datatype type, wider;
    MPI_Request r[2];
    int in[200], out[200], seen[200];
    for (int k = 0; k < 200; ++k) {
      in[k] = me * 1000 + k + round;
      out[k] = seen[k] = -1;
    }
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Ialltoall(in, 2, type, out, 2, type, MPI_COMM_WORLD, &r[0]);
    MPI_Type_free(&type);
    require(type == MPI_DATATYPE_NULL, "a type is there that was freed");
    MPI_Type_vector(n + 1, 1, 2, MPI_INT, &wider);
    MPI_Type_commit(&wider);
    MPI_Ibcast(me == 0 ? in : seen, 3, wider, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Type_free(&wider);
    for (int k = 2; k-- > 0;)
      MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    for (int k = 0; k < size * 2 * n; ++k) {
      const int rank = k / (2 * n), element = k / n % 2, at = 2 * (k % n);
      require(out[(rank * 2 + element) * one + at] == rank * 1000 + (me * 2 + element) * one + at + round,
              "a block of a freed type is wrong");
    }
    for (int k = 0; k < 3 * (n + 1) && me != 0; ++k)
      require(seen[k / (n + 1) * other + k % (n + 1) * 2] == k / (n + 1) * other + k % (n + 1) * 2 + round,
              "a broadcast of a freed type is wrong");
  }
}

/* Attributes see neither copies nor an end before MPI_Type_free; MPI_Type_get_contents may give a handle
 * again. */
static int copied, deleted;
static int copy_attribute(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  ++copied;
  *(void**)out = in;
  *flag = 1;
  (void)type, (void)keyval, (void)extra;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Datatype type, int keyval, void* value, void* extra) {
  ++deleted;
  (void)type, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}
static void attributes(void) {
  int keyval, in[64], out[64], numbers[4], count[4];
  MPI_Datatype type, pair, inner[2];
  MPI_Aint addresses[2];
  MPI_Request r;
  MPI_Type_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_set_attr(type, keyval, NULL);
  for (int k = 0; k < 64; ++k)
    in[k] = me * 100 + k;
  for (int round = 0; round < 3; ++round) {
    if (round == 1) {
      MPI_Type_contiguous(2, type, &pair);
      MPI_Type_get_envelope(pair, &count[0], &count[1], &count[2], &count[3]);
      MPI_Type_get_contents(pair, count[0], count[1], count[2], numbers, addresses, inner);
      MPI_Type_commit(&inner[0]);
    }
    MPI_Ialltoall(in, 1, type, out, 1, type, MPI_COMM_WORLD, &r);
    if (round == 1) {
      MPI_Type_free(&inner[0]);
      MPI_Type_free(&pair);
    }
    if (round == 2) MPI_Type_free(&type);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int k = 0; k < size; ++k)
      require(out[3 * k + 2] == k * 100 + 3 * me + 2, "a block of a type with attributes is wrong");
    require(copied == 0 && (round == 2 || deleted == 0), "attributes of a type are copied or deleted");
  }
  require(deleted == 1, "an attribute of a type is not deleted");
  MPI_Type_free_keyval(&keyval);
}

static void types(void) {
  odd_types();
  made_again();
  attributes();
}
