// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/one_sided/subset.hpp"
#include "engine/reductions/kernels.hpp"
#include "engine/reductions/layout.hpp"

namespace weft::api {

// Operands of a one-sided reduction, checked. Threads of the layouts are places in the subset.
struct one_sided_elements {
  reductions::layout from, to; // to: of a prefix reduction
  upc_shared_ptr_t dst;
  reductions::element type{};
  reductions::operation op{}; // of the library: it commutes
  reductions::kernels how;
};

// One-sided reductions that the calling thread computes itself: it reads the elements where they lie, or gets
// a piece after the other, and writes the results. Complete on return.
class computed_by_caller {
public:
  computed_by_caller(const char* call, runtime& rt, const subset& who, const one_sided_elements& it)
      : call_(call), rt_(rt), who_(who), it_(it) {}

  void reduce() const;
  void scan(bool exclusive) const;

private:
  std::vector<std::byte> bring(std::span<const reductions::layout::span> all) const;
  struct run;
  run next_run(std::uint64_t element) const;

  const char* call_;
  runtime& rt_;
  const subset& who_;
  const one_sided_elements& it_;
};

} // namespace weft::api
