#pragma once

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
