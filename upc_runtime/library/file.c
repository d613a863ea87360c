// SPDX-License-Identifier: BSD-3-Clause
/* Files of all threads: opening, closing, the pointer, the size. */
#include "upc_runtime/library/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <upc_collective.h>

upc_off_t upcri_agree(upcr_shared_ptr_t words, upc_off_t value, int error) {
  const size_t threads = upcr_job.threads;
  upcr_shared_ptr_t all = words;
  all.addr += 16;
  words.thread = upcr_job.mythread;
  int64_t* const mine = upc_cast(words);
  mine[0] = value;
  mine[1] = error;
  words.thread = 0;
  upc_all_gather_all(all, words, 16, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  int64_t sum = 0;
  for (size_t t = 0; t != threads; ++t) {
    const int64_t* const its = mine + 2 + 2 * t;
    if (its[1] != 0) {
      errno = (int)its[1];
      return -1;
    }
    sum += its[0];
  }
  return sum;
}

int upcri_usable(const upc_file_t* file) {
  return file->is_outstanding ? EBUSY : 0;
}

static int is_one(int flags, int of) {
  const int chosen = flags & of;
  return chosen != 0 && (chosen & (chosen - 1)) == 0;
}

enum {
  ways = UPC_RDONLY | UPC_WRONLY | UPC_RDWR,
  pointers = UPC_INDIVIDUAL_FP | UPC_COMMON_FP,
  known_flags = 2 * UPC_DELETE_ON_CLOSE - 1
};

/* Thread 0 makes it, or makes it empty; the others find it as it is. */
static int open_it(const char* name, int flags, int is_first) {
  int how = O_CLOEXEC | (flags & UPC_RDONLY ? O_RDONLY : flags & UPC_WRONLY ? O_WRONLY : O_RDWR);
  if (is_first)
    how |= (flags & UPC_CREATE ? O_CREAT : 0) | (flags & UPC_EXCL ? O_EXCL : 0) |
           (flags & UPC_TRUNC ? O_TRUNC : 0);
  return open(name, how, 0666);
}

static upc_off_t size_of(const upc_file_t* file) {
  struct stat about;
  return fstat(file->descriptor, &about) == 0 ? (upc_off_t)about.st_size : -1;
}

static void forget(upc_file_t* file) {
  for (size_t i = 0; i != file->hint_count; ++i) {
    free((char*)file->hints[i].key);
    free((char*)file->hints[i].value);
  }
  free(file->hints);
  free(file->name);
  upc_all_free(file->words);
  free(file);
}

static char* copy_of(const char* text) {
  char* const copy = upcri_memory(strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

static void add_hint(upc_file_t* file, const upc_hint_t* hint) {
  for (size_t i = 0; i != file->hint_count; ++i)
    if (strcmp(file->hints[i].key, hint->key) == 0) {
      free((char*)file->hints[i].value);
      file->hints[i].value = copy_of(hint->value);
      return;
    }
  upc_hint_t* const more = upcri_memory((file->hint_count + 1) * sizeof *more);
  if (file->hint_count != 0) memcpy(more, file->hints, file->hint_count * sizeof *more);
  more[file->hint_count].key = copy_of(hint->key);
  more[file->hint_count].value = copy_of(hint->value);
  free(file->hints);
  file->hints = more;
  ++file->hint_count;
}

upc_file_t* upc_all_fopen(const char* fname, int flags, size_t numhints, const upc_hint_t* hints) {
  upcri_find_job(); /* in a program of C, too */
  const int is_first = upcr_job.mythread == 0;
  upc_file_t* const file = upcri_memory(sizeof *file);
  file->words = upc_all_alloc(upcr_job.threads, 16 + 16 * (size_t)upcr_job.threads);
  file->flags = flags;
  file->descriptor = -1;
  int error = fname == NULL || !is_one(flags, ways) || !is_one(flags, pointers) ||
                      (flags & ~known_flags) != 0 || ((flags & UPC_EXCL) != 0 && (flags & UPC_CREATE) == 0) ||
                      (numhints != 0 && hints == NULL)
                  ? EINVAL
                  : 0;
  for (int turn = 0; turn != 2; ++turn) { /* first thread 0, then the others */
    if (error == 0 && (turn == 0) == is_first && (file->descriptor = open_it(fname, flags, is_first)) < 0)
      error = errno;
    if (upcri_agree(file->words, 0, error) < 0) {
      const int why = errno;
      if (file->descriptor >= 0) close(file->descriptor);
      forget(file);
      errno = why;
      return NULL;
    }
  }
  file->name = copy_of(fname);
  for (size_t i = 0; i != numhints; ++i)
    add_hint(file, &hints[i]);
  if (flags & UPC_APPEND) file->at = size_of(file);
  return file;
}

int upc_all_fsync(upc_file_t* file) {
  int error = upcri_usable(file);
  if (error == 0 && fsync(file->descriptor) != 0 && errno != EINVAL) error = errno;
  return upcri_agree(file->words, 0, error) < 0 ? -1 : 0;
}

int upc_all_fclose(upc_file_t* file) {
  if (file->is_outstanding) upc_all_fwait_async(file);
  int error = upc_all_fsync(file) < 0 ? errno : 0;
  if (close(file->descriptor) != 0 && error == 0) error = errno;
  if ((file->flags & UPC_DELETE_ON_CLOSE) != 0 && upcr_job.mythread == 0 && unlink(file->name) != 0 &&
      error == 0)
    error = errno;
  const int status = upcri_agree(file->words, 0, error) < 0 ? -1 : 0, why = errno;
  forget(file);
  errno = why;
  return status;
}

upc_off_t upc_all_fseek(upc_file_t* file, upc_off_t offset, int origin) {
  const upc_off_t from = origin == UPC_SEEK_CUR ? file->at : origin == UPC_SEEK_END ? size_of(file) : 0;
  int error = upcri_usable(file);
  if (!is_one(origin, UPC_SEEK_SET | UPC_SEEK_CUR | UPC_SEEK_END) || origin > UPC_SEEK_END ||
      from + offset < 0)
    error = EINVAL;
  if (upcri_agree(file->words, 0, error) < 0) return -1;
  file->at = from + offset;
  return file->at;
}

/* Of a file that all threads have stopped writing, by thread 0. */
static int set_size(upc_file_t* file, upc_off_t size, int only_larger) {
  int error = upcri_usable(file);
  if (size < 0) error = EINVAL;
  if (upcri_agree(file->words, 0, error) < 0) return -1;
  if (upcr_job.mythread == 0 && !(only_larger && size_of(file) >= size)) {
    const int refused = only_larger ? posix_fallocate(file->descriptor, 0, size) : 0;
    if ((refused != 0 || !only_larger) && ftruncate(file->descriptor, size) != 0) error = errno;
  }
  return upcri_agree(file->words, 0, error) < 0 ? -1 : 0;
}

int upc_all_fset_size(upc_file_t* file, upc_off_t size) {
  return set_size(file, size, 0);
}
int upc_all_fpreallocate(upc_file_t* file, upc_off_t size) {
  return set_size(file, size, 1);
}

upc_off_t upc_all_fget_size(upc_file_t* file) {
  if (upcri_agree(file->words, 0, upcri_usable(file)) < 0) return -1; /* what all have written counts */
  const int is_first = upcr_job.mythread == 0;
  const upc_off_t size = is_first ? size_of(file) : 0;
  return upcri_agree(file->words, size, is_first && size < 0 ? EIO : 0);
}

static int set_pointer(upc_file_t* file, int kind) {
  const int status = upc_all_fsync(file);
  if (status != 0) return status;
  file->flags = (file->flags & ~pointers) | kind;
  file->at = 0;
  return 0;
}

static int set_semantics(upc_file_t* file, int strong) {
  const int status = upc_all_fsync(file);
  if (status == 0) file->flags = (file->flags & ~UPC_STRONG_CA) | strong;
  return status;
}

int upc_all_fcntl(upc_file_t* file, int cmd, void* arg) {
  if (cmd == UPC_ASYNC_OUTSTANDING) return file->is_outstanding;
  const int needs = cmd == UPC_GET_FN || cmd == UPC_GET_HINTS || cmd == UPC_SET_HINT;
  errno = file->is_outstanding ? EBUSY : EINVAL;
  if (file->is_outstanding || (needs && arg == NULL)) return -1;
  switch (cmd) {
  case UPC_GET_CA_SEMANTICS:
    return file->flags & UPC_STRONG_CA;
  case UPC_SET_WEAK_CA_SEMANTICS:
    return set_semantics(file, 0);
  case UPC_SET_STRONG_CA_SEMANTICS:
    return set_semantics(file, UPC_STRONG_CA);
  case UPC_GET_FP:
    return file->flags & pointers;
  case UPC_SET_COMMON_FP:
    return set_pointer(file, UPC_COMMON_FP);
  case UPC_SET_INDIVIDUAL_FP:
    return set_pointer(file, UPC_INDIVIDUAL_FP);
  case UPC_GET_FL:
    return file->flags;
  case UPC_GET_FN:
    *(const char**)arg = file->name;
    return 0;
  case UPC_GET_HINTS:
    *(const upc_hint_t**)arg = file->hints;
    return (int)file->hint_count;
  case UPC_SET_HINT:
    add_hint(file, arg);
    return 0;
  default:
    return -1;
  }
}
