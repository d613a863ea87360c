// SPDX-License-Identifier: BSD-3-Clause
// What reductions reduce: every type by every operator, by the functions of C and by typed pointers.
#include "tests/calls/elements.hpp"
#include "tests/calls/typed_case.hpp"

namespace calls {

namespace {

using bytes = std::byte;

template <class T> T value(const bytes* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class T> struct reduced {
  static void put(bytes* to, const call& c, std::uint32_t, std::uint64_t index) {
    const T v = reductions::element<T>(c.key, index, c.op);
    std::memcpy(to, &v, sizeof v);
  }
  static void compute(bytes* all, const bytes*, const call& c) {
    T so_far{};
    for (std::uint64_t i = 0; i != c.nelems; ++i) {
      const T here = value<T>(all + i * sizeof(T));
      so_far = i == 0 ? here : reductions::apply<T>(c.op, so_far, here);
      std::memcpy(all + i * sizeof(T), &so_far, sizeof so_far);
    }
  }
  static bool same(const bytes* a, const bytes* b) { return reductions::same(value<T>(a), value<T>(b)); }

  template <const reductions::functions& Functions>
  static unsigned long long post(const call& c, const upc_shared_ptr_t& dst, const upc_shared_ptr_t& src,
                                 upc_flag_t mode, upc_team_t team) {
    if (c.what == kind::reduce) return Functions.reduce(dst, src, c.op, c.nelems, c.blk_size, mode, team);
    if (c.what == kind::reduce_all)
      return Functions.reduce_all(dst, src, c.op, c.nelems, c.blk_size, mode, team);
    if (c.what == kind::exclusive_prefix) mode |= UPC_EXCLUSIVE_PREFIX_REDUCE;
    return Functions.prefix(dst, src, c.op, c.nelems, c.blk_size, mode, team);
  }

  template <const reductions::functions& Functions> static elements by(const char* name) {
    static const std::vector<upc_op_t> operators = reductions::operators<T>();
    return {name, sizeof(T), alignof(T), put, compute, same, post<Functions>, operators};
  }
  static void add_to(std::vector<elements>& all, const char* name) {
    all.push_back(by<reductions::typed_functions<T>>(name));
    if constexpr (reductions::functions_of<T>.reduce != nullptr)
      all.push_back(by<reductions::functions_of<T>>(name));
  }
};

std::vector<elements> make() {
  std::vector<elements> all;
  reduced<unsigned long>::add_to(all, "unsigned long"); // the first one: of one-sided calls, too
  reduced<signed char>::add_to(all, "signed char");
  reduced<unsigned char>::add_to(all, "unsigned char");
  reduced<short>::add_to(all, "short");
  reduced<unsigned short>::add_to(all, "unsigned short");
  reduced<int>::add_to(all, "int");
  reduced<unsigned>::add_to(all, "unsigned");
  reduced<long>::add_to(all, "long");
  reduced<float>::add_to(all, "float");
  reduced<double>::add_to(all, "double");
  reduced<long double>::add_to(all, "long double");
  reduced<long long>::add_to(all, "long long");
  reduced<unsigned long long>::add_to(all, "unsigned long long");
  reduced<std::complex<float>>::add_to(all, "complex float");
  reduced<std::complex<double>>::add_to(all, "complex double");
  reduced<std::complex<long double>>::add_to(all, "complex long double");
  reduced<bool>::add_to(all, "bool");
  return all;
}

// Cray's vectors: numbers, and pairs of a number and the thread that has it.
template <class T> struct vector_of {
  static void put(bytes* to, const call& c, std::uint32_t thread, std::uint64_t index) {
    const auto number = static_cast<int>(mix({c.key, thread, index}) % 1000);
    T v{};
    if constexpr (std::is_arithmetic_v<T>)
      v = static_cast<T>(number);
    else
      v = {static_cast<double>(number), static_cast<int>(thread)};
    std::memcpy(to, &v, sizeof v);
  }
  static void compute(bytes* all, const bytes* other, const call& c) {
    for (std::uint64_t i = 0; i != c.nelems; ++i) {
      T v = value<T>(all + i * sizeof(T));
      const T w = value<T>(other + i * sizeof(T));
      if constexpr (std::is_arithmetic_v<T>) {
        if (c.op >= first_of_program)
          v = c.op == first_of_program ? reductions::commuting(v, w) : reductions::ordered(v, w);
        else
          v = c.op == UPC_ADD ? v + w : c.op == UPC_MIN ? std::min(v, w) : std::max(v, w);
      } else {
        const bool before = c.op == CRAY_UPC_MINLOC ? w.value < v.value : w.value > v.value;
        if (before || (w.value == v.value && w.index < v.index)) v = w;
      }
      std::memcpy(all + i * sizeof(T), &v, sizeof v);
    }
  }
  static bool same(const bytes* a, const bytes* b) {
    const T v = value<T>(a), w = value<T>(b);
    if constexpr (std::is_arithmetic_v<T>)
      return v == w;
    else
      return v.value == w.value && v.index == w.index;
  }
};

struct located {
  double value;
  int index;
};

// Of the program's own: the affine maps x -> a*x + b of 64 bits, one after the other, and what is no power of
// two long.
struct affine {
  std::uint64_t a, b, maps;
};
affine then(const affine& f, const affine& g) {
  return {g.a * f.a, g.a * f.b + g.b, f.maps + g.maps};
}
struct affine_elements {
  static void put(bytes* to, const call& c, std::uint32_t thread, std::uint64_t index) {
    const affine v{mix({c.key, thread, index}) | 1, mix({c.key, index, thread}), 1};
    std::memcpy(to, &v, sizeof v);
  }
  static void compute(bytes* all, const bytes* other, const call& c) {
    for (std::uint64_t i = 0; i != c.nelems; ++i) {
      const affine v = then(value<affine>(all + i * sizeof v), value<affine>(other + i * sizeof v));
      std::memcpy(all + i * sizeof v, &v, sizeof v);
    }
  }
  static void combine(const void* in, void* inout, std::size_t nelems, void* context) {
    const auto* const left = static_cast<const affine*>(in);
    auto* const right = static_cast<affine*>(inout);
    if (context != nullptr) return;
    for (std::size_t i = 0; i != nelems; ++i)
      right[i] = then(left[i], right[i]);
  }
  static upc_op_t make(upc_op_t) {
    upc_op_t op = 0;
    weft_op_create(combine, nullptr, sizeof(affine), 0, &op);
    return op;
  }
};

// And of whole numbers, by Cray's function.
template <int (*F)(int, int)>
void combine_ints(void* in, void* inout, std::size_t* nelems, cray_upc_dtype_t* dtype) {
  for (std::size_t i = 0; i != *nelems && *dtype == CRAY_UPC_INT; ++i) {
    int& right = static_cast<int*>(inout)[i];
    right = F(static_cast<const int*>(in)[i], right);
  }
}
upc_op_t make_of_ints(upc_op_t which) {
  upc_op_t op = 0;
  const bool commutes = which == first_of_program;
  cray_upc_op_create(commutes ? combine_ints<reductions::commuting<int>>
                              : combine_ints<reductions::ordered<int>>,
                     commutes, &op);
  return op;
}

constexpr upc_op_t of_numbers[] = {UPC_ADD, UPC_MIN, UPC_MAX},
                   of_ints[] = {UPC_ADD, UPC_MIN, first_of_program, first_of_program + 1},
                   of_program[] = {first_of_program}, of_pairs[] = {CRAY_UPC_MINLOC, CRAY_UPC_MAXLOC};

template <class T> elements vectors(const char* name, cray_upc_dtype_t type, std::span<const upc_op_t> ops) {
  using of = vector_of<T>;
  return {name, sizeof(T), alignof(T), of::put, of::compute, of::same, nullptr, ops, type};
}

elements with(elements of, upc_op_t (*make)(upc_op_t)) {
  of.make = make;
  return of;
}

} // namespace

std::span<const elements> reduced_elements() {
  static const std::vector<elements> all = make();
  return all;
}

std::span<const elements> vector_elements() {
  static const elements all[] = {vectors<double>("double", CRAY_UPC_DOUBLE, of_numbers),
                                 with(vectors<int>("int", CRAY_UPC_INT, of_ints), make_of_ints),
                                 vectors<located>("double and int", CRAY_UPC_DOUBLE_INT, of_pairs),
                                 {.name = "affine maps",
                                  .size = sizeof(affine),
                                  .alignment = alignof(affine),
                                  .put = affine_elements::put,
                                  .compute = affine_elements::compute,
                                  .same = nullptr,
                                  .post = nullptr,
                                  .operators = of_program,
                                  .type = WEFT_OPAQUE,
                                  .make = affine_elements::make}};
  return all;
}

} // namespace calls
