// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::progress {

// Wakes a thread that sleeps in epoll or poll, in this process or in another one that was handed the
// descriptor. An eventfd: a ring while no thread sleeps is kept until the next drain(), and many rings make
// one wake-up, so ringing early or twice does no harm.
//
// Any thread may ring; the sleeping thread drains after it woke and before it looks for work, so a ring that
// comes while it looks makes the next sleep return at once. The system calls order nothing for this
// program's memory model: the work itself is handed over by its own release and acquire.
//
// Lifetime: owns the descriptor. No thread may ring or sleep on it while it is moved from or destroyed.
class doorbell {
public:
  // A new doorbell; throws std::system_error when the process is out of descriptors.
  doorbell();
  // Takes over the descriptor of a doorbell that another process made.
  explicit doorbell(int descriptor) noexcept : descriptor_{descriptor} {}
  doorbell(doorbell&& other) noexcept;
  doorbell& operator=(doorbell&& other) noexcept;
  ~doorbell();

  void ring() noexcept;
  // True when it had been rung since the last time.
  bool drain() noexcept;

  int fd() const noexcept { return descriptor_; }
  // How often this object rang.
  std::uint64_t rings() const noexcept { return rings_.load(std::memory_order_relaxed); }

private:
  int descriptor_;
  std::atomic<std::uint64_t> rings_{0};
};

} // namespace weft::progress
