// SPDX-License-Identifier: BSD-3-Clause
/* Copies in many pieces: each piece is a copy of Weft's, and all of them have one handle. */
#include "upc_runtime/include/weft/strided.h"
#include "upc_runtime/library/internal.h"

/* One end: where it begins, and which of the two it is. */
typedef struct place_t {
  upcr_shared_ptr_t shared;
  unsigned char* local; /* null if it is in shared memory */
} place_t;

static void piece(place_t to, uint64_t to_offset, place_t from, uint64_t from_offset, size_t nbytes) {
  const upcr_shared_ptr_t dst = upcri_at(to.shared, (ptrdiff_t)to_offset);
  const upcr_shared_ptr_t src = upcri_at(from.shared, (ptrdiff_t)from_offset);
  if (to.local != NULL)
    upcr_nbi_memget(to.local + to_offset, src, nbytes);
  else if (from.local != NULL)
    upcr_nbi_memput(dst, from.local + from_offset, nbytes);
  else
    upcr_nbi_memcpy(dst, src, nbytes);
}

/* The pieces end where a chunk of either end does. */
static upc_handle_t in_chunks(const char* call, place_t to, size_t to_length, size_t to_stride,
                              size_t to_count, place_t from, size_t from_length, size_t from_stride,
                              size_t from_count) {
  const size_t bytes = to_length * to_count;
  if (bytes != from_length * from_count) {
    upcri_fail(call, "srcchunklen * srcchunkcount", "must be as many bytes as dstchunklen * dstchunkcount",
               "%zu and %zu", from_length * from_count, bytes);
    return UPC_COMPLETE_HANDLE;
  }
  if ((to_count > 1 && to_stride < to_length) || (from_count > 1 && from_stride < from_length)) {
    const int to_is_wrong = to_count > 1 && to_stride < to_length;
    upcri_fail(call, to_is_wrong ? "dstchunkstride" : "srcchunkstride",
               "must not be less than the chunk is long", "%zu", to_is_wrong ? to_stride : from_stride);
    return UPC_COMPLETE_HANDLE;
  }
  upcri_region_t outer;
  upcri_begin_region(&outer);
  for (size_t done = 0; done != bytes;) {
    const size_t in_to = done % to_length, in_from = done % from_length;
    const size_t rest_to = to_length - in_to, rest_from = from_length - in_from;
    const size_t nbytes = rest_to < rest_from ? rest_to : rest_from;
    piece(to, done / to_length * to_stride + in_to, from, done / from_length * from_stride + in_from, nbytes);
    done += nbytes;
  }
  return upcri_end_region(&outer);
}

static void level(place_t to, uint64_t to_offset, const size_t* to_strides, place_t from,
                  uint64_t from_offset, const size_t* from_strides, const size_t* count, size_t levels) {
  if (levels == 0) {
    piece(to, to_offset, from, from_offset, count[0]);
    return;
  }
  for (size_t i = 0; i != count[levels]; ++i)
    level(to, to_offset + i * to_strides[levels - 1], to_strides, from,
          from_offset + i * from_strides[levels - 1], from_strides, count, levels - 1);
}

/* A level must lie within its stride. */
static int within_strides(const char* call, const char* argument, const size_t* strides, const size_t* count,
                          size_t levels) {
  uint64_t extent = count[0];
  for (size_t i = 1; i <= levels; ++i) {
    if (count[i] == 0) return 1;
    if (count[i] > 1 && strides[i - 1] < extent) {
      upcri_fail(call, argument, "must not be less than the bytes that it skips", "%zu of level %zu",
                 strides[i - 1], i);
      return 0;
    }
    extent += (count[i] - 1) * strides[i - 1];
  }
  return 1;
}

static upc_handle_t in_levels(const char* call, place_t to, const size_t* to_strides, place_t from,
                              const size_t* from_strides, const size_t* count, size_t levels) {
  if (!within_strides(call, "dststrides", to_strides, count, levels) ||
      !within_strides(call, "srcstrides", from_strides, count, levels))
    return UPC_COMPLETE_HANDLE;
  upcri_region_t outer;
  upcri_begin_region(&outer);
  if (count[0] != 0) level(to, 0, to_strides, from, 0, from_strides, count, levels);
  return upcri_end_region(&outer);
}

static place_t shared_place(upcr_shared_ptr_t p) {
  const place_t place = {p, NULL};
  return place;
}
static place_t local_place(const void* memory) {
  const place_t place = {UPCR_NULL_SHARED, (unsigned char*)memory};
  return place;
}

#define FORMS(name, to, from, TO, FROM)                                                                      \
  upc_handle_t bupc_##name##_fstrided_async(to dst, size_t dstlen, size_t dststride, size_t dstcount,        \
                                            from src, size_t srclen, size_t srcstride, size_t srccount) {    \
    return in_chunks("bupc_" #name "_fstrided", TO(dst), dstlen, dststride, dstcount, FROM(src), srclen,     \
                     srcstride, srccount);                                                                   \
  }                                                                                                          \
  void bupc_##name##_fstrided(to dst, size_t dstlen, size_t dststride, size_t dstcount, from src,            \
                              size_t srclen, size_t srcstride, size_t srccount) {                            \
    upcr_wait_syncnb(                                                                                        \
        bupc_##name##_fstrided_async(dst, dstlen, dststride, dstcount, src, srclen, srcstride, srccount));   \
  }                                                                                                          \
  upc_handle_t bupc_##name##_strided_async(to dst, const size_t dststrides[], from src,                      \
                                           const size_t srcstrides[], const size_t count[], size_t levels) { \
    return in_levels("bupc_" #name "_strided", TO(dst), dststrides, FROM(src), srcstrides, count, levels);   \
  }                                                                                                          \
  void bupc_##name##_strided(to dst, const size_t dststrides[], from src, const size_t srcstrides[],         \
                             const size_t count[], size_t levels) {                                          \
    upcr_wait_syncnb(bupc_##name##_strided_async(dst, dststrides, src, srcstrides, count, levels));          \
  }
FORMS(memcpy, upc_shared_ptr_t, upc_shared_ptr_t, shared_place, shared_place)
FORMS(memput, upc_shared_ptr_t, const void*, shared_place, local_place)
FORMS(memget, void*, upc_shared_ptr_t, local_place, shared_place)

/* One end as a list of places: of these four one, or none if it is null. The last two have one length for
 * all. */
typedef struct list_t {
  const bupc_smemvec_t* shared;
  const bupc_pmemvec_t* local;
  const upcr_shared_ptr_t* shared_places;
  const void* const* local_places;
  size_t count, each;
} list_t;

static place_t place_of(const list_t* list, size_t i, size_t* nbytes) {
  *nbytes = list->shared != NULL  ? list->shared[i].len
            : list->local != NULL ? list->local[i].len
                                  : list->each;
  if (list->shared != NULL) return shared_place(list->shared[i].addr);
  if (list->local != NULL) return local_place(list->local[i].addr);
  return list->shared_places != NULL ? shared_place(list->shared_places[i])
                                     : local_place(list->local_places[i]);
}
static size_t bytes_of(const list_t* list) {
  size_t bytes = 0, nbytes = 0;
  for (size_t i = 0; i != list->count; ++i, bytes += nbytes)
    (void)place_of(list, i, &nbytes);
  return bytes;
}
static int is_there(const char* call, const char* argument, const list_t* list) {
  if (list->count == 0 || list->shared != NULL || list->local != NULL || list->shared_places != NULL ||
      list->local_places != NULL)
    return 1;
  upcri_fail(call, argument, "must not be null: it is read for its count", "%s", "null");
  return 0;
}

/* The pieces end where a place of either list does. */
static upc_handle_t in_lists(const char* call, list_t to, list_t from) {
  if (!is_there(call, "dstlist", &to) || !is_there(call, "srclist", &from)) return UPC_COMPLETE_HANDLE;
  const size_t wanted = bytes_of(&to), given = bytes_of(&from);
  if (wanted != given) {
    upcri_fail(call, "srclist", "must have as many bytes as dstlist", "%zu and %zu bytes", given, wanted);
    return UPC_COMPLETE_HANDLE;
  }
  upcri_region_t outer;
  upcri_begin_region(&outer);
  size_t i = 0, k = 0, in_to = 0, in_from = 0; /* the places, and how far in them */
  for (size_t left = wanted; left != 0;) {
    size_t long_to, long_from;
    const place_t dst = place_of(&to, i, &long_to), src = place_of(&from, k, &long_from);
    const size_t rest_to = long_to - in_to, rest_from = long_from - in_from;
    const size_t nbytes = rest_to < rest_from ? rest_to : rest_from;
    if (nbytes != 0) piece(dst, in_to, src, in_from, nbytes);
    left -= nbytes;
    in_to = nbytes == rest_to ? 0 : in_to + nbytes;
    in_from = nbytes == rest_from ? 0 : in_from + nbytes;
    i += nbytes == rest_to;
    k += nbytes == rest_from;
  }
  return upcri_end_region(&outer);
}

static list_t of_shared(size_t count, const bupc_smemvec_t* list) {
  const list_t all = {.shared = list, .count = count};
  return all;
}
static list_t of_local(size_t count, const bupc_pmemvec_t* list) {
  const list_t all = {.local = list, .count = count};
  return all;
}
static list_t shared_of_one_length(size_t count, const upcr_shared_ptr_t* places, size_t each) {
  const list_t all = {.shared_places = places, .count = count, .each = each};
  return all;
}
static list_t local_of_one_length(size_t count, const void* places, size_t each) {
  const list_t all = {.local_places = places, .count = count, .each = each};
  return all;
}

#define LIST_FORMS(name, to_list, to, to_of, to_each, from_list, from, from_of, from_each)                   \
  upc_handle_t bupc_##name##_vlist_async(size_t dstcount, const to_list dstlist[], size_t srccount,          \
                                         const from_list srclist[]) {                                        \
    return in_lists("bupc_" #name "_vlist", to_of(dstcount, dstlist), from_of(srccount, srclist));           \
  }                                                                                                          \
  void bupc_##name##_vlist(size_t dstcount, const to_list dstlist[], size_t srccount,                        \
                           const from_list srclist[]) {                                                      \
    upcr_wait_syncnb(bupc_##name##_vlist_async(dstcount, dstlist, srccount, srclist));                       \
  }                                                                                                          \
  upc_handle_t bupc_##name##_ilist_async(size_t dstcount, to const dstlist[], size_t dstlen,                 \
                                         size_t srccount, from const srclist[], size_t srclen) {             \
    return in_lists("bupc_" #name "_ilist", to_each(dstcount, dstlist, dstlen),                              \
                    from_each(srccount, srclist, srclen));                                                   \
  }                                                                                                          \
  void bupc_##name##_ilist(size_t dstcount, to const dstlist[], size_t dstlen, size_t srccount,              \
                           from const srclist[], size_t srclen) {                                            \
    upcr_wait_syncnb(bupc_##name##_ilist_async(dstcount, dstlist, dstlen, srccount, srclist, srclen));       \
  }
LIST_FORMS(memcpy, bupc_smemvec_t, upc_shared_ptr_t, of_shared, shared_of_one_length, bupc_smemvec_t,
           upc_shared_ptr_t, of_shared, shared_of_one_length)
LIST_FORMS(memput, bupc_smemvec_t, upc_shared_ptr_t, of_shared, shared_of_one_length, bupc_pmemvec_t,
           const void*, of_local, local_of_one_length)
LIST_FORMS(memget, bupc_pmemvec_t, void*, of_local, local_of_one_length, bupc_smemvec_t, upc_shared_ptr_t,
           of_shared, shared_of_one_length)
