// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <type_traits>

namespace weft::engine {

// An entry for each rank, of which most are never looked at: a rank that has messages for few others has
// memory for few. The memory comes as zeros, and a page of it is taken when an entry on it is first written.
// So an entry whose bytes are all zero must be one that nothing has happened to, as its default constructor
// makes it: say so beside the type, by `is_made_of_zeros`.
template <class Entry> class zeroed_table {
public:
  explicit zeroed_table(std::size_t size) : entries_(take(bytes_of(size))), size_(size) {
    static_assert(Entry::is_made_of_zeros);
  }
  ~zeroed_table() {
    if constexpr (!std::is_trivially_destructible_v<Entry>)
      for (Entry& e : *this)
        e.~Entry();
    if (is_large(bytes_of(size_)))
      munmap(static_cast<void*>(entries_), bytes_of(size_));
    else
      std::free(static_cast<void*>(entries_));
  }
  zeroed_table(const zeroed_table&) = delete;
  zeroed_table& operator=(const zeroed_table&) = delete;

  [[gnu::always_inline]] Entry& operator[](std::size_t k) noexcept { return entries_[k]; }
  [[gnu::always_inline]] const Entry& operator[](std::size_t k) const noexcept { return entries_[k]; }
  std::size_t size() const noexcept { return size_; }
  Entry* begin() noexcept { return entries_; }
  Entry* end() noexcept { return entries_ + size_; }
  std::size_t index(const Entry& e) const noexcept { return static_cast<std::size_t>(&e - entries_); }

private:
  static std::size_t bytes_of(std::size_t size) { return (size == 0 ? 1 : size) * sizeof(Entry); }
  // Of the system: what malloc has had before it clears, and so takes, at once. Small teams are many, and
  // what they take is little.
  static bool is_large(std::size_t bytes) { return bytes >= std::size_t{64} << 10; }
  static Entry* take(std::size_t bytes) {
    void* memory = nullptr;
    if (is_large(bytes)) {
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
    } else if (memory = std::calloc(1, bytes); memory == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<Entry*>(memory);
  }

  Entry* entries_;
  std::size_t size_;
};

} // namespace weft::engine
