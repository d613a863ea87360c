#pragma once
#include "tests/soak/call.hpp"

#include <cstring>

namespace soak {

// Shared memory for the operands of one call at a time: on each thread a source, a destination and its rows
// of the arrays that the _x forms and permutations take.
class berths {
public:
  explicit berths(const character& job)
      : threads_(job.threads), area_((job.threads * (job.largest + 8ull) + 8 + 63) / 64 * 64),
        each_(2 * area_ + (40ull * job.threads + 64 + 63) / 64 * 64), count_(job.strict + job.loose),
        all_(upc_all_alloc(job.threads, count_ * each_)) {}
  ~berths() { upc_all_free(all_); }
  berths(const berths&) = delete;
  berths& operator=(const berths&) = delete;

  struct view {
    std::uint64_t src, dst, src_row, dst_row, sizes, perm; // places in each thread's memory
  };
  view at(std::uint32_t berth) const {
    const std::uint64_t src = all_.addr + berth * each_, dst = src + area_, rows = dst + area_;
    const std::uint64_t row = 16ull * threads_;
    return {src, dst, rows, rows + row, rows + 2 * row, rows + 2 * row + row / 2};
  }
  static upc_shared_ptr_t on(std::uint32_t thread, std::uint64_t place) { return {place, thread, 0}; }
  template <class T> static T* mine(std::uint64_t place) {
    return static_cast<T*>(upc_cast(on(static_cast<std::uint32_t>(MYTHREAD), place)));
  }

private:
  const std::uint32_t threads_;
  const std::uint64_t area_, each_, count_;
  const upc_shared_ptr_t all_;
};

} // namespace soak
