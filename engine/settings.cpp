#include "engine/settings.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace weft::engine {

namespace {

std::uint64_t parse_count(const std::string& text, std::string_view* rest = nullptr) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view left(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || (rest == nullptr && !left.empty()))
    throw std::invalid_argument("a whole number");
  if (rest != nullptr) *rest = left;
  return value;
}

std::uint64_t parse_size(const std::string& text) {
  std::string_view unit;
  const std::uint64_t value = parse_count(text, &unit);
  unsigned shift = 0;
  if (!unit.empty()) {
    const auto at = std::string_view("kKmMgGtT").find(unit[0]);
    const std::string_view tail = unit.substr(1);
    if (at == std::string_view::npos || (!tail.empty() && tail != "B" && tail != "iB"))
      throw std::invalid_argument("a size like 64K, 256M or 2G");
    shift = static_cast<unsigned>(at / 2 + 1) * 10;
  }
  if (shift != 0 && value >> (64 - shift) != 0) throw std::invalid_argument("a size below 16 EiB");
  return value << shift;
}

bool parse_flag(const std::string& text) {
  if (text == "1" || text == "y" || text == "yes" || text == "on") return true;
  if (text == "0" || text == "n" || text == "no" || text == "off") return false;
  throw std::invalid_argument("1 or 0");
}

template <class Value>
setting_entry size_setting(const char* name, const char* help, Value settings::*member) {
  return {name,
          "size",
          help,
          {},
          [member](settings& s, const std::string& text) { s.*member = parse_size(text); },
          [member](const settings& s) { return show_size(s.*member); }};
}
template <class Value>
setting_entry count_setting(const char* name, const char* help, Value settings::*member) {
  return {name,
          "count",
          help,
          {},
          [member](settings& s, const std::string& text) { s.*member = parse_count(text); },
          [member](const settings& s) { return fmt::to_string(s.*member); }};
}
setting_entry word_setting(const char* name, const char* help, std::string settings::*member,
                           std::vector<std::string> words) {
  return {name,
          "word",
          help,
          words,
          [member, words](settings& s, const std::string& text) {
            if (!words.empty() && std::find(words.begin(), words.end(), text) == words.end())
              throw std::invalid_argument(fmt::format("one of {}", fmt::join(words, ", ")));
            s.*member = text;
          },
          [member](const settings& s) { return s.*member; }};
}
setting_entry flag_setting(const char* name, const char* help, bool settings::*member) {
  return {name,
          "flag",
          help,
          {},
          [member](settings& s, const std::string& text) { s.*member = parse_flag(text); },
          [member](const settings& s) { return s.*member ? "1" : "0"; }};
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& name) {
  const auto& table = settings_table();
  return std::min_element(table.begin(), table.end(),
                          [&](const auto& a, const auto& b) {
                            return edit_distance(name, a.name) < edit_distance(name, b.name);
                          })
      ->name;
}

} // namespace

std::string show_size(std::uint64_t bytes) {
  const char* units[] = {"", "K", "M", "G", "T"};
  unsigned unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit < 4)
    bytes /= 1024, ++unit;
  return fmt::format("{}{}", bytes, units[unit]);
}

const std::vector<setting_entry>& settings_table() {
  static const std::vector<setting_entry> table{
      size_setting("WEFT_HEAP_SIZE",
                   "shared memory of each thread for upc_all_alloc and upc_global_alloc, and as much "
                   "again for upc_alloc; reserved, taken when touched",
                   &settings::heap_size),
      word_setting("WEFT_LANE",
                   "direct: loads and stores within a node; ucp: everything through UCX, as between nodes",
                   &settings::lane, {"direct", "ucp"}),
      word_setting("WEFT_PROGRESS",
                   "who drives operations: a dedicated thread, a helping one (sleeps unless it alone "
                   "can help), the calling thread only, or auto (by cores and ranks)",
                   &settings::progress, {"auto", "dedicated", "helping", "caller"}),
      count_setting("WEFT_SPINS",
                    "empty polls of a waiting thread before it begins to yield, when each rank has a core",
                    &settings::spins),
      count_setting("WEFT_YIELDS", "yields of a waiting thread before it sleeps", &settings::yields),
      size_setting("WEFT_PLAN_CACHE", "memory for compiled plans", &settings::plan_cache),
      count_setting("WEFT_MAX_OPERATIONS", "operations that may be outstanding at once, at most 1048576",
                    &settings::max_operations),
      size_setting("WEFT_EAGER",
                   "payload of an operation that travels with its signal, at most 2048 (rank 0 decides)",
                   &settings::eager),
      size_setting("WEFT_WHOLE_BLOCK", "blocks up to this size are carried in one piece (rank 0 decides)",
                   &settings::whole_block),
      count_setting("WEFT_WINDOW",
                    "transfers to other nodes that an operation of a rank has under way at a time, 1 to 64 "
                    "(rank 0 decides)",
                    &settings::window),
      word_setting(
          "WEFT_ALGORITHM",
          "algorithms to use wherever they fit, as in broadcast=knomial,gather_all=ring; the rest is "
          "chosen by cost (rank 0 decides)",
          &settings::algorithm, {}),
      word_setting("WEFT_COSTS",
                   "costs of transfers that algorithms are chosen by, as in latency=1500,byte=80; ns, and ps "
                   "for a byte (rank 0 decides)",
                   &settings::costs, {}),
      word_setting("WEFT_LOG", "least severe messages to print: trace, debug, info, warn, error or off",
                   &settings::log, {"trace", "debug", "info", "warn", "error", "off"}),
      word_setting("WEFT_NET_DEVICES",
                   "network devices that UCX may use, as in UCX_NET_DEVICES; empty = UCX's choice",
                   &settings::net_devices, {}),
      flag_setting("WEFT_STATISTICS", "print the counters of each thread at the end", &settings::statistics),
  };
  return table;
}

settings read_settings(std::span<const char* const> environment, std::vector<std::string>& warnings) {
  settings result;
  for (const std::string entry : environment) {
    if (entry.rfind("WEFT_", 0) != 0) continue;
    const auto equals = entry.find('=');
    const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const auto& table = settings_table();
    const auto known =
        std::find_if(table.begin(), table.end(), [&](const auto& e) { return name == e.name; });
    if (known == table.end()) {
      warnings.push_back(fmt::format("{} is not a setting; did you mean {}?", name, nearest(name)));
      continue;
    }
    try {
      known->set(result, value);
    } catch (const std::invalid_argument& allowed) {
      throw setting_error(fmt::format("{}={}: must be {}", name, value, allowed.what()));
    }
  }
  return result;
}

} // namespace weft::engine
