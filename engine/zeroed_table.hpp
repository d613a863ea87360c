#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace weft::engine {

// An entry for each rank, of which most are never looked at: a rank that has messages for few others has
// memory for few. The memory comes as zeros, and a page of it is taken when an entry on it is first written.
// So an entry whose bytes are all zero must be one that nothing has happened to, as its default constructor
// makes it: say so beside the type, by `is_made_of_zeros`.
template <class Entry> class zeroed_table {
public:
  explicit zeroed_table(std::size_t size)
      : entries_(static_cast<Entry*>(std::calloc(size == 0 ? 1 : size, sizeof(Entry)))), size_(size) {
    static_assert(Entry::is_made_of_zeros && alignof(Entry) <= alignof(std::max_align_t));
    if (!entries_) throw std::bad_alloc();
  }
  ~zeroed_table() {
    if constexpr (!std::is_trivially_destructible_v<Entry>)
      for (Entry& e : *this)
        e.~Entry();
  }
  zeroed_table(const zeroed_table&) = delete;
  zeroed_table& operator=(const zeroed_table&) = delete;

  [[gnu::always_inline]] Entry& operator[](std::size_t k) noexcept { return entries_.get()[k]; }
  [[gnu::always_inline]] const Entry& operator[](std::size_t k) const noexcept { return entries_.get()[k]; }
  std::size_t size() const noexcept { return size_; }
  Entry* begin() noexcept { return entries_.get(); }
  Entry* end() noexcept { return entries_.get() + size_; }
  std::size_t index(const Entry& e) const noexcept { return static_cast<std::size_t>(&e - entries_.get()); }

private:
  struct give_back {
    void operator()(Entry* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<Entry, give_back> entries_;
  std::size_t size_;
};

} // namespace weft::engine
