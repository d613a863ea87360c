// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

#include <cstdint>
#include <span>

namespace weft::graph {

// What one member sends to other hosts and gets from there, read off its plan without running it. A message
// is a signal, with its payload, a put or a get; what a flush, or the answer to a get, takes besides is none.
struct traffic {
  std::uint64_t messages = 0, bytes = 0;

  traffic& operator+=(const traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

// The bytes of data that a signal, put or get moves at a step.
std::uint64_t bytes_moved(const plan& p, const topology& g, const node& n, std::uint32_t peer,
                          std::uint32_t step);
// `group`: of what stays within a group of hosts nothing; by the number of the host.
traffic traffic_of(const plan& p, const topology& g, std::span<const std::uint32_t> group = {});

} // namespace weft::graph
