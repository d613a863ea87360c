// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <functional>
#include <ucontext.h>

namespace weft::transport::sim {

// A function with a stack of its own, run in turns with the thread that resumes it.
//
// The body must not let an exception out. A fiber that is destroyed before its body has returned leaves the
// objects on its stack undestroyed: see to it that the body ends.
class fiber {
public:
  fiber(std::size_t stack_bytes, std::function<void()> body);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  bool started() const { return started_; }
  bool finished() const { return finished_; }

  void resume();  // from outside: runs the body until it suspends or ends
  void suspend(); // from the body

private:
  // What the C++ runtime keeps for a thread about its exceptions in flight: each stack has its own.
  struct exception_state {
    void* caught;
    unsigned int uncaught;
  };

  // What a stack goes on with: frame, place and top. Unlike a ucontext_t it has no signals, which would take
  // a system call for each change of stack.
  using point = void* [5];

  static void entry(unsigned int high, unsigned int low);
  void main();
  void go_on_inside();
  [[noreturn]] static void go_on(point& at);
  void swap_exceptions();

  std::function<void()> body_;
  std::byte* memory_ = nullptr; // a guard page, then the stack
  std::size_t memory_bytes_ = 0;
  std::size_t stack_bytes_ = 0;
  ucontext_t first_{}; // how the body begins
  point inside_{}, outside_{};
  exception_state exceptions_{};
  bool started_ = false;
  bool finished_ = false;
  // AddressSanitizer's view of the two stacks.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_size_ = 0;
};

} // namespace weft::transport::sim
