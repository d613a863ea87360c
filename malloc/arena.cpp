// SPDX-License-Identifier: BSD-3-Clause
#include "malloc/arena.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <utility>

namespace weft::memory {

namespace {

class locked {
public:
  explicit locked(const arena& a) : arena_(a) { arena_.lock(); }
  ~locked() { arena_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

private:
  const arena& arena_;
};

// The calls of the system themselves: libraries that watch the C library's (UCX, MPIs) have locks, which
// another thread may hold at a fork.
constexpr int alone = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
void* pages_of_system(std::uint64_t bytes) {
  const long p = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, alone, -1, 0);
  return p == -1 ? nullptr : reinterpret_cast<void*>(p);
}
void give_back_pages(void* p, std::uint64_t bytes) {
  if (p != nullptr) syscall(SYS_munmap, p, bytes);
}
bool move_pages_to(std::byte* to, std::byte* from, std::uint64_t bytes) {
  return syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}
void take_away(std::byte* p, std::uint64_t bytes) {
  syscall(SYS_mmap, p, bytes, PROT_NONE, alone | MAP_FIXED, -1, 0);
}

constexpr std::uint64_t bits = 64;

} // namespace

bool arena::open(std::byte* begin, std::uint64_t bytes, std::uint64_t most_kept) {
  const locked here(*this);
  const std::uint64_t pages = bytes / page;
  if (pages == 0 || pages >= used) return false;
  entries_ = static_cast<entry*>(pages_of_system(pages * sizeof(entry)));
  dirty_ = static_cast<std::atomic<std::uint64_t>*>(pages_of_system((pages / bits + 1) * sizeof *dirty_));
  if (entries_ == nullptr || dirty_ == nullptr) return false;
  for (std::uint32_t& first : lists_)
    first = none;
  pages_ = static_cast<std::uint32_t>(pages);
  most_kept_ = most_kept == ~std::uint64_t{0} ? most_kept : most_kept / page;
  kept_ = 0;
  listed_[0] = listed_[1] = 0;
  counts_ = {};
  begin_.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_relaxed);
  bytes_.store(bytes, std::memory_order_release);
  make_run(0, pages_, 0);
  enlist(0);
  open_.store(true, std::memory_order_release);
  return true;
}

bool arena::close() {
  const locked here(*this);
  open_.store(false, std::memory_order_relaxed);
  if (counts_.live_bytes != 0) return false;
  bytes_.store(0, std::memory_order_relaxed);
  give_back_pages(std::exchange(entries_, nullptr), pages_ * sizeof(entry));
  give_back_pages(std::exchange(dirty_, nullptr), (pages_ / bits + 1) * sizeof *dirty_);
  return true;
}

void arena::unlock_in_child() {
  mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

unsigned arena::list_of(std::uint32_t pages) {
  const auto power = static_cast<unsigned>(std::bit_width(pages)) - 1;
  return power < 2 ? pages : power * 4 + ((pages >> (power - 2)) & 3);
}

void arena::make_run(std::uint32_t first, std::uint32_t pages, std::uint32_t use) {
  entries_[first].head = entries_[first + pages - 1].tail = pages | use;
}
void arena::erase_run(std::uint32_t first) {
  const std::uint32_t pages = entries_[first].head & ~used;
  entries_[first].head = entries_[first + pages - 1].tail = 0;
}

void arena::enlist(std::uint32_t first) {
  const unsigned k = list_of(entries_[first].head);
  entries_[first].prev = none;
  entries_[first].next = lists_[k];
  if (lists_[k] != none) entries_[lists_[k]].prev = first;
  lists_[k] = first;
  listed_[k / bits] |= std::uint64_t{1} << k % bits;
}
void arena::take_out(std::uint32_t first) {
  const unsigned k = list_of(entries_[first].head);
  const auto [head, tail, next, prev] = entries_[first];
  if (next != none) entries_[next].prev = prev;
  if (prev != none) {
    entries_[prev].next = next;
    return;
  }
  lists_[k] = next;
  if (next == none) listed_[k / bits] &= ~(std::uint64_t{1} << k % bits);
}

// A free run of so many pages or more. In its own list some are too short, so only the first few are looked
// at; in those behind it all are long enough.
std::uint32_t arena::find(std::uint32_t pages) const {
  unsigned k = list_of(pages), looks = 32;
  for (std::uint32_t run = lists_[k]; run != none && looks != 0; run = entries_[run].next, --looks)
    if (entries_[run].head >= pages) return run;
  for (++k; k < list_count; k = (k / bits + 1) * bits)
    if (const std::uint64_t longer = listed_[k / bits] >> k % bits; longer != 0)
      return lists_[k + static_cast<unsigned>(std::countr_zero(longer))];
  // The only ones that fit may be behind those first few.
  for (std::uint32_t run = lists_[list_of(pages)]; run != none; run = entries_[run].next)
    if (entries_[run].head >= pages) return run;
  return none;
}

std::uint64_t arena::not_clean(std::uint32_t first, std::uint32_t pages) const {
  std::uint64_t n = 0;
  for (std::uint32_t p = first; p != first + pages;) {
    if (p % bits == 0 && first + pages - p >= bits) {
      n += static_cast<std::uint64_t>(std::popcount(dirty_[p / bits].load(std::memory_order_relaxed)));
      p += bits;
    } else {
      n += !is_clean(p++);
    }
  }
  return n;
}
bool arena::is_clean(std::uint32_t p) const {
  return (dirty_[p / bits].load(std::memory_order_relaxed) >> p % bits & 1) == 0;
}
void arena::note(std::uint32_t first, std::uint32_t pages, bool clean) {
  for (std::uint32_t p = first; p != first + pages;) {
    const std::uint32_t here = p % bits, n = std::min<std::uint32_t>(bits - here, first + pages - p);
    const std::uint64_t some = (n == bits ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << here;
    std::atomic<std::uint64_t>& word = dirty_[p / bits];
    clean ? word.fetch_and(~some, std::memory_order_relaxed) : word.fetch_or(some, std::memory_order_relaxed);
    p += n;
  }
}

std::uint32_t arena::page_of(const void* p) const {
  const auto place = static_cast<std::uint64_t>(static_cast<const std::byte*>(p) - at(0));
  return place % page == 0 ? static_cast<std::uint32_t>(place / page) : none;
}
// 0 if there cannot be so many.
std::uint32_t arena::pages_for(std::uint64_t bytes) const {
  if (bytes > pages_ * page) return 0;
  return static_cast<std::uint32_t>(bytes == 0 ? 1 : (bytes + page - 1) / page);
}

void arena::count(std::int64_t pages) {
  counts_.live_bytes += static_cast<std::uint64_t>(pages) * page;
  counts_.most_bytes = std::max(counts_.most_bytes, counts_.live_bytes);
}

void* arena::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (!is_open()) return nullptr;
  const locked here(*this);
  const std::uint32_t pages = pages_for(bytes);
  const std::uint64_t more = alignment <= page ? 0 : alignment / page - 1;
  const bool possible = is_open() && pages != 0 && pages + more <= pages_;
  std::uint32_t run = possible ? find(pages + static_cast<std::uint32_t>(more)) : none;
  if (run == none) {
    ++counts_.refused;
    return nullptr;
  }
  take_out(run);
  const std::uint32_t all = entries_[run].head;
  erase_run(run);
  const auto address = reinterpret_cast<std::uintptr_t>(at(run));
  const std::uint64_t step = std::max(alignment, page);
  const auto before = static_cast<std::uint32_t>(((address + step - 1) / step * step - address) / page);
  const std::uint32_t first = run + before, behind = all - before - pages;
  if (before != 0) make_run(run, before, 0), enlist(run);
  make_run(first, pages, used);
  if (behind != 0) make_run(first + pages, behind, 0), enlist(first + pages);
  kept_ -= not_clean(first, pages);
  ++counts_.allocations;
  count(pages);
  return at(first);
}

void arena::clear(void* p, std::uint64_t bytes) const {
  std::uint32_t k = page_of(p);
  for (std::uint64_t done = 0; done < bytes; done += page, ++k)
    if (!is_clean(k)) std::memset(static_cast<std::byte*>(p) + done, 0, std::min(page, bytes - done));
}

std::uint64_t arena::usable(const void* p) const {
  const locked here(*this);
  const std::uint32_t first = page_of(p);
  if (first == none || (entries_[first].head & used) == 0) return 0;
  return (entries_[first].head & ~used) * page;
}

// Puts these pages, of no run now, among the free ones, together with free neighbours.
void arena::release(std::uint32_t first, std::uint32_t pages, bool clean) {
  note(first, pages, clean);
  if (!clean) kept_ += pages;
  if (first != 0 && entries_[first - 1].tail != 0 && (entries_[first - 1].tail & used) == 0) {
    const std::uint32_t n = entries_[first - 1].tail;
    take_out(first - n);
    erase_run(first - n);
    first -= n;
    pages += n;
  }
  const std::uint32_t next = first + pages;
  if (next != pages_ && (entries_[next].head & used) == 0) {
    const std::uint32_t n = entries_[next].head;
    take_out(next);
    erase_run(next);
    pages += n;
  }
  make_run(first, pages, 0);
  enlist(first);
}

// Pages go back to the system without the lock, and before others can have them: libraries that watch the
// call (UCX, MPIs) have locks of their own. The child of a fork has no shared memory to make holes in.
bool arena::free(void* p) {
  const std::uint32_t first = page_of(p);
  std::uint32_t pages = 0;
  bool too_many = false;
  {
    const locked here(*this);
    if (first == none || (entries_[first].head & used) == 0) return false;
    pages = entries_[first].head & ~used;
    too_many = shared_ && kept_ + pages > most_kept_;
    if (!too_many) {
      erase_run(first);
      count(-static_cast<std::int64_t>(pages));
      release(first, pages, false);
      return true;
    }
  }
  const bool gone = madvise(p, pages * page, MADV_REMOVE) == 0;
  const locked here(*this);
  erase_run(first);
  count(-static_cast<std::int64_t>(pages));
  release(first, pages, gone);
  return true;
}

bool arena::resize(void* p, std::uint64_t bytes) {
  const locked here(*this);
  const std::uint32_t first = page_of(p), wanted = pages_for(bytes);
  if (first == none || (entries_[first].head & used) == 0 || wanted == 0) return false;
  const std::uint32_t pages = entries_[first].head & ~used;
  if (wanted < pages) {
    erase_run(first);
    make_run(first, wanted, used);
    count(static_cast<std::int64_t>(wanted) - pages);
    release(first + wanted, pages - wanted, false);
  }
  if (wanted <= pages) return true;
  const std::uint32_t next = first + pages, more = wanted - pages;
  if (!is_open() || next == pages_ || (entries_[next].head & used) != 0 || entries_[next].head < more)
    return false;
  const std::uint32_t rest = entries_[next].head - more;
  take_out(next);
  erase_run(next);
  erase_run(first);
  make_run(first, wanted, used);
  if (rest != 0) make_run(next + more, rest, 0), enlist(next + more);
  kept_ -= not_clean(next, more);
  count(more);
  return true;
}

arena::counts arena::look() const {
  const locked here(*this);
  return counts_;
}

// What is allocated one behind the other. A page that no process has touched is not touched here either:
// mincore() says which there are, if the system has no other place for them.
void arena::copy() {
  copied_ = counts_.live_bytes;
  copy_ = nullptr;
  if (copied_ == 0 || !shared_) return;
  copy_ = static_cast<std::byte*>(pages_of_system(copied_));
  if (copy_ == nullptr) return;
  struct sysinfo system {};
  const bool tells = sysinfo(&system) == 0 && system.totalswap == 0;
  unsigned char there[256];
  std::byte* to = copy_;
  for (std::uint32_t run = 0; run != pages_; run += entries_[run].head & ~used) {
    if ((entries_[run].head & used) == 0) continue;
    const std::uint32_t end = run + (entries_[run].head & ~used);
    for (std::uint32_t p = run; p < end; p += sizeof there) {
      const std::uint32_t n = std::min<std::uint32_t>(sizeof there, end - p);
      const bool known = tells && mincore(at(p), n * page, there) == 0;
      for (std::uint32_t k = 0; k != n; ++k, to += page)
        if (!known || (there[k] & 1) != 0) std::memcpy(to, at(p + k), page);
    }
  }
}

void arena::forget_copy() {
  give_back_pages(std::exchange(copy_, nullptr), copied_);
}

bool arena::become_private() {
  open_.store(false, std::memory_order_relaxed);
  if (!shared_) return true;
  shared_ = false;
  bool went_well = copied_ == 0 || copy_ != nullptr;
  std::byte* from = copy_;
  for (std::uint32_t run = 0; run != pages_; run += entries_[run].head & ~used) {
    const std::uint64_t bytes = (entries_[run].head & ~used) * page;
    if ((entries_[run].head & used) != 0 && from != nullptr) {
      went_well &= move_pages_to(at(run), from, bytes);
      from += bytes;
    } else {
      take_away(at(run), bytes);
    }
  }
  copy_ = nullptr;
  return went_well;
}

} // namespace weft::memory
