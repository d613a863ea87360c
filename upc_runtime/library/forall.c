// SPDX-License-Identifier: BSD-3-Clause
/* Which iterations of upc_forall are a thread's own. */
#include "upc_runtime/include/upcr/forall.h"
#include "upc_runtime/library/internal.h"

#include <limits.h>

int upcrt_gcd(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

static int64_t modulo(int64_t a, int64_t n) {
  return (a % n + n) % n;
}

/* The first k >= 0 with k * scale = distance modulo THREADS, or -1; the next ones are `period` apart. Of
 * scale and THREADS, Euclid's algorithm keeps rest = inverse * scale modulo THREADS, until rest is their
 * greatest common divisor: the first k is distance / divisor * inverse modulo THREADS / divisor. */
static int64_t first_of(int64_t scale, int64_t distance, int64_t* period) {
  const int64_t threads = upcr_job.threads;
  int64_t rest = modulo(scale, threads), divisor = threads, inverse = 1, inverse_before = 0;
  distance = modulo(distance, threads);
  while (rest != 0) {
    const int64_t times = divisor / rest, next = divisor % rest;
    const int64_t inverse_next = inverse_before - times * inverse;
    divisor = rest, rest = next;
    inverse_before = inverse, inverse = inverse_next;
  }
  *period = threads / divisor;
  return distance % divisor != 0 ? -1 : modulo(distance / divisor * (inverse_before % *period), *period);
}

int upcrt_forall_start(int start_thread, int step, int lo, int scale) {
  int64_t period = 0;
  const int64_t k = first_of((int64_t)step * scale, (int64_t)upcr_job.mythread - start_thread, &period);
  if (k < 0) return step > 0 ? INT_MAX : INT_MIN;
  const int64_t found = lo + k * step;
  return (int)(found > INT_MAX ? INT_MAX : found < INT_MIN ? INT_MIN : found);
}

/* So far numbers may be sums of a few of one another. */
enum { wide_bits = 60 };
static int is_wide(int64_t n) {
  return n >> wide_bits != 0 && n >> wide_bits != -1;
}
static int is_size(size_t block) {
  return block <= ((size_t)1 << wide_bits) / upcr_job.threads;
}
static const uint64_t no_origin = UINT64_MAX;

/* `place` is that of lo in the blocks of all threads, from 0 to block * THREADS - 1; it moves on by `scale`.
 */
static upcri_walk_t walk(const upcri_range_t* range, int64_t place, int64_t scale, size_t block) {
  const int64_t size = block != 0 ? (int64_t)block : 1, threads = upcr_job.threads, all = size * threads;
  const int64_t behind = range->last + 1;
  upcri_walk_t w = {.first = behind,
                    .stop = behind,
                    .step = 1,
                    .behind = behind,
                    .last = INT64_MIN,
                    .origin = no_origin,
                    .once = 1};
  if (scale % size == 0) {
    /* Each iteration begins a block: the thread's own ones are a fixed number apart. */
    const int64_t k =
        first_of(block != 0 ? scale / size : 0, (int64_t)upcr_job.mythread - place / size, &w.step);
    w.each = range->last > range->largest - w.step;
    if (k >= 0 && k <= range->last - range->lo) w.first = range->lo + k;
    w.moves = scale * w.step / threads;
  } else if (all % scale != 0 || range->last == range->largest) {
    w.each = 1;
  } else {
    /* A run through each own block. `ahead` is how far lo is behind the block's end at which runs begin. */
    const int64_t by = scale > 0 ? scale : -scale, own = (int64_t)upcr_job.mythread * size;
    const int64_t ahead = scale > 0 ? modulo(place - own, all) : modulo(own + size - 1 - place, all);
    const int64_t to_block = (all - ahead + by - 1) / by; /* if lo is outside the block */
    const int64_t begins = ahead < size ? ahead % by : to_block * by - (all - ahead);
    const int64_t length = begins < size ? (size - begins + by - 1) / by : 0;
    const int64_t run = range->lo + (ahead < size ? -(ahead / by) : to_block);
    const int64_t first = run > range->lo ? run : range->lo;
    if (first <= range->last && length != 0) {
      w.first = first;
      w.stop = run + length < behind ? run + length : behind;
      w.apart = all / by;
      w.gap = w.apart - length;
      w.last = behind - w.gap;
      w.moves = scale;
      w.turns = (uint32_t)scale;
      /* Runs begin at one place of their blocks. */
      w.local_gap = (scale > 0 ? size : -size) - length * scale;
      w.phase_gap = (uint32_t)(-length * scale);
    }
  }
  if (w.each) w.first = w.stop = w.behind = range->lo, w.step = 1;
  return w;
}

static upcri_walk_t without_own(const upcri_range_t* range, int each) {
  const upcri_walk_t w = {.first = range->lo,
                          .stop = range->lo,
                          .step = 1,
                          .behind = range->lo,
                          .last = INT64_MIN,
                          .origin = no_origin,
                          .each = each,
                          .once = 1};
  return w;
}
static int is_regular(const upcri_range_t* range, int64_t scale, int64_t in_all) {
  int64_t expected = 0;
  return range->bounded && !is_wide(range->lo) && !is_wide(range->last) && !is_wide(scale) &&
         !is_wide(in_all) && !__builtin_mul_overflow(scale, range->last - range->lo, &expected) &&
         expected == in_all;
}

upcri_walk_t upcri_walk_places(upcri_range_t range, upcr_shared_ptr_t base, upcr_shared_ptr_t at_lo,
                               upcr_shared_ptr_t next, upcr_shared_ptr_t at_last, size_t elemsz,
                               size_t block) {
  if (range.is_empty) return without_own(&range, 0);
  if (block == 0) return is_regular(&range, 0, 0) ? walk(&range, at_lo.thread, 0, 0) : without_own(&range, 1);
  if (!is_size(block) || is_wide((int64_t)(at_lo.addr - base.addr))) return without_own(&range, 1);
  const int64_t scale = upcr_sub_shared(next, at_lo, elemsz, block);
  const int64_t in_all = upcr_sub_shared(at_last, at_lo, elemsz, block);
  const upcr_shared_ptr_t last = upcr_add_shared(at_lo, elemsz, in_all, block);
  if (!is_regular(&range, scale, in_all) || !upcr_isequal_shared_shared(last, at_last))
    return without_own(&range, 1);
  upcri_walk_t w = walk(&range, (int64_t)(at_lo.thread * block + at_lo.phase), scale, block);
  if (w.each || w.first == w.behind) return w;
  const upcr_shared_ptr_t first = upcr_add_shared(at_lo, elemsz, (w.first - range.lo) * scale, block);
  w.local = (int64_t)(first.addr - base.addr) / (int64_t)elemsz;
  w.phase = first.phase;
  w.origin = upcri_origin(base);
  return w;
}

upcri_walk_t upcri_walk_numbers(upcri_range_t range, int64_t at_lo, int64_t next, int64_t at_last,
                                int64_t block) {
  if (range.is_empty) return without_own(&range, 0);
  if (at_lo < 0 || at_last < 0 || block <= 0 || !is_size((size_t)block) ||
      !is_regular(&range, next - at_lo, at_last - at_lo) || is_wide(at_lo))
    return without_own(&range, 1);
  upcri_walk_t w = walk(&range, at_lo % (block * (int64_t)upcr_job.threads), next - at_lo, (size_t)block);
  if (block != 1 || w.each || w.first == w.behind) return w;
  w.local = (at_lo + (w.first - range.lo) * (next - at_lo)) / (int64_t)upcr_job.threads;
  w.origin = 0;
  return w;
}
