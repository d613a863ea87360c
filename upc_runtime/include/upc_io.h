// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <upc.h>

/* Parallel files (UPC 1.3, optional library, 7.8): all threads open one file, and read and write it together.
 *
 * All functions are collective over all threads; file, flags and sizes are the same on all, unless it says
 * `each`. With a common file pointer the threads move one amount of data together. With individual ones, and
 * in the list forms, each names its own. sync_mode says, as for a collective, when data in memory may be
 * touched; what a function returns comes after all threads have done their part.
 *
 * A thread goes by the name of the file: where threads are on several hosts, all must see it, as in a file
 * system that they share. A failure returns -1, or null, with the same errno on all threads: EINVAL for a
 * wrong argument, EBADF for a file that was not opened for it, EBUSY while an asynchronous operation is
 * outstanding, else what the system said. Shared buffers have the errors of upc_memput and upc_memget. */
typedef int64_t upc_off_t;
typedef struct upc_file_t upc_file_t;

/* Where bytes lie: in a file, in private memory, and in a shared array of bytes whose blocks have blocksize
 * bytes; 0 stands for an indefinite block. The phase of baseaddr counts. */
typedef struct upc_filevec_t {
  upc_off_t offset;
  size_t len;
} upc_filevec_t;
typedef struct upc_local_memvec_t {
  void* baseaddr;
  size_t len;
} upc_local_memvec_t;
typedef struct upc_shared_memvec_t {
  upc_shared_ptr_t baseaddr;
  size_t blocksize;
  size_t len;
} upc_shared_memvec_t;
typedef struct upc_hint_t {
  const char *key, *value;
} upc_hint_t;

/* How it is opened: one of the first three, one of the next two, and any others. */
#define UPC_RDONLY 1
#define UPC_WRONLY 2
#define UPC_RDWR 4
#define UPC_INDIVIDUAL_FP 8
#define UPC_COMMON_FP 16
#define UPC_APPEND 32 /* the pointer begins at the end of the file */
#define UPC_CREATE 64
#define UPC_EXCL 128
#define UPC_STRONG_CA 256
#define UPC_TRUNC 512
#define UPC_DELETE_ON_CLOSE 1024

#define UPC_SEEK_SET 1
#define UPC_SEEK_CUR 2
#define UPC_SEEK_END 4

/* What upc_all_fcntl does, and returns if not 0. */
#define UPC_GET_CA_SEMANTICS 1 /* UPC_STRONG_CA, or 0 for the weak ones */
#define UPC_SET_WEAK_CA_SEMANTICS 2
#define UPC_SET_STRONG_CA_SEMANTICS 4
#define UPC_GET_FP 8 /* UPC_COMMON_FP or UPC_INDIVIDUAL_FP */
#define UPC_SET_COMMON_FP 16
#define UPC_SET_INDIVIDUAL_FP 32   /* both put the pointer to the beginning */
#define UPC_GET_FL 64              /* the flags of upc_all_fopen, as they are now */
#define UPC_GET_FN 128             /* the name: *(const char**)arg */
#define UPC_GET_HINTS 256          /* their number; *(const upc_hint_t**)arg */
#define UPC_SET_HINT 512           /* *(const upc_hint_t*)arg; hints change nothing here */
#define UPC_ASYNC_OUTSTANDING 1024 /* 1 if an asynchronous operation is outstanding, else 0 */

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the file of this name, with flags from above; the hints are kept, and change nothing here. Null if it
 * cannot: EINVAL where a flag is missing or two contradict each other, else what the system said of it. */
WEFT_EXPORT upc_file_t* upc_all_fopen(const char* fname, int flags, size_t numhints, const upc_hint_t* hints);
/* Ends with what upc_all_fsync does; the file is no more, even if it fails. */
WEFT_EXPORT int upc_all_fclose(upc_file_t* file);
/* What was written is on the disk. */
WEFT_EXPORT int upc_all_fsync(upc_file_t* file);
/* The new place of the pointer, in bytes from the beginning. Each thread's own, if pointers are individual.
 */
WEFT_EXPORT upc_off_t upc_all_fseek(upc_file_t* file, upc_off_t offset, int origin);
/* Cuts the file, or makes it longer, with zeros; and how long it is, in bytes. */
WEFT_EXPORT int upc_all_fset_size(upc_file_t* file, upc_off_t size);
WEFT_EXPORT upc_off_t upc_all_fget_size(upc_file_t* file);
/* Makes the file at least as long. */
WEFT_EXPORT int upc_all_fpreallocate(upc_file_t* file, upc_off_t size);
/* One of UPC_GET_... and UPC_SET_... above. */
WEFT_EXPORT int upc_all_fcntl(upc_file_t* file, int cmd, void* arg);

/* The bytes that were moved; less than asked for at the end of a file. The pointer goes on by as many.
 *
 * Each thread's own buffer, of nmemb elements of size bytes, with individual pointers only. */
WEFT_EXPORT upc_off_t upc_all_fread_local(upc_file_t* file, void* buffer, size_t size, size_t nmemb,
                                          upc_flag_t sync_mode);
WEFT_EXPORT upc_off_t upc_all_fwrite_local(upc_file_t* file, const void* buffer, size_t size, size_t nmemb,
                                           upc_flag_t sync_mode);
/* The elements of a shared array, in blocks of blocksize elements. With individual pointers each thread names
 * an array, a size and a number of its own. */
WEFT_EXPORT upc_off_t upc_all_fread_shared(upc_file_t* file, upc_shared_ptr_t buffer, size_t blocksize,
                                           size_t size, size_t nmemb, upc_flag_t sync_mode);
WEFT_EXPORT upc_off_t upc_all_fwrite_shared(upc_file_t* file, upc_shared_ptr_t buffer, size_t blocksize,
                                            size_t size, size_t nmemb, upc_flag_t sync_mode);
/* Each thread's lists of pieces: in memory and in the file there are as many bytes. The pointers stay. */
#define WEFT_LIST_IO(result, name, memvec_t)                                                                 \
  WEFT_EXPORT result name(upc_file_t* file, size_t memvec_entries, const memvec_t* memvec,                   \
                          size_t filevec_entries, const upc_filevec_t* filevec, upc_flag_t sync_mode)
WEFT_LIST_IO(upc_off_t, upc_all_fread_list_local, upc_local_memvec_t);
WEFT_LIST_IO(upc_off_t, upc_all_fread_list_shared, upc_shared_memvec_t);
WEFT_LIST_IO(upc_off_t, upc_all_fwrite_list_local, upc_local_memvec_t);
WEFT_LIST_IO(upc_off_t, upc_all_fwrite_list_shared, upc_shared_memvec_t);

/* The asynchronous forms: the file is read or written by a thread of the library while the program goes on,
 * until upc_all_fwait_async, which returns what the form without async returns. One is outstanding for a file
 * at a time. Buffers must not be touched until then. */
WEFT_EXPORT void upc_all_fread_local_async(upc_file_t* file, void* buffer, size_t size, size_t nmemb,
                                           upc_flag_t sync_mode);
WEFT_EXPORT void upc_all_fwrite_local_async(upc_file_t* file, const void* buffer, size_t size, size_t nmemb,
                                            upc_flag_t sync_mode);
WEFT_EXPORT void upc_all_fread_shared_async(upc_file_t* file, upc_shared_ptr_t buffer, size_t blocksize,
                                            size_t size, size_t nmemb, upc_flag_t sync_mode);
WEFT_EXPORT void upc_all_fwrite_shared_async(upc_file_t* file, upc_shared_ptr_t buffer, size_t blocksize,
                                             size_t size, size_t nmemb, upc_flag_t sync_mode);
WEFT_LIST_IO(void, upc_all_fread_list_local_async, upc_local_memvec_t);
WEFT_LIST_IO(void, upc_all_fread_list_shared_async, upc_shared_memvec_t);
WEFT_LIST_IO(void, upc_all_fwrite_list_local_async, upc_local_memvec_t);
WEFT_LIST_IO(void, upc_all_fwrite_list_shared_async, upc_shared_memvec_t);
#undef WEFT_LIST_IO
WEFT_EXPORT upc_off_t upc_all_fwait_async(upc_file_t* file);
/* *flag is 1 if it is complete on all threads, and the result is what upc_all_fwait_async returns, which must
 * not be called any more; else 0. */
WEFT_EXPORT upc_off_t upc_all_ftest_async(upc_file_t* file, int* flag);

#ifdef __cplusplus
}
#endif
