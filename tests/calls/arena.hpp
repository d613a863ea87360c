// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <weft/weft.hpp>

namespace calls {

// Shared memory that lies at the same place on all threads. Collective.
class arena {
public:
  explicit arena(std::uint64_t bytes)
      : entries_(bytes),
        base_(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes + most_calls * sizeof(std::uint64_t))) {
    mine_ = static_cast<std::byte*>(upc_cast(at(0, static_cast<std::uint32_t>(MYTHREAD))));
  }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() {
    if (std::uncaught_exceptions() == 0) upc_all_free(base_); // a collective call
  }

  upc_shared_ptr_t at(std::uint64_t offset, std::uint32_t thread) const {
    return {base_.addr + offset, thread, 0};
  }
  upc_shared_ptr_t at(const place& p) const {
    return p.null ? UPC_SHARED_NULL : upc_shared_ptr_t{base_.addr + p.offset, p.thread, p.phase};
  }
  std::byte* mine() const { return mine_; }
  std::uint64_t base() const { return base_.addr; }

  // A thread tells the others that it enters a call of a case; numbers of cases count from 1.
  static constexpr std::uint64_t most_calls = 1024;
  void note_entry(std::size_t call, std::uint64_t number) const {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(mine_ + entry(call))).store(number);
  }
  bool has_entered(std::size_t call, std::uint64_t number, std::uint32_t thread) const {
    std::uint64_t found = 0;
    upc_memget(&found, at(entry(call), thread), sizeof found);
    return found == number;
  }

private:
  std::uint64_t entry(std::size_t call) const { return entries_ + call * sizeof(std::uint64_t); }

  std::uint64_t entries_;
  upc_shared_ptr_t base_;
  std::byte* mine_;
};

} // namespace calls
