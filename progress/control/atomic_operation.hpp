// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::control {

enum class atomic_type : std::uint8_t { i32, u32, i64, u64, f32, f64, pointer };
enum class atomic_kind : std::uint8_t {
  get,
  set,
  cswap,
  add,
  sub,
  mult,
  min,
  max,
  inc,
  dec,
  and_,
  or_,
  xor_
};

constexpr std::size_t size_of(atomic_type t) {
  if (t == atomic_type::pointer) return 16;
  return t == atomic_type::i32 || t == atomic_type::u32 || t == atomic_type::f32 ? 4 : 8;
}
constexpr bool is_defined(atomic_kind k, atomic_type t) {
  if (k <= atomic_kind::cswap) return true;
  if (t == atomic_type::pointer) return false;
  return k < atomic_kind::and_ || t < atomic_type::f32;
}
// What the processor does in one; anything else is one after the other with its owner's engine alone.
constexpr bool is_word(atomic_type t) {
  return t != atomic_type::pointer;
}

// A value of any of the types, in its first bytes.
using atomic_value = std::array<std::uint64_t, 2>;

struct atomic_operation {
  atomic_type type = atomic_type::i32;
  atomic_kind kind = atomic_kind::get;
  atomic_value operand1{}, operand2{};
};

// Does it to the value there, and returns the one that was there before: of words in one, sequentially
// consistent with each rank that reaches the memory. `at` is aligned to the type.
atomic_value apply(std::byte* at, const atomic_operation& op) noexcept;

} // namespace weft::control
