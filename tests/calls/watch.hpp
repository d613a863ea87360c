// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace calls {

// Ends this process with a report when the whole job has been silent for too long. Every thread of the job
// counts its steps in a file that all map (nothing of the library, which may be what hangs); without a file
// it sees itself only.
class watch {
public:
  static constexpr int silent_status = 86;

  // `report` says what this thread is doing; it is called from the watching thread.
  watch(const std::string& file, std::uint32_t me, std::uint32_t threads, unsigned patience, bool hold,
        std::function<std::string()> report);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  void beat() { mine_->steps.fetch_add(1, std::memory_order_relaxed); }

private:
  struct alignas(64) pulse {
    std::atomic<std::uint64_t> steps;
  };
  void look();
  std::uint64_t sum() const;

  pulse* pulses_;
  pulse* mine_;
  const std::uint32_t count_, me_;
  const unsigned patience_;
  const bool hold_;
  const std::function<std::string()> report_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace calls
