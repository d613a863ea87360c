// SPDX-License-Identifier: BSD-3-Clause
/* Reading and writing files of all threads: at once, or by a thread that goes on behind the program. */
#include "upc_runtime/library/file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Elements of a shared array to the staging, or back. A thread's elements of a range follow each other in its
 * memory, across its blocks, so they are one copy. */
static void spread(const upcri_spread_t* s, size_t count, unsigned char* staging, int to_array) {
  const upcr_shared_ptr_t begin = s->block == 0
                                      ? upcri_at(s->array, (ptrdiff_t)(s->first * s->size))
                                      : upcr_add_shared(s->array, s->size, (ptrdiff_t)s->first, s->block);
  if (count == 0) return;
  if (s->block == 0 || upcr_job.threads == 1) {
    if (to_array)
      upc_memput(begin, staging, count * s->size);
    else
      upc_memget(staging, begin, count * s->size);
    return;
  }
  const size_t threads = upcr_job.threads, end = begin.phase + count;
  unsigned char* const together = upcri_memory(count * s->size);
  for (size_t turn = 0; turn != threads; ++turn) {
    const size_t first = turn * s->block > begin.phase ? turn * s->block : begin.phase;
    if (first >= end || first >= (turn + 1) * s->block) continue;
    const upcr_shared_ptr_t its = upcr_add_shared(begin, s->size, (ptrdiff_t)(first - begin.phase), s->block);
    for (int copy = 0; copy != 2; ++copy) {
      size_t bytes = 0;
      for (size_t at = turn * s->block; at < end; at += threads * s->block) {
        const size_t from = at > first ? at : first, to = at + s->block < end ? at + s->block : end;
        unsigned char* const staged = staging + (from - begin.phase) * s->size;
        const size_t n = (to - from) * s->size;
        if (to_array && copy == 0) memcpy(together + bytes, staged, n);
        if (!to_array && copy == 1) memcpy(staged, together + bytes, n);
        bytes += n;
      }
      if (to_array && copy == 0) upc_memput(its, together, bytes);
      if (!to_array && copy == 0) upc_memget(together, its, bytes);
    }
  }
  free(together);
}

/* As many bytes as came from the file; of an element that came in part, that part. */
static void spread_all(const upcri_transfer_t* t) {
  size_t left = (size_t)t->moved;
  for (size_t i = 0; i != t->spread_count; ++i) {
    const upcri_spread_t* const s = &t->spreads[i];
    const size_t bytes = s->count * s->size < left ? s->count * s->size : left;
    const size_t whole = s->size == 0 ? 0 : bytes / s->size, rest = bytes - whole * s->size;
    spread(s, whole, t->staging + s->staged, 1);
    if (rest != 0) {
      const upcri_spread_t last = {s->array, s->block, s->size, s->first + whole, 1, 0};
      const upcr_shared_ptr_t at =
          last.block == 0 ? upcri_at(last.array, (ptrdiff_t)(last.first * last.size))
                          : upcr_add_shared(last.array, last.size, (ptrdiff_t)last.first, last.block);
      upc_memput(at, t->staging + s->staged + whole * s->size, rest);
    }
    left -= bytes;
  }
}

/* Private memory and the file only: it runs on any thread of the process. Ends at the end of the file. */
static void carry(int descriptor, upcri_transfer_t* t) {
  for (size_t i = 0; i != t->piece_count; ++i) {
    const upcri_piece_t* const p = &t->pieces[i];
    for (size_t done = 0; done != p->bytes;) {
      const ssize_t n = t->writes
                            ? pwrite(descriptor, p->memory + done, p->bytes - done, p->offset + (off_t)done)
                            : pread(descriptor, p->memory + done, p->bytes - done, p->offset + (off_t)done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) t->error = errno;
      if (n <= 0) return;
      done += (size_t)n;
      t->moved += n;
    }
  }
}

struct upcri_carrier_t {
  pthread_t thread;
  int descriptor;
  upcri_transfer_t* transfer;
  atomic_int is_done;
};
static void* carry_behind(void* argument) {
  struct upcri_carrier_t* const carrier = argument;
  carry(carrier->descriptor, carrier->transfer);
  atomic_store(&carrier->is_done, 1);
  return NULL;
}

/* Its signals are for the program's threads. Without a thread it is done at once. */
static struct upcri_carrier_t* start_behind(int descriptor, upcri_transfer_t* t) {
  struct upcri_carrier_t* const carrier = upcri_memory(sizeof *carrier);
  carrier->descriptor = descriptor;
  carrier->transfer = t;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&carrier->thread, NULL, carry_behind, carrier);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (refused == 0) return carrier;
  free(carrier);
  carry(descriptor, t);
  return NULL;
}

enum {
  in_modes = UPC_IN_NOSYNC | UPC_IN_MYSYNC | UPC_IN_ALLSYNC,
  out_modes = UPC_OUT_NOSYNC | UPC_OUT_MYSYNC | UPC_OUT_ALLSYNC
};

static int is_mode(upc_flag_t flags) {
  const int in = flags & in_modes, out = flags & out_modes;
  return (flags & ~(in_modes | out_modes)) == 0 && (in & (in - 1)) == 0 && (out & (out - 1)) == 0;
}

/* What a call moves: in pieces, or in elements of arrays that are to be staged. Both end in `pieces`. */
static upcri_transfer_t* begin(upc_file_t* file, int writes, upc_flag_t mode) {
  static upcri_transfer_t refused; /* while another one is outstanding, which stays as it is */
  upcri_transfer_t* const t = file->is_outstanding ? &refused : &file->transfer;
  memset(t, 0, sizeof *t);
  t->writes = writes;
  t->error = upcri_usable(file);
  if (t->error == 0 && !is_mode(mode)) t->error = EINVAL;
  if (t->error == 0 && (file->flags & (writes ? UPC_RDONLY : UPC_WRONLY)) != 0) t->error = EBADF;
  return t;
}

static void stage(upcri_transfer_t* t, size_t bytes) {
  t->staging = upcri_memory(bytes == 0 ? 1 : bytes);
}
static void add_piece(upcri_transfer_t* t, unsigned char* memory, size_t bytes, upc_off_t offset) {
  const upcri_piece_t piece = {memory, bytes, offset};
  if (offset < 0) t->error = EINVAL;
  t->pieces[t->piece_count++] = piece;
}

static void drop(upcri_transfer_t* t) {
  free(t->pieces);
  free(t->spreads);
  free(t->staging);
  memset(t, 0, sizeof *t);
}

/* All have come as far, and have moved their part; what is to be known of it. */
static upc_off_t finish(upc_file_t* file, upcri_transfer_t* t) {
  if (!t->writes && t->error == 0) spread_all(t);
  const upc_off_t mine = t->moved, sum = upcri_agree(file->words, mine, t->error);
  const upc_off_t result = sum < 0 || t->is_common ? sum : mine;
  if (result > 0 && t->moves_pointer) file->at += result;
  const int why = errno;
  drop(t);
  errno = why;
  return result;
}

/* No data are touched before all have come, unless the mode allows it. */
static void enter(upcri_transfer_t* t, upc_flag_t mode) {
  if ((mode & UPC_IN_NOSYNC) == 0) weft_barrier();
  if (t->error != 0) t->piece_count = t->spread_count = 0;
  for (size_t i = 0; t->writes && i != t->spread_count; ++i)
    spread(&t->spreads[i], t->spreads[i].count, t->staging + t->spreads[i].staged, 0);
}
static upc_off_t at_once(upc_file_t* file, upcri_transfer_t* t, upc_flag_t mode) {
  enter(t, mode);
  carry(file->descriptor, t);
  return finish(file, t);
}
static void behind(upc_file_t* file, upcri_transfer_t* t, upc_flag_t mode) {
  if (file->is_outstanding) { /* all threads see it: the one that is outstanding goes on */
    drop(t);
    errno = EBUSY;
    return;
  }
  enter(t, mode);
  file->is_outstanding = 1;
  file->carrier = start_behind(file->descriptor, t);
}

upc_off_t upc_all_fwait_async(upc_file_t* file) {
  if (!file->is_outstanding) {
    errno = EINVAL;
    return -1;
  }
  if (file->carrier != NULL) pthread_join(file->carrier->thread, NULL);
  free(file->carrier);
  file->carrier = NULL;
  file->is_outstanding = 0;
  return finish(file, &file->transfer);
}

upc_off_t upc_all_ftest_async(upc_file_t* file, int* flag) {
  *flag = 0;
  if (!file->is_outstanding) {
    errno = EINVAL;
    return -1;
  }
  const int mine = file->carrier == NULL || atomic_load(&file->carrier->is_done);
  if (upcri_agree(file->words, mine, 0) != (upc_off_t)upcr_job.threads) return 0;
  *flag = 1;
  return upc_all_fwait_async(file);
}

static upcri_transfer_t* local(upc_file_t* file, int writes, const void* buffer, size_t size, size_t nmemb,
                               upc_flag_t mode) {
  upcri_transfer_t* const t = begin(file, writes, mode);
  if ((file->flags & UPC_INDIVIDUAL_FP) == 0 || (buffer == NULL && size * nmemb != 0)) t->error = EINVAL;
  t->moves_pointer = 1;
  t->pieces = upcri_memory(sizeof *t->pieces);
  add_piece(t, (unsigned char*)buffer, size * nmemb, file->at);
  return t;
}

static upcri_transfer_t* shared(upc_file_t* file, int writes, upcr_shared_ptr_t buffer, size_t blocksize,
                                size_t size, size_t nmemb, upc_flag_t mode) {
  upcri_transfer_t* const t = begin(file, writes, mode);
  t->is_common = (file->flags & UPC_COMMON_FP) != 0;
  t->moves_pointer = 1;
  if (upcr_isnull_shared(buffer) && size * nmemb != 0) t->error = EINVAL;
  const size_t threads = upcr_job.threads, me = upcr_job.mythread;
  const size_t first =
      t->is_common ? nmemb / threads * me + (nmemb % threads < me ? nmemb % threads : me) : 0;
  const size_t count = t->is_common ? nmemb / threads + (me < nmemb % threads) : nmemb;
  t->pieces = upcri_memory(sizeof *t->pieces);
  t->spreads = upcri_memory(sizeof *t->spreads);
  stage(t, count * size);
  const upcri_spread_t its = {buffer, blocksize, size, first, count, 0};
  t->spreads[t->spread_count++] = its;
  add_piece(t, t->staging, count * size, file->at + (upc_off_t)(first * size));
  return t;
}

/* The pieces end where one of either list does. */
static void pair(upcri_transfer_t* t, const upc_local_memvec_t* memory, size_t memory_count,
                 const upc_filevec_t* in_file, size_t file_count) {
  size_t in_memory = 0, done = 0;
  t->pieces = upcri_memory((memory_count + file_count + 1) * sizeof *t->pieces);
  for (size_t f = 0; f != file_count; ++f)
    for (size_t at = 0; at != in_file[f].len;) {
      while (in_memory != memory_count && done == memory[in_memory].len) {
        ++in_memory;
        done = 0;
      }
      if (in_memory == memory_count) {
        t->error = EINVAL; /* fewer bytes in memory */
        return;
      }
      const size_t rest = memory[in_memory].len - done, left = in_file[f].len - at;
      const size_t n = rest < left ? rest : left;
      add_piece(t, (unsigned char*)memory[in_memory].baseaddr + done, n, in_file[f].offset + (upc_off_t)at);
      done += n;
      at += n;
    }
  while (in_memory != memory_count && done == memory[in_memory].len) {
    ++in_memory;
    done = 0;
  }
  if (in_memory != memory_count) t->error = EINVAL; /* more bytes in memory */
}

static upcri_transfer_t* list_local(upc_file_t* file, int writes, size_t memory_count,
                                    const upc_local_memvec_t* memory, size_t file_count,
                                    const upc_filevec_t* in_file, upc_flag_t mode) {
  upcri_transfer_t* const t = begin(file, writes, mode);
  pair(t, memory, memory_count, in_file, file_count);
  return t;
}

static upcri_transfer_t* list_shared(upc_file_t* file, int writes, size_t memory_count,
                                     const upc_shared_memvec_t* memory, size_t file_count,
                                     const upc_filevec_t* in_file, upc_flag_t mode) {
  upcri_transfer_t* const t = begin(file, writes, mode);
  t->spreads = upcri_memory((memory_count + 1) * sizeof *t->spreads);
  size_t bytes = 0;
  for (size_t i = 0; i != memory_count; ++i) {
    const upcri_spread_t its = {memory[i].baseaddr, memory[i].blocksize, 1, 0, memory[i].len, bytes};
    t->spreads[t->spread_count++] = its;
    bytes += memory[i].len;
  }
  stage(t, bytes);
  const upc_local_memvec_t staged = {t->staging, bytes};
  pair(t, &staged, 1, in_file, file_count);
  return t;
}

/* At once, and behind the program. */
#define BOTH(form, name, parameters, arguments)                                                              \
  upc_off_t upc_all_##name parameters {                                                                      \
    return at_once(file, form arguments, flags);                                                             \
  }                                                                                                          \
  void upc_all_##name##_async parameters {                                                                   \
    behind(file, form arguments, flags);                                                                     \
  }
#define LOCAL(name, writes, type)                                                                            \
  BOTH(local, name, (upc_file_t * file, type buffer, size_t size, size_t nmemb, upc_flag_t flags),           \
       (file, writes, buffer, size, nmemb, flags))
LOCAL(fread_local, 0, void*)
LOCAL(fwrite_local, 1, const void*)
#define SHARED(name, writes)                                                                                 \
  BOTH(shared, name,                                                                                         \
       (upc_file_t * file, upc_shared_ptr_t buffer, size_t blocksize, size_t size, size_t nmemb,             \
        upc_flag_t flags),                                                                                   \
       (file, writes, buffer, blocksize, size, nmemb, flags))
SHARED(fread_shared, 0)
SHARED(fwrite_shared, 1)
#define LIST(name, form, writes, type)                                                                       \
  BOTH(form, name,                                                                                           \
       (upc_file_t * file, size_t memvec_entries, const type* memvec, size_t filevec_entries,                \
        const upc_filevec_t* filevec, upc_flag_t flags),                                                     \
       (file, writes, memvec_entries, memvec, filevec_entries, filevec, flags))
LIST(fread_list_local, list_local, 0, upc_local_memvec_t)
LIST(fwrite_list_local, list_local, 1, upc_local_memvec_t)
LIST(fread_list_shared, list_shared, 0, upc_shared_memvec_t)
LIST(fwrite_list_shared, list_shared, 1, upc_shared_memvec_t)
