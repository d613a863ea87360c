// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulated/fiber.hpp"

#include <cstdint>
#include <cxxabi.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace weft::transport::sim {
namespace {

// AddressSanitizer must be told of every change of stack. `leaving` is where the state of the stack that is
// left is kept; null when it is left for good.
void before_switch([[maybe_unused]] void** leaving, [[maybe_unused]] const void* bottom,
                   [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(leaving, bottom, size);
#endif
}

void after_switch([[maybe_unused]] void* entering, [[maybe_unused]] const void** bottom_left,
                  [[maybe_unused]] std::size_t* size_left) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(entering, bottom_left, size_left);
#endif
}

} // namespace

fiber::fiber(std::size_t stack_bytes, std::function<void()> body) : body_(std::move(body)) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  memory_bytes_ = stack_bytes_ + page;
  void* const got = mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(got);
  mprotect(memory_, page, PROT_NONE);
  getcontext(&first_);
  first_.uc_stack.ss_sp = memory_ + page;
  first_.uc_stack.ss_size = stack_bytes_;
  first_.uc_link = nullptr;
  // makecontext passes ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&first_, reinterpret_cast<void (*)()>(&fiber::entry), 2,
              static_cast<unsigned int>(static_cast<std::uint64_t>(self) >> 32),
              static_cast<unsigned int>(self));
}

fiber::~fiber() {
  munmap(memory_, memory_bytes_);
}

void fiber::swap_exceptions() {
  auto* const globals = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  std::swap(globals->caught, exceptions_.caught);
  std::swap(globals->uncaught, exceptions_.uncaught);
}

// Each in a frame of its own: of the point that it jumps to the compiler must not know.
[[gnu::noinline]] void fiber::go_on(point& at) {
  __builtin_longjmp(at, 1);
}
[[gnu::noinline]] void fiber::go_on_inside() {
  if (started_) go_on(inside_);
  started_ = true;
  setcontext(&first_);
}

void fiber::resume() {
  swap_exceptions();
  before_switch(&fake_outside_, first_.uc_stack.ss_sp, stack_bytes_);
  if (__builtin_setjmp(outside_) == 0) go_on_inside();
  after_switch(fake_outside_, nullptr, nullptr);
  swap_exceptions();
}

void fiber::suspend() {
  before_switch(finished_ ? nullptr : &fake_inside_, outside_bottom_, outside_size_);
  if (__builtin_setjmp(inside_) == 0) go_on(outside_);
  after_switch(fake_inside_, &outside_bottom_, &outside_size_);
}

void fiber::entry(unsigned int high, unsigned int low) {
  const auto self = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low);
  reinterpret_cast<fiber*>(self)->main();
}

void fiber::main() {
  after_switch(nullptr, &outside_bottom_, &outside_size_);
  body_();
  finished_ = true;
  suspend();
}

} // namespace weft::transport::sim
