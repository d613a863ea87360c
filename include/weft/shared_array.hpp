// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pointer.hpp"

#include <cstddef>

namespace weft {

// A number of elements that may have THREADS as a factor, once or more often; usable before THREADS is known.
struct extent {
  constexpr extent(std::size_t count, unsigned thread_factors = 0) : n(count), threads(thread_factors) {}
  std::size_t n;
  unsigned threads;
};

// `n * THREADS`; per_thread(per_thread(n)) is `n * THREADS * THREADS`.
constexpr extent per_thread(extent e) {
  return {e.n, e.threads + 1};
}

namespace detail {

struct array_layout {
  extent elements;
  extent block;
  std::size_t element_bytes;
  const char* name = "weft::shared_array"; // for errors
};

// The memory of a shared array. Constructed before weft_init it is registered, and weft_init allocates it, in
// the order of construction, filled with zeros; afterwards construction allocates it and destruction frees
// it, both collectively. While an exception unwinds the stack destruction frees nothing: the other threads
// may not come.
class WEFT_EXPORT shared_object {
public:
  explicit shared_object(const array_layout& layout);
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;
  // What is moved from has no memory, and its destruction frees none.
  shared_object(shared_object&& other) noexcept;
  shared_object& operator=(shared_object&& other) noexcept;
  ~shared_object();

  upc_shared_ptr_t base() const { return base_; }
  std::size_t size() const;
  std::size_t block() const;

private:
  void take(shared_object& other) noexcept;

  array_layout layout_;
  upc_shared_ptr_t base_{};
  int exceptions_;
  bool owner_ = false;
};

} // namespace detail

// `shared [B] T A[N]` as shared_array<T, B> A(N), and `shared [B] T A[N * THREADS]` as
// shared_array<T, B> A(per_thread(N)). B = 0 is `shared [] T A[N]`, all on thread 0. A block size that is
// known at run time only, or that has THREADS as a factor, is the first argument of shared_array<T,
// dynamic_block>: `shared [N * THREADS] T A[THREADS][N * THREADS]` is A(per_thread(N),
// per_thread(per_thread(N))).
//
// At namespace scope, or anywhere before weft_init, the array exists from weft_init to weft_finalize.
// Afterwards construction and destruction are collective. All threads must construct the same arrays in the
// same order. One may be moved, by all threads: what it was assigned to before is freed then. Errors: no
// elements; a size that overflows; no room in the heap.
template <class T, std::size_t B = 1> class shared_array {
public:
  using pointer = ptr<T, B>;

  explicit shared_array(extent elements) requires(B != dynamic_block) : object_({elements, B, sizeof(T)}) {}
  shared_array(extent block, extent elements) requires(B == dynamic_block)
      : object_({elements, block, sizeof(T)}) {}

  // &A[0], which the array also converts to.
  pointer begin() const {
    if constexpr (B == dynamic_block)
      return pointer(object_.base(), object_.block());
    else
      return pointer(object_.base());
  }
  operator pointer() const { return begin(); }
  operator upc_shared_ptr_t() const { return object_.base(); }

  reference<T, pointer> operator[](std::ptrdiff_t i) const { return begin()[i]; }
  friend pointer operator+(const shared_array& a, std::ptrdiff_t i) { return a.begin() + i; }

  // Elements in all, and of a block (0: indefinite). Errors: before weft_init if THREADS is a factor.
  std::size_t size() const { return object_.size(); }
  std::size_t block() const { return object_.block(); }

private:
  detail::shared_object object_;
};

namespace detail {

// A typed pointer or an array: as a pointer.
template <class T, std::size_t B> ptr<T, B> first_of(const ptr<T, B>& p) {
  return p;
}
template <class T, std::size_t B> ptr<T, B> first_of(const shared_array<T, B>& a) {
  return a.begin();
}
template <class A>
using element_of = std::remove_const_t<typename decltype(first_of(std::declval<const A&>()))::element_type>;

} // namespace detail
} // namespace weft
