// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

// One element of shared memory, read and written by value: by loads and stores where its thread can be
// reached so, by a get or put otherwise. A write is in place when it returns. Errors: a null pointer; a
// thread that does not exist; not inside the shared heap.
namespace weft::detail {

// The address of `bytes` bytes of shared memory, or null if they cannot be reached by loads and stores.
WEFT_EXPORT void* reach(upc_shared_ptr_t p, std::size_t bytes);
WEFT_EXPORT void get(void* to, upc_shared_ptr_t from, std::size_t bytes);
WEFT_EXPORT void put(upc_shared_ptr_t to, const void* from, std::size_t bytes);

template <class T> T read(upc_shared_ptr_t from) {
  static_assert(std::is_trivially_copyable_v<T>, "elements of shared memory are copied byte by byte");
  std::remove_cv_t<T> value;
  if (const void* place = reach(from, sizeof(T)))
    std::memcpy(&value, place, sizeof(T));
  else
    get(&value, from, sizeof(T));
  return value;
}

template <class T> void write(upc_shared_ptr_t to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "elements of shared memory are copied byte by byte");
  if (void* place = reach(to, sizeof(T)))
    std::memcpy(place, &value, sizeof(T));
  else
    put(to, &value, sizeof(T));
}

// What `p->member` works on: the element itself, or a copy of which the bytes that were changed are written
// back at the end of the expression. T is never const here.
template <class T> class visit {
public:
  explicit visit(upc_shared_ptr_t target)
      : target_(target), place_(static_cast<T*>(reach(target, sizeof(T)))) {
    if (place_ != nullptr) return;
    get(&copy_, target, sizeof(T));
    before_ = copy_;
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() noexcept(false) {
    if (place_ == nullptr) write_back();
  }
  T* operator->() { return place_ != nullptr ? place_ : &copy_; }

private:
  // Only from the first to the last byte that differs: other threads may write other members.
  void write_back() {
    const auto* now = reinterpret_cast<const unsigned char*>(&copy_);
    const auto* then = reinterpret_cast<const unsigned char*>(&before_);
    std::size_t first = 0, last = sizeof(T);
    while (first != last && now[first] == then[first])
      ++first;
    while (first != last && now[last - 1] == then[last - 1])
      --last;
    if (first == last) return;
    target_.addr += first;
    put(target_, now + first, last - first);
  }

  upc_shared_ptr_t target_;
  T* place_;
  T copy_{}, before_{};
};

template <class T> class visit<const T> {
public:
  explicit visit(upc_shared_ptr_t target) : copy_(read<T>(target)) {}
  const T* operator->() const { return &copy_; }

private:
  T copy_;
};

} // namespace weft::detail
