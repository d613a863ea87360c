// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::progress {

// Whether this thread is inside of a function that a user has given to an operation: it must not wait for, or
// begin, another one.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit bool running_user_code = false;

// Memory of the operation that it has been handed pointers-to-shared to: they count from the beginning of
// this process's segment, in whose heap it does not lie.
struct lent_memory {
  struct piece {
    std::uint64_t begin = 0, bytes = 0;
    bool has(std::uint64_t at, std::uint64_t wanted) const noexcept {
      return at - begin <= bytes && wanted <= bytes - (at - begin);
    }
  };
  std::uint32_t thread = 0;
  std::byte* segment = nullptr;
  std::array<piece, 2> pieces{};

  // Null if it is none of it.
  std::byte* at(std::uint32_t of, std::uint64_t offset, std::uint64_t bytes) const noexcept {
    if (of != thread || (!pieces[0].has(offset, bytes) && !pieces[1].has(offset, bytes))) return nullptr;
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(segment) + offset);
  }
};
[[gnu::tls_model("initial-exec")]] inline thread_local constinit lent_memory lent_to_user_code{};

class in_user_code {
public:
  explicit in_user_code(const lent_memory& lent) noexcept {
    running_user_code = true;
    lent_to_user_code = lent;
  }
  ~in_user_code() { running_user_code = false; }
  in_user_code(const in_user_code&) = delete;
  in_user_code& operator=(const in_user_code&) = delete;
};

} // namespace weft::progress
