#include "engine/collectives/tuning.hpp"

#include "engine/memory/mailbox.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace weft::collectives {

namespace {

template <class Parse> auto parsed(const char* name, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const std::invalid_argument& allowed) {
    throw engine::setting_error(fmt::format("{}={}: must be {}", name, text, allowed.what()));
  }
}

constexpr std::size_t plain_numbers = 4;
constexpr std::size_t all_numbers = plain_numbers + cost_table::size + most_operations;

} // namespace

tuning tuning_of(const engine::settings& s) {
  tuning t;
  t.eager_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.eager, engine::mailbox::body_bytes));
  t.whole_block = s.whole_block;
  t.window = std::clamp<std::uint64_t>(s.window, 1, 64);
  t.check = s.check;
  t.costs = parsed("WEFT_COSTS", s.costs, parse_costs);
  t.forced = parsed("WEFT_ALGORITHM", s.algorithm, parse_choice);
  return t;
}

std::vector<std::uint64_t> numbers_of(const tuning& t) {
  std::vector<std::uint64_t> numbers{t.eager_bytes, t.whole_block, t.window, t.check};
  const auto costs = t.costs.values();
  numbers.insert(numbers.end(), costs.begin(), costs.end());
  numbers.insert(numbers.end(), t.forced.begin(), t.forced.end());
  return numbers;
}

std::optional<tuning> tuning_from(std::span<const std::uint64_t> numbers) {
  if (numbers.size() != all_numbers) return std::nullopt;
  tuning t;
  t.eager_bytes = static_cast<std::uint32_t>(numbers[0]);
  t.whole_block = numbers[1];
  t.window = numbers[2];
  t.check = numbers[3] != 0;
  std::array<std::uint64_t, cost_table::size> costs{};
  std::copy_n(numbers.begin() + plain_numbers, costs.size(), costs.begin());
  t.costs = cost_table::of(costs);
  for (std::size_t k = 0; k < t.forced.size(); ++k)
    t.forced[k] = static_cast<std::uint8_t>(numbers[plain_numbers + cost_table::size + k]);
  return t;
}

} // namespace weft::collectives
