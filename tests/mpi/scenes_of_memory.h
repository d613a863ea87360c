/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of scenes.c with large operands, in memory of all kinds. */
#pragma once

/* More than the pool has room for, many at once, in pieces. */
static void large(void) {
  enum { under_way = 3 };
  const size_t block = 9000001;
  char *in[under_way], *out[under_way];
  MPI_Request r[under_way];
  for (int k = 0; k < under_way; ++k) {
    in[k] = malloc(block * (size_t)size);
    out[k] = malloc(block * (size_t)size);
    for (int b = 0; b < size; ++b)
      memset(in[k] + (size_t)b * block, me * 16 + b + k, block);
    MPI_Ialltoall(in[k], (int)block, MPI_CHAR, out[k], (int)block, MPI_CHAR, MPI_COMM_WORLD, &r[k]);
  }
  if (me == 0) usleep(20000);
  MPI_Waitall(under_way, r, MPI_STATUSES_IGNORE);
  for (int k = 0; k < under_way; ++k) {
    for (int b = 0; b < size; ++b)
      for (size_t at = 0; at < block; ++at)
        require(out[k][(size_t)b * block + at] == (char)(b * 16 + me + k), "a large block is wrong");
    free(in[k]);
    free(out[k]);
  }
}

/* Large operands in memory of all kinds, by turns and otherwise on each rank. A child has what was there when
 * it came, and writes nothing that others see. */
static void any_memory(void) {
  enum { n = 96 << 10, most = 4, kinds = 3, calls = 7 };
  static char fixed[2][most * n];
  char* before[2] = {NULL, NULL};
  for (int round = 0; round < kinds * kinds * calls; ++round) {
    const int what = round % calls, root = round % size;
    char *all[2], *fresh[2];
    for (int k = 0; k < 2; ++k) { /* what is given, and what arrives */
      const int kind = (round / calls + k * me + k * (round / calls / kinds)) % kinds;
      fresh[k] = kind == 0 ? malloc(most * n) : NULL;
      before[k] = realloc(before[k], most * n + (size_t)(round % 5) * n);
      all[k] = kind == 0 ? fresh[k] : kind == 1 ? fixed[k] : before[k];
    }
    char *const in = all[0], *const out = all[1];
    MPI_Request r;
    for (int b = 0; b < size; ++b)
      memset(in + (size_t)b * n, me * 16 + b + round, n);
    memset(out, -1, most * n);
    const char own = (char)(me * 16 + round);
    if (what == 0) MPI_Ialltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD, &r);
    if (what == 1) MPI_Ibcast(me == root ? in : out, n, MPI_CHAR, root, MPI_COMM_WORLD, &r);
    if (what == 2) MPI_Iscatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root, MPI_COMM_WORLD, &r);
    if (what == 3) MPI_Igather(in, n, MPI_CHAR, out, n, MPI_CHAR, root, MPI_COMM_WORLD, &r);
    if (what == 4) MPI_Iallgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD, &r);
    if (what == 5) MPI_Iallreduce(in, out, n, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD, &r);
    if (what == 6) { /* in place */
      memcpy(out, in, (size_t)size * n);
      MPI_Ialltoall(MPI_IN_PLACE, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD, &r);
    }
    const pid_t child = round % 11 == 0 ? fork() : 0;
    if (round % 11 == 0 && child == 0) {
      const int right = in[0] == own && in[n - 1] == own;
      memset(in, 0, n);
      memset(out, 0, n);
      _exit(right ? 0 : 1);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    int status = 0;
    if (child != 0) require(waitpid(child, &status, 0) == child && status == 0, "a child has other memory");
    char largest = own;
    for (int k = 0; k < size; ++k)
      if ((signed char)(k * 16 + round) > (signed char)largest) largest = (char)(k * 16 + round);
    for (int b = 0; b < size; ++b) {
      const int blocks = what == 0 || what == 4 || what == 6 || (what == 3 && me == root) ? size : 1;
      if (b >= blocks || (what == 1 && me == root) || (what == 3 && me != root)) continue;
      const char is = what == 1                ? (char)(root * 16 + round)
                      : what == 2              ? (char)(root * 16 + me + round)
                      : what == 3 || what == 4 ? (char)(b * 16 + round)
                      : what == 5              ? largest
                                               : (char)(b * 16 + me + round);
      for (size_t at = 0; at < n; at += 251)
        require(out[(size_t)b * n + at] == is, "a block in memory of some kind is wrong");
      require(out[(size_t)b * n + n - 1] == is, "the end of a block in memory of some kind is wrong");
    }
    for (int k = 0; k < 2; ++k)
      free(fresh[k]);
  } /* `before` stays for the end of the process */
}

/* Blocks for which shared memory has no room, where each second rank completes its call only when it has met
 * the others in another communicator. What these have given they write again before. */
static void crossed(void) {
  const int block = 24 << 20;
  char *in = malloc((size_t)block * (size_t)size), *out = malloc((size_t)block * (size_t)size);
  int given[64], got[64], from[64], to[64];
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int round = 0; round < 4; ++round) {
    MPI_Request r;
    for (int k = 0; k < size; ++k) {
      given[k] = got[k] = block - (round < 2 ? 1000 * (1 + me + k) : 0);
      from[k] = to[k] = k * block;
      memset(in + from[k], 40 * round + 5 * me + k, (size_t)given[k]);
    }
    if (round < 2)
      MPI_Ialltoallv(in, given, from, MPI_CHAR, out, got, to, MPI_CHAR, MPI_COMM_WORLD, &r);
    else
      MPI_Ialltoall(in, block, MPI_CHAR, out, block, MPI_CHAR, MPI_COMM_WORLD, &r);
    if ((me + round) % 2 != 0) MPI_Barrier(other);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    memset(in, 99, (size_t)block * (size_t)size);
    if ((me + round) % 2 == 0) MPI_Barrier(other);
    for (int k = 0; k < size; ++k)
      for (int at = 0; at < got[k]; ++at)
        require(out[to[k] + at] == (char)(40 * round + 5 * k + me), "a block without room is wrong");
  }
  MPI_Comm_free(&other);
  free(in);
  free(out);
}
