// SPDX-License-Identifier: BSD-3-Clause
// As failing_test.cpp, on the simulated transport: whatever can come in another order does, by the seed.
#include "testing/simulated/simulation.hpp"
#include "tests/simulated/failing_sweep.hpp"

namespace weft::tests {
namespace {

failing_outcome simulate(const std::vector<std::uint32_t>& nodes, std::uint64_t n, bool late) {
  using net_type = failing_transport<transport::simulated_transport>;
  const failing_program<transport::simulated_transport> program(nodes);
  transport::simulation_options o;
  o.seed = n;
  o.ranks = static_cast<std::uint32_t>(nodes.size());
  o.host_of_rank = nodes;
  o.segment_bytes = (program.segment_bytes() + 63) / 64 * 64;
  o.chaos = transport::simulated_chaos::rough();
  o.endless_naps = true;
  transport::simulation s(o);
  failing_outcome came;
  std::uint32_t ended = 0;
  s.run([&](std::uint32_t rank, transport::simulated_transport&) {
    net_type net(s, rank);
    progress::engine_options settings;
    settings.idle = {.scarce = false, .spins = 2, .yields = 1};
    progress::engine<net_type> e(net, settings);
    progress::channel& team = program.join(e, rank);
    e.run(team, {}, {});
    if (rank == 0) net.fail(n, late);
    came.errors += program.play(e, team);
    came.failed |= net.has_failed();
    came.of_operation |= net.was_of_operation();
    if (rank == 0) net.fail(0, false);
    came.right_afterwards += program.is_right(e, team, rank);
    for (++ended; ended != o.ranks;) { // who has ended still answers
      e.works().sweep();
      net.relax();
    }
  });
  return came;
}

struct failing_simulated : testing::TestWithParam<std::tuple<by_rank, bool>> {};

TEST_P(failing_simulated, the_operation_says_so_and_all_others_go_on) {
  const auto& [nodes, late] = GetParam();
  sweep_requests(static_cast<std::uint32_t>(nodes.size()),
                 [&nodes = nodes, &late = late](std::uint64_t n) { return simulate(nodes, n, late); });
}

INSTANTIATE_TEST_SUITE_P(requests, failing_simulated, testing::Combine(failing_places, testing::Bool()));

} // namespace
} // namespace weft::tests
