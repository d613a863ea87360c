// SPDX-License-Identifier: BSD-3-Clause
// Operations that one rank calls: the engines of the others run their part, while their applications compute,
// call on their own, or wait for something else. By seeds, on any hosts; more calls at once than a channel
// has slots; requests come twice and before their turn. Of all ranks, and of lists of them in any order,
// whether the caller is among them or not; some find no room for a channel.
//
// Mutations that this catches: parts are begun as their requests come; a request that comes twice begins two;
// a caller that has no part hears of the end when the first member has done its own.
#include "tests/simulated/calling_rank.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

namespace weft::tests {
namespace {
using transport::simulated_transport;

TEST(own_channel, one_calls_and_all_take_part) {
  const seed_range seeds(600);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const own::program p = own::program_of(seed);
    transport::simulation_options o;
    o.seed = seed;
    o.ranks = p.ranks();
    o.host_of_rank = p.nodes;
    o.chaos = transport::simulated_chaos::rough();
    o.endless_naps = true;
    o.segment_bytes = (p.layout().end() + 63) / 64 * 64;
    transport::simulation s(o);
    own::meeting others(p.ranks());
    progress::engine_options settings = drowsy();
    settings.tuning = tuning_of_seed(seed);
    s.run([&](std::uint32_t, simulated_transport& t) {
      own::calling_rank it(p, seed, others, t, settings, [&t](auto time) { t.compute(time); });
      t.describe([&it] { return it.doing(); });
      it.play();
      t.describe({});
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(own_channel, a_list_comes_in_pieces_in_any_order_and_twice) {
  control::member_list ranks(control::open_channel::piece * 2 + 5);
  for (std::uint32_t k = 0; k < ranks.size(); ++k)
    ranks[k] = static_cast<std::uint32_t>(ranks.size()) - k;
  control::arriving_list list(7, static_cast<std::uint32_t>(ranks.size()));
  const auto piece = [&](std::uint32_t which) {
    control::open_channel r{7, 64, static_cast<std::uint32_t>(ranks.size()), which * r.piece, {}};
    std::copy_n(ranks.begin() + r.first, r.in_piece(), r.ranks.begin());
    EXPECT_TRUE(r.fits(128));
    return r;
  };
  EXPECT_FALSE(list.take(piece(2)));
  EXPECT_FALSE(list.take(piece(0)));
  EXPECT_FALSE(list.take(piece(2)));
  EXPECT_TRUE(list.take(piece(1)));
  EXPECT_EQ(list.ranks(), ranks);
  const auto size = static_cast<std::uint32_t>(ranks.size() + 1);
  EXPECT_TRUE(list.is_right(size, 3));
  EXPECT_FALSE(list.is_right(size, 0)) << "it is no member";
  EXPECT_FALSE(list.is_right(size - 1, 3)) << "there is no such rank";
  control::open_channel twice = piece(0);
  twice.ranks[1] = twice.ranks[0];
  list.take(twice);
  EXPECT_FALSE(list.is_right(size, 3)) << "a rank is there twice";
  twice.first = 1;
  EXPECT_FALSE(twice.fits(128));
}

} // namespace
} // namespace weft::tests
