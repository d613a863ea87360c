// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/watch.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace calls {

watch::watch(const std::string& file, std::uint32_t me, std::uint32_t threads, unsigned patience, bool hold,
             std::function<std::string()> report)
    : count_(file.empty() ? 1 : threads), me_(me), patience_(patience), hold_(hold),
      report_(std::move(report)) {
  const std::size_t bytes = count_ * sizeof(pulse);
  const int fd = file.empty() ? -1 : open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    throw std::runtime_error("cannot size " + file);
  void* const at =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
  if (at == MAP_FAILED) throw std::runtime_error("cannot map " + file);
  if (fd >= 0) close(fd);
  pulses_ = static_cast<pulse*>(at);
  mine_ = &pulses_[file.empty() ? 0 : me];
  thread_ = std::thread([this] { look(); });
}

watch::~watch() {
  over_.store(true);
  thread_.join();
  munmap(pulses_, count_ * sizeof(pulse));
}

std::uint64_t watch::sum() const {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < count_; ++i)
    all += pulses_[i].steps.load(std::memory_order_relaxed);
  return all;
}

// Counted in looks, not read from a clock: a machine that stands still is not a silent job.
void watch::look() {
  constexpr unsigned looks_a_second = 20;
  std::uint64_t seen = sum();
  for (unsigned silent = 0; !over_.load(); ++silent) {
    usleep(1000000 / looks_a_second);
    if (const std::uint64_t now = sum(); now != seen) {
      seen = now;
      silent = 0;
    }
    if (silent < patience_ * looks_a_second) continue;
    const std::string text = "rank " + std::to_string(me_) + ": nothing has moved for " +
                             std::to_string(patience_) + " s: " + report_() + "\n";
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    if (hold_)
      for (;;)
        pause();
    usleep(2000000); // the others say theirs
    std::_Exit(silent_status);
  }
}

} // namespace calls
