// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

// What operators do with rows of elements. Everything keeps the order of the elements where the operator does
// not commute; where it does, the association of a built-in one depends on the number of elements alone,
// never on the processor: two ranks that combine the same elements get the same bits.
namespace weft::reductions {

// V0.3, 5.5.1, in the order of the table there; and Cray's pairs of a value and an index.
enum class element : std::uint8_t {
  c,
  uc,
  s,
  us,
  i,
  ui,
  l,
  ul,
  f,
  d,
  ld,
  ll,
  ull,
  cx,
  dx,
  ldx,
  b,
  float_int,
  double_int,
  long_int,
  int_int,
  short_int,
};
inline constexpr std::size_t elements = 22;

enum class operation : std::uint8_t {
  add,
  mult,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  min,
  max,
  function,
  ordered_function, // of the user; the second does not commute
  min_location,
  max_location,
};
inline constexpr std::size_t operations = 13;

// `argument` is what the functions of users need besides, and null for the operators of the library.
struct kernels {
  // into[k] = into[k] op from[k]
  void (*combine)(void* into, const void* from, std::size_t count, const void* argument);
  // *into = from[0] op from[1] ...; `more`: behind what is there already. At least one element.
  void (*fold)(void* into, const void* from, std::size_t count, bool more, const void* argument);
  // to[k] = from[0] op ... op from[k], or, `exclusive`, op from[k - 1]; `more`: all behind *carry. *carry
  // becomes what all of them make. to may be from. Where there is nothing in front of an element, to keeps
  // what it has.
  void (*scan)(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
               const void* argument);
};

// Null where the operator is not defined for the type, and for the functions of users: see c_function.
const kernels* kernels_of(element type, operation op);

// For a function `TYPE f(TYPE, TYPE)` of C; the argument points to the pointer to it. Null for pairs.
const kernels* kernels_of_c_function(element type);

std::size_t size_of(element type);
std::size_t alignment_of(element type);

} // namespace weft::reductions

// A value and where it was found, of Cray's MINLOC and MAXLOC.
namespace weft::reductions {

struct float_int_pair {
  float value;
  int index;
};
struct double_int_pair {
  double value;
  int index;
};
struct long_int_pair {
  long value;
  int index;
};
struct int_int_pair {
  int value, index;
};
struct short_int_pair {
  short value;
  int index;
};

template <class T> inline constexpr bool is_pair = requires(T p) {
  p.index;
};

} // namespace weft::reductions
