#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/settings.hpp"

#include <optional>
#include <vector>

namespace weft::collectives {

// What the settings say that changes plans. Throws engine::setting_error that says what is allowed.
tuning tuning_of(const engine::settings& s);

// The same as numbers, as rank 0 publishes it; empty numbers of another version give an empty result.
std::vector<std::uint64_t> numbers_of(const tuning& t);
std::optional<tuning> tuning_from(std::span<const std::uint64_t> numbers);

} // namespace weft::collectives
