// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulated/simulation.hpp"

#include "engine/transport/transport.hpp"

#include <utility>

namespace weft::transport {

static_assert(transport<simulated_transport>);

simulation::simulation(simulation_options options)
    : options_(std::move(options)), random_(options_.seed), scheduler_(options_, random_),
      memory_(options_, random_, scheduler_), network_(options_, random_, scheduler_, memory_) {
  transports_.reserve(options_.ranks);
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank)
    transports_.emplace_back(*this, rank);
}

simulation::~simulation() = default;

void simulation::run(const program& p) {
  scheduler_.run([this, &p](std::uint32_t rank) { p(rank, transports_[rank]); });
}

} // namespace weft::transport
