// SPDX-License-Identifier: BSD-3-Clause
// libweft-malloc: loaded in front of the C library, it takes the place of malloc() and its family. Large
// allocations that a program makes while the library runs lie in the rank's part of the shared segment, where
// other ranks reach them; all else is the next allocator's, as before.
//
// libweft finds weft_malloc_begin() and weft_malloc_end() by name, so neither library needs the other. A
// segment stays known until its memory goes, which it does not while something is allocated there.
//
// Which allocator a pointer is from is told by its address alone. The table of segments only grows, and a
// place in it is used again when its segment has gone.
#include "malloc/arena.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#define WEFT_SHOWN extern "C" [[gnu::visibility("default")]]

namespace {

using weft::memory::arena;

constexpr std::size_t most_arenas = 16;
constinit arena arenas[most_arenas];
std::atomic<std::size_t> number{0};
std::atomic<arena*> newest{nullptr}; // for allocations
std::atomic<std::size_t> least{~std::size_t{0}};
pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
// From this thread's fork() on, until it has returned: nothing is allocated here or given back meanwhile.
thread_local constinit bool in_fork [[gnu::tls_model("initial-exec")]] = false;

// The next allocator, found at the first call. What dlsym() asks for meanwhile comes out of a small store,
// and stays there.
struct next_allocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  std::size_t (*usable)(void*);
} next;
std::atomic<bool> found{false};
thread_local constinit bool looking [[gnu::tls_model("initial-exec")]] = false;

alignas(16) std::byte store[64 << 10];
std::atomic<std::size_t> stored{0};
constexpr std::size_t front = 16; // of each piece: its size
void* from_store(std::size_t bytes) {
  const std::size_t all = front + (bytes + 15) / 16 * 16;
  const std::size_t at = stored.fetch_add(all, std::memory_order_relaxed);
  if (bytes > sizeof store || at + all > sizeof store) return nullptr;
  std::memcpy(store + at, &bytes, sizeof bytes);
  return store + at + front;
}
bool is_stored(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(store) < sizeof store;
}
std::size_t size_stored(const void* p) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const std::byte*>(p) - front, sizeof bytes);
  return bytes;
}

template <class F> void look_for(F*& f, const char* name) {
  f = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
[[gnu::cold, gnu::noinline]] bool find_next() {
  if (looking) return false;
  looking = true;
  next_allocator n{};
  look_for(n.malloc, "malloc");
  look_for(n.calloc, "calloc");
  look_for(n.realloc, "realloc");
  look_for(n.free, "free");
  look_for(n.posix_memalign, "posix_memalign");
  look_for(n.usable, "malloc_usable_size");
  static std::atomic_flag taken;
  if (!taken.test_and_set(std::memory_order_acquire)) {
    next = n;
    found.store(true, std::memory_order_release);
  }
  while (!found.load(std::memory_order_acquire))
    ;
  looking = false;
  return true;
}
bool has_next() {
  return found.load(std::memory_order_acquire) || find_next();
}

[[noreturn, gnu::cold]] void end(const char* call, const void* p) {
  char text[160] = "weft: ", digits[20];
  std::size_t n = 0;
  for (auto rest = reinterpret_cast<std::uintptr_t>(p); n == 0 || rest != 0; rest /= 16)
    digits[n++] = "0123456789abcdef"[rest % 16];
  std::strncat(text, call, 20);
  char* to = stpcpy(text + std::strlen(text), ": ptr = 0x");
  while (n != 0)
    *to++ = digits[--n];
  stpcpy(to, ": no allocation begins there, or it was freed before: pass what malloc returned, once\n");
  static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
  std::abort();
}

// The segment that a pointer leads into.
arena* arena_of(const void* p) {
  for (std::size_t k = number.load(std::memory_order_acquire); k != 0; --k)
    if (arenas[k - 1].holds(p)) return &arenas[k - 1];
  return nullptr;
}

void* large(std::size_t bytes, std::size_t alignment) {
  if (bytes < least.load(std::memory_order_relaxed) || in_fork) [[likely]]
    return nullptr;
  arena* const in = newest.load(std::memory_order_acquire);
  return in == nullptr ? nullptr : in->allocate(bytes, alignment);
}

void before_fork() {
  for (std::size_t k = 0; k != number.load(std::memory_order_acquire); ++k) {
    arenas[k].lock();
    arenas[k].copy();
  }
  in_fork = true;
}
void in_parent() {
  in_fork = false;
  for (std::size_t k = number.load(std::memory_order_acquire); k-- != 0;) {
    arenas[k].forget_copy();
    arenas[k].unlock();
  }
}
void in_child() {
  in_fork = false;
  least.store(~std::size_t{0}, std::memory_order_relaxed);
  for (std::size_t k = number.load(std::memory_order_acquire); k-- != 0;) {
    const bool went_well = arenas[k].become_private();
    arenas[k].unlock_in_child();
    constexpr char text[] =
        "weft: fork: no memory for a copy of what is allocated in the shared segment: the "
        "child has none of it\n";
    if (!went_well) static_cast<void>(!write(STDERR_FILENO, text, sizeof text - 1));
  }
}

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(before_fork, in_parent, in_child);
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  if (void* const p = large(bytes, alignment)) return p;
  void* p = nullptr;
  if (!has_next()) return nullptr;
  const int error = next.posix_memalign(&p, std::max(alignment, sizeof(void*)), bytes);
  if (error != 0) errno = error;
  return error == 0 ? p : nullptr;
}
bool is_power(std::size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

} // namespace

// Large allocations are to lie in this memory of zeros from now on. False if there is no room in the table.
WEFT_SHOWN bool weft_malloc_begin(void* memory, std::size_t bytes, std::size_t from, std::size_t most_kept) {
  pthread_mutex_lock(&beginning);
  const std::size_t all = number.load(std::memory_order_relaxed);
  std::size_t k = 0;
  while (k != all && !arenas[k].is_gone())
    ++k;
  const bool there = k != most_arenas && arenas[k].open(static_cast<std::byte*>(memory), bytes, most_kept);
  if (there) {
    number.store(std::max(all, k + 1), std::memory_order_release);
    newest.store(&arenas[k], std::memory_order_release);
    least.store(from, std::memory_order_relaxed);
  }
  pthread_mutex_unlock(&beginning);
  return there;
}

// No more of them. True if nothing is allocated there: then the memory may go, and what comes to lie at its
// addresses later is the next allocator's.
WEFT_SHOWN bool weft_malloc_end(void* memory) {
  arena* const a = arena_of(memory);
  if (a == nullptr) return true;
  pthread_mutex_lock(&beginning);
  least.store(~std::size_t{0}, std::memory_order_relaxed);
  newest.store(nullptr, std::memory_order_relaxed);
  const bool gone = a->close();
  pthread_mutex_unlock(&beginning);
  return gone;
}

WEFT_SHOWN void weft_malloc_counts(void* memory, std::uint64_t* four) {
  const arena* const a = arena_of(memory);
  const arena::counts c = a == nullptr ? arena::counts{} : a->look();
  const std::uint64_t all[] = {c.allocations, c.live_bytes, c.most_bytes, c.refused};
  std::memcpy(four, all, sizeof all);
}

WEFT_SHOWN void* malloc(std::size_t bytes) {
  if (void* const p = large(bytes, 1)) return p;
  return has_next() ? next.malloc(bytes) : from_store(bytes);
}

WEFT_SHOWN void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (void* const p = large(bytes, 1)) {
    arena_of(p)->clear(p, bytes);
    return p;
  }
  return has_next() ? next.calloc(count, size) : from_store(bytes);
}

WEFT_SHOWN void free(void* p) {
  if (arena* const a = arena_of(p)) {
    if (in_fork) return;
    const int before = errno;
    if (!a->free(p)) end("free", p);
    errno = before;
    return;
  }
  if (is_stored(p) || !has_next()) return;
  next.free(p);
}

WEFT_SHOWN std::size_t malloc_usable_size(void* p) {
  if (arena* const a = arena_of(p)) return a->usable(p);
  if (is_stored(p)) return size_stored(p);
  return p != nullptr && has_next() ? next.usable(p) : 0;
}

// Across the border an allocation moves: what becomes small goes to the next allocator, what becomes large
// comes here.
WEFT_SHOWN void* realloc(void* p, std::size_t bytes) {
  if (p == nullptr) return malloc(bytes);
  arena* const a = arena_of(p);
  const bool to_large = bytes >= least.load(std::memory_order_relaxed) && !in_fork;
  if (a == nullptr && !is_stored(p) && !to_large) return has_next() ? next.realloc(p, bytes) : nullptr;
  const std::size_t had = malloc_usable_size(p);
  if (a != nullptr && had == 0) end("realloc", p);
  if (bytes == 0) {
    free(p);
    return nullptr;
  }
  const bool stays = a != nullptr && !in_fork && (to_large || (!a->is_open() && bytes > arena::page));
  if (stays && a->resize(p, bytes)) return p;
  void* to = nullptr;
  if (a == nullptr && to_large) {
    to = large(bytes, 1);
    if (to == nullptr && !is_stored(p)) return next.realloc(p, bytes); // there is no room here
  } else {
    to = malloc(bytes);
  }
  if (to == nullptr) return nullptr;
  std::memcpy(to, p, std::min(had, bytes));
  free(p);
  return to;
}

WEFT_SHOWN void* reallocarray(void* p, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(p, bytes);
  errno = ENOMEM;
  return nullptr;
}

WEFT_SHOWN int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  if (!is_power(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int before = errno;
  void* const p = aligned(alignment, bytes);
  errno = before;
  if (p == nullptr) return ENOMEM;
  *to = p;
  return 0;
}

WEFT_SHOWN void* memalign(std::size_t alignment, std::size_t bytes) {
  std::size_t power = sizeof(void*);
  while (power < alignment)
    if (__builtin_mul_overflow(power, std::size_t{2}, &power)) {
      errno = EINVAL;
      return nullptr;
    }
  return aligned(power, bytes);
}

WEFT_SHOWN void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (is_power(alignment)) return aligned(alignment, bytes);
  errno = EINVAL;
  return nullptr;
}

WEFT_SHOWN void* valloc(std::size_t bytes) {
  return aligned(arena::page, bytes);
}
WEFT_SHOWN void* pvalloc(std::size_t bytes) {
  return aligned(arena::page, (bytes + arena::page - 1) / arena::page * arena::page);
}
