// SPDX-License-Identifier: BSD-3-Clause
/* What a program may expect of malloc() and its family, with libweft-malloc in front of it: allocator [bad].
 * Random calls of several threads, each with what it must find; moves between the two allocators; forks; an
 * end with allocations left. Of the C library alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { room = 256 << 20, least = 64 << 10, rounds = 6000, slots = 40 };
static char* base;
static bool (*begin)(void*, size_t, size_t, size_t);
static bool (*end)(void*);
static void (*counts)(void*, uint64_t*);

#define REQUIRE(right)                                                                                       \
  do {                                                                                                       \
    if (right) break;                                                                                        \
    printf("line %d: %s does not hold\n", __LINE__, #right);                                                 \
    fflush(stdout);                                                                                          \
    _exit(1);                                                                                                \
  } while (0)

static bool is_large(const void* p) {
  return (uintptr_t)p - (uintptr_t)base < room;
}

struct slot {
  unsigned char *p, value;
  size_t bytes;
};

static unsigned next(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}
static size_t any_size(unsigned* seed) {
  switch (next(seed) % 4) {
  case 0:
    return next(seed) % 1000;
  case 1:
    return next(seed) % 100000;
  case 2:
    return least + next(seed) % 400000;
  default:
    return next(seed) % 3000000;
  }
}
static void require_filled(const struct slot* s, size_t bytes) {
  for (size_t k = 0; k<bytes; k += bytes> 4096 ? 509 : 1)
    REQUIRE(s->p[k] == s->value);
  REQUIRE(bytes == 0 || s->p[bytes - 1] == s->value);
}

static void* random_calls(void* number) {
  unsigned seed = (unsigned)(uintptr_t)number;
  struct slot all[slots] = {{0}};
  for (int round = 0; round < rounds; ++round) {
    struct slot* s = &all[next(&seed) % slots];
    size_t bytes = any_size(&seed);
    const unsigned call = next(&seed) % 7;
    if (s->p != NULL) require_filled(s, s->bytes);
    if (call >= 4 && s->p != NULL) {
      if (bytes == 0) bytes = 1;
      s->p = call == 4 ? reallocarray(s->p, bytes, 1) : realloc(s->p, bytes);
      REQUIRE(s->p != NULL);
      require_filled(s, s->bytes < bytes ? s->bytes : bytes);
    } else {
      free(s->p);
      s->p = NULL;
      const size_t alignment = (size_t)16 << next(&seed) % 14;
      if (call == 0) s->p = calloc(bytes, 1);
      for (size_t k = 0; call == 0 && k < bytes; k += 61)
        REQUIRE(s->p[k] == 0);
      if (call == 1) REQUIRE(posix_memalign((void**)&s->p, alignment, bytes) == 0);
      if (call == 2) s->p = aligned_alloc(alignment, bytes);
      if (call == 1 || call == 2) REQUIRE((uintptr_t)s->p % alignment == 0);
      if (call > 2) s->p = malloc(bytes);
    }
    REQUIRE(malloc_usable_size(s->p) >= bytes);
    REQUIRE(is_large(s->p) == (bytes >= least));
    s->bytes = bytes;
    s->value = (unsigned char)next(&seed);
    if (bytes != 0) memset(s->p, s->value, bytes);
  }
  for (int k = 0; k < slots; ++k)
    free(all[k].p);
  return NULL;
}

static bool has_all(const char* p, size_t bytes, char value) {
  for (size_t k = 0; k < bytes; ++k)
    if (p[k] != value) return false;
  return true;
}

/* The child has what was there at the fork, and each sees only its own stores from then on. */
static void fork_twice(char* filled, char* sparse, size_t bytes) {
  int gate[2], status = 1;
  REQUIRE(pipe(gate) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char word;
    REQUIRE(read(gate[0], &word, 1) == 1);
    REQUIRE(has_all(filled, bytes, 1) && sparse[5] == 9 && sparse[6] == 0 && sparse[bytes * 15] == 0);
    memset(filled, 3, bytes);
    char* const more = malloc(bytes);
    REQUIRE(!is_large(more));
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(has_all(filled, bytes, 3) ? 0 : 1);
    REQUIRE(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    filled = realloc(filled, 2 * bytes);
    REQUIRE(!is_large(filled) && has_all(filled, bytes, 3));
    free(filled);
    free(sparse);
    free(more);
    _exit(0);
  }
  memset(filled, 2, bytes);
  REQUIRE(write(gate[1], "x", 1) == 1);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(has_all(filled, bytes, 2));
}

int main(int argc, char** argv) {
  *(void**)&begin = dlsym(RTLD_DEFAULT, "weft_malloc_begin");
  *(void**)&end = dlsym(RTLD_DEFAULT, "weft_malloc_end");
  *(void**)&counts = dlsym(RTLD_DEFAULT, "weft_malloc_counts");
  REQUIRE(begin != NULL && end != NULL && counts != NULL);
  const int id = shmget(IPC_PRIVATE, room, IPC_CREAT | 0600);
  base = shmat(id, NULL, 0);
  shmctl(id, IPC_RMID, NULL);
  REQUIRE(base != (void*)-1);

  char* early = malloc(3 * least);
  memset(early, 7, 3 * least);
  REQUIRE(begin(base, room, least, room / 2));
  REQUIRE(!is_large(early));
  early = realloc(early, 5 * least);
  REQUIRE(is_large(early) && has_all(early, 3 * least, 7));
  early = realloc(early, 100);
  REQUIRE(!is_large(early) && has_all(early, 100, 7));
  free(early);
  REQUIRE(malloc((size_t)-5000) == NULL && calloc((size_t)-1, 2) == NULL);
  char* const beyond = malloc(room + least); /* no room for it there */
  REQUIRE(beyond != NULL && !is_large(beyond));
  free(beyond);

  pthread_t threads[4];
  for (uintptr_t k = 0; k < 4; ++k)
    REQUIRE(pthread_create(&threads[k], NULL, random_calls, (void*)(k + 1)) == 0);
  for (int k = 0; k < 4; ++k)
    pthread_join(threads[k], NULL);
  uint64_t seen[4];
  counts(base, seen);
  REQUIRE(seen[0] > rounds && seen[1] == 0 && seen[2] > 0 && seen[3] == 2);

  const size_t bytes = 1 << 20;
  char *filled = malloc(bytes), *sparse = calloc(16, bytes);
  memset(filled, 1, bytes);
  sparse[5] = 9;
  fork_twice(filled, sparse, bytes);

  REQUIRE(!end(base));
  char* const later = malloc(bytes);
  REQUIRE(!is_large(later));
  free(later);
  free(sparse);
  filled = realloc(filled, 2 * bytes);
  REQUIRE(!is_large(filled) && has_all(filled, bytes, 2));
  free(filled);
  REQUIRE(end(base));
  REQUIRE(begin(base, room, least, 0));
  filled = malloc(bytes);
  REQUIRE(is_large(filled));
  if (argc > 1 && strcmp(argv[1], "bad") == 0) {
    free(filled + 4096);
    return 0;
  }
  puts("the allocator is right");
  return 0;
}
