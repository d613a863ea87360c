// SPDX-License-Identifier: BSD-3-Clause
/* Each non-blocking collective of MPI that moves blocks, over call x type x count x communicator x root x
 * place: types with gaps, in another order and of no bytes, unequal and zero counts, MPI_IN_PLACE; barriers
 * that a rank reaches late; two groups, neighbours. After the list of MPICH's tests of collectives.
 *
 * A stream of bytes for each pair of ranks is unpacked into the blocks and packed out of them. The bytes
 * between the blocks stay as they were. */
#include "collectives.h"

/* One side of a call: blocks of one type, one behind the other with an element between them. */
struct blocks {
  char* bytes;
  size_t size;
  int counts[most_ranks], places[most_ranks], byte_places[most_ranks], many;
  MPI_Datatype type, types[most_ranks];
  MPI_Aint extent;
};
static void make(struct blocks* b, MPI_Datatype type, int many) {
  MPI_Aint lower;
  b->type = type;
  b->many = many;
  MPI_Type_get_extent(type, &lower, &b->extent);
  int at = 1;
  for (int k = 0; k < many; ++k) {
    b->places[k] = at;
    b->byte_places[k] = at * (int)b->extent;
    b->types[k] = type;
    at += b->counts[k] + 1;
  }
  b->size = (size_t)b->extent * (size_t)(at + 1);
  b->bytes = malloc(b->size + 16);
  memset(b->bytes, filler, b->size);
}
static char* block(const struct blocks* b, int k) {
  return b->bytes + b->byte_places[k];
}
/* What rank `from` has for rank `to`. */
static char* stream(int from, int to, size_t length) {
  char* s = malloc(length + 1);
  for (size_t k = 0; k < length; ++k)
    s[k] = (char)(from * 37 + to * 11 + (int)(k * 7 + k / 251));
  return s;
}
static int length_of(const struct blocks* b, int k) {
  int size;
  MPI_Type_size(b->type, &size);
  return size * b->counts[k];
}
static void put(const struct blocks* b, int k, int from, int to) {
  int at = 0;
  const int length = length_of(b, k);
  char* s = stream(from, to, (size_t)length);
  MPI_Unpack(s, length, &at, block(b, k), b->counts[k], b->type, MPI_COMM_SELF);
  free(s);
}
static int has(const struct blocks* b, int k, int from, int to) {
  int at = 0;
  const int length = length_of(b, k);
  char *s = stream(from, to, (size_t)length), *there = malloc((size_t)length + 1);
  MPI_Pack(block(b, k), b->counts[k], b->type, there, length, &at, MPI_COMM_SELF);
  const int right = memcmp(s, there, (size_t)length) == 0;
  free(s);
  free(there);
  return right;
}
/* Takes the blocks out: what is left are fillers, if no byte between the blocks has changed. */
static int gaps_are_right(const struct blocks* b) {
  size_t longest = 1;
  for (int k = 0; k < b->many; ++k)
    longest = (size_t)length_of(b, k) > longest ? (size_t)length_of(b, k) : longest;
  char* none = malloc(longest);
  memset(none, filler, longest);
  for (int k = 0; k < b->many; ++k) {
    int at = 0;
    MPI_Unpack(none, length_of(b, k), &at, block(b, k), b->counts[k], b->type, MPI_COMM_SELF);
  }
  free(none);
  for (size_t k = 0; k < b->size; ++k)
    if (b->bytes[k] != filler) return 0;
  return 1;
}

/* The calls that move blocks. Those with a root are posted for all roots at once. */
enum {
  bcast,
  gather,
  scatter,
  gatherv,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  moves
};
static const char* const move_names[] = {"Ibcast",     "Igather",    "Iscatter",    "Igatherv",
                                         "Iscatterv",  "Iallgather", "Iallgatherv", "Ialltoall",
                                         "Ialltoallv", "Ialltoallw"};
static void move(int call, MPI_Comm comm, MPI_Datatype type, int count, int in_place) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int rooted = call <= scatterv, many = rooted ? ranks : 1,
            unequal = call == gatherv || call == scatterv || call == allgatherv || call >= alltoallv;
  struct blocks in[most_ranks], out[most_ranks];
  MPI_Request r[most_posted];
  for (int root = 0; root < many; ++root) {
    const int at_root = rank == root;
    struct blocks *i = &in[root], *o = &out[root];
    const int gives = call == scatter || call == scatterv || call >= alltoall ? ranks : 1;
    const int takes = call == bcast || call == scatter || call == scatterv ? 1 : ranks;
    for (int k = 0; k < gives;
         ++k) /* from rank to k: the same number of elements both ways, for those in place */
      i->counts[k] = !unequal            ? count
                     : call >= alltoallv ? count * ((rank + k) % 3)
                                         : count * ((gives == 1 ? rank : k) % 3);
    for (int k = 0; k < takes; ++k)
      o->counts[k] = !unequal            ? count
                     : call >= alltoallv ? count * ((rank + k) % 3)
                                         : count * ((takes == 1 ? rank : k) % 3);
    make(i, type, gives);
    make(o, type, takes);
    for (int k = 0; k < gives; ++k)
      put(i, k, rank, gives == 1 ? (call == gather || call == gatherv ? root : 0) : k);
    /* Equal blocks lie side by side, as MPI wants it. */
    if (!unequal)
      for (int side = 0; side < 2; ++side) {
        struct blocks* b = side == 0 ? i : o;
        for (int k = 0; k < b->many; ++k) {
          b->places[k] = 1 + k * count;
          b->byte_places[k] = b->places[k] * (int)b->extent;
        }
        memset(b->bytes, filler, b->size);
        for (int k = 0; side == 0 && k < gives; ++k)
          put(i, k, rank, gives == 1 ? (call == gather || call == gatherv ? root : 0) : k);
      }
    void *from = block(i, 0), *to = block(o, 0);
    if (in_place && (call >= allgather || (at_root && (call == gather || call == gatherv)))) {
      from = MPI_IN_PLACE;
      for (int k = 0; k < takes; ++k)
        if (call >= alltoall || k == rank)
          put(o, k, rank, call >= alltoall ? k : call >= allgather ? 0 : root);
    }
    if (in_place && at_root && (call == scatter || call == scatterv)) to = MPI_IN_PLACE;
    switch (call) {
    case bcast:
      if (at_root) put(o, 0, root, 0);
      MPI_Ibcast(to, count, type, root, comm, &r[root]);
      break;
    case gather:
      MPI_Igather(from, count, type, to, count, type, root, comm, &r[root]);
      break;
    case scatter:
      MPI_Iscatter(from, count, type, to, count, type, root, comm, &r[root]);
      break;
    case gatherv:
      MPI_Igatherv(from == MPI_IN_PLACE ? from : block(i, 0), i->counts[0], type, o->bytes, o->counts,
                   o->places, type, root, comm, &r[root]);
      break;
    case scatterv:
      MPI_Iscatterv(i->bytes, i->counts, i->places, type, to, o->counts[0], type, root, comm, &r[root]);
      break;
    case allgather:
      MPI_Iallgather(from, count, type, to, count, type, comm, &r[root]);
      break;
    case allgatherv:
      MPI_Iallgatherv(from, i->counts[0], type, o->bytes, o->counts, o->places, type, comm, &r[root]);
      break;
    case alltoall:
      MPI_Ialltoall(from, count, type, to, count, type, comm, &r[root]);
      break;
    case alltoallv:
      MPI_Ialltoallv(from == MPI_IN_PLACE ? from : i->bytes, i->counts, i->places, type, o->bytes, o->counts,
                     o->places, type, comm, &r[root]);
      break;
    default:
      MPI_Ialltoallw(from == MPI_IN_PLACE ? from : i->bytes, i->counts, i->byte_places, i->types, o->bytes,
                     o->counts, o->byte_places, o->types, comm, &r[root]);
    }
  }
  complete(many, r);
  for (int root = 0; root < many; ++root) {
    struct blocks* o = &out[root];
    const int nothing = (rank != root && (call == gather || call == gatherv)) ||
                        (rank == root && in_place && (call == scatter || call == scatterv));
    for (int k = 0; k < o->many && !nothing; ++k) {
      const int sender = call == bcast || call == scatter || call == scatterv ? root : k;
      const int addressee = call == bcast || call == allgather || call == allgatherv ? 0
                            : call == gather || call == gatherv                      ? root
                                                                                     : rank;
      check(has(o, k, sender, addressee), move_names[call], type, count, root, in_place);
    }
    check(gaps_are_right(o) && gaps_are_right(&in[root]), move_names[call], type, count, root, in_place);
    free(in[root].bytes);
    free(o->bytes);
  }
}

/* A barrier is complete on no rank before the last one has posted it: it posts when a message has told it to.
 */
static void barriers(MPI_Comm comm) {
  int rank, ranks, flag = 0;
  MPI_Request r;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int late = 0; late < ranks && ranks > 1; ++late) {
    const int other = (late + 1) % ranks;
    if (rank == late) MPI_Recv(NULL, 0, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &r);
    if (rank == other) {
      for (int k = 0; k < 50; ++k) {
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        check(!flag, "Ibarrier", MPI_INT, 0, late, 0);
      }
      MPI_Send(NULL, 0, MPI_INT, late, 5, comm);
    }
    complete(1, &r);
  }
}

/* Calls that MPI keeps: between two groups, and of neighbours. */
static void kept(void) {
  int rank, ranks, mine, sum = -1, from[2] = {-1, -1};
  MPI_Comm half, between, ring;
  MPI_Request r[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &between);
  MPI_Ibarrier(between, &r[0]);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between, &r[1]);
  const int around = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &around, 0, &ring);
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, ring, &r[2]);
  complete(3, r);
  mine = 0;
  for (int k = 1 - rank % 2; k < ranks; k += 2)
    mine += k;
  check(sum == mine, "Iallreduce between groups", MPI_INT, 1, 0, 0);
  check(from[0] == (rank + ranks - 1) % ranks && from[1] == (rank + 1) % ranks, "Ineighbor_allgather",
        MPI_INT, 1, 0, 0);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Comm comms[communicators];
  begin(&argc, &argv, comms);
  MPI_Datatype types[8] = {MPI_CHAR, MPI_INT, MPI_DOUBLE}, wide;
  const int one[] = {1, 1}, swapped[] = {1, 0};
  MPI_Type_contiguous(3, MPI_INT, &types[3]);
  MPI_Type_vector(2, 1, 2, MPI_INT, &wide);
  MPI_Type_create_resized(wide, 0, 16, &types[4]);
  MPI_Type_free(&wide);
  MPI_Type_indexed(2, one, swapped, MPI_SHORT, &types[5]);
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype members[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, one, places, members, &types[6]);
  MPI_Type_contiguous(0, MPI_INT, &types[7]);
  for (int t = 3; t < 8; ++t)
    MPI_Type_commit(&types[t]);
  const int sizes[] = {0, 1, 7, 3000};
  for (int c = 0; c < communicators; ++c) {
    for (int call = 0; call < moves; ++call)
      for (int t = 0; t < 8; ++t)
        for (int s = 0; s < 4; ++s)
          for (int in_place = 0; in_place < (call == bcast ? 1 : 2); ++in_place)
            move(call, comms[c], types[t], sizes[s], in_place);
    barriers(comms[c]);
  }
  kept();
  for (int t = 3; t < 8; ++t)
    MPI_Type_free(&types[t]);
  return end(comms);
}
