#pragma once
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"
#include "engine/reductions/layout.hpp"

namespace weft::api {

// The checks of operands that lie over the threads as `shared [block] TYPE A[elements]` does.
class distributed_array {
public:
  struct shape {
    const char* name; // of the size
    std::uint32_t size;
    std::size_t alignment;
    std::size_t elements, block; // blk_size
  };
  distributed_array(const collective_call& c, const shape& of) : c_(c), shape_(of) {}

  // All of it is where it may be.
  reductions::layout of(const char* argument, upc_shared_ptr_t p) const;

  // Bytes from the lowest to the highest that the array has on a thread.
  struct extent {
    std::uint64_t begin, end;
  };
  static extent extent_of(const reductions::layout& l);

private:
  void require_place(const char* argument, upc_shared_ptr_t p, const reductions::layout& l) const;
  void require_members(const char* argument, const reductions::layout& l) const;

  const collective_call& c_;
  shape shape_;
};

} // namespace weft::api
