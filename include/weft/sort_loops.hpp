// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft::detail {

// What a sort does with elements that it moves as they are. The library has these functions for numbers and
// for comparators of C; a program has them for its own types, where the compiler can see into them. Whatever
// a comparator answers, no element is lost and nothing beside the elements is touched. `f` is the argument
// that goes with them.
struct element_order {
  // Does a come before b?
  bool (*less)(const void* a, const void* b, const void* f);
  // A few elements, in place; there is as much room in `buffer`. Stable.
  void (*sort)(void* elements, void* buffer, std::size_t count, const void* f);
  // The first `most` elements, or all, of two runs that are in order, of equal ones those of a first. Returns
  // how many are of a.
  std::size_t (*merge)(void* out, const void* a, std::size_t of_a, const void* b, std::size_t of_b,
                       std::size_t most, const void* f);
  // Where an element's place follows from bytes of a key, the least one first: how often each byte has each
  // value, added to [digits][256]; and the elements to the places next[value], by one byte. Stable.
  unsigned digits = 0; // 0: there is no such key
  void (*count)(std::uint64_t* often, const void* elements, std::size_t count, const void* f) = nullptr;
  void (*deal)(void* out, const void* elements, std::size_t count, unsigned digit, std::uint64_t* next,
               const void* f) = nullptr;
};

// Elements that are numbers themselves, if they are.
enum class number : int { none, unsigned_integer, signed_integer, floating };

// By comparisons.
template <class T, class Less> struct merge_loops {
  static std::size_t merge(T* out, const T* a, std::size_t of_a, const T* b, std::size_t of_b,
                           std::size_t most, Less less) {
    most = std::min(most, of_a + of_b);
    const T* const begin = a;
    const T *const end_a = a + of_a, *const end_b = b + of_b;
    for (T* const end = out + most; out != end;) {
      const auto left = std::min({end - out, end_a - a, end_b - b}); // of neither more is taken
      if (left == 0) {
        const bool second = a == end_a;
        std::copy_n(second ? b : a, end - out, out);
        return static_cast<std::size_t>(a - begin) + (second ? 0 : static_cast<std::size_t>(end - out));
      }
      // Which of the two is a matter of data: no branch.
      for (T* const stop = out + left; out != stop; ++out) {
        const bool second = less(*b, *a);
        const T* const from = second ? b : a;
        *out = *from;
        b += second;
        a += !second;
      }
    }
    return static_cast<std::size_t>(a - begin);
  }

  static void sort(T* elements, T* buffer, std::size_t count, Less less) {
    for (std::size_t at = 0; at < count; at += few)
      insert(elements + at, std::min(few, count - at), less);
    T *from = elements, *to = buffer;
    for (std::size_t width = few; width < count; width *= 2, std::swap(from, to)) {
      for (std::size_t at = 0; at < count; at += 2 * width) {
        const std::size_t a = std::min(width, count - at), b = std::min(width, count - at - a);
        merge(to + at, from + at, a, from + at + a, b, a + b, less);
      }
    }
    if (from != elements) std::copy_n(from, count, elements);
  }

private:
  static constexpr std::size_t few = 8;
  static void insert(T* elements, std::size_t count, Less less) {
    for (std::size_t k = 1; k < count; ++k) {
      const T moved = elements[k];
      std::size_t to = k;
      for (; to != 0 && less(moved, elements[to - 1]); --to)
        elements[to] = elements[to - 1];
      elements[to] = moved;
    }
  }
};

// An unsigned number that grows as the key does. All that are no numbers come last, and the two zeros are
// equal.
template <class Key> constexpr auto ordered_bits(Key key) {
  static_assert(std::is_arithmetic_v<Key> && sizeof(Key) <= 8, "a key is an integer, a float or a double");
  if constexpr (std::is_floating_point_v<Key>) {
    using bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
    constexpr bits sign = bits{1} << (8 * sizeof(Key) - 1);
    if (key != key) return static_cast<bits>(~bits{0});
    const auto plain = std::bit_cast<bits>(key == 0 ? Key{0} : key);
    return static_cast<bits>((plain & sign) != 0 ? ~plain : plain | sign);
  } else if constexpr (std::is_same_v<Key, bool>) {
    return static_cast<std::uint8_t>(key);
  } else {
    using bits = std::make_unsigned_t<Key>;
    const bits sign = std::is_signed_v<Key> ? static_cast<bits>(bits{1} << (8 * sizeof(Key) - 1)) : bits{0};
    return static_cast<bits>(static_cast<bits>(key) ^ sign);
  }
}

// By the bytes of a key.
template <class T, class Key> struct radix_loops {
  using bits = decltype(std::declval<Key>()(std::declval<const T&>()));
  static constexpr unsigned digits = sizeof(bits);

  static void count(std::uint64_t* often, const T* elements, std::size_t count, Key key) {
    for (std::size_t k = 0; k < count; ++k) {
      bits rest = key(elements[k]);
      for (unsigned digit = 0; digit < digits; ++digit) {
        ++often[digit * 256 + (rest & 0xff)];
        if constexpr (digits > 1) rest = static_cast<bits>(rest >> 8);
      }
    }
  }
  static void deal(T* out, const T* elements, std::size_t count, unsigned digit, std::uint64_t* next,
                   Key key) {
    const unsigned shift = 8 * digit;
    for (std::size_t k = 0; k < count; ++k)
      out[next[key(elements[k]) >> shift & 0xff]++] = elements[k];
  }
};

// The functions of an order of T; `Call::of(f)` is what they call: a comparator's less(a, b), or a key's
// bits(element).
template <class T, class Less> constexpr element_order order_by_comparing() {
  using loops = merge_loops<T, Less>;
  return {
      .less = [](const void* a, const void* b, const void* f) -> bool {
        return Less::of(f)(*static_cast<const T*>(a), *static_cast<const T*>(b));
      },
      .sort =
          [](void* elements, void* buffer, std::size_t count, const void* f) {
            loops::sort(static_cast<T*>(elements), static_cast<T*>(buffer), count, Less::of(f));
          },
      .merge = [](void* out, const void* a, std::size_t of_a, const void* b, std::size_t of_b,
                  std::size_t most, const void* f) -> std::size_t {
        return loops::merge(static_cast<T*>(out), static_cast<const T*>(a), of_a, static_cast<const T*>(b),
                            of_b, most, Less::of(f));
      },
  };
}

template <class Bits> struct less_by_bits {
  Bits key;
  static less_by_bits of(const void* f) { return {Bits::of(f)}; }
  template <class T> bool operator()(const T& a, const T& b) const { return key(a) < key(b); }
};

template <class T, class Bits> constexpr element_order order_by_key() {
  using loops = radix_loops<T, Bits>;
  element_order made = order_by_comparing<T, less_by_bits<Bits>>();
  made.digits = loops::digits;
  made.count = [](std::uint64_t* often, const void* elements, std::size_t count, const void* f) {
    loops::count(often, static_cast<const T*>(elements), count, Bits::of(f));
  };
  made.deal = [](void* out, const void* elements, std::size_t count, unsigned digit, std::uint64_t* next,
                 const void* f) {
    loops::deal(static_cast<T*>(out), static_cast<const T*>(elements), count, digit, next, Bits::of(f));
  };
  return made;
}

} // namespace weft::detail
