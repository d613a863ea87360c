// SPDX-License-Identifier: BSD-3-Clause
// The operators of the library. Compiled once for every processor, and where the compiler knows AVX2 once
// more for those that have it: WEFT_KERNELS is the name of the table. Everything else here is of this file
// alone, so that nothing compiled for one of them is used by the other.
#include "engine/reductions/kernels.hpp"
#include "include/weft/element_loops.hpp"

#include <type_traits>

namespace weft::reductions {

namespace {

template <class T> struct is_complex : std::false_type {};
template <> struct is_complex<_Complex float> : std::true_type {};
template <> struct is_complex<_Complex double> : std::true_type {};
template <> struct is_complex<_Complex long double> : std::true_type {};

template <class T> inline constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T> inline constexpr bool is_integer = std::is_integral_v<T> && !is_bool<T>;
template <class T> inline constexpr bool is_number = is_integer<T> || std::is_floating_point_v<T>;

// Signed integers wrap: they are reckoned with as unsigned ones, and narrow ones are not promoted to int.
template <class T> struct wrapping { using type = T; };
template <class T>
requires is_integer<T>
struct wrapping<T> {
  using type = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
};
template <class T> using wrapped = typename wrapping<T>::type;

struct add {
  template <class T> static constexpr bool for_type = is_number<T> || is_complex<T>::value;
  template <class T> static T of(T a, T b) {
    return static_cast<T>(static_cast<wrapped<T>>(a) + static_cast<wrapped<T>>(b));
  }
};
struct mult {
  template <class T> static constexpr bool for_type = is_number<T> || is_complex<T>::value;
  template <class T> static T of(T a, T b) {
    return static_cast<T>(static_cast<wrapped<T>>(a) * static_cast<wrapped<T>>(b));
  }
};
struct bit_and {
  template <class T> static constexpr bool for_type = is_integer<T>;
  template <class T> static T of(T a, T b) { return static_cast<T>(a & b); }
};
struct bit_or {
  template <class T> static constexpr bool for_type = is_integer<T>;
  template <class T> static T of(T a, T b) { return static_cast<T>(a | b); }
};
struct bit_xor {
  template <class T> static constexpr bool for_type = is_integer<T>;
  template <class T> static T of(T a, T b) { return static_cast<T>(a ^ b); }
};
struct logical_and {
  template <class T> static constexpr bool for_type = is_number<T> || is_bool<T> || is_complex<T>::value;
  template <class T> static T of(T a, T b) {
    return static_cast<T>(static_cast<int>(a != T{}) & static_cast<int>(b != T{}));
  }
};
struct logical_or {
  template <class T> static constexpr bool for_type = is_number<T> || is_bool<T> || is_complex<T>::value;
  template <class T> static T of(T a, T b) {
    return static_cast<T>(static_cast<int>(a != T{}) | static_cast<int>(b != T{}));
  }
};
struct min {
  template <class T> static constexpr bool for_type = is_number<T>;
  template <class T> static T of(T a, T b) { return b < a ? b : a; }
};
struct max {
  template <class T> static constexpr bool for_type = is_number<T>;
  template <class T> static T of(T a, T b) { return b > a ? b : a; }
};
// The index of the smaller value, of equal ones the smaller index.
struct min_location {
  template <class T> static constexpr bool for_type = is_pair<T>;
  template <class T> static T of(const T& a, const T& b) {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};
struct max_location {
  template <class T> static constexpr bool for_type = is_pair<T>;
  template <class T> static T of(const T& a, const T& b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};

template <class T, class Op> struct loops {
  // What the compiler can do several of at once.
  static constexpr bool wide = is_number<T> && sizeof(T) <= 8;
  struct apply {
    T operator()(const T& a, const T& b) const { return Op::template of<T>(a, b); }
  };
  using one_by_one = detail::element_loops<T, apply>;

  static void combine(void* into, const void* from, std::size_t count, const void*) {
    if constexpr (wide) {
      T* __restrict to = static_cast<T*>(into);
      const T* __restrict add = static_cast<const T*>(from);
      for (std::size_t k = 0; k < count; ++k)
        to[k] = Op::template of<T>(to[k], add[k]);
    } else {
      one_by_one::combine(static_cast<T*>(into), static_cast<const T*>(from), count, {});
    }
  }

  // In so many lanes, whose number depends on the type alone.
  static constexpr std::size_t lanes = 256 / sizeof(T);
  static void fold(void* into, const void* from, std::size_t count, bool more, const void*) {
    T* const to = static_cast<T*>(into);
    const T* const all = static_cast<const T*>(from);
    if constexpr (!wide) {
      one_by_one::fold(to, all, count, more, {});
    } else {
      if (count < 2 * lanes) return one_by_one::fold(to, all, count, more, {});
      T lane[lanes];
      const std::size_t whole = fold_lanes(lane, all, count);
      for (std::size_t k = 0; k + whole < count; ++k)
        lane[k] = Op::template of<T>(lane[k], all[whole + k]);
      for (std::size_t half = lanes / 2; half != 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k)
          lane[k] = Op::template of<T>(lane[k], lane[k + half]);
      *to = more ? Op::template of<T>(*to, lane[0]) : lane[0];
    }
  }

  static void scan(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
                   const void*) {
    one_by_one::scan(static_cast<T*>(to), static_cast<const T*>(from), count, static_cast<T*>(carry), more,
                     exclusive, {});
  }

private:
  // Vectors that the compiler keeps in registers. Returns how many elements they have taken.
  static std::size_t fold_lanes(T* lane, const T* all, std::size_t count) {
    constexpr std::size_t vectors = 4, width = lanes / vectors;
    T a[width], b[width], c[width], d[width];
    for (std::size_t k = 0; k < width; ++k) {
      a[k] = all[k];
      b[k] = all[width + k];
      c[k] = all[2 * width + k];
      d[k] = all[3 * width + k];
    }
    std::size_t done = lanes;
    for (; done + lanes <= count; done += lanes) {
      const T* const next = all + done;
      for (std::size_t k = 0; k < width; ++k)
        a[k] = Op::template of<T>(a[k], next[k]);
      for (std::size_t k = 0; k < width; ++k)
        b[k] = Op::template of<T>(b[k], next[width + k]);
      for (std::size_t k = 0; k < width; ++k)
        c[k] = Op::template of<T>(c[k], next[2 * width + k]);
      for (std::size_t k = 0; k < width; ++k)
        d[k] = Op::template of<T>(d[k], next[3 * width + k]);
    }
    for (std::size_t k = 0; k < width; ++k) {
      lane[k] = a[k];
      lane[width + k] = b[k];
      lane[2 * width + k] = c[k];
      lane[3 * width + k] = d[k];
    }
    return done;
  }
};

template <class T, class Op> constexpr kernels kernels_for() {
  if constexpr (Op::template for_type<T>)
    return {loops<T, Op>::combine, loops<T, Op>::fold, loops<T, Op>::scan};
  else
    return {};
}

struct of_type {
  kernels by_operation[operations];
};
template <class T> constexpr of_type all_of() {
  return {{kernels_for<T, add>(),
           kernels_for<T, mult>(),
           kernels_for<T, bit_and>(),
           kernels_for<T, bit_or>(),
           kernels_for<T, bit_xor>(),
           kernels_for<T, logical_and>(),
           kernels_for<T, logical_or>(),
           kernels_for<T, min>(),
           kernels_for<T, max>(),
           {},
           {},
           kernels_for<T, min_location>(),
           kernels_for<T, max_location>()}};
}

// In the order of their enumerators.
constexpr of_type table[elements] = {all_of<signed char>(),
                                     all_of<unsigned char>(),
                                     all_of<short>(),
                                     all_of<unsigned short>(),
                                     all_of<int>(),
                                     all_of<unsigned>(),
                                     all_of<long>(),
                                     all_of<unsigned long>(),
                                     all_of<float>(),
                                     all_of<double>(),
                                     all_of<long double>(),
                                     all_of<long long>(),
                                     all_of<unsigned long long>(),
                                     all_of<_Complex float>(),
                                     all_of<_Complex double>(),
                                     all_of<_Complex long double>(),
                                     all_of<bool>(),
                                     all_of<float_int_pair>(),
                                     all_of<double_int_pair>(),
                                     all_of<long_int_pair>(),
                                     all_of<int_int_pair>(),
                                     all_of<short_int_pair>()};

} // namespace

const kernels* WEFT_KERNELS(element type, operation op);
const kernels* WEFT_KERNELS(element type, operation op) {
  const kernels& k = table[static_cast<std::size_t>(type)].by_operation[static_cast<std::size_t>(op)];
  return k.fold == nullptr ? nullptr : &k;
}

} // namespace weft::reductions
