// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "accesses.h"

/* What weftcc makes of upc_forall: a walk of the thread from one iteration of its own to the next. The text
 * of a translator goes over all iterations, and tests each.
 *
 *   upcri_walk_t w = UPCRI_WALK_PLACES(i, lo, <, end, place, elemsz, block, base), which sets i;
 *   for (; UPCRI_WALK_IN(w, i) || UPCRI_WALK_ON(w, i, <, end, test); i += w.step, w.local++) body
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
  int64_t first;              /* the thread's first iteration, or `behind` */
  int64_t stop, step;         /* this run of own iterations ends before `stop`, and goes in steps of `step` */
  int64_t run, apart, length; /* it began at `run`; the next one begins so far behind it, and is so long */
  int64_t behind;             /* what i is behind the loop */
  /* An array that begins as `base` does, in its thread and phase, has the element of index scale * i + c as
   * the thread's own one `local`, counted from the array's beginning; `origin` is no thread and phase unless
   * scale is 1. Iterations of one thread lie behind one another in its memory then. */
  int64_t local;
  uint64_t origin;
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
    upcri_range_t range_ = {(int64_t)(i = (lo_)), 0, UPCRI_WALK_LARGEST(i), !(i less(end)), 1};              \
    range_.last = range_.is_empty ? range_.lo : (int64_t)(__typeof__(i + (end)))(end) - !(0 less 0);         \
    range_.bounded = (__typeof__(end))1 / 2 == 0 && range_.lo <= range_.last &&                              \
                     range_.last <= range_.largest && ((__typeof__(i))-1 < 1 || range_.lo >= 0) &&           \
                     (int64_t)(__typeof__(i + (end)))range_.lo == range_.lo;                                 \
    range_;                                                                                                  \
  })
#define UPCRI_WALK(i, lo_, less, end, place, walk)                                                           \
  ({                                                                                                         \
    const upcri_range_t range = UPCRI_WALK_RANGE(i, lo_, less, end);                                         \
    const __typeof__(place) at_lo = (place);                                                                 \
    i = (__typeof__(i))(range.lo + (range.lo < range.last));                                                 \
    const __typeof__(place) next = (place);                                                                  \
    i = (__typeof__(i))range.last;                                                                           \
    const __typeof__(place) at_last = (place);                                                               \
    const upcri_walk_t found = walk;                                                                         \
    i = (__typeof__(i))found.first;                                                                          \
    found;                                                                                                   \
  })
#define UPCRI_WALK_PLACES(i, lo_, less, end, place, elemsz, block, base)                                     \
  UPCRI_WALK(i, lo_, less, end, place, upcri_walk_places(range, base, at_lo, next, at_last, elemsz, block))
#define UPCRI_WALK_NUMBERS(i, lo_, less, end, number, block)                                                 \
  UPCRI_WALK(i, lo_, less, end, number,                                                                      \
             upcri_walk_numbers(range, (int64_t)at_lo, (int64_t)next, (int64_t)at_last, (int64_t)(block)))

/* A number that becomes an int32_t: left to `each` where it is another one there. */
#define UPCRI_WALK_INT32(number) ((int64_t)(number) > INT32_MAX ? INT64_C(-1) : (int64_t)(number))

/* Behind a run: to the next one, else i is what it is behind the loop, and the result 0. */
#define UPCRI_WALK_ON(w, i, less, end, test)                                                                 \
  ({                                                                                                         \
    if (__builtin_expect(w.each, 0)) {                                                                       \
      while (__builtin_expect(i less(end) && !(test), 0))                                                    \
        i++;                                                                                                 \
      w.behind = (int64_t)i + (i less(end) ? 1 : 0);                                                         \
    } else if (w.behind - w.run > w.apart) {                                                                 \
      w.run += w.apart;                                                                                      \
      i = (__typeof__(i))w.run;                                                                              \
    } else {                                                                                                 \
      i = (__typeof__(i))w.behind;                                                                           \
    }                                                                                                        \
    w.stop = w.behind - w.run > w.length && !w.each ? w.run + w.length : w.behind;                           \
    i < w.stop;                                                                                              \
  })

/* Whether i is in the run. */
#define UPCRI_WALK_IN(w, i) __builtin_expect(i < w.stop, 1)

/* The step of a loop by hand, from MYTHREAD on, in which an array of blocks of 1 has element i as the own one
 * w.local. A variable that may wrap around, to below THREADS, has none from there on. */
#define UPCRI_TURN(w, i)                                                                                     \
  (i += upcr_threads(), w.local++,                                                                           \
   (sizeof(i) < sizeof(int) || (__typeof__(i))-1 > 0) && (uint64_t)i < upcr_threads()                        \
       ? (void)(w.origin = UINT64_MAX)                                                                       \
       : (void)0)

/* p + inc inside a walk, where inc is the index that the walk is over. */
UPCRI_FAR upcr_shared_ptr_t upcri_not_walked(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc,
                                             size_t block) {
  return upcr_add_shared(p, elemsz, inc, block);
}
UPCR_INLINE upcr_shared_ptr_t upcri_walked(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc, size_t block,
                                           int64_t local, uint64_t origin) {
  if (__builtin_expect(((uint64_t)p.phase << 32 | p.thread) != origin, 0))
    return upcri_not_walked(p, elemsz, inc, block);
  const int64_t size = (int64_t)block;
  const upcr_shared_ptr_t own = {p.addr + (uint64_t)local * elemsz, upcr_job.mythread,
                                 (uint32_t)(size == 1 ? 0 : (((int64_t)p.phase + inc) % size + size) % size)};
  return own;
}
