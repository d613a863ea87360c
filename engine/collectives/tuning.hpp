// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/settings.hpp"

#include <optional>
#include <vector>

namespace weft::collectives {

// A way between hosts: what it is made of, and what suits it.
struct far_path {
  std::string_view name, means;
  std::uint32_t payload; // the largest that travels with its signal
  bool push;             // larger blocks are put, else got
};
std::span<const far_path> far_paths();
// The one that the settings ask for, or, if they leave it open, the one for a network that reaches memory by
// itself or does not.
const far_path& path_of(const engine::settings& s, bool reaches_memory);

// What the settings say that changes plans. Throws engine::setting_error that says what is allowed.
tuning tuning_of(const engine::settings& s, bool reaches_memory = true);

// "latency=1500,byte=80": these, and the measured ones for the rest. Throws std::invalid_argument that says
// what is allowed.
cost_table parse_costs(const std::string& text);

// The same as numbers, as rank 0 publishes it; empty numbers of another version give an empty result.
std::vector<std::uint64_t> numbers_of(const tuning& t);
std::optional<tuning> tuning_from(std::span<const std::uint64_t> numbers);

} // namespace weft::collectives
