// SPDX-License-Identifier: BSD-3-Clause
// Plans do what they did when plans.digest was written. Here a part of all cases, and in the long tests all.
#include "tests/graph/plan_digest.hpp"

#include <gtest/gtest.h>
#include <fmt/format.h>

#include <set>

namespace weft::graph {
namespace {

constexpr const char* what_to_do =
    "Plans do something else now. What differs, case by case, and how to write "
    "the file anew if that is meant: tests/graph/plan_digest.py --help\n";

const digest_file& committed() {
  static const digest_file all = read_digests(WEFT_PLAN_DIGESTS);
  return all;
}

// The file has a line for each that has cases.
std::string in_file(const std::string& key, std::size_t columns) {
  const auto line = committed().find(key);
  std::string none = "-";
  for (std::size_t k = 1; k < columns; ++k)
    none += " -";
  return line == committed().end() ? none : line->second;
}

class plan_digest : public testing::TestWithParam<collectives::operation> {
protected:
  void expect_committed(bool all) {
    std::set<std::string, std::less<>> known;
    for_each_line(GetParam(), [&](const plan_line& line) {
      const std::string key = line.key(), sampled = sampled_digests(line);
      known.insert(key);
      const std::string file = in_file(key, host_shapes + 1);
      const std::string digests = fmt::format("{} {}", sampled, all ? other_digest(line) : "");
      if (all ? file != digests : !file.starts_with(digests))
        differs(fmt::format("{}: {}\n  in the file: {}\n", key, digests, file));
    });
    const std::string mine = fmt::format("{} ", collectives::name(GetParam()));
    for (auto it = committed().lower_bound(mine); it != committed().end() && it->first.starts_with(mine);
         ++it)
      if (!known.contains(it->first)) differs(fmt::format("{}: only in the file\n", it->first));
    EXPECT_EQ(differing_, 0u) << what_to_do << differences_;
  }

private:
  void differs(const std::string& how) {
    constexpr unsigned shown = 10;
    if (++differing_ <= shown) differences_ += how;
  }
  unsigned differing_ = 0;
  std::string differences_;
};

std::string name_of(const testing::TestParamInfo<collectives::operation>& op) {
  return std::string(collectives::name(op.param));
}

TEST_P(plan_digest, is_as_committed) {
  expect_committed(false);
}
INSTANTIATE_TEST_SUITE_P(of, plan_digest, testing::ValuesIn(collectives::operations), name_of);

using whole_plan_digest = plan_digest;
TEST_P(whole_plan_digest, is_as_committed) {
  expect_committed(true);
}
INSTANTIATE_TEST_SUITE_P(long_of, whole_plan_digest, testing::ValuesIn(collectives::operations), name_of);

} // namespace
} // namespace weft::graph
