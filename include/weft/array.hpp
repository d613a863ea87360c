// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "error.hpp"
#include "handle.hpp"
#include "pointer.hpp"
#include "shared_array.hpp"
#include "team.hpp"

#include "../upc_nb.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace weft {

namespace detail {

[[noreturn, gnu::cold]] inline void fail_length(const char* call, const char* argument, std::size_t given,
                                                std::string rule) {
  throw error(call, argument, std::to_string(given) + " elements", std::move(rule));
}

} // namespace detail

// Elements in the memory of one rank, as seen by all: what weft::array::on gives. An element reads and is
// assigned to like a T; `+=`, `++` and the like are atomic for numbers of 4 and 8 bytes.
template <class T> class remote_span {
public:
  using element_type = T;

  remote_span(upc_shared_ptr_t first, std::size_t size) noexcept : first_(first), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  // The rank of the job that has them.
  int rank() const noexcept { return static_cast<int>(first_.threadof()); }
  ptr<T, 0> data() const noexcept { return first_; }
  reference<T, ptr<T, 0>> operator[](std::size_t i) const {
    if (i >= size_) [[unlikely]]
      throw error("weft::remote_span", "index", std::to_string(i),
                  "is past the end: there are " + std::to_string(size_) + " elements");
    return first_[static_cast<std::ptrdiff_t>(i)];
  }
  // Errors: past the end.
  remote_span subspan(std::size_t offset, std::size_t count) const {
    if (offset > size_ || count > size_ - offset) [[unlikely]]
      detail::fail_length("weft::remote_span::subspan", "offset", offset, past(count));
    upc_shared_ptr_t there = first_;
    there.addr += offset * sizeof(T);
    return {there, count};
  }
  remote_span first(std::size_t count) const { return subspan(0, count); }
  remote_span last(std::size_t count) const { return subspan(size_ - std::min(count, size_), count); }

  // Copies between these elements and memory of the calling rank, of any kind. The memory must last, and not
  // be changed, until the pending is complete; then the elements are in place. Errors: of other length.
  template <std::ranges::contiguous_range R>
  pending put(const R& from, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    static_assert(std::is_same_v<std::remove_cv_t<std::ranges::range_value_t<R>>, std::remove_cv_t<T>>,
                  "elements of one type");
    require_length("weft::remote_span::put", "from", std::ranges::size(from));
    return pending(upc_memput_nb(first_, std::ranges::data(from), size_ * sizeof(T)));
  }
  template <std::ranges::contiguous_range R>
  pending get(R&& to, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    static_assert(std::is_same_v<std::ranges::range_value_t<R>, std::remove_cv_t<T>>, "elements of one type");
    require_length("weft::remote_span::get", "to", std::ranges::size(to));
    return pending(upc_memget_nb(std::ranges::data(to), first_, size_ * sizeof(T)));
  }

private:
  std::string past(std::size_t count) const {
    return "with " + std::to_string(count) + " elements is past the end: there are " + std::to_string(size_);
  }
  void require_length(const char* call, const char* argument, std::size_t given) const {
    if (given != size_) [[unlikely]]
      detail::fail_length(call, argument, given,
                          "must be as many as are copied, " + std::to_string(size_) + ": pass a subspan");
  }

  ptr<T, 0> first_;
  std::size_t size_;
};

template <class T> class array;

// A part of a weft::array, at the same place on all ranks: what weft::array::part gives. The calling rank's
// is used like a std::span. It owns nothing.
template <class T> class array_part {
public:
  using value_type = T;
  using element_type = T;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() const noexcept { return local_; }
  std::span<T> local() const noexcept { return {local_, size_}; }
  T* begin() const noexcept { return local_; }
  T* end() const noexcept { return local_ + size_; }
  template <std::integral I> T& operator[](I i) const { return local_[static_cast<std::size_t>(i)]; }

  // For collectives, which know their ranks: on rank 0.
  friend upc_shared_ptr_t base_of(const array_part& p) noexcept { return {p.address_, 0, 0}; }

private:
  friend array<T>;
  array_part(std::uint64_t address, T* local, std::size_t size) noexcept
      : address_(address), local_(local), size_(size) {}

  std::uint64_t address_;
  T* local_;
  std::size_t size_;
};

// So many elements on each rank, at the same place of its memory: what collectives move, and what other ranks
// reach. The calling rank's own part is used like a std::span, `on` leads to that of another rank.
//
//   weft::array<double> a(1000);
//   std::ranges::fill(a, 0.0);
//   a.on(right)[0] = a[999];
//   weft::exchange(b, a).wait();
//
// Construction and destruction are collective, with the same size on all ranks; construction waits for no
// other rank, and leaves the elements as they are. An array may be moved, also as an element of a
// std::vector, by all ranks alike; one that was moved from has no elements. At namespace scope an array
// exists from the begin to the end of the job, filled with zeros. While an exception unwinds the stack the
// memory stays. Errors: no room; a size that is negative or overflows.
template <class T> class array {
  static_assert(std::is_trivially_copyable_v<T>, "elements of shared memory are copied byte by byte");

public:
  using value_type = T;
  using element_type = T;

  template <std::integral I>
  explicit array(I size)
      : object_({per_thread(1), 1, bytes_of(size), "weft::array"}), size_(static_cast<std::size_t>(size)) {
    if (!upc_isnull(object_.base())) local_ = find();
  }

  array(array&& other) noexcept
      : object_(std::move(other.object_)), size_(std::exchange(other.size_, 0)),
        local_(std::exchange(other.local_, nullptr)) {}
  array& operator=(array&& other) noexcept {
    if (this == &other) return *this;
    object_ = std::move(other.object_);
    size_ = std::exchange(other.size_, 0);
    local_ = std::exchange(other.local_, nullptr);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() const { return local_ != nullptr ? local_ : find(); }
  std::span<T> local() const { return {data(), size_}; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  template <std::integral I> T& operator[](I i) const { return data()[static_cast<std::size_t>(i)]; }

  // Some of them, for collectives: the same ones on all ranks, which are moved like an array, in one copy.
  // Those of local() may be others on each rank. Errors: past the end.
  array_part<T> part(std::size_t offset, std::size_t count) const {
    if (offset > size_ || count > size_ - offset) [[unlikely]]
      fail_part(offset, count);
    return {object_.base().addr + offset * sizeof(T), data() + offset, count};
  }

  // The elements of a rank of the job. Errors: no such rank.
  remote_span<T> on(long long rank, line_of_call where = line_of_call::here()) const {
    if (rank < 0 || rank >= detail::own().ranks) [[unlikely]]
      fail_rank(rank, where);
    return {{object_.base().addr, static_cast<std::uint32_t>(rank), 0}, size_};
  }

  // For collectives, which know their ranks: on rank 0.
  friend upc_shared_ptr_t base_of(const array& a) noexcept { return a.object_.base(); }

private:
  [[noreturn, gnu::cold, gnu::noinline]] static void fail_rank(long long rank, line_of_call where) {
    const int ranks = upc_threads(); // an error where there is no job
    const detail::at_site here(where);
    throw error("weft::array::on", "rank", std::to_string(rank),
                "must be a rank of the job, 0 to " + std::to_string(ranks - 1));
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_part(std::size_t offset, std::size_t count) const {
    detail::fail_length("weft::array::part", "offset", offset,
                        "with " + std::to_string(count) + " elements is past the end: there are " +
                            std::to_string(size_));
  }
  template <std::integral I> static std::size_t bytes_of(I size) {
    if constexpr (std::is_signed_v<I>)
      if (size < 0) [[unlikely]]
        throw error("weft::array", "size", std::to_string(size), "must not be negative");
    const auto elements = std::max<std::size_t>(static_cast<std::size_t>(size), 1);
    const std::size_t ranks = std::max<std::size_t>(static_cast<std::size_t>(detail::own().ranks), 1);
    std::size_t bytes = 0; // of all ranks
    if (__builtin_mul_overflow(elements, sizeof(T) * ranks, &bytes)) [[unlikely]]
      detail::fail_length("weft::array", "size", elements,
                          "on each of " + std::to_string(ranks) +
                              " ranks are more bytes than a std::size_t counts");
    return bytes / ranks;
  }
  T* find() const {
    if (size_ == 0 && upc_isnull(object_.base())) return nullptr; // it was moved from
    return static_cast<T*>(upc_cast({object_.base().addr, static_cast<std::uint32_t>(upc_mythread()), 0}));
  }

  detail::shared_object object_;
  std::size_t size_;
  T* local_ = nullptr; // null: made before the job began
};

} // namespace weft
