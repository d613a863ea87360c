// SPDX-License-Identifier: BSD-3-Clause
// Operations that one rank calls, on threads: each rank with its progress thread, and an application that
// sleeps in between, posts, and waits. For ThreadSanitizer above all.
#include "progress/driving/progress_thread.hpp"
#include "testing/threads/threads_transport.hpp"
#include "tests/simulated/calling_rank.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/tuning_of_seed.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace weft::tests {
namespace {
using transport::threads_transport;

progress::engine_options options_of(std::uint64_t seed) {
  progress::engine_options o;
  o.drive = std::array{progress::mode::dedicated, progress::mode::helping, progress::mode::caller}[seed % 3];
  o.tuning = tuning_of_seed(seed);
  o.idle = {.scarce = true, .spins = 0, .yields = static_cast<unsigned>(seed % 20)};
  return o;
}

void sleep(std::chrono::nanoseconds time) {
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(time, std::chrono::microseconds(200)));
}

TEST(threads_own_channel, one_calls_and_all_take_part) {
  const seed_range seeds(120);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const own::program p = own::program_of(seed);
    transport::threads_fabric memory(p.ranks(), p.nodes, p.layout().end());
    own::meeting others(p.ranks());
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank)
      ranks.emplace_back([&, rank] {
        threads_transport net(memory, rank);
        own::calling_rank it(p, seed, others, net, options_of(seed), sleep);
        std::optional<progress::progress_thread<threads_transport>> thread;
        if (seed % 3 != 2) thread.emplace(it.engine());
        it.play();
      });
    for (std::thread& t : ranks)
      t.join();
  }
}

} // namespace
} // namespace weft::tests
