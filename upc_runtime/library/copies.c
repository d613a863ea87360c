// SPDX-License-Identifier: BSD-3-Clause
/* Copies that go on by themselves: handles, the implicit ones, and regions of them. */
#include "upc_runtime/library/internal.h"

#include <stdlib.h>

/* The handle of a region that had more than one copy under way at its end: its number, counted down from the
 * largest value. Weft's own count up from 1. */
enum { max_regions = 4096 };
static upcri_region_t regions[max_regions], region;

static upcri_region_t* region_of(upcr_handle_t handle) {
  const uint64_t number = UINT64_MAX - handle;
  return number < max_regions && regions[number].handles != NULL ? &regions[number] : NULL;
}

static void release(upcri_region_t* done) {
  free(done->handles);
  done->handles = NULL;
  done->count = done->room = 0;
}

void upcr_wait_syncnb(upcr_handle_t handle) {
  upcri_region_t* const several = region_of(handle);
  if (several == NULL) {
    upc_sync(handle);
    return;
  }
  for (size_t i = 0; i != several->count; ++i)
    upc_sync(several->handles[i]);
  release(several);
}

int upcr_try_syncnb(upcr_handle_t handle) {
  upcri_region_t* const several = region_of(handle);
  if (several == NULL) return upc_sync_attempt(handle) != 0;
  while (several->count != 0 && upc_sync_attempt(several->handles[several->count - 1]))
    --several->count;
  if (several->count != 0) return 0;
  release(several);
  return 1;
}

void upcr_wait_syncnb_strict(upcr_handle_t handle) {
  upcr_wait_syncnb(handle);
  weft_fence();
}

int upcr_try_syncnb_strict(upcr_handle_t handle) {
  const int complete = upcr_try_syncnb(handle);
  weft_fence();
  return complete;
}

void upcr_wait_syncnb_all(upcr_handle_t* handles, size_t count) {
  for (size_t i = 0; i != count; ++i) {
    upcr_wait_syncnb(handles[i]);
    handles[i] = UPCR_INVALID_HANDLE;
  }
}

/* How many of them were pending; those that are complete by now are set. */
static size_t look(upcr_handle_t* handles, size_t count, size_t* completed) {
  size_t pending = 0;
  *completed = 0;
  for (size_t i = 0; i != count; ++i) {
    if (handles[i] == UPCR_INVALID_HANDLE) continue;
    ++pending;
    if (!upcr_try_syncnb(handles[i])) continue;
    handles[i] = UPCR_INVALID_HANDLE;
    ++*completed;
  }
  return pending;
}

int upcr_try_syncnb_all(upcr_handle_t* handles, size_t count) {
  size_t completed = 0;
  return look(handles, count, &completed) == completed;
}

int upcr_try_syncnb_some(upcr_handle_t* handles, size_t count) {
  size_t completed = 0;
  return look(handles, count, &completed) == 0 || completed != 0;
}

void upcr_wait_syncnb_some(upcr_handle_t* handles, size_t count) {
  while (!upcr_try_syncnb_some(handles, count))
    continue;
}

/* A copy that a region has begun belongs to the region's handle. */
static void keep(upcr_handle_t handle) {
  if (handle == UPCR_INVALID_HANDLE) return;
  if (region.count == region.room) {
    const size_t room = region.room == 0 ? 16 : 2 * region.room;
    upcr_handle_t* const larger = upcri_memory(room * sizeof *larger);
    if (region.count != 0) memcpy(larger, region.handles, region.count * sizeof *larger);
    free(region.handles);
    region.handles = larger;
    region.room = room;
  }
  region.handles[region.count++] = handle;
}

void upcr_nbi_memget(void* dst, upcr_shared_ptr_t src, size_t nbytes) {
  if (region.is_open)
    keep(upc_memget_nb(dst, src, nbytes));
  else
    upc_memget_nbi(dst, src, nbytes);
}
void upcr_nbi_memput(upcr_shared_ptr_t dst, const void* src, size_t nbytes) {
  if (region.is_open)
    keep(upc_memput_nb(dst, src, nbytes));
  else
    upc_memput_nbi(dst, src, nbytes);
}
void upcr_nbi_memcpy(upcr_shared_ptr_t dst, upcr_shared_ptr_t src, size_t nbytes) {
  if (region.is_open)
    keep(upc_memcpy_nb(dst, src, nbytes));
  else
    upc_memcpy_nbi(dst, src, nbytes);
}
void upcr_nbi_memset(upcr_shared_ptr_t dst, int c, size_t nbytes) {
  if (region.is_open)
    keep(upc_memset_nb(dst, c, nbytes));
  else
    upc_memset_nbi(dst, c, nbytes);
}

void upcr_begin_nbi_accessregion(void) {
  if (region.is_open) {
    upcri_fail("upcr_begin_nbi_accessregion", "", "is called in a region: end that one first", "%s", "");
    return;
  }
  region.is_open = 1;
}

upcr_handle_t upcr_end_nbi_accessregion(void) {
  if (!region.is_open) {
    upcri_fail("upcr_end_nbi_accessregion", "", "there is no region: begin one first", "%s", "");
    return UPCR_INVALID_HANDLE;
  }
  region.is_open = 0;
  if (region.count == 0) return UPCR_INVALID_HANDLE;
  for (uint64_t number = 0; number != max_regions && region.count != 1; ++number)
    if (regions[number].handles == NULL) {
      regions[number] = region;
      region.handles = NULL;
      region.count = region.room = 0;
      return UINT64_MAX - number;
    }
  /* One copy, or more regions than there are numbers for. */
  for (size_t i = 1; i < region.count; ++i)
    upc_sync(region.handles[i]);
  region.count = 0;
  return region.handles[0];
}

void upcri_begin_region(upcri_region_t* outer) {
  const upcri_region_t inner = {NULL, 0, 0, 1};
  *outer = region;
  region = inner;
}

upcr_handle_t upcri_end_region(const upcri_region_t* outer) {
  const upcr_handle_t handle = upcr_end_nbi_accessregion();
  free(region.handles);
  region = *outer;
  return handle;
}

/* Gets and puts have one implicit handle. */
void upcr_wait_syncnbi_all(void) {
  upc_synci();
}
void upcr_wait_syncnbi_gets(void) {
  upc_synci();
}
void upcr_wait_syncnbi_puts(void) {
  upc_synci();
}
int upcr_try_syncnbi_all(void) {
  return upc_synci_attempt() != 0;
}
int upcr_try_syncnbi_gets(void) {
  return upcr_try_syncnbi_all();
}
int upcr_try_syncnbi_puts(void) {
  return upcr_try_syncnbi_all();
}

/* Where a value arrives. They are used again. */
struct upcr_value_on_its_way {
  upcr_register_value_t value;
  size_t nbytes;
  upcr_handle_t handle;
  struct upcr_value_on_its_way* next;
};
static upcr_valget_handle_t unused;

upcr_valget_handle_t upcri_begin_value(upcr_shared_ptr_t src, size_t nbytes) {
  upcr_valget_handle_t at = unused;
  if (at != NULL)
    unused = at->next;
  else
    at = upcri_memory(sizeof *at);
  at->value = 0;
  at->nbytes = nbytes;
  void* const place = (void*)upcri_low(&at->value, nbytes);
  const uint64_t behind = upcri_behind(src, 0);
  at->handle = UPCR_INVALID_HANDLE;
  if (nbytes <= 8 && upcri_is_near(src.thread, behind))
    upcri_load(place, upcr_job.heaps[src.thread] + behind, nbytes);
  else
    at->handle = upc_memget_nb(place, src, nbytes);
  return at;
}

upcr_register_value_t upcr_wait_syncnb_valget(upcr_valget_handle_t value) {
  if (value->handle != UPCR_INVALID_HANDLE) upc_sync(value->handle);
  value->next = unused;
  unused = value;
  return value->value;
}
