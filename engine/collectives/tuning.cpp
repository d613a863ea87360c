// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/tuning.hpp"

#include "engine/collectives/cost.hpp"
#include "engine/format.hpp"
#include "engine/memory/mailbox.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace weft::collectives {

namespace {

template <class Parse> auto parsed(const char* name, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const std::invalid_argument& allowed) {
    throw engine::setting_error(engine::format("{}={}: must be {}", name, text, allowed.what()));
  }
}

constexpr std::size_t plain_numbers = 8;
constexpr std::size_t all_numbers = plain_numbers + cost_table::size + most_operations;

// What crosses a socket costs a hop, whatever it is: so data go with the signal, or with the answer to it.
// An adapter reaches memory in the time of a message, and needs no rank at the other end.
constexpr auto paths = std::to_array<far_path>({
    {"memory", "put and get, flushed; blocks are got", 2048, false},
    {"sockets", "messages in pieces of 128K, in order; blocks are put", engine::mailbox::large_bytes, true},
});

} // namespace

std::span<const far_path> far_paths() {
  return paths;
}

const far_path& path_of(const engine::settings& s, bool reaches_memory) {
  const std::span<const far_path> all = far_paths();
  const auto asked = std::ranges::find(all, s.path, &far_path::name);
  return asked != all.end() ? *asked : all[reaches_memory ? 0 : 1];
}

tuning tuning_of(const engine::settings& s, bool reaches_memory) {
  tuning t;
  const far_path& path = path_of(s, reaches_memory);
  t.far_payload = path.payload;
  t.far_push = path.push;
  t.eager_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.eager, engine::mailbox::body_bytes));
  t.whole_block = s.whole_block;
  t.window = std::clamp<std::uint64_t>(s.window, 1, 64);
  t.check = s.check;
  t.relays = s.progress != "caller";
  t.bundles = true;
  t.costs = parsed("WEFT_COSTS", s.costs, parse_costs);
  t.forced = parsed("WEFT_ALGORITHM", s.algorithm, parse_choice);
  return t;
}

std::vector<std::uint64_t> numbers_of(const tuning& t) {
  std::vector<std::uint64_t> numbers{t.eager_bytes, t.whole_block, t.window, t.check,
                                     t.far_payload, t.far_push,    t.relays, t.bundles};
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
  t.far_payload = static_cast<std::uint32_t>(numbers[4]);
  t.far_push = numbers[5] != 0;
  t.relays = numbers[6] != 0;
  t.bundles = numbers[7] != 0;
  std::array<std::uint64_t, cost_table::size> costs{};
  std::copy_n(numbers.begin() + plain_numbers, costs.size(), costs.begin());
  t.costs = cost_table::of(costs);
  for (std::size_t k = 0; k < t.forced.size(); ++k)
    t.forced[k] = static_cast<std::uint8_t>(numbers[plain_numbers + cost_table::size + k]);
  return t;
}

cost_table parse_costs(const std::string& text) {
  constexpr const char* allowed =
      "name=number, separated by commas; names are latency, overhead, gap, copy (ns), byte, copied_byte (ps)";
  auto values = cost_table{}.values();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::size_t equals = std::min(text.find('=', begin), end);
    const auto name = std::find(cost_table::names.begin(), cost_table::names.end(),
                                std::string_view(text).substr(begin, equals - begin));
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data() + std::min(equals + 1, end), text.data() + end, value);
    if (name == cost_table::names.end() || read.ec != std::errc{} || read.ptr != text.data() + end)
      throw std::invalid_argument(allowed);
    // Larger ones than a second mean nothing, and products must fit.
    values[static_cast<std::size_t>(name - cost_table::names.begin())] =
        std::min<std::uint64_t>(value, 1'000'000'000);
    begin = end + 1;
  }
  return cost_table::of(values);
}

} // namespace weft::collectives
