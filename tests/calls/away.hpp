// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace calls {

// What the threads of a job tell each other beside the library: words in a file that all of them map. A
// thread that reads them does not drive the library.
class blackboard {
public:
  static constexpr std::size_t words = 256;

  blackboard(); // collective
  ~blackboard();
  blackboard(const blackboard&) = delete;
  blackboard& operator=(const blackboard&) = delete;

  std::atomic<std::uint64_t>& at(std::size_t word) const { return words_[word % words]; }

private:
  std::atomic<std::uint64_t>* words_;
};

} // namespace calls
