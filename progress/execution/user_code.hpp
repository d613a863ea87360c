#pragma once

namespace weft::progress {

// Whether this thread is inside of a function that a user has given to an operation: it must not wait for, or
// begin, another one.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit bool running_user_code = false;

class in_user_code {
public:
  in_user_code() noexcept { running_user_code = true; }
  ~in_user_code() { running_user_code = false; }
  in_user_code(const in_user_code&) = delete;
  in_user_code& operator=(const in_user_code&) = delete;
};

} // namespace weft::progress
