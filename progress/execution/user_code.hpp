#pragma once
#include <array>
#include <cstdint>

namespace weft::progress {

// Whether this thread is inside of a function that a user has given to an operation: it must not wait for, or
// begin, another one.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit bool running_user_code = false;

// Memory of the operation that it has been handed pointers-to-shared to: they count from the beginning of
// this process's segment, in whose heap it does not lie.
struct lent_memory {
  std::uint64_t begin = 0, bytes = 0;
  bool has(std::uint64_t at, std::uint64_t wanted) const noexcept {
    return at - begin <= bytes && wanted <= bytes - (at - begin);
  }
};
[[gnu::tls_model("initial-exec")]] inline thread_local constinit std::array<lent_memory, 2>
    lent_to_user_code{};

class in_user_code {
public:
  explicit in_user_code(const std::array<lent_memory, 2>& lent) noexcept {
    running_user_code = true;
    lent_to_user_code = lent;
  }
  ~in_user_code() { running_user_code = false; }
  in_user_code(const in_user_code&) = delete;
  in_user_code& operator=(const in_user_code&) = delete;
};

} // namespace weft::progress
