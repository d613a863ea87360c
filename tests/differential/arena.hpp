#pragma once
#include "tests/differential/call.hpp"

#include <cstdint>
#include <weft/weft.hpp>

namespace differential {

// Shared memory that lies at the same place on all threads. Collective.
class arena {
public:
  explicit arena(std::uint64_t bytes) : base_(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes)) {
    mine_ = static_cast<std::uint8_t*>(upc_cast(at(0, static_cast<std::uint32_t>(MYTHREAD))));
  }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { upc_all_free(base_); }

  upc_shared_ptr_t at(std::uint64_t offset, std::uint32_t thread) const {
    return {base_.addr + offset, thread, 0};
  }
  upc_shared_ptr_t at(const place& p) const {
    return p.null ? UPC_SHARED_NULL : upc_shared_ptr_t{base_.addr + p.offset, p.thread, p.phase};
  }
  std::uint8_t* mine() const { return mine_; }

private:
  upc_shared_ptr_t base_;
  std::uint8_t* mine_;
};

} // namespace differential
