// SPDX-License-Identifier: BSD-3-Clause
/* Files of all threads beside the same bytes in memory: shared arrays of several blocks, private buffers,
 * lists, the end of the file, asynchronous forms, and what is refused. */
#include "tests/upc/check.h"

#include <errno.h>
#include <unistd.h>

enum { most = 4000 };
static char name[64];
static const upc_flag_t modes[] = {0, UPC_IN_NOSYNC | UPC_OUT_NOSYNC, UPC_IN_MYSYNC | UPC_OUT_MYSYNC};

static unsigned char byte_of(size_t i, int seed) {
  return (unsigned char)(i * 13 + i / 256 + (size_t)seed * 7 + 1);
}

/* One name for all: in the memory of thread 0. */
static void agree_on_name(upcr_shared_ptr_t room) {
  room.thread = 0;
  if (MYTHREAD == 0) {
    snprintf(name, sizeof name, "/tmp/weft_upc_files.%ld", (long)getpid());
    upcr_memput(room, name, sizeof name);
  }
  barrier();
  upcr_memget(name, room, sizeof name);
  barrier();
}

static upcr_shared_ptr_t element(upcr_shared_ptr_t array, size_t block, size_t size, size_t i) {
  return upc_ptradd(array, block, size, (ptrdiff_t)i);
}

/* The whole array, from any element on, written and read into another one, at once and behind. */
static void arrays(upcr_shared_ptr_t a, upcr_shared_ptr_t b, int kind) {
  static const size_t blocks[] = {0, 1, 3, 50};
  upc_file_t* const f = upc_all_fopen(name, UPC_RDWR | UPC_CREATE | UPC_TRUNC | kind, 0, NULL);
  CHECK(f != NULL);
  if (f == NULL) return;
  upc_off_t at = 0;
  for (int turn = 0; turn != 4; ++turn) {
    const size_t block = blocks[turn], size = 5, start = turn == 0 ? 0 : (size_t)turn * 2 + 1, n = 61;
    const upc_flag_t mode = modes[turn % 3];
    const upcr_shared_ptr_t from = element(a, block, size, start), to = element(b, block, size, start);
    const int is_common = kind == UPC_COMMON_FP;
    /* With pointers of their own each has a part of the file, and here of the arrays. */
    const size_t own = is_common ? 0 : (size_t)MYTHREAD * n;
    const upcr_shared_ptr_t my_from = element(from, block, size, own), my_to = element(to, block, size, own);
    const size_t all = (is_common ? 1 : (size_t)THREADS) * n;
    for (size_t i = (size_t)MYTHREAD; i < all; i += (size_t)THREADS) {
      unsigned char value[5];
      for (size_t k = 0; k != size; ++k)
        value[k] = byte_of(i * size + k, turn);
      upcr_put_shared(element(from, block, size, i), 0, value, size);
      upcr_memset(element(to, block, size, i), 0xee, size);
    }
    barrier();
    if (!is_common) CHECK(upc_all_fseek(f, at + (upc_off_t)(own * size), UPC_SEEK_SET) >= 0);
    if (turn % 2) {
      upc_all_fwrite_shared_async(f, my_from, block, size, n, mode);
      CHECK(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL) == 1);
      CHECK(upc_all_fget_size(f) == -1 && errno == EBUSY);
      CHECK(upc_all_fwait_async(f) == (upc_off_t)(n * size));
    } else {
      CHECK(upc_all_fwrite_shared(f, my_from, block, size, n, mode) == (upc_off_t)(n * size));
    }
    CHECK(upc_all_fcntl(f, UPC_ASYNC_OUTSTANDING, NULL) == 0);
    barrier();
    CHECK(upc_all_fget_size(f) == at + (upc_off_t)(all * size));
    /* What is in the file, by another way. */
    FILE* const plain = fopen(name, "rb");
    unsigned char bytes[most] = {0};
    CHECK(plain != NULL && fseek(plain, at, SEEK_SET) == 0);
    const size_t looked = all * size < most ? all * size : most;
    CHECK(plain != NULL && fread(bytes, 1, looked, plain) == looked);
    for (size_t i = 0; i != looked; ++i)
      CHECK(bytes[i] == byte_of(i, turn));
    if (plain != NULL) fclose(plain);
    CHECK(upc_all_fseek(f, -(upc_off_t)(n * size), UPC_SEEK_CUR) == at + (upc_off_t)(own * size));
    if (turn % 2) {
      int complete = 0;
      upc_off_t moved = 0;
      upc_all_fread_shared_async(f, my_to, block, size, n, mode);
      while (complete == 0)
        moved = upc_all_ftest_async(f, &complete);
      CHECK(moved == (upc_off_t)(n * size));
    } else {
      CHECK(upc_all_fread_shared(f, my_to, block, size, n, mode) == (upc_off_t)(n * size));
    }
    barrier();
    for (size_t i = (size_t)MYTHREAD; i < all; i += (size_t)THREADS) {
      unsigned char value[5];
      upcr_get_shared(value, element(to, block, size, i), 0, size);
      for (size_t k = 0; k != size; ++k)
        CHECK(value[k] == byte_of(i * size + k, turn));
    }
    at += (upc_off_t)(all * size);
    CHECK(upc_all_fseek(f, at, UPC_SEEK_SET) == at);
    barrier();
  }
  /* At the end there is less, and then nothing. */
  upcr_memset(on(b, MYTHREAD), 0, 300);
  CHECK(upc_all_fseek(f, -7, UPC_SEEK_END) == at - 7);
  if (kind == UPC_COMMON_FP) {
    CHECK(upc_all_fread_shared(f, b, 3, 5, 20, 0) == 7);
    unsigned char last[5];
    upcr_get_shared(last, element(b, 3, 5, 1), 0, 5);
    CHECK(last[2] == 0 && last[4] == 0); /* of the second element two bytes were there */
    CHECK(upc_all_fread_shared(f, b, 3, 5, 20, 0) == 0);
  } else {
    char bytes[20];
    CHECK(upc_all_fread_local(f, bytes, 1, 20, 0) == 7 && upc_all_fread_local(f, bytes, 1, 20, 0) == 0);
  }
  CHECK(upc_all_fclose(f) == 0);
}

static void buffers_and_lists(upcr_shared_ptr_t a) {
  unsigned char out[60], in[60];
  const upc_hint_t hint = {"stripes", "4"}, other = {"stripes", "8"};
  upc_file_t* const f = upc_all_fopen(name, UPC_RDWR | UPC_CREATE | UPC_TRUNC | UPC_INDIVIDUAL_FP, 1, &hint);
  CHECK(f != NULL);
  if (f == NULL) return;
  for (size_t i = 0; i != sizeof out; ++i)
    out[i] = byte_of(i, MYTHREAD);
  CHECK(upc_all_fseek(f, MYTHREAD * 60, UPC_SEEK_SET) == MYTHREAD * 60);
  CHECK(upc_all_fwrite_local(f, out, 4, 10, 0) == 40);
  upc_all_fwrite_local_async(f, out + 40, 1, 20, 0);
  upc_all_fwrite_local_async(f, out, 1, 20, 0); /* one at a time */
  CHECK(errno == EBUSY && upc_all_fwait_async(f) == 20);
  CHECK(upc_all_fseek(f, -60, UPC_SEEK_CUR) == MYTHREAD * 60);
  upc_all_fread_local_async(f, in, 1, 30, 0);
  CHECK(upc_all_fwait_async(f) == 30);
  CHECK(upc_all_fread_local(f, in + 30, 30, 1, 0) == 30 && memcmp(in, out, 60) == 0);
  /* Lists: of memory in three parts, of the file in two; and back into a shared array in blocks of 4 bytes.
   */
  const upc_off_t mine = 60 * THREADS + MYTHREAD * 100;
  const upc_local_memvec_t parts[] = {{out + 20, 10}, {out, 0}, {out, 20}, {out + 30, 15}};
  const upc_filevec_t places[] = {{mine + 50, 33}, {mine, 12}};
  CHECK(upc_all_fwrite_list_local(f, 4, parts, 2, places, 0) == 45);
  upcr_shared_ptr_t there = on(a, (MYTHREAD + 1) % THREADS);
  there.addr += (uint64_t)MYTHREAD * 200;
  const upc_shared_memvec_t spread[] = {{there, 0, 45}};
  CHECK(upc_all_fread_list_shared(f, 1, spread, 2, places, 0) == 45);
  upcr_memget(in, there, 45);
  CHECK(memcmp(in, out + 20, 10) == 0 && memcmp(in + 10, out, 20) == 0 && memcmp(in + 30, out + 30, 15) == 0);
  upc_all_fread_list_local_async(f, 4, parts, 2, places, 0);
  CHECK(upc_all_fwait_async(f) == 45 && out[20] == byte_of(20, MYTHREAD));
  upc_all_fwrite_list_shared_async(f, 1, spread, 2, places, 0);
  CHECK(upc_all_fwait_async(f) == 45);
  upc_all_fread_list_shared_async(f, 1, spread, 2, places, 0);
  CHECK(upc_all_fwait_async(f) == 45);
  upc_all_fwrite_list_local_async(f, 4, parts, 2, places, 0);
  CHECK(upc_all_fwait_async(f) == 45);
  CHECK(upc_all_fread_list_local(f, 4, parts, 2, places, 0) == 45);
  CHECK(upc_all_fwrite_list_shared(f, 1, spread, 2, places, 0) == 45);
  CHECK(upc_all_fwrite_list_shared(f, 1, spread, 1, places, 0) == -1 && errno == EINVAL);
  CHECK(upc_all_fread_list_local(f, 3, parts, 2, places, 0) == -1 && errno == EINVAL);
  /* What is asked of a file. */
  const char* called = NULL;
  const upc_hint_t* hints = NULL;
  CHECK(upc_all_fcntl(f, UPC_GET_FN, &called) == 0 && strcmp(called, name) == 0);
  CHECK(upc_all_fcntl(f, UPC_SET_HINT, (void*)&other) == 0 && upc_all_fcntl(f, UPC_GET_HINTS, &hints) == 1);
  CHECK(strcmp(hints[0].value, "8") == 0);
  CHECK(upc_all_fcntl(f, UPC_GET_CA_SEMANTICS, NULL) == 0 &&
        upc_all_fcntl(f, UPC_SET_STRONG_CA_SEMANTICS, NULL) == 0);
  CHECK(upc_all_fcntl(f, UPC_GET_CA_SEMANTICS, NULL) == UPC_STRONG_CA);
  CHECK(upc_all_fcntl(f, UPC_SET_WEAK_CA_SEMANTICS, NULL) == 0 &&
        upc_all_fcntl(f, UPC_GET_FP, NULL) == UPC_INDIVIDUAL_FP);
  CHECK(upc_all_fcntl(f, UPC_SET_COMMON_FP, NULL) == 0 && upc_all_fseek(f, 0, UPC_SEEK_CUR) == 0);
  CHECK(upc_all_fread_local(f, in, 1, 1, 0) == -1 && errno == EINVAL); /* pointers are common */
  CHECK(upc_all_fcntl(f, UPC_SET_INDIVIDUAL_FP, NULL) == 0);
  CHECK(upc_all_fcntl(f, UPC_GET_FL, NULL) == (UPC_RDWR | UPC_CREATE | UPC_TRUNC | UPC_INDIVIDUAL_FP));
  CHECK(upc_all_fcntl(f, 3, NULL) == -1 && upc_all_fcntl(f, UPC_GET_FN, NULL) == -1);
  CHECK(upc_all_fset_size(f, 50) == 0 && upc_all_fget_size(f) == 50);
  CHECK(upc_all_fpreallocate(f, 20) == 0 && upc_all_fget_size(f) == 50);
  CHECK(upc_all_fpreallocate(f, 5000) == 0 && upc_all_fget_size(f) == 5000);
  CHECK(upc_all_fsync(f) == 0 && upc_all_fset_size(f, -1) == -1 && upc_all_fseek(f, -1, UPC_SEEK_SET) == -1);
  CHECK(upc_all_fwait_async(f) == -1);
  CHECK(upc_all_fclose(f) == 0);
}

static void refused(upcr_shared_ptr_t a) {
  CHECK(upc_all_fopen(name, UPC_RDWR, 0, NULL) == NULL && errno == EINVAL);
  CHECK(upc_all_fopen(name, UPC_RDWR | UPC_RDONLY | UPC_COMMON_FP, 0, NULL) == NULL && errno == EINVAL);
  CHECK(upc_all_fopen(NULL, UPC_RDWR | UPC_COMMON_FP, 0, NULL) == NULL && errno == EINVAL);
  CHECK(upc_all_fopen("/nowhere/at all", UPC_RDWR | UPC_CREATE | UPC_COMMON_FP, 0, NULL) == NULL &&
        errno == ENOENT);
  CHECK(upc_all_fopen(name, UPC_WRONLY | UPC_CREATE | UPC_EXCL | UPC_COMMON_FP, 0, NULL) == NULL &&
        errno == EEXIST);
  upc_file_t* const f =
      upc_all_fopen(name, UPC_RDONLY | UPC_COMMON_FP | UPC_APPEND | UPC_DELETE_ON_CLOSE, 0, NULL);
  CHECK(f != NULL && upc_all_fseek(f, 0, UPC_SEEK_CUR) == 5000);
  CHECK(upc_all_fwrite_shared(f, a, 1, 1, 10, 0) == -1 && errno == EBADF);
  CHECK(upc_all_fread_shared(f, upcr_null_shared, 1, 1, 10, 0) == -1 && errno == EINVAL);
  CHECK(upc_all_fread_shared(f, a, 1, 1, 10, UPC_IN_NOSYNC | UPC_IN_MYSYNC) == -1 && errno == EINVAL);
  CHECK(upc_all_fclose(f) == 0);
  barrier();
  CHECK(access(name, F_OK) != 0); /* it was deleted */
}

WEFT_SUITE(upc_files) {
  begin_without_units();
  const upcr_shared_ptr_t a = upcr_all_alloc((size_t)THREADS, 6000),
                          b = upcr_all_alloc((size_t)THREADS, 6000);
  agree_on_name(a);
  arrays(a, b, UPC_COMMON_FP);
  arrays(a, b, UPC_INDIVIDUAL_FP);
  buffers_and_lists(a);
  refused(a);
  barrier();
  upcr_all_free(a);
  upcr_all_free(b);
  return failures == 0 ? 0 : 1;
}
