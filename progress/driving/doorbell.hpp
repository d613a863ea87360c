// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

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

// Where threads of this process sleep: those of the application at one place, the progress thread at its own.
// A thread that does something for them wakes all that sleep there.
//
// One of them listens to the bell and to the network; the others wait for its news. For what two threads
// listen to, one of them can take away before the other has run. So the bell and the number of the news tell
// the same, in this order: the number grows, the bell rings. A thread that goes to sleep reads the number
// before its last look. A thread that ceases to listen, for whatever reason, is news: another one listens
// then.
class sleeping_place {
public:
  doorbell bell;
  std::atomic<std::uint32_t> sleepers{0};
  int listens_to = -1; // instead of the transport's descriptor

  void wake() noexcept {
    if (sleepers.load(std::memory_order_relaxed) != 0) ring();
  }
  // Those too that are about to sleep.
  void ring() noexcept {
    tell();
    bell.ring();
  }

  std::uint64_t news() const noexcept { return news_.load(std::memory_order_acquire); }
  // `listen` returns when the bell has rung, among others.
  template <class Listen> void sleep(std::uint64_t seen, std::chrono::milliseconds limit, Listen&& listen) {
    if (listened_to_.exchange(true, std::memory_order_seq_cst)) return wait_for_news(seen, limit);
    if (news() == seen) listen();
    bell.drain();
    listened_to_.store(false, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) > 1) tell();
  }
  void wait_for_news(std::uint64_t seen, std::chrono::milliseconds limit) {
    std::unique_lock lock(lock_);
    const auto told = [&] { return news() != seen; };
    if (limit.count() < 0)
      told_.wait(lock, told);
    else
      told_.wait_for(lock, limit, told);
  }

private:
  void tell() noexcept {
    {
      const std::lock_guard lock(lock_);
      news_.fetch_add(1, std::memory_order_release);
    }
    told_.notify_all();
  }

  std::atomic<bool> listened_to_{false};
  std::atomic<std::uint64_t> news_{0};
  std::mutex lock_;
  std::condition_variable told_;
};

} // namespace weft::progress
