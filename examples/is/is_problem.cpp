// SPDX-License-Identifier: BSD-3-Clause
#include "examples/is/is_problem.hpp"

#include "examples/support/nas_random.hpp"
#include "examples/support/problem_class.hpp"

#include <algorithm>

namespace is {
namespace {

// NAS parallel benchmarks 3.3, IS.
constexpr std::array<problem, 3> table{{
    {"S", 1 << 16, 1 << 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0},
    {"W",
     1 << 20,
     1 << 16,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018},
     2,
     2},
    {"A",
     1 << 23,
     1 << 19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     3,
     1},
}};

} // namespace

// The offset is that of the rising ones; the others have it in class A alone.
std::size_t problem::expected_rank(int test, int iteration) const {
  const auto at = static_cast<std::size_t>(test), t = static_cast<std::size_t>(iteration);
  const auto back = static_cast<std::size_t>(offset);
  if (test < rising) return rank[at] + t - back;
  return rank[at] - t + (offset == 1 ? back : 0);
}

std::span<const problem> problems() {
  return table;
}

const problem& find_problem(std::string_view name) {
  return example::problem_class(table, name);
}

void make_keys(const problem& p, std::size_t first, std::span<key> into) {
  example::nas_random random(4 * first);
  const auto quarter = static_cast<double>(p.end / 4);
  for (key& k : into) {
    double sum = random.next();
    for (int more = 0; more != 3; ++more)
      sum += random.next();
    k = static_cast<key>(quarter * sum);
  }
}

} // namespace is
