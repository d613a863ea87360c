// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstring>
#include <limits>

namespace weft::detail {

// What is done to rows of elements with an operator that is called element by element, in their order. The
// library has these loops for its own operators and for C functions; a program has them for its lambdas,
// where the compiler can see into them.
//
//   combine   into[k] = op(into[k], from[k])
//   fold      *into = from[0] op from[1] ...; `more`: behind what is there already. At least one element.
//   scan      to[k] = from[0] op ... op from[k], or, `exclusive`, op from[k - 1]; `more`: all behind *carry.
//             *carry becomes what all of them make. to may be from. Where there is nothing in front of an
//             element, to keeps what it has.
template <class T, class Op> struct element_loops {
  static void combine(T* into, const T* from, std::size_t count, Op op) {
    for (std::size_t k = 0; k < count; ++k)
      store(into + k, static_cast<T>(op(into[k], from[k])));
  }
  static void fold(T* into, const T* from, std::size_t count, bool more, Op op) {
    T so_far = more ? *into : *from;
    for (std::size_t k = more ? 0 : 1; k < count; ++k)
      so_far = static_cast<T>(op(so_far, from[k]));
    store(into, so_far);
  }
  static void scan(T* to, const T* from, std::size_t count, T* carry, bool more, bool exclusive, Op op) {
    if (count == 0) return;
    T so_far = *from; // behind what is in front of the next element
    std::size_t k = 0;
    if (!more) {
      if (!exclusive) store(to, so_far);
      k = 1;
    } else {
      so_far = *carry;
    }
    if (exclusive)
      scan_exclusive(to, from, k, count, so_far, op);
    else
      for (; k < count; ++k)
        store(to + k, so_far = static_cast<T>(op(so_far, from[k])));
    store(carry, so_far);
  }

private:
  static void scan_exclusive(T* to, const T* from, std::size_t k, std::size_t count, T& so_far, Op op) {
    for (; k < count; ++k) {
      const T here = from[k]; // to may be from
      store(to + k, so_far);
      so_far = static_cast<T>(op(so_far, here));
    }
  }
  // A long double has bytes that no value writes. They are zero in what is stored here, so that equal results
  // are equal in every byte.
  static void store(T* to, const T& value) {
    if constexpr (alignof(T) == alignof(long double) && sizeof(T) >= sizeof(long double))
      store_parts(reinterpret_cast<unsigned char*>(to), reinterpret_cast<const unsigned char*>(&value));
    else
      *to = value;
  }
  static void store_parts(unsigned char* to, const unsigned char* value) {
    constexpr std::size_t part = sizeof(long double);
    constexpr std::size_t used = std::numeric_limits<long double>::digits == 64 ? 10 : part;
    for (std::size_t at = 0; at < sizeof(T); at += part) {
      std::memcpy(to + at, value + at, used);
      std::memset(to + at + used, 0, part - used);
    }
  }
};

} // namespace weft::detail
