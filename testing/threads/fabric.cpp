// SPDX-License-Identifier: BSD-3-Clause
#include "testing/threads/fabric.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::transport {
namespace {

constexpr std::align_val_t page{4096};

} // namespace

mailbox::mailbox() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

mailbox::~mailbox() {
  close(fd_);
}

void mailbox::push(packet&& p) {
  const std::lock_guard lock(lock_);
  packets_.push_back(std::move(p));
  some_.store(true, std::memory_order_release);
  if (!std::exchange(armed_, false)) return;
  const std::uint64_t one = 1;
  // It can only fail by overflow, and then it is readable anyway.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
}

std::deque<packet> mailbox::take_all() {
  if (!some_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(lock_);
  some_.store(false, std::memory_order_relaxed);
  return std::exchange(packets_, {});
}

bool mailbox::arm() {
  const std::lock_guard lock(lock_);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof(count));
  if (!packets_.empty()) return false;
  armed_ = true;
  return true;
}

void threads_fabric::aligned_delete::operator()(std::byte* p) const {
  ::operator delete[](p, page);
}

threads_fabric::threads_fabric(std::uint32_t ranks, std::vector<std::uint32_t> host_of_rank,
                               std::size_t segment_bytes)
    : node_(std::move(host_of_rank)), segment_bytes_(segment_bytes) {
  if (node_.empty()) node_.assign(ranks, 0);
  if (node_.size() != ranks) throw std::invalid_argument("host_of_rank: name a node for every rank");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    segments_.emplace_back(new (page) std::byte[segment_bytes]());
    boxes_.push_back(std::make_unique<mailbox>());
  }
}

} // namespace weft::transport
