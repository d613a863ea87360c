// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

// What random sorts sort. An element is made of its index in the array: a key, of which there may be few,
// then the index, as far as the element reaches, which no comparator looks at, then bytes that follow from
// both. So a sort that breaks the order of equal elements, or the bytes of one, is seen.
namespace sorting {

using calls::mix;
using bytes = std::vector<std::byte>;

enum class pattern { random, sorted, reversed, equal, few, organ_pipe, saw, one_out_of_place };
inline constexpr pattern patterns[] = {
    pattern::random, pattern::sorted,     pattern::reversed, pattern::equal,
    pattern::few,    pattern::organ_pipe, pattern::saw,      pattern::one_out_of_place};

// 16 bits, of the index in an array of so many elements.
inline std::uint16_t key_of(pattern p, std::uint64_t seed, std::uint64_t index, std::uint64_t elements) {
  const auto scaled = [elements](std::uint64_t k) {
    return static_cast<std::uint16_t>(k * 65535 / std::max<std::uint64_t>(elements, 1));
  };
  switch (p) {
  case pattern::random:
    return static_cast<std::uint16_t>(mix({seed, index}));
  case pattern::sorted:
    return scaled(index);
  case pattern::reversed:
    return scaled(elements - 1 - index);
  case pattern::equal:
    return 7;
  case pattern::few:
    return static_cast<std::uint16_t>(mix({seed, index}) % 5);
  case pattern::organ_pipe:
    return scaled(index < elements / 2 ? index : elements - 1 - index);
  case pattern::saw: // each run of it has all keys: samples of one say little of another
    return static_cast<std::uint16_t>(index * 65535 / 97 % 65535);
  case pattern::one_out_of_place:
    return index + 1 == elements ? std::uint16_t{0} : scaled(index);
  }
  return 0;
}

// The words of an element of any size.
inline void put_element(std::byte* to, std::size_t size, std::uint16_t key, std::uint64_t index) {
  std::memcpy(to, &key, std::min<std::size_t>(size, 2));
  for (std::size_t at = 2; at < size; ++at)
    to[at] =
        at < 8 ? static_cast<std::byte>(index >> 8 * (at - 2)) : static_cast<std::byte>(mix({index, at}));
}
inline unsigned key_at(const void* element, std::size_t size) {
  unsigned char key[2] = {0, 0};
  std::memcpy(key, element, std::min<std::size_t>(size, 2));
  return key[0] + 256u * key[1];
}

// The comparators of C get no more than pointers.
enum class answer { ascending, by_copies, descending, anything };

template <std::size_t Size, answer Answer> int compare(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  if constexpr (Answer == answer::anything) {
    static thread_local std::uint64_t dice = 1;
    return static_cast<int>(mix(dice++) % 3) - 1;
  }
  unsigned x = 0, y = 0;
  if constexpr (Answer == answer::by_copies) {
    constexpr std::size_t known = Size < 2 ? Size : 2;
    unsigned char copy[2] = {0, 0};
    upc_memget(copy, a, known);
    x = key_at(copy, known);
    upc_memget(copy, b, known);
    y = key_at(copy, known);
  } else {
    x = key_at(upc_cast(a), Size);
    y = key_at(upc_cast(b), Size);
  }
  return Answer == answer::descending ? (x < y) - (x > y) : (x > y) - (x < y);
}

// Elements that C++ knows.
template <std::size_t Bytes> struct record {
  std::uint16_t key;
  std::uint8_t rest[Bytes - 2];
};

} // namespace sorting
