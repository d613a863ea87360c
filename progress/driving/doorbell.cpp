// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/doorbell.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::progress {

doorbell::doorbell() : descriptor_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  if (descriptor_ < 0) {
    throw std::system_error{errno, std::generic_category(),
                            "cannot create an eventfd: raise the limit of open files (ulimit -n)"};
  }
}

doorbell::doorbell(doorbell&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, rings_{other.rings()} {}

doorbell& doorbell::operator=(doorbell&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    rings_.store(other.rings(), std::memory_order_relaxed);
  }
  return *this;
}

doorbell::~doorbell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void doorbell::ring() noexcept {
  rings_.fetch_add(1, std::memory_order_relaxed);
  // A full counter (EAGAIN) is a bell that rings already.
  while (::eventfd_write(descriptor_, 1) < 0 && errno == EINTR) {
  }
}

bool doorbell::drain() noexcept {
  eventfd_t count = 0;
  int result = 0;
  while ((result = ::eventfd_read(descriptor_, &count)) < 0 && errno == EINTR) {
  }
  return result == 0;
}

} // namespace weft::progress
