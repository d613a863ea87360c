// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors run: every algorithm, on any hosts, by seeds; several in a row, members late; and
// those of values and of arrays that hosts combine among each other. The operator is associative and does not
// commute, so whatever is combined twice, not at all or in another order than that of the ranks shows.
//
// Mutations that this catches: shared pieces that are combined in another order; a member that leaves before
// all pieces are counted; a slice that is handed out before all of it is combined; halves of twins joined in
// the order in which they come; a leader that joins what has come in front of what it knows, or tells the
// second host of a pair what that one has told.
#include "engine/collectives/algorithm.hpp"
#include "engine/reductions/reduction.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "tests/simulated/one_operation.hpp"
#include "tests/simulated/plan_player.hpp"
#include "tests/simulated/seeds.hpp"

#include <cstdio>
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

word content_of_vector(std::uint32_t rank, std::uint32_t call, std::uint64_t k) {
  return (rank * 1000003u + call * 97u + k) * 0x9e3779b97f4a7c15u | 1;
}

void fold_all(void* into, const void* from, std::size_t count, bool more, const void*) {
  for (std::size_t k = 0; k < count; ++k) {
    const auto* const next = static_cast<const std::byte*>(from) + k * sizeof(word);
    if (more || k != 0)
      compose_all(into, next, 1, nullptr);
    else
      std::memcpy(into, next, sizeof(word));
  }
}
void scan_all(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
              const void*) {
  for (std::size_t k = 0; k < count; ++k) {
    auto* const here = static_cast<std::byte*>(to) + k * sizeof(word);
    const auto* const next = static_cast<const std::byte*>(from) + k * sizeof(word);
    if (exclusive && (more || k != 0)) std::memcpy(here, carry, sizeof(word));
    fold_all(carry, next, 1, more || k != 0, nullptr);
    if (!exclusive) std::memcpy(here, carry, sizeof(word));
  }
}

using form = reductions::vector_reduction::form;

// Random modes where there is a choice, and any root.
collectives::request request_of(const collectives::algorithm& a, std::uint64_t ranks, std::mt19937_64& draw) {
  using graph::sync;
  constexpr std::array modes{sync::no, sync::my, sync::all};
  collectives::request r{.op = a.op, .in = modes[draw() % 3], .out = modes[draw() % 3]};
  if (collectives::of_vectors(a.op)) r.in = r.out = sync::my;
  if (a.op == collectives::operation::reduce) r.in = sync::all;
  if (collectives::rooted(a.op)) r.root = static_cast<std::uint32_t>(draw() % ranks);
  return r;
}

// Hosts of any sizes: members dealt round them, host after host, or anyhow.
void draw_hosts(played_plan& p, std::mt19937_64& draw) {
  const std::uint64_t ranks = 2 + draw() % 15, hosts = 2 + draw() % 7, shape = draw() % 3;
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    p.nodes.push_back(static_cast<std::uint32_t>(shape == 0   ? rank % hosts
                                                 : shape == 1 ? rank * hosts / ranks
                                                              : draw() % hosts));
}

std::function<graph::plan(std::uint32_t, const graph::topology&)> plans_of(const collectives::algorithm& a,
                                                                           const collectives::request& r) {
  return [&a, r](std::uint32_t, const graph::topology& g) {
    collectives::tuning t;
    t.forced = collectives::parse_choice(std::string(name(a.op)) + "=" + std::string(a.name));
    if (a.name == "twins") t.far_payload = engine::mailbox::large_bytes;
    return collectives::compile(r, g, t);
  };
}

struct vector_case {
  played_plan play;
  reductions::vector_reduction task;
};

void make_case(vector_case& c, const collectives::algorithm& a, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const bool halved = a.name == "halved", twins = a.name == "twins";
  const bool equal = halved || twins || a.name == "hierarchical";
  const bool combined = a.name == "combined";
  const std::uint64_t hosts = a.name == "shared" ? 1
                              : halved           ? 2 << draw() % 3
                                                 : (equal ? 2 : 1) + draw() % (equal ? 3 : 4);
  const std::uint64_t each = 2 + draw() % 2, members = equal ? hosts * each : 1 + draw() % 7;
  if (combined)
    draw_hosts(c.play, draw);
  else
    for (std::uint64_t r = 0; r < members; ++r)
      c.play.nodes.push_back(static_cast<std::uint32_t>(equal ? r / each : draw() % hosts));
  const std::uint64_t ranks = c.play.nodes.size();
  const std::uint64_t most = a.name == "flat" || a.name == "dissemination" ? 256 / 8 : combined ? 12 : 5000;
  const bool scatters = a.op == collectives::operation::team_reduce_scatter;
  const std::uint64_t few = twins ? collectives::most_partials / sizeof(word) : 0;
  std::uint64_t words = few + 1 + draw() % most;
  if (twins && scatters) words = words / ranks * ranks + ranks; // equal blocks
  const std::uint64_t bytes = words * sizeof(word), block = twins && scatters ? words / ranks : words;
  c.play.source = c.play.destination = bytes;
  collectives::request r = request_of(a, ranks, draw);
  r.bytes = bytes;
  if (prefixes(a.op)) c.task.what = draw() % 2 == 0 ? form::inclusive_prefix : form::exclusive_prefix;
  if (scatters) // but by twins, each has all of the result for its block
    c.task.what = form::own_block, c.task.block_bytes = block * sizeof(word);
  c.task.how.combine = compose_all;
  c.task.size = sizeof(word);
  prepare(c.task, bytes, static_cast<std::uint32_t>(ranks));
  c.play.task = &c.task;
  c.play.make = plans_of(a, r);
  c.play.fill = [=](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    for (std::uint64_t k = 0; k < words; ++k) {
      const word x = content_of_vector(rank, call, k);
      std::memcpy(to + k * sizeof x, &x, sizeof x);
    }
  };
  c.play.check = [=, what = c.task.what](std::uint32_t rank, std::uint32_t call, const std::byte* from) {
    if (collectives::rooted(r.op) && rank != r.root) return;
    const std::uint64_t end = !prefixes(r.op) ? ranks : rank + (what == form::inclusive_prefix ? 1 : 0);
    for (std::uint64_t k = 0; end != 0 && k < block; ++k) {
      const std::uint64_t element = block == words ? k : rank * block + k;
      word wanted = content_of_vector(0, call, element), got;
      for (std::uint32_t other = 1; other < end; ++other)
        wanted = compose(wanted, content_of_vector(other, call, element));
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
    if ((collectives::of_vectors(a.op) && !collectives::sized_by_members(a.op)) || a.name == "combined")
      all.push_back(&a);
  return all;
}
INSTANTIATE_TEST_SUITE_P(algorithms, vectors, testing::ValuesIn(of_vectors()), [](const auto& info) {
  return std::string(name(info.param->op)) + "_" + std::string(info.param->name);
});

// Without chaos the virtual clock says what the model does.
class many_ranks : public testing::TestWithParam<const collectives::algorithm*> {};

void expect_predicted_time(const collectives::algorithm& a, std::uint32_t ranks) {
  constexpr std::uint32_t each = 32;
  vector_case c;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    c.play.nodes.push_back(rank / each);
  c.play.source = c.play.destination = sizeof(word);
  c.play.calls = 1;
  c.play.late = false;
  c.task.how.combine = compose_all;
  c.task.size = sizeof(word);
  if (a.op == collectives::operation::prefix_reduce) c.task.what = form::inclusive_prefix;
  prepare(c.task, sizeof(word), ranks);
  collectives::request r{.op = a.op, .in = graph::sync::my, .out = graph::sync::my, .bytes = sizeof(word)};
  if (collectives::rooted(a.op)) r.in = graph::sync::all;
  c.play.task = &c.task;
  c.play.make = plans_of(a, r);
  c.play.fill = [](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    const word x = content_of_vector(rank, call, 0);
    std::memcpy(to, &x, sizeof x);
  };
  c.play.check = [](std::uint32_t, std::uint32_t, const std::byte*) {};
  const graph::topology g(0, c.play.nodes);
  const auto predicted =
      static_cast<double>(*collectives::predicted_time(r, g, tuning_for(transport::simulated_costs{})));
  const auto elapsed = static_cast<double>(play(c.play, 1, {}).count());
  std::printf("%s of %u ranks by %s: predicted %.1f us, on the clock %.1f us, %.2f times as long\n",
              std::string(name(a.op)).c_str(), ranks, std::string(a.name).c_str(), predicted / 1e3,
              elapsed / 1e3, elapsed / predicted);
  EXPECT_LT(elapsed, 1.5 * predicted);
  EXPECT_GT(elapsed, predicted / 1.5);
}

#if !defined(__SANITIZE_ADDRESS__) // a matter of figures
TEST_P(many_ranks, take_the_predicted_time_for_a_value) {
  expect_predicted_time(*GetParam(), 1024);
}
class ten_thousand_ranks : public many_ranks {};
TEST_P(ten_thousand_ranks, take_the_predicted_time_for_a_value) {
  expect_predicted_time(*GetParam(), 10240);
}
#endif

// Arrays of a few blocks on each thread, some with none.
struct array_case {
  played_plan play;
  reductions::reduction task;
};

void make_case(array_case& c, const collectives::algorithm& a, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  draw_hosts(c.play, draw);
  const auto ranks = static_cast<std::uint32_t>(c.play.nodes.size());
  const std::uint64_t block = 1 + draw() % 3, elements = 1 + draw() % (3 * block * ranks);
  const std::uint64_t heap = engine::heap_offset(graph::topology(0, c.play.nodes).largest_host());
  c.play.calls = 1;
  c.play.source = c.play.destination = 3 * block * sizeof(word);
  reductions::reduction& t = c.task;
  t.from = reductions::layout::of(heap, elements, block, 0, 0, ranks, sizeof(word));
  t.to = t.from;
  t.to.at = heap + c.play.area();
  t.how = {compose_all, fold_all, scan_all};
  const bool prefix = a.op == collectives::operation::prefix_reduce, exclusive = prefix && draw() % 2 == 0;
  const bool in_order = t.in_order = prefix || draw() % 2 == 0;
  using array_form = reductions::reduction::form;
  if (prefix) t.what = exclusive ? array_form::exclusive_prefix : array_form::inclusive_prefix;
  prepare(t, ranks);
  collectives::request r = request_of(a, ranks, draw);
  r.bytes = t.partials() * sizeof(word);
  r.large = draw() % 2 == 0;
  c.play.task = &t;
  c.play.make = plans_of(a, r);
  const auto element = [=](std::uint64_t k) { return content_of_vector(7, 0, k); };
  // In no order the elements of a thread come first, and are numbered so here.
  const auto numbered = [=](std::uint64_t k) {
    std::uint64_t number = 0;
    for (std::uint64_t other = 0; other < elements; ++other)
      number += std::pair(other / block % ranks, other) < std::pair(k / block % ranks, k);
    return in_order ? k : number;
  };
  const auto front = [=](std::uint64_t end) { // of so many elements
    word sum = element(0);
    for (std::uint64_t k = 1; k < end; ++k)
      sum = compose(sum, element(k));
    return sum;
  };
  const auto each_of = [=](std::uint32_t rank, auto&& visit) { // its elements, in its memory one by one
    std::uint64_t at = 0;
    for (std::uint64_t k = 0; k < elements; ++k)
      if (k / block % ranks == rank) visit(k, sizeof(word) * at++);
  };
  c.play.fill = [=](std::uint32_t rank, std::uint32_t, std::byte* to) {
    each_of(rank, [&](std::uint64_t k, std::uint64_t at) {
      const word x = element(numbered(k));
      std::memcpy(to + at, &x, sizeof x);
    });
  };
  c.play.check = [=](std::uint32_t rank, std::uint32_t, const std::byte* from) {
    const auto expect = [&](std::uint64_t end, std::uint64_t at) {
      word got;
      std::memcpy(&got, from + at, sizeof got);
      EXPECT_EQ(got, front(end)) << "rank " << rank << ", " << end << " of " << elements << " elements";
    };
    if (!prefix && (!collectives::rooted(r.op) || rank == r.root)) expect(elements, 0);
    if (prefix)
      each_of(rank, [&](std::uint64_t k, std::uint64_t at) {
        if (!exclusive || k != 0) expect(exclusive ? k : k + 1, at);
      });
  };
}

class arrays : public testing::TestWithParam<const collectives::algorithm*> {};

TEST_P(arrays, are_combined_in_the_order_of_their_elements) {
  const seed_range seeds(100);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    array_case c;
    make_case(c, *GetParam(), seed);
    play(c.play, seed);
  }
}

std::vector<const collectives::algorithm*> of_arrays() {
  std::vector<const collectives::algorithm*> all;
  for (const collectives::algorithm* a : of_vectors())
    if (!collectives::of_vectors(a->op)) all.push_back(a);
  return all;
}
INSTANTIATE_TEST_SUITE_P(algorithms, arrays, testing::ValuesIn(of_arrays()), [](const auto& info) {
  return std::string(name(info.param->op)) + "_" + std::string(info.param->name);
});

std::string algorithm_name(const testing::TestParamInfo<const collectives::algorithm*>& info) {
  return std::string(name(info.param->op)) + "_" + std::string(info.param->name);
}
#if !defined(__SANITIZE_ADDRESS__)
INSTANTIATE_TEST_SUITE_P(algorithms, many_ranks, testing::ValuesIn(of_arrays()), algorithm_name);
INSTANTIATE_TEST_SUITE_P(long_algorithms, ten_thousand_ranks, testing::ValuesIn(of_arrays()), algorithm_name);
#endif

} // namespace
} // namespace weft::tests
