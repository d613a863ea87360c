// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>
#include <utility>

namespace weft::engine {

// Says in one line what memory was wanted for, and ends this process, which ends the job: for the few places
// where neither a caller can be told nor the work be kept for later. Allocates nothing.
[[noreturn, gnu::cold, gnu::noinline]] inline void end_out_of_memory(const char* wanted_for) noexcept {
  char line[256];
  std::snprintf(line, sizeof line, "weft: out of memory for %s; the job ends\n", wanted_for);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  std::_Exit(EXIT_FAILURE);
}

// What has begun with others and cannot stop half-way.
template <class Work> decltype(auto) must_have_memory(const char* wanted_for, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    end_out_of_memory(wanted_for);
  }
}

// Work that is kept for later for want of memory: others may give some back. Not for ever.
class shortage {
public:
  [[gnu::cold, gnu::noinline]] void met(const char* wanted_for) noexcept {
    if (++tries_ == patience) end_out_of_memory(wanted_for);
  }
  void over() noexcept { tries_ = 0; }

private:
  static constexpr unsigned patience = 10'000; // a try a sweep
  unsigned tries_ = 0;
};

// What others wait for by now, and what has begun nothing when it fails: again, for memory may come back.
template <class Work> decltype(auto) until_there_is_memory(const char* wanted_for, Work&& work) {
  for (shortage of_memory;;) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      of_memory.met(wanted_for);
    }
  }
}

} // namespace weft::engine
