// Reductions of vectors run: every algorithm, on any hosts, by seeds; several in a row, members late. The
// operator is associative and does not commute, so whatever is combined twice, not at all or in another order
// than that of the ranks shows.
//
// Mutations that this catches: shared pieces that are combined in another order; a member that leaves before
// all pieces are counted; a slice that is handed out before all of it is combined.
#include "engine/collectives/families.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "tests/simulated/plan_player.hpp"
#include "tests/simulated/seeds.hpp"

#include <cstring>

namespace weft::tests {
namespace {
using word = std::uint64_t;

// x -> a*x + b in 32 bits each, one after the other.
word compose(word f, word g) {
  const auto fa = static_cast<std::uint32_t>(f), ga = static_cast<std::uint32_t>(g);
  const auto fb = static_cast<std::uint32_t>(f >> 32), gb = static_cast<std::uint32_t>(g >> 32);
  return word{ga * fb + gb} << 32 | std::uint32_t{ga * fa};
}
void compose_all(void* into, const void* from, std::size_t count, const void*) {
  for (std::size_t k = 0; k < count; ++k) {
    word f, g;
    std::memcpy(&f, static_cast<std::byte*>(into) + k * sizeof f, sizeof f);
    std::memcpy(&g, static_cast<const std::byte*>(from) + k * sizeof g, sizeof g);
    f = compose(f, g);
    std::memcpy(static_cast<std::byte*>(into) + k * sizeof f, &f, sizeof f);
  }
}

word content(std::uint32_t rank, std::uint32_t call, std::uint64_t k) {
  return (rank * 1000003u + call * 97u + k) * 0x9e3779b97f4a7c15u | 1;
}

struct vector_case {
  played_plan play;
  reductions::vector_reduction task;
};

void make_case(vector_case& c, const collectives::algorithm& a, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const bool equal = a.name == "hierarchical";
  const std::uint64_t hosts = a.name == "shared" ? 1 : (equal ? 2 : 1) + draw() % (equal ? 3 : 4);
  const std::uint64_t each = 2 + draw() % 2, ranks = equal ? hosts * each : 1 + draw() % 7;
  for (std::uint64_t r = 0; r < ranks; ++r)
    c.play.nodes.push_back(static_cast<std::uint32_t>(equal ? r / each : draw() % hosts));
  const std::uint64_t most = a.name == "flat" || a.name == "dissemination" ? 256 / 8 : 5000;
  const std::uint64_t words = 1 + draw() % most, bytes = words * sizeof(word);
  c.play.source = c.play.destination = bytes;
  collectives::request r{.op = a.op, .bytes = bytes};
  if (rooted(a.op)) r.root = static_cast<std::uint32_t>(draw() % ranks);
  c.task.how.combine = compose_all;
  c.task.size = sizeof(word);
  prepare(c.task, bytes, static_cast<std::uint32_t>(ranks));
  c.play.task = &c.task;
  c.play.make = [=](std::uint32_t, const graph::topology& g) {
    collectives::tuning t;
    t.forced = collectives::parse_choice(std::string(name(a.op)) + "=" + std::string(a.name));
    return collectives::compile(r, g, t);
  };
  c.play.fill = [=](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    for (std::uint64_t k = 0; k < words; ++k) {
      const word x = content(rank, call, k);
      std::memcpy(to + k * sizeof x, &x, sizeof x);
    }
  };
  c.play.check = [=](std::uint32_t rank, std::uint32_t call, const std::byte* from) {
    if (rooted(r.op) && rank != r.root) return;
    for (std::uint64_t k = 0; k < words; ++k) {
      word wanted = content(0, call, k), got;
      for (std::uint32_t other = 1; other < ranks; ++other)
        wanted = compose(wanted, content(other, call, k));
      std::memcpy(&got, from + k * sizeof got, sizeof got);
      ASSERT_EQ(got, wanted) << "rank " << rank << " call " << call << " element " << k;
    }
  };
}

class vectors : public testing::TestWithParam<const collectives::algorithm*> {};

TEST_P(vectors, are_combined_in_the_order_of_the_ranks) {
  const seed_range seeds(100);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    vector_case c;
    make_case(c, *GetParam(), seed);
    play(c.play, seed);
  }
}

std::vector<const collectives::algorithm*> of_vectors() {
  std::vector<const collectives::algorithm*> all;
  for (const collectives::algorithm& a : collectives::algorithms())
    if (collectives::of_vectors(a.op)) all.push_back(&a);
  return all;
}
INSTANTIATE_TEST_SUITE_P(algorithms, vectors, testing::ValuesIn(of_vectors()), [](const auto& info) {
  return std::string(name(info.param->op)) + "_" + std::string(info.param->name);
});

} // namespace
} // namespace weft::tests
