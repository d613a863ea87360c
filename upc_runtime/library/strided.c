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
