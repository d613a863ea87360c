// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/sorting.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::sorting {

namespace {

// Elements of so many bytes, or, with 0, of as many as the argument says.
template <std::size_t Size> class comparing {
public:
  explicit comparing(const void* f) : how_(*static_cast<const compared_by_function*>(f)) {}

  bool less(const void* a, const void* b) const { return how_.function(shared(a), shared(b)) < 0; }

  // Numbers of elements are put in order, which are then moved once.
  void sort(std::byte* elements, std::byte* buffer, std::size_t count) const {
    std::array<std::uint16_t, most> numbers, merged;
    for (std::size_t k = 0; k < count; ++k)
      numbers[k] = static_cast<std::uint16_t>(k);
    const auto before = [&](std::uint16_t a, std::uint16_t b) {
      return less(elements + a * size(), elements + b * size());
    };
    detail::merge_loops<std::uint16_t, decltype(before)>::sort(numbers.data(), merged.data(), count, before);
    for (std::size_t k = 0; k < count; ++k)
      std::memcpy(buffer + k * size(), elements + numbers[k] * size(), size());
    std::memcpy(elements, buffer, count * size());
  }

  std::size_t merge(std::byte* out, const std::byte* a, std::size_t of_a, const std::byte* b,
                    std::size_t of_b, std::size_t wanted) const {
    const std::byte *const begin = a, *const end_a = a + of_a * size(), *const end_b = b + of_b * size();
    std::byte* const end = out + std::min(wanted, of_a + of_b) * size();
    for (; out != end && a != end_a && b != end_b; out += size()) {
      const bool second = less(b, a);
      std::memcpy(out, second ? b : a, size());
      b += second ? size() : 0;
      a += second ? 0 : size();
    }
    const auto rest = static_cast<std::size_t>(end - out);
    if (rest != 0) std::memcpy(out, a == end_a ? b : a, rest);
    if (a != end_a) a += rest;
    return static_cast<std::size_t>(a - begin) / size();
  }

private:
  static constexpr std::size_t most = 2048;
  std::size_t size() const { return Size != 0 ? Size : how_.size; }
  upc_shared_ptr_t shared(const void* element) const {
    const auto address = reinterpret_cast<std::uintptr_t>(element);
    return {address - reinterpret_cast<std::uintptr_t>(how_.segment), how_.thread, 0};
  }

  const compared_by_function& how_;
};

template <std::size_t Size>
constexpr detail::element_order by_function{
    .less = [](const void* a, const void* b, const void* f) { return comparing<Size>(f).less(a, b); },
    .sort =
        [](void* elements, void* buffer, std::size_t count, const void* f) {
          comparing<Size>(f).sort(static_cast<std::byte*>(elements), static_cast<std::byte*>(buffer), count);
        },
    .merge =
        [](void* out, const void* a, std::size_t of_a, const void* b, std::size_t of_b, std::size_t wanted,
           const void* f) {
          return comparing<Size>(f).merge(static_cast<std::byte*>(out), static_cast<const std::byte*>(a),
                                          of_a, static_cast<const std::byte*>(b), of_b, wanted);
        },
};

template <class Number> struct own_bits {
  static own_bits of(const void*) { return {}; }
  auto operator()(Number x) const { return detail::ordered_bits(x); }
};
template <class Number> const detail::element_order& ascending() {
  static constexpr detail::element_order order = detail::order_by_key<Number, own_bits<Number>>();
  return order;
}

} // namespace

const detail::element_order& order_of_numbers(detail::number kind, std::size_t bytes) {
  using detail::number;
  const bool is_signed = kind == number::signed_integer;
  switch (bytes) {
  case 1:
    return is_signed ? ascending<std::int8_t>() : ascending<std::uint8_t>();
  case 2:
    return is_signed ? ascending<std::int16_t>() : ascending<std::uint16_t>();
  case 4:
    if (kind == number::floating) return ascending<float>();
    return is_signed ? ascending<std::int32_t>() : ascending<std::uint32_t>();
  default:
    if (kind == number::floating) return ascending<double>();
    return is_signed ? ascending<std::int64_t>() : ascending<std::uint64_t>();
  }
}

const detail::element_order& order_of_function(std::size_t bytes) {
  switch (bytes) {
  case 4:
    return by_function<4>;
  case 8:
    return by_function<8>;
  case 16:
    return by_function<16>;
  default:
    return by_function<0>;
  }
}

} // namespace weft::sorting
