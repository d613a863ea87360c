// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/channel.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

using weft::progress::operation;
using weft::progress::waiting_list;

std::vector<std::uint64_t> taken(waiting_list& list) {
  std::vector<std::uint64_t> seen;
  while (!list.empty())
    seen.push_back(list.take_first().seq);
  return seen;
}

TEST(waiting_list, gives_what_was_inserted_in_any_order_by_sequence) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::vector<operation> all(1 + seed % 9);
    std::vector<std::uint64_t> in_order;
    for (std::uint64_t k = 0; k != all.size(); ++k)
      in_order.push_back(all[k].seq = 3 * k + 1);
    std::shuffle(in_order.begin(), in_order.end(), std::mt19937(seed));
    waiting_list list;
    for (const std::uint64_t seq : in_order)
      list.insert(all[seq / 3]);
    std::sort(in_order.begin(), in_order.end());
    EXPECT_EQ(taken(list), in_order);
  }
}

TEST(waiting_list, goes_on_after_it_was_empty) {
  std::vector<operation> all(4);
  for (std::uint64_t k = 0; k != all.size(); ++k)
    all[k].seq = k + 1;
  waiting_list list;
  list.insert(all[0]);
  EXPECT_EQ(&list.take_first(), &all[0]);
  list.insert(all[2]);
  list.insert(all[1]);
  EXPECT_EQ(&list.take_first(), &all[1]);
  list.insert(all[3]);
  EXPECT_EQ(taken(list), (std::vector<std::uint64_t>{3, 4}));
}

// A search from the front for each would take seconds: it looks at five hundred thousand million links.
TEST(waiting_list, holds_a_million_that_come_in_order) {
  std::vector<operation> all(std::size_t{1} << 20);
  waiting_list list;
  for (std::uint64_t k = 0; k != all.size(); ++k) {
    all[k].seq = k + 1;
    list.insert(all[k]);
  }
  EXPECT_EQ(taken(list).size(), all.size());
}

} // namespace
