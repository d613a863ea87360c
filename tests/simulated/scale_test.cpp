// SPDX-License-Identifier: BSD-3-Clause
// The plans of a thousand ranks, by the algorithms that the library chooses, run on the virtual clock: the
// blocks are where they belong, and it takes what the model predicts.
#include "engine/collectives/algorithm.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/plan_player.hpp"
#include "verify/specified.hpp"
#include "verify/traffic.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <malloc.h>
#include <span>

namespace weft::tests {
namespace {
using collectives::operation;
using graph::sync;

struct scale_case {
  operation op;
  sync in, out;
  std::uint32_t ranks = 1024, each = 32;
  std::uint64_t bytes = sizeof(std::uint64_t);

  std::string text() const {
    return std::string(name(op)) + "_in_" + std::string(graph::name(in)) + "_out_" +
           std::string(graph::name(out)) + "_" + std::to_string(ranks) + "_by_" + std::to_string(each) +
           (bytes == sizeof(std::uint64_t) ? "" : "_of_" + std::to_string(bytes));
  }
};

std::uint64_t content(std::uint32_t rank, std::uint64_t offset) {
  return (rank * 1000003u + offset) * 0x9e3779b97f4a7c15u | 1;
}

class scale : public testing::TestWithParam<scale_case> {};

TEST_P(scale, takes_the_predicted_time) {
  const scale_case& c = GetParam();
  const std::uint32_t last = c.ranks - 1;
  constexpr std::uint64_t word = sizeof(std::uint64_t);
  const collectives::request r{.op = c.op, .in = c.in, .out = c.out, .bytes = c.bytes};
  const graph::movement moved = specified(r);
  played_plan p;
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank)
    p.nodes.push_back(rank / c.each);
  p.source = moved.rule.source(last, last) + c.bytes;
  p.destination = moved.rule.destination(last, last) + c.bytes;
  p.calls = 1;
  p.late = false;
  const collectives::tuning t = tuning_for(transport::simulated_costs{});
  p.make = [&](std::uint32_t, const graph::topology& g) { return collectives::compile(r, g, t); };
  p.fill = [&](std::uint32_t rank, std::uint32_t, std::byte* to) {
    for (std::uint64_t at = 0; at < p.source; at += word) {
      const std::uint64_t x = content(rank, at);
      std::memcpy(to + at, &x, word);
    }
  };
  p.check = [&](std::uint32_t rank, std::uint32_t, const std::byte* from) {
    if (c.out == sync::no) return;
    for (std::uint32_t i = 0; i < c.ranks; ++i) {
      if (!moved.sends(i, rank)) continue;
      std::uint64_t got;
      std::memcpy(&got, from + moved.rule.destination(i, rank), word);
      ASSERT_EQ(got, content(i, moved.rule.source(i, rank))) << "from rank " << i << " to rank " << rank;
    }
  };
  const graph::topology g(0, p.nodes);
  const auto predicted = static_cast<double>(*collectives::predicted_time(r, g, t));
  const auto elapsed = static_cast<double>(play(p, 1, {}).count());
  const collectives::algorithm* const by = choose(r, g, t);
  std::printf("%s by %s: predicted %.1f us, on the clock %.1f us, %.2f times as long\n", c.text().c_str(),
              by == nullptr ? "only way" : std::string(by->name).c_str(), predicted / 1e3, elapsed / 1e3,
              elapsed / predicted);
  EXPECT_LT(elapsed, 1.5 * predicted);
  EXPECT_GT(elapsed, predicted / 1.5);
}

// Few blocks for each rank, and as many as there are ranks. A permute finds its permutation in memory of
// users: these have none.
constexpr std::array rooted{operation::broadcast, operation::scatter, operation::gather};
constexpr std::array of_all{operation::gather_all, operation::exchange};

using modes = std::pair<sync, sync>;
std::vector<scale_case> cases(std::span<const operation> operations, std::initializer_list<modes> in_and_out,
                              std::uint32_t ranks = 1024) {
  std::vector<scale_case> all;
  for (const operation op : operations)
    for (const auto& [in, out] : in_and_out)
      all.push_back({op, in, out, ranks});
  return all;
}

std::string case_name(const testing::TestParamInfo<scale_case>& info) {
  return info.param.text();
}

INSTANTIATE_TEST_SUITE_P(rooted, scale,
                         testing::ValuesIn(cases(rooted, {{sync::all, sync::my}, {sync::all, sync::all}})),
                         case_name);
INSTANTIATE_TEST_SUITE_P(of_all, scale, testing::ValuesIn(cases(of_all, {{sync::all, sync::all}})),
                         case_name);
INSTANTIATE_TEST_SUITE_P(long_rooted, scale,
                         testing::ValuesIn(cases(rooted, {{sync::my, sync::my}, {sync::no, sync::no}})),
                         case_name);
INSTANTIATE_TEST_SUITE_P(long_of_all, scale, testing::ValuesIn(cases(of_all, {{sync::all, sync::my}})),
                         case_name);
// What two hosts tell each other is too long for one message.
INSTANTIATE_TEST_SUITE_P(of_several_pairs, scale,
                         testing::Values(scale_case{operation::exchange, sync::all, sync::my, 256, 64, 64}),
                         case_name);
INSTANTIATE_TEST_SUITE_P(long_of_several_pairs, scale,
                         testing::Values(scale_case{operation::exchange, sync::all, sync::my, 1024, 64, 64}),
                         case_name);
// Where each rank has a block on the root they would have as much memory each.
constexpr std::array of_one_block{operation::broadcast};
INSTANTIATE_TEST_SUITE_P(long_ten_thousand, scale,
                         testing::ValuesIn(cases(of_one_block, {{sync::all, sync::all}}, 10240)), case_name);

// What this process has of memory, in bytes: all addresses, and the pages that are there.
std::pair<double, double> reserved_and_resident() {
  malloc_trim(0);
  std::ifstream in("/proc/self/statm");
  double reserved = 0, resident = 0;
  in >> reserved >> resident;
  return {reserved * 4096, resident * 4096};
}

// What weft info --ranks counts by. What is set aside for ranks that are never spoken to takes no memory.
TEST(scales, a_member_of_many_takes_the_memory_that_is_counted) {
  constexpr std::uint32_t ranks = 65536, each = 64;
  using progress::channel;
  engine::team_info info;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    nodes.push_back(rank / each);
  std::vector<std::byte> segment(engine::heap_offset(each));
  const auto [reserved_before, resident_before] = reserved_and_resident();
  info.topology = graph::topology(7, nodes);
  info.world.resize(ranks);
  info.mailbox_offset = engine::first_mailbox_offset;
  const channel team(std::move(info), segment.data());
  const auto [reserved, resident] = reserved_and_resident();
  constexpr auto always = double{channel::bytes_of_member} * ranks;
  constexpr auto set_aside = double{channel::set_aside_for_member} * ranks;
  EXPECT_LT(reserved - reserved_before, (always + set_aside) * 1.3);
  EXPECT_LT(resident - resident_before, always + set_aside / 4);
}

} // namespace
} // namespace weft::tests
