// SPDX-License-Identifier: BSD-3-Clause
/* What programs of MPI do with their collectives beside waiting for them: scenes SCENE. Each says "SCENE is
 * right"; those that a program must not play end as the MPI does. An unchanged program of MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, size;

static void require(int right, const char* what) {
  if (right) return;
  printf("rank %d: %s\n", me, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void check_sum(MPI_Comm comm, MPI_Request* r, const int* sum, int n) {
  int members;
  MPI_Comm_size(comm, &members);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  for (int k = 0; k < n; ++k)
    require(sum[k] == members * (members - 1) / 2 + members * k, "a sum is wrong");
}

static void post_sum(MPI_Comm comm, MPI_Request* r, int* mine, int* sum, int n) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int k = 0; k < n; ++k)
    mine[k] = rank + k;
  MPI_Iallreduce(mine, sum, n, MPI_INT, MPI_SUM, comm, r);
}

#include "scenes_of_arguments.h"
#include "scenes_of_communicators.h"
#include "scenes_of_loops.h"
#include "scenes_of_memory.h"
#include "scenes_of_requests.h"
#include "scenes_of_types.h"

/* Freed with operations under way: they end as if it were there. */
static void freed_early(void) {
  for (int round = 0; round < 40; ++round) {
    MPI_Comm comm;
    MPI_Request r[3];
    MPI_Datatype two;
    const int many = round % 4 == 0 ? 30000 : 50;
    int *all = calloc((size_t)(many * size), sizeof *all), *own = calloc((size_t)many, sizeof *own),
        mine = me, sum = 0;
    for (int k = 0; k < many; ++k)
      own[k] = me * 7 + k;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Iallgather(own, many / 2, two, all, many / 2, two, comm, &r[0]);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &r[1]);
    MPI_Ibarrier(comm, &r[2]);
    MPI_Comm_free(&comm);
    MPI_Type_free(&two);
    if (me == round % size) usleep(300);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < many * size; ++k)
      require(all[k] == k / many * 7 + k % many, "a block is wrong");
    require(sum == size * (size - 1) / 2, "a sum is wrong");
    free(all);
    free(own);
  }
}

/* Equal blocks from the last rank's to the first's, with a gap in front. */
static void backwards(void) {
  int out[64], counts[16], at[16];
  MPI_Request r;
  for (int k = 0; k < size; ++k) {
    counts[k] = 1;
    at[k] = size - k;
  }
  MPI_Iallgatherv(&me, 1, MPI_INT, out, counts, at, MPI_INT, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int k = 0; k < size; ++k)
    require(out[size - k] == k, "a block is not where its place is");
}

/* Addresses in the type, places of blocks, and two groups. */
static void places(void) {
  backwards();
  int here = me == 0 ? 4711 : 0;
  MPI_Datatype type;
  MPI_Aint address;
  const int one = 1;
  MPI_Request r;
  MPI_Get_address(&here, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Ibcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  require(here == 4711, "MPI_BOTTOM is wrong");
  MPI_Type_free(&type);
  MPI_Comm half, between, merged;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &between);
  int mine = 1, sum = 0, others;
  MPI_Comm_remote_size(between, &others);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  require(sum == others, "the other group's sum is wrong");
  MPI_Intercomm_merge(between, me % 2, &merged);
  int a[3], b[3];
  post_sum(merged, &r, a, b, 3);
  check_sum(merged, &r, b, 3);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* Threads, each with a communicator of its own. */
enum { workers = 3 };
static MPI_Comm comm_of[workers];
struct task {
  MPI_Comm comm;
  MPI_Request posted;
  int round, token, sent;
};
static void* complete_task(void* given) {
  struct task* const t = given;
  int index = 0, flag = 0;
  MPI_Request r[3] = {t->posted};
  t->sent = me;
  MPI_Irecv(&t->token, 1, MPI_INT, MPI_ANY_SOURCE, 6, t->comm, &r[1]);
  MPI_Isend(&t->sent, 1, MPI_INT, (me + 1) % size, 6, t->comm, &r[2]);
  if (t->round % 3 == 0)
    while (index != MPI_UNDEFINED)
      MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE);
  else if (t->round % 3 == 1)
    for (int k = 0; k < 3; ++k, flag = 0)
      while (!flag)
        MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE);
  else
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  return NULL;
}
static void* work(void* number) {
  const MPI_Comm comm = comm_of[*(int*)number];
  int* in = malloc((size_t)size * 3000 * sizeof *in);
  int* out = malloc((size_t)size * 3000 * sizeof *out);
  for (int round = 0; round < 40; ++round) {
    const int n = round % 5 == 0 ? 3000 : 3;
    MPI_Request r;
    for (int k = 0; k < size * n; ++k)
      in[k] = me * 1000 + k / n + round;
    MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, comm, &r);
    /* with messages in one array, and completed by another thread */
    struct task task = {comm, r, round, -1, 0};
    pthread_t other;
    if (round % 4 == 0) pthread_create(&other, NULL, complete_task, &task);
    if (round % 4 == 0)
      pthread_join(other, NULL);
    else
      complete_task(&task);
    for (int k = 0; k < size * n; ++k)
      require(out[k] == k / n * 1000 + me + round, "a thread's block is wrong");
    require(task.token == (me + size - 1) % size, "a thread's message is wrong");
  }
  free(in);
  free(out);
  return NULL;
}
/* Each thread makes communicators, of its own one, and uses them; some are never freed. */
static void* make_and_use(void* number) {
  const int mine = *(int*)number;
  for (int round = 0; round < 15; ++round) {
    MPI_Comm made;
    MPI_Request r;
    int in[700], sum[700];
    MPI_Comm_dup(comm_of[mine], &made);
    post_sum(made, &r, in, sum, round % 2 ? 700 : 3);
    check_sum(made, &r, sum, round % 2 ? 700 : 3);
    if (round % 5 != 0) MPI_Comm_free(&made);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[workers];
  int numbers[workers];
  for (int k = 0; k < workers; ++k) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[k]);
    numbers[k] = k;
  }
  for (int k = 0; k < workers; ++k)
    pthread_create(&all[k], NULL, work, &numbers[k]);
  for (int k = 0; k < workers; ++k) {
    pthread_join(all[k], NULL);
    pthread_create(&all[k], NULL, make_and_use, &numbers[k]);
  }
  for (int k = 0; k < workers; ++k) {
    pthread_join(all[k], NULL);
    MPI_Comm_free(&comm_of[k]);
  }
}

/* An operator of the program, which frees it early: where another thread than the program's combines MPI is
 * not beneath, so it need not know of that thread. */
static pthread_t of_program;
static atomic_int beneath;
static void add_pairs(void* in, void* inout, int* n, MPI_Datatype* type) {
  int bytes = 0, many = *n * 2;
  MPI_Type_size(*type, &bytes);
  require(bytes == 2 * sizeof(int), "an operator gets another type");
  for (int k = 0; k < many; ++k)
    ((int*)inout)[k] += ((int*)in)[k];
  void* frames[64];
  Dl_info of;
  if (pthread_equal(pthread_self(), of_program)) return;
  for (int k = backtrace(frames, 64); k-- > 0;)
    if (dladdr(frames[k], &of) != 0 &&
        (strstr(of.dli_fname, "/libmpi.so") || strstr(of.dli_fname, "/libmpich.so")))
      beneath = 1;
}
static void operators(void) {
  enum { n = 400 };
  MPI_Datatype pair;
  of_program = pthread_self();
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int round = 0; round < 40; ++round) {
    int in[2 * n], out[2 * n];
    MPI_Request r;
    MPI_Op add;
    MPI_Op_create(add_pairs, round % 2, &add);
    for (int k = 0; k < 2 * n; ++k)
      in[k] = me + k;
    MPI_Iallreduce(in, out, n, pair, add, MPI_COMM_WORLD, &r);
    MPI_Op_free(&add);
    if (me == round % size) usleep(5000);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int k = 0; k < 2 * n; ++k)
      require(out[k] == size * (size - 1) / 2 + size * k, "a sum by an operator of the program is wrong");
  }
  MPI_Type_free(&pair);
  require(!beneath, "a thread of the library combines by MPI");
}

/* A program that forgets a request. */
static void forgotten(void) {
  static int mine = 1, sum;
  MPI_Request r;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
}
/* One that the others never post. */
static void alone(void) {
  MPI_Request r;
  if (me == 0) MPI_Ibarrier(MPI_COMM_WORLD, &r);
}
static void wait_for_the_last(void) {
  MPI_Request r;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  if (me != size - 1) MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void aborts(void) {
  if (me == size - 1) MPI_Abort(MPI_COMM_WORLD, 5);
  wait_for_the_last();
  if (me != size - 1) sleep(60);
}
static void killed(void) {
  if (me == size - 1) raise(SIGKILL);
  static int mine = 1, sum;
  MPI_Request r;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void wrong_root(void) {
  MPI_Request r;
  int value = 0;
  MPI_Ibcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD, &r);
}
/* A buffer that is not the program's while the call is under way. */
static void* buffer_of(MPI_Request* r) {
  char* const in = malloc(64);
  static char out[64 * 64];
  memset(in, me, 64);
  MPI_Iallgather(in, 64, MPI_CHAR, out, 64, MPI_CHAR, MPI_COMM_WORLD, r);
  return in;
}
static void changed(void) {
  MPI_Request r;
  char* const in = buffer_of(&r);
  in[3] = 99;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void changed_block(void) {
  static int in[64], out[64], counts[64], places[64];
  MPI_Request r;
  for (int k = 0; k < size; ++k) {
    counts[k] = 1;
    places[k] = k;
  }
  MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
  in[size - 1] = 99;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void freed_buffer(void) {
  MPI_Request r;
  free(buffer_of(&r));
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void unmapped(void) {
  static char out[64 * 64];
  char* const in = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_Request r;
  MPI_Iallgather(in, 64, MPI_CHAR, out, 64, MPI_CHAR, MPI_COMM_WORLD, &r);
  munmap(in, 4096);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
/* All blocks arrive at one place, which MPI forbids. */
static void overlapping(void) {
  static int in[64], out[64], counts[64], places[64];
  MPI_Request r;
  for (int k = 0; k < size; ++k)
    counts[k] = 1;
  MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Rank 0 gives rank 1 a number more than rank 1 takes. */
static void unlike(void) {
  static int in[64], out[64], counts[64], places[64];
  MPI_Request r;
  for (int k = 0; k < size; ++k) {
    counts[k] = k == 1 ? 3 : 2;
    places[k] = 3 * k;
  }
  MPI_Iscatterv(in, counts, places, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*play)(void);
} scenes[] = {{"communicators", communicators},
              {"some_communicators", some_communicators},
              {"made", made},
              {"many", many},
              {"freed_early", freed_early},
              {"mixed", mixed},
              {"places", places},
              {"threads", threads},
              {"large", large},
              {"crossed", crossed},
              {"any_memory", any_memory},
              {"operators", operators},
              {"unread", unread},
              {"wrong_arguments", wrong_arguments},
              {"elsewhere", elsewhere},
              {"stored", stored},
              {"types", types},
              {"alike", alike},
              {"at_end", at_end},
              {"spawned", spawned},
              {"forgotten", forgotten},
              {"alone", alone},
              {"aborts", aborts},
              {"killed", killed},
              {"wrong_root", wrong_root},
              {"changed", changed},
              {"changed_block", changed_block},
              {"unmapped", unmapped},
              {"overlapping", overlapping},
              {"unlike", unlike},
              {"freed_buffer", freed_buffer}};

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int a = 1; a < argc; ++a)
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k)
      if (strcmp(argv[a], scenes[k].name) == 0) {
        scenes[k].play();
        if (me == 0) printf("%s is right\n", argv[a]);
        fflush(stdout);
      }
  MPI_Finalize();
  return 0;
}
