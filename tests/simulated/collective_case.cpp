// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated/collective_case.hpp"

#include "engine/collectives/algorithm.hpp"
#include "testing/simulated/random.hpp"
#include "verify/specified.hpp"

#include <algorithm>
#include <array>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::hint;
using graph::sync;
using transport::sim::seeded_random;

template <class T, std::size_t N> T one_of(seeded_random& random, const std::array<T, N>& values) {
  return values[random.below(N)];
}

std::vector<std::uint32_t> make_nodes(seeded_random& random, std::uint32_t ranks) {
  const std::uint64_t shape = random.below(5);
  std::vector<std::uint32_t> nodes(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    switch (shape) {
    case 0:
      nodes[rank] = 0;
      break;
    case 1:
      nodes[rank] = rank;
      break;
    case 2:
      nodes[rank] = rank / 2;
      break;
    case 3:
      nodes[rank] = rank / 3;
      break;
    default:
      nodes[rank] = static_cast<std::uint32_t>(random.below(3));
      break;
    }
  }
  return nodes;
}

std::uint64_t make_bytes(seeded_random& random, std::uint64_t most) {
  constexpr std::array<std::uint64_t, 9> sizes{0, 1, 8, 37, 57, 1024, 2049, 20480, 70000};
  std::uint64_t bytes = one_of(random, sizes);
  while (bytes > most)
    bytes = one_of(random, sizes);
  return bytes;
}

collective_case::call make_call(seeded_random& random, std::uint32_t ranks, std::uint64_t most_bytes) {
  request r;
  r.op = one_of(random,
                std::array{operation::barrier, operation::broadcast, operation::gather_all,
                           operation::scatter, operation::gather, operation::exchange, operation::exchange,
                           operation::permute, operation::permute, operation::broadcast_x,
                           operation::gather_all_x, operation::exchange_x, operation::scatter_x,
                           operation::gather_x, operation::permute_x, operation::permute_x, operation::reduce,
                           operation::reduce_all, operation::prefix_reduce});
  if (r.op == operation::barrier) {
    collective_case::call c;
    if (random.coin(0.1) && ranks > 1) c.odd_one = static_cast<std::uint32_t>(random.below(ranks));
    return c;
  }
  constexpr std::array modes{sync::no, sync::my, sync::all};
  r.in = one_of(random, modes);
  r.out = one_of(random, modes);
  r.direction = one_of(random, std::array{hint::none, hint::push, hint::pull});
  if (rooted(r.op)) r.root = static_cast<std::uint32_t>(random.below(ranks));
  if (collectives::has_in_place(r.op)) r.in_place = random.coin(0.3);
  if (r.op == operation::permute_x) r.wide_perm = random.coin(0.5);
  const bool one_block =
      r.op == operation::broadcast || r.op == operation::broadcast_x || r.op == operation::permute;
  const std::uint64_t most = one_block ? most_bytes : most_bytes / ranks;
  if (r.op <= operation::broadcast_x) r.bytes = make_bytes(random, most);
  if (collectives::computes(r.op)) {
    r.bytes = one_of(random,
                     std::array{std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{57}, std::uint64_t{2048}});
    r.by_ranges = random.coin(0.3);
    r.whole = r.by_ranges && r.op == operation::reduce && r.root % 2 == 0;
    r.large = random.coin(0.3);
  }
  return lay_out(ranks, r, random.next(), most);
}

const char* mode_text(sync s) {
  return s == sync::no ? "NO" : s == sync::my ? "MY" : "ALL";
}

} // namespace

collective_case make_case(std::uint64_t seed, const case_limits& limits) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.ranks = 1 + static_cast<std::uint32_t>(
                    random.below(random.coin(0.5) ? std::min(4u, limits.ranks) : limits.ranks));
  c.nodes = make_nodes(random, c.ranks);
  c.late = random.coin(0.3) ? 0 : 0.2;
  if (random.coin(0.5)) c.sluggard = static_cast<std::uint32_t>(random.below(c.ranks));
  // Few large calls, or many small ones: more than there are slots, in flight together or one after the
  // other.
  const std::uint64_t shape = random.below(10);
  if (shape < 7) {
    const std::uint64_t rounds = 1 + random.below(5);
    for (std::uint64_t k = 0; k < rounds; ++k) {
      auto& round = c.rounds.emplace_back(1 + random.below(4));
      for (auto& call : round)
        call = make_call(random, c.ranks, limits.bytes);
    }
  } else if (shape < 9) {
    const auto same = make_call(random, c.ranks, 512);
    c.rounds.assign(std::min<std::uint64_t>(limits.calls, 40 + random.below(60)), {same});
  } else {
    auto& round = c.rounds.emplace_back(34 + random.below(20));
    for (auto& call : round)
      call = make_call(random, c.ranks, 512);
  }
  return c;
}

std::uint64_t collective_case::call_bytes() const {
  std::uint64_t most = 0;
  for (const auto& round : rounds)
    for (const call& k : round)
      most = std::max(most, k.area);
  return (most + guard_bytes + 63) / 64 * 64;
}

std::uint64_t collective_case::heap_bytes() const {
  std::uint64_t most = 0;
  for (const auto& round : rounds)
    most = std::max<std::uint64_t>(most, round.size());
  return most * call_bytes();
}

std::string text_of(const request& r) {
  std::string text(collectives::name(r.op));
  if (r.op == operation::barrier) return text;
  text += std::string(" ") + mode_text(r.in) + "/" + mode_text(r.out) + " of " + std::to_string(r.bytes) +
          " bytes";
  if (rooted(r.op)) text += (r.op == operation::gather ? " to " : " from ") + std::to_string(r.root);
  if (r.in_place) text += ", in place";
  if (r.by_ranges) text += r.whole ? ", all by the root" : ", by ranges";
  if (r.direction != hint::none) text += r.direction == hint::push ? ", push" : ", pull";
  return text;
}

std::string collective_case::text() const {
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks on nodes";
  for (const std::uint32_t node : nodes)
    text += " " + std::to_string(node);
  std::size_t number = 0;
  for (const auto& round : rounds)
    number += round.size();
  return text + ", " + std::to_string(rounds.size()) + " rounds of " + std::to_string(number) + " calls";
}

} // namespace weft::tests
