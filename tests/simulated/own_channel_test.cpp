// Operations that one rank calls: the engines of the others run their part, while their applications compute,
// call on their own, or wait for something else. By seeds, on any hosts; more calls at once than a channel
// has slots; requests come twice and before their turn.
//
// Mutations that this catches: parts are begun as their requests come; a request that comes twice begins two.
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
    own::meeting others;
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

} // namespace
} // namespace weft::tests
