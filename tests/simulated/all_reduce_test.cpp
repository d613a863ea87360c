// Reductions run: each member combines what it is sent, or all of a host share the work, piece by piece. By
// seeds, on any hosts, several in a row, members late.
//
// Mutations that this catches: shared pieces that are combined in another order than that of the ranks; a
// member that leaves before all pieces are counted.
#include "tests/simulated/plan_player.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/toys/all_reduce.hpp"

#include <cstring>

namespace weft::tests {
namespace {
using word = std::uint64_t;

void add_words(void* into, const void* from, std::uint64_t bytes, const void*) {
  for (std::uint64_t k = 0; k < bytes; k += sizeof(word)) {
    word a, b;
    std::memcpy(&a, static_cast<std::byte*>(into) + k, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(from) + k, sizeof b);
    a += b;
    std::memcpy(static_cast<std::byte*>(into) + k, &a, sizeof a);
  }
}

// x -> a*x + b in 32 bits each, one after the other: not commutative.
word compose(word f, word g) {
  const auto fa = static_cast<std::uint32_t>(f), ga = static_cast<std::uint32_t>(g);
  const auto fb = static_cast<std::uint32_t>(f >> 32), gb = static_cast<std::uint32_t>(g >> 32);
  return word{ga * fb + gb} << 32 | std::uint32_t{ga * fa};
}
void compose_words(void* into, const void* from, std::uint64_t bytes, const void*) {
  for (std::uint64_t k = 0; k < bytes; k += sizeof(word)) {
    word f, g;
    std::memcpy(&f, static_cast<std::byte*>(into) + k, sizeof f);
    std::memcpy(&g, static_cast<const std::byte*>(from) + k, sizeof g);
    f = compose(f, g);
    std::memcpy(static_cast<std::byte*>(into) + k, &f, sizeof f);
  }
}

word element(std::uint32_t rank, std::uint32_t call, std::uint64_t k) {
  return (rank * 0x9E3779B97F4A7C15u + call * 0xD1B54A32D192ED03u + k * 0x2545F4914F6CDD1Du) | 1;
}

played_plan random_case(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const bool shared = draw() % 2 == 0;
  const std::uint64_t ranks = 1 + draw() % 6, hosts = shared ? 1 : 1 + draw() % ranks;
  const std::uint64_t words = shared ? 1 + draw() % 6000 : 1 + draw() % 200;
  played_plan p;
  for (std::uint64_t r = 0; r < ranks; ++r)
    p.nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  p.source = p.destination = words * sizeof(word);
  p.code.combine = shared ? compose_words : add_words;
  p.make = [shared, words](std::uint32_t me, const graph::topology& g) {
    return (shared ? all_reduce_shared : all_reduce_eager)(me, g, words * sizeof(word));
  };
  p.fill = [words](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    for (std::uint64_t k = 0; k < words; ++k) {
      const word mine = element(rank, call, k);
      std::memcpy(to + k * sizeof mine, &mine, sizeof mine);
    }
  };
  p.check = [=](std::uint32_t rank, std::uint32_t call, const std::byte* from) {
    for (std::uint64_t k = 0; k < words; ++k) {
      word got, all = element(0, call, k);
      for (std::uint32_t r = 1; r < ranks; ++r)
        all = shared ? compose(all, element(r, call, k)) : all + element(r, call, k);
      std::memcpy(&got, from + k * sizeof got, sizeof got);
      ASSERT_EQ(got, all) << "rank " << rank << " call " << call << " word " << k;
    }
  };
  return p;
}

TEST(all_reduce, gives_what_a_serial_fold_gives) {
  const seed_range seeds(300);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(random_case(seed), seed);
    if (testing::Test::HasFailure()) return;
  }
}

} // namespace
} // namespace weft::tests
