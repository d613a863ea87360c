// Reductions run: each member combines what it is sent, or all of a host share the work, piece by piece. By
// seeds, on any hosts, several in a row, members late.
//
// Mutations that this catches: shared pieces that are combined in another order than that of the ranks; a
// member that leaves before all pieces are counted.
#include "engine/transport/simulated/simulation.hpp"
#include "progress/execution/executor.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/toys/all_reduce.hpp"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <random>

namespace weft::tests {
namespace {
using transport::simulated_transport;
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

struct reduce_case {
  std::vector<std::uint32_t> nodes;
  std::uint64_t words;
  bool shared;

  word expected(std::uint32_t call, std::uint64_t k) const {
    word all = element(0, call, k);
    for (std::uint32_t r = 1; r < nodes.size(); ++r)
      all = shared ? compose(all, element(r, call, k)) : all + element(r, call, k);
    return all;
  }
};

reduce_case random_case(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  reduce_case c;
  c.shared = draw() % 2 == 0;
  const std::uint64_t ranks = 1 + draw() % 6, hosts = c.shared ? 1 : 1 + draw() % ranks;
  for (std::uint64_t r = 0; r < ranks; ++r)
    c.nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  c.words = c.shared ? 1 + draw() % 6000 : 1 + draw() % 200;
  return c;
}

class reducing_rank {
public:
  reducing_rank(const reduce_case& c, std::uint64_t seed, std::uint32_t rank, simulated_transport& t)
      : case_(c), rank_(rank), net_(t), draw_(seed * 64 + rank),
        executor_(t, counts_, [](progress::operation& op) { op.finished.store(true); }) {
    engine::team_info info;
    for (std::uint32_t r = 0; r < c.nodes.size(); ++r)
      info.world.push_back(r);
    info.topology = graph::topology(rank, c.nodes);
    info.mailbox_offset = engine::first_mailbox_offset;
    const auto make = c.shared ? all_reduce_shared : all_reduce_eager;
    program_ = make(rank, info.topology, bytes());
    team_ = &executor_.add_team(std::move(info));
  }

  // So many calls, posted together, each with buffers of its own.
  void play(std::uint32_t calls, std::uint64_t heap) {
    std::deque<progress::operation> posted(calls);
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::uint64_t src = heap + 2 * call * area(), dst = src + area();
      for (std::uint64_t k = 0; k < case_.words; ++k) {
        const word mine = element(rank_, call, k);
        std::memcpy(net_.segment() + src + k * sizeof mine, &mine, sizeof mine);
      }
      if (draw_() % 3 == 0) net_.compute(std::chrono::nanoseconds(draw_() % 20'000));
      progress::operation& op = posted[call];
      op.team = team_;
      op.program = &program_;
      op.at = {.dst = dst, .src = src, .code = &code_};
      op.seq = net_.add(team_->own.entered(), 1) + 1;
      executor_.start(op);
    }
    for (const progress::operation& op : posted)
      while (!op.finished.load()) {
        executor_.sweep();
        net_.relax();
      }
    for (std::uint32_t call = 0; call < calls; ++call)
      for (std::uint64_t k = 0; k < case_.words; ++k) {
        word got;
        std::memcpy(&got, net_.segment() + heap + (2 * call + 1) * area() + k * sizeof got, sizeof got);
        ASSERT_EQ(got, case_.expected(call, k)) << "rank " << rank_ << " call " << call << " word " << k;
      }
  }
  // Who has ended still answers.
  void answer() {
    executor_.sweep();
    net_.relax();
  }

private:
  std::uint64_t bytes() const { return case_.words * sizeof(word); }
  std::uint64_t area() const { return (bytes() + 63) / 64 * 64; }

  const reduce_case& case_;
  const graph::user_code code_{.combine = case_.shared ? compose_words : add_words};
  std::uint32_t rank_;
  simulated_transport& net_;
  std::mt19937_64 draw_;
  progress::statistics counts_;
  graph::plan program_;
  progress::executor<simulated_transport> executor_;
  progress::team_state* team_ = nullptr;
};

TEST(all_reduce, gives_what_a_serial_fold_gives) {
  constexpr std::uint32_t calls = 5;
  const seed_range seeds(300);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const reduce_case c = random_case(seed);
    transport::simulation_options o;
    o.seed = seed;
    o.ranks = static_cast<std::uint32_t>(c.nodes.size());
    o.node_of_rank = c.nodes;
    o.chaos = transport::simulated_chaos::rough();
    const std::uint64_t heap = engine::heap_offset(o.ranks);
    o.segment_bytes = heap + 2 * calls * (c.words * sizeof(word) / 64 + 1) * 64;
    transport::simulation s(o);
    std::uint32_t ended = 0;
    s.run([&](std::uint32_t rank, simulated_transport& t) {
      reducing_rank it(c, seed, rank, t);
      it.play(calls, heap);
      for (++ended; ended != o.ranks;)
        it.answer();
    });
    if (testing::Test::HasFailure()) return;
  }
}

} // namespace
} // namespace weft::tests
