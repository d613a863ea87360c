// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/direct.hpp"

#include <algorithm>
#include <chrono>
#include <sys/uio.h>
#include <unistd.h>

namespace weft::mpi {

bool read_of_process(pid_t process, const void* from, void* to, std::size_t bytes) {
  auto* here = static_cast<std::byte*>(to);
  auto* there = static_cast<const std::byte*>(from);
  while (bytes != 0) {
    const iovec mine{here, bytes}, other{const_cast<std::byte*>(there), bytes};
    const ssize_t read = process_vm_readv(process, &mine, 1, &other, 1, 0);
    if (read <= 0) return false;
    here += read;
    there += read;
    bytes -= static_cast<std::size_t>(read);
  }
  return true;
}

sample own_sample() {
  static const std::uint64_t seen = nanoseconds_now() ^ static_cast<std::uint64_t>(getpid()) << 40;
  return {static_cast<std::uint64_t>(getpid()), reinterpret_cast<std::uint64_t>(&seen), seen};
}
bool is_readable(const sample& of) {
  std::uint64_t seen = 0;
  return read_of_process(static_cast<pid_t>(of.process), reinterpret_cast<const void*>(of.address), &seen,
                         sizeof seen) &&
         seen == of.is;
}

std::uint64_t nanoseconds_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds(1));
}

costs_of_ways::of_size& costs_of_ways::of(std::size_t bytes) {
  const std::size_t power = std::min<std::size_t>(std::bit_width(bytes), first + sizes - 1);
  return costs_[power - first];
}

bool costs_of_ways::by_kernel_is_cheaper(std::size_t bytes, std::uint64_t given, std::uint64_t taken) {
  constexpr std::uint32_t tried_first = 16, between_trials = 64;
  if (bytes < least) return false;
  of_size& c = of(bytes);
  const std::uint32_t n = c.asked++;
  if (n < tried_first) return n % 2 == 1;
  const auto& kernel = c.picoseconds[by_kernel];
  const auto& ring = c.picoseconds[by_ring];
  // Into the ring and out of it: one behind the other. The giver waits once while the kernel copies.
  const bool cheaper =
      std::max(kernel[giving], taken * kernel[taking]) < given * ring[giving] + taken * ring[taking];
  return (n % between_trials == 0) != cheaper;
}

// A rank that was stopped meanwhile says nothing of the way, so what is far off counts as twice the mean.
void costs_of_ways::note(way w, end e, std::size_t bytes, std::uint64_t nanoseconds) {
  constexpr std::uint64_t weight = 8;
  if (bytes < least) return;
  std::uint64_t& mean = of(bytes).picoseconds[w][e];
  const std::uint64_t sample = nanoseconds * 1000 / bytes + 1;
  mean = mean == 0 ? sample : (mean * (weight - 1) + std::min(sample, 2 * mean)) / weight + 1;
}

} // namespace weft::mpi
