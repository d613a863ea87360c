// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "accesses.h"

/* What weftcc makes of upc_forall: a walk of the thread from one iteration of its own to the next. The text
 * of a translator goes over all iterations, and tests each.
 *
 *   upcri_walk_t w = UPCRI_WALK_PLACES(i, lo, <, end, place, elemsz, block, base), which sets i;
 *   for (; UPCRI_WALK_IN(w, i) || UPCRI_WALK_ON(w, i, <, end, test); UPCRI_WALK_STEP(w, i)) body
 *
 * has the iterations, and leaves the i, of
 *
 *   for (i = lo; i < end; i++) if (test) body
 *
 * where `test` is whether `place` is the thread's own. weftcc makes it where place has the index
 * scale * i + c in an array of blocks of `block` elements (0 for an indefinite block), or, with
 * UPCRI_WALK_NUMBERS, where the number is (scale * i + c) / block; and where lo and end are made of numbers
 * and names. What numbers and names are, and so whether the index wraps around, is known at the start of the
 * loop: the index is looked at for the first two iterations and the last. It is a chain of products, sums and
 * conversions of i with what stays the same, so each wrap around of one of them turns it against the sign of
 * its scale; it is what the first two iterations let expect in the last one only if it does not wrap, or
 * wraps by the same in every step. Where it does not fit, and where blocks and scale fit to no regular walk,
 * `each` is set, and UPCRI_WALK_ON tests each iteration. */
typedef struct upcri_walk_t {
  int64_t first;        /* the thread's first iteration, or `behind` */
  int64_t stop, step;   /* this run of own iterations ends before `stop`, and goes in steps of `step` */
  int64_t gap, apart;   /* the next one begins `gap` behind this one, and ends `apart` behind its end */
  int64_t behind, last; /* what i is behind the loop; there is a next run if this one stops before `last` */
  /* An array that begins as `base` does, in its thread and phase, has the element of index scale * i + c as
   * the thread's own one `local`, counted from the array's beginning, in the phase `phase`. `origin` is no
   * thread and phase where that is not so. The two move by `moves` and `turns` with each iteration of a run,
   * and by local_gap and phase_gap from behind a run to the next one. */
  int64_t local, moves, local_gap;
  uint64_t origin;
  uint32_t phase, turns, phase_gap;
  int each, once;
} upcri_walk_t;

/* Iterations from lo to last, if there is one, by a variable whose type ends at `largest`. `bounded` is 0 if
 * the ends are not what they seem: of a real type, or beyond 64 bits with a sign, or compared as another
 * sign's. */
typedef struct upcri_range_t {
  int64_t lo, last, largest;
  int is_empty, bounded;
} upcri_range_t;
/* The places or numbers are those of iterations lo, lo + 1, or lo if that is the last, and last. */
WEFT_EXPORT upcri_walk_t upcri_walk_places(upcri_range_t range, upcr_shared_ptr_t base,
                                           upcr_shared_ptr_t at_lo, upcr_shared_ptr_t next,
                                           upcr_shared_ptr_t at_last, size_t elemsz, size_t block);
WEFT_EXPORT upcri_walk_t upcri_walk_numbers(upcri_range_t range, int64_t at_lo, int64_t next, int64_t at_last,
                                            int64_t block);

#define UPCRI_WALK_LARGEST(i)                                                                                \
  ((__typeof__(i))-1 < 1 ? (int64_t)(UINT64_MAX >> (65 - 8 * sizeof(i)))                                     \
                         : (int64_t)(UINT64_MAX >> (sizeof(i) < 8 ? 64 - 8 * sizeof(i) : 1)))
/* `less` is < or <=, whose bound is the last iteration. A bound of a real type is left to `each`. */
#define UPCRI_WALK_RANGE(i, lo_, less, end)                                                                  \
  ({                                                                                                         \
    upcri_range_t upcri_range = {(int64_t)(i = (lo_)), 0, UPCRI_WALK_LARGEST(i), !(i less(end)), 1};         \
    upcri_range.last =                                                                                       \
        upcri_range.is_empty ? upcri_range.lo : (int64_t)(__typeof__(i + (end)))(end) - !(0 less 0);         \
    upcri_range.bounded = (__typeof__(end))1 / 2 == 0 && upcri_range.lo <= upcri_range.last &&               \
                          upcri_range.last <= upcri_range.largest &&                                         \
                          ((__typeof__(i))-1 < 1 || upcri_range.lo >= 0) &&                                  \
                          (int64_t)(__typeof__(i + (end)))upcri_range.lo == upcri_range.lo;                  \
    upcri_range;                                                                                             \
  })
#define UPCRI_WALK(i, lo_, less, end, place, walk)                                                           \
  ({                                                                                                         \
    const upcri_range_t upcri_range = UPCRI_WALK_RANGE(i, lo_, less, end);                                   \
    const __typeof__(place) upcri_at_lo = (place);                                                           \
    i = (__typeof__(i))(upcri_range.lo + (upcri_range.lo < upcri_range.last));                               \
    const __typeof__(place) upcri_next = (place);                                                            \
    i = (__typeof__(i))upcri_range.last;                                                                     \
    const __typeof__(place) upcri_at_last = (place);                                                         \
    const upcri_walk_t upcri_found = walk;                                                                   \
    i = (__typeof__(i))upcri_found.first;                                                                    \
    upcri_found;                                                                                             \
  })
#define UPCRI_WALK_PLACES(i, lo_, less, end, place, elemsz, block, base)                                     \
  UPCRI_WALK(i, lo_, less, end, place,                                                                       \
             upcri_walk_places(upcri_range, base, upcri_at_lo, upcri_next, upcri_at_last, elemsz, block))
#define UPCRI_WALK_NUMBERS(i, lo_, less, end, number, block)                                                 \
  UPCRI_WALK(i, lo_, less, end, number,                                                                      \
             upcri_walk_numbers(upcri_range, (int64_t)upcri_at_lo, (int64_t)upcri_next,                      \
                                (int64_t)upcri_at_last, (int64_t)(block)))

/* A number that becomes an int32_t: left to `each` where it is another one there. */
#define UPCRI_WALK_INT32(number) ((int64_t)(number) > INT32_MAX ? INT64_C(-1) : (int64_t)(number))

/* Behind a run: to the next one, else i is what it is behind the loop, and the result 0. */
#define UPCRI_WALK_ON(w, i, less, end, test)                                                                 \
  ({                                                                                                         \
    if (__builtin_expect(w.stop < w.last, 1)) {                                                              \
      i += w.gap, w.local += w.local_gap, w.phase += w.phase_gap, w.stop += w.apart;                         \
      if (w.stop > w.behind) w.stop = w.behind;                                                              \
    } else if (__builtin_expect(w.each, 0)) {                                                                \
      while (__builtin_expect(i less(end) && !(test), 0))                                                    \
        i++;                                                                                                 \
      w.stop = w.behind = (int64_t)i + (i less(end) ? 1 : 0);                                                \
    } else {                                                                                                 \
      w.stop = w.behind;                                                                                     \
      i = (__typeof__(i))w.behind;                                                                           \
    }                                                                                                        \
    i < w.stop;                                                                                              \
  })

/* Whether i is in the run; and to the next one in it. */
#define UPCRI_WALK_IN(w, i) __builtin_expect(i < w.stop, 1)
#define UPCRI_WALK_STEP(w, i) (i += w.step, w.local += w.moves, w.phase += w.turns)

/* The step of a loop by hand, from MYTHREAD on, in which an array of blocks of 1 has element i as the own one
 * w.local. A variable that may wrap around, to below THREADS, has none from there on. */
#define UPCRI_TURN(w, i)                                                                                     \
  (i += upcr_threads(), w.local++,                                                                           \
   (sizeof(i) < sizeof(int) || (__typeof__(i))-1 > 0) && (uint64_t)i < upcr_threads()                        \
       ? (void)(w.origin = UINT64_MAX)                                                                       \
       : (void)0)

/* What the accesses of a walk go by (accesses.h). */
UPCR_INLINE upcri_here_t upcri_look_here(void) {
  const uint32_t thread = upcr_job.mythread;
  const upcri_here_t here = {upcr_job.heap_begin, upcr_job.reach[thread], upcr_job.heaps[thread], thread, 1};
  return here;
}

/* An element for an access: where it is, and, if it was found by what is known already, how far behind
 * heap_begin, with the reach and the heap of its thread. */
typedef struct upcri_place_t {
  upcr_shared_ptr_t pointer;
  uint64_t behind, reach;
  unsigned char* heap;
  int found;
} upcri_place_t;
UPCR_INLINE uint64_t upcri_origin(upcr_shared_ptr_t p) {
  return (uint64_t)p.phase << 32 | p.thread;
}
UPCRI_FAR __attribute__((pure)) upcr_shared_ptr_t upcri_not_found(upcr_shared_ptr_t p, size_t elemsz,
                                                                  ptrdiff_t inc, size_t block) {
  return upcr_add_shared(p, elemsz, inc, block);
}

/* p + inc + more inside a walk w, where inc is the index that the walk is over. */
#define UPCRI_WALKED(p, elemsz, inc, more, block, w)                                                         \
  upcri_walked((p), (elemsz), (inc), (more), (block), w.local, w.phase, w.origin, upcri_here)
UPCR_INLINE upcri_place_t upcri_walked(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc, ptrdiff_t more,
                                       size_t block, int64_t local, uint32_t phase, uint64_t origin,
                                       upcri_here_t here) {
  const uint64_t in_block = phase + (uint64_t)more;
  const int may_be_beyond = !__builtin_constant_p(more) || more != 0;
  if (__builtin_expect(upcri_origin(p) != origin, 0) ||
      __builtin_expect(may_be_beyond && in_block >= block, 0)) {
    const upcr_shared_ptr_t far =
        upcri_not_found(p, elemsz, (ptrdiff_t)((uint64_t)inc + (uint64_t)more), block);
    const upcri_place_t place = {far, 0, 0, NULL, 0};
    return place;
  }
  const uint64_t addr = p.addr + ((uint64_t)local + (uint64_t)more) * elemsz;
  const upcri_place_t place = {
      {addr, here.thread, (uint32_t)in_block}, addr - here.begin, here.reach, here.heap, 1};
  return place;
}

/* p + inc inside a walk, for any other inc, by the block that was the last one at this place of the text:
 * `length` elements from the index `first` on, of an array that began with `origin`. They lie in one row on
 * one thread: index 0 would be `row` behind the array's beginning. */
typedef struct upcri_block_t {
  uint64_t origin, length, row, reach;
  unsigned char* heap;
  int64_t first;
  uint32_t thread;
} upcri_block_t;
#define UPCRI_NO_BLOCK                                                                                       \
  { UINT64_MAX, 0, 0, 0, NULL, 0, 0 }
static __attribute__((noinline, pure, unused)) upcri_block_t
upcri_find_block(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc, size_t block) {
  const upcr_shared_ptr_t in = upcr_add_shared(p, elemsz, inc, block);
  const upcri_block_t found = {upcri_origin(p),
                               block,
                               in.addr - p.addr - (uint64_t)inc * elemsz,
                               upcr_job.reach[in.thread],
                               upcr_job.heaps[in.thread],
                               inc - (int64_t)in.phase,
                               in.thread};
  return found;
}
UPCR_INLINE upcri_place_t upcri_in_block(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc, size_t block,
                                         upcri_block_t* last, upcri_here_t here) {
  if (__builtin_expect(upcri_origin(p) != last->origin, 0) ||
      __builtin_expect((uint64_t)inc - (uint64_t)last->first >= last->length, 0))
    *last = upcri_find_block(p, elemsz, inc, block);
  const uint64_t addr = p.addr + last->row + (uint64_t)inc * elemsz;
  const upcri_place_t place = {{addr, last->thread, (uint32_t)((uint64_t)inc - (uint64_t)last->first)},
                               addr - here.begin,
                               last->reach,
                               last->heap,
                               1};
  return place;
}

/* The accesses of upcr_proxy.h to such elements. */
#define UPCRI_AT(place, offset, n, own, other)                                                               \
  ({                                                                                                         \
    const upcri_place_t upcri_found_at = (place);                                                            \
    const uint64_t upcri_behind_it = upcri_found_at.behind + (uint64_t)(offset);                             \
    __builtin_expect(upcri_found_at.found, 1) && (n) <= 8 &&                                                 \
            __builtin_expect(upcri_behind_it < upcri_found_at.reach, 1)                                      \
        ? (own)                                                                                              \
        : (other);                                                                                           \
  })
