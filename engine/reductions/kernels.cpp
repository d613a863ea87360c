// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/kernels.hpp"

#include "include/weft/element_loops.hpp"

#include <array>

namespace weft::reductions {

const kernels* kernels_of_any_processor(element type, operation op);
#if WEFT_HAS_AVX2_KERNELS
const kernels* kernels_of_avx2(element type, operation op);
#endif

const kernels* kernels_of(element type, operation op) {
#if WEFT_HAS_AVX2_KERNELS
  if (__builtin_cpu_supports("avx2") != 0) return kernels_of_avx2(type, op);
#endif
  return kernels_of_any_processor(type, op);
}

namespace {

template <class T> struct c_function {
  using function = T (*)(T, T);
  function f;
  T operator()(const T& a, const T& b) const { return f(a, b); }

  static c_function of(const void* argument) { return {*static_cast<const function*>(argument)}; }
  using loops = detail::element_loops<T, c_function>;
  static void combine(void* into, const void* from, std::size_t count, const void* argument) {
    loops::combine(static_cast<T*>(into), static_cast<const T*>(from), count, of(argument));
  }
  static void fold(void* into, const void* from, std::size_t count, bool more, const void* argument) {
    loops::fold(static_cast<T*>(into), static_cast<const T*>(from), count, more, of(argument));
  }
  static void scan(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
                   const void* argument) {
    loops::scan(static_cast<T*>(to), static_cast<const T*>(from), count, static_cast<T*>(carry), more,
                exclusive, of(argument));
  }
};

struct of_type {
  std::size_t size, alignment;
  kernels of_functions;
};
template <class T> constexpr of_type of() {
  return {sizeof(T), alignof(T), {c_function<T>::combine, c_function<T>::fold, c_function<T>::scan}};
}
template <class T> constexpr of_type of_pair() {
  return {sizeof(T), alignof(T), {}};
}

// In the order of their enumerators.
constexpr std::array<of_type, elements> table{of<signed char>(),
                                              of<unsigned char>(),
                                              of<short>(),
                                              of<unsigned short>(),
                                              of<int>(),
                                              of<unsigned>(),
                                              of<long>(),
                                              of<unsigned long>(),
                                              of<float>(),
                                              of<double>(),
                                              of<long double>(),
                                              of<long long>(),
                                              of<unsigned long long>(),
                                              of<_Complex float>(),
                                              of<_Complex double>(),
                                              of<_Complex long double>(),
                                              of<bool>(),
                                              of_pair<float_int_pair>(),
                                              of_pair<double_int_pair>(),
                                              of_pair<long_int_pair>(),
                                              of_pair<int_int_pair>(),
                                              of_pair<short_int_pair>()};

constexpr const of_type& entry(element type) {
  return table[static_cast<std::size_t>(type)];
}

} // namespace

const kernels* kernels_of_c_function(element type) {
  const kernels& k = entry(type).of_functions;
  return k.fold == nullptr ? nullptr : &k;
}

std::size_t size_of(element type) {
  return entry(type).size;
}
std::size_t alignment_of(element type) {
  return entry(type).alignment;
}

} // namespace weft::reductions
