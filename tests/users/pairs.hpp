// SPDX-License-Identifier: BSD-3-Clause
// What the programs that stand twice are compared by.
#pragma once
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>
#include <weft/weft.hpp>

namespace weft_pairs {

// Whether both forms have made what one rank makes alone, element by element; says where they differ.
template <class T>
bool same(const char* what, const std::vector<T>& before, const std::vector<T>& after,
          const std::vector<T>& alone) {
  bool right = true;
  for (std::size_t k = 0; right && k != std::max({before.size(), after.size(), alone.size()}); ++k) {
    const bool there[] = {k < before.size(), k < after.size(), k < alone.size()};
    right = there[0] && there[1] && there[2] && before[k] == after[k] && before[k] == alone[k];
    if (!right)
      std::printf("rank %d: %s: element %zu of %zu before, %zu after, %zu alone: before and after are %s\n",
                  weft::upc_mythread(), what, k, before.size(), after.size(), alone.size(),
                  there[0] && there[1] && before[k] == after[k] ? "alike" : "different");
  }
  return right;
}

} // namespace weft_pairs
