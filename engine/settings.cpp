// SPDX-License-Identifier: BSD-3-Clause
#include "engine/settings.hpp"

#include "engine/format.hpp"

#include <algorithm>
#include <charconv>
#include <unistd.h>
#include <utility>

namespace weft::engine {

namespace {

constexpr std::uint64_t most_turns = 1'000'000'000;

std::uint64_t parse_count(const std::string& text, std::string_view* rest = nullptr) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view left(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc::result_out_of_range) throw std::out_of_range("more than 64 bits");
  if (error != std::errc{} || (rest == nullptr && !left.empty()))
    throw std::invalid_argument(rest == nullptr ? "a whole number, 0 or more"
                                                : "a size like 64K, 256M or 2G");
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
  if (shift != 0 && value >> (64 - shift) != 0) throw std::out_of_range("more than 64 bits");
  return value << shift;
}

bool parse_flag(const std::string& text) {
  if (text == "1" || text == "y" || text == "yes" || text == "on") return true;
  if (text == "0" || text == "n" || text == "no" || text == "off") return false;
  throw std::invalid_argument("1 or 0");
}

// The least and the most that a number may be.
struct range {
  std::uint64_t from, to;
};

std::uint64_t within(std::uint64_t value, const range& allowed, const std::string& from,
                     const std::string& to) {
  if (value < allowed.from || value > allowed.to)
    throw std::invalid_argument(format("from {} to {}", from, to));
  return value;
}

// Numbers that do not fit into 64 bits are as wrong as those that are a little too large.
template <class Parse>
std::uint64_t ranged(Parse parse, const std::string& text, const range& allowed, auto show) {
  const std::string from = show(allowed.from), to = show(allowed.to);
  try {
    return within(parse(text), allowed, from, to);
  } catch (const std::out_of_range&) {
    return within(~std::uint64_t{0}, allowed, from, to);
  }
}

template <class Value>
setting_entry size_setting(const char* name, const char* help, Value settings::*member, range allowed) {
  return {name,
          "size",
          help,
          {},
          [member, allowed](settings& s, const std::string& text) {
            s.*member = ranged(parse_size, text, allowed, show_size);
          },
          [member](const settings& s) { return show_size(s.*member); },
          [member](const settings& s) { return s.*member; }};
}
template <class Value>
setting_entry count_setting(const char* name, const char* help, Value settings::*member, range allowed) {
  return {name,
          "count",
          help,
          {},
          [member, allowed](settings& s, const std::string& text) {
            const auto parse = [](const std::string& t) { return parse_count(t); };
            s.*member = ranged(parse, text, allowed, [](std::uint64_t n) { return std::to_string(n); });
          },
          [member](const settings& s) { return std::to_string(s.*member); },
          [member](const settings& s) { return s.*member; }};
}
setting_entry word_setting(const char* name, const char* help, std::string settings::*member,
                           std::vector<std::string> words) {
  return {name,
          "word",
          help,
          words,
          [member, words](settings& s, const std::string& text) {
            if (!words.empty() && std::find(words.begin(), words.end(), text) == words.end())
              throw std::invalid_argument(format("one of {}", joined(words, ", ")));
            s.*member = text;
          },
          [member](const settings& s) { return s.*member; },
          [member, words](const settings& s) {
            return static_cast<std::uint64_t>(std::ranges::find(words, s.*member) - words.begin());
          }};
}
setting_entry flag_setting(const char* name, const char* help, bool settings::*member) {
  return {name,
          "flag",
          help,
          {},
          [member](settings& s, const std::string& text) { s.*member = parse_flag(text); },
          [member](const settings& s) { return s.*member ? "1" : "0"; },
          [member](const settings& s) { return std::uint64_t{s.*member}; }};
}

// Compared at start.
setting_entry alike(setting_entry e) {
  e.alike = true;
  return e;
}

// The letters that two words have in common, in the same order.
std::size_t common(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (const char letter : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t here = letter == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = std::exchange(row[j], here);
    }
  }
  return row[b.size()];
}

// How alike two names are: what they share of all their letters, 0 to 1,
// and 1 more if one holds the other. To count the letters that one has to change would find every short name
// near every other.
double likeness(std::string_view a, std::string_view b) {
  const std::string words_a = format("_{}_", a), words_b = format("_{}_", b);
  const bool held = words_a.find(words_b) != words_a.npos || words_b.find(words_a) != words_b.npos;
  return (held ? 1 : 0) + 2.0 * static_cast<double>(common(a, b)) / static_cast<double>(a.size() + b.size());
}

// All settings begin with it.
constexpr std::string_view prefix = "WEFT_";

std::string unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const setting_entry& e : settings_table())
    known.push_back(std::string(e.name).substr(prefix.size()));
  const std::string meant = nearest(name.substr(prefix.size()), known);
  if (meant.empty()) return format("{} is not a setting; weft info lists them", name);
  return format("{} is not a setting; did you mean {}{}?", name, prefix, meant);
}

} // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  const auto best = std::max_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return likeness(name, a) < likeness(name, b);
  });
  return best == known.end() || likeness(name, *best) < 0.5 ? "" : *best;
}

std::string show_size(std::uint64_t bytes) {
  const char* units[] = {"", "K", "M", "G", "T"};
  unsigned unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit < 4)
    bytes /= 1024, ++unit;
  return format("{}{}", bytes, units[unit]);
}

const std::vector<setting_entry>& settings_table() {
  static const std::vector<setting_entry> table{
      alike(size_setting("WEFT_HEAP_SIZE",
                         "shared memory of each thread for upc_all_alloc and upc_global_alloc, and as much "
                         "again for upc_alloc and for copies of operands in ordinary memory; reserved, "
                         "taken when touched",
                         &settings::heap_size, {1, std::uint64_t{16} << 40})),
      alike(word_setting(
          "WEFT_LANE",
          "direct: loads and stores within a node; ucp: everything through UCX, as between nodes",
          &settings::lane, {"direct", "ucp"})),
      word_setting(
          "WEFT_PROGRESS",
          "which thread drives operations: a dedicated thread, a helping one (sleeps unless it alone "
          "can help), the calling thread only, or auto (by cores and ranks)",
          &settings::progress, {"auto", "dedicated", "helping", "caller"}),
      count_setting("WEFT_SPINS",
                    "empty polls of a waiting thread before it begins to yield, when each rank has a core",
                    &settings::spins, {0, most_turns}),
      count_setting("WEFT_YIELDS", "yields of a waiting thread before it sleeps", &settings::yields,
                    {0, most_turns}),
      count_setting("WEFT_SLEEP",
                    "milliseconds after which a waiting thread that sleeps looks again, woken or not",
                    &settings::sleep, {1, 3'600'000}),
      size_setting("WEFT_PLAN_CACHE", "memory for compiled plans", &settings::plan_cache,
                   {0, std::uint64_t{1} << 40}),
      count_setting("WEFT_MAX_OPERATIONS", "operations that may be outstanding at once, at most 1048576",
                    &settings::max_operations, {1, 1u << 20}),
      size_setting("WEFT_EAGER",
                   "payload of an operation that travels with its signal, at most 2048 (rank 0 decides)",
                   &settings::eager, {0, 2048}),
      word_setting("WEFT_PATH",
                   "how data go between nodes: memory (put and get by adapters or shared memory), sockets "
                   "(messages), auto (by what the network can do) (rank 0 decides)",
                   &settings::path, {"auto", "memory", "sockets"}),
      size_setting("WEFT_WHOLE_BLOCK", "blocks up to this size are carried in one piece (rank 0 decides)",
                   &settings::whole_block, {0, std::uint64_t{16} << 40}),
      count_setting("WEFT_WINDOW",
                    "transfers to other nodes that an operation of a rank has under way at a time, 1 to 64 "
                    "(rank 0 decides)",
                    &settings::window, {1, 64}),
      flag_setting("WEFT_CHECK",
                   "find calls of two threads that differ, and accesses past the end of allocated memory "
                   "(rank 0 decides)",
                   &settings::check),
      count_setting("WEFT_TIMEOUT",
                    "seconds after which a wait is explained, and again after twice as many; 0 = never",
                    &settings::timeout, {0, 31536000}),
      word_setting(
          "WEFT_ALGORITHM",
          "algorithms to use wherever they fit, as in broadcast=knomial,gather_all=ring; the rest is "
          "chosen by cost (rank 0 decides)",
          &settings::algorithm, {}),
      word_setting("WEFT_COSTS",
                   "costs of transfers that algorithms are chosen by, as in latency=1500,byte=80; ns, and ps "
                   "for a byte (rank 0 decides)",
                   &settings::costs, {}),
      word_setting("WEFT_LOG", "least severe messages to print: debug, info, warn, error or off",
                   &settings::log, {"debug", "info", "warn", "error", "off"}),
      word_setting("WEFT_NET_DEVICES",
                   "network devices that UCX may use, as in UCX_NET_DEVICES; empty = towards the other hosts",
                   &settings::net_devices, {}),
      alike(
          flag_setting("WEFT_STATISTICS",
                       "print at the end the counters of each thread, and the calls that all together waited "
                       "for longest",
                       &settings::statistics)),
      alike(word_setting(
          "WEFT_TRACE",
          "file for a trace of the job, written at the end: calls, waits and steps of all ranks on "
          "one clock, for Perfetto; empty = none",
          &settings::trace, {})),
      alike(flag_setting("WEFT_MALLOC",
                         "large allocations of the program lie in the shared segment, so that its "
                         "collectives need no copy; weft run and weft mpi load libweft-malloc for it",
                         &settings::malloc)),
      alike(size_setting("WEFT_MALLOC_ROOM",
                         "shared memory of each rank for them; reserved, taken when touched",
                         &settings::malloc_room, {std::uint64_t{1} << 20, std::uint64_t{4} << 40})),
      alike(size_setting("WEFT_MALLOC_LEAST", "smaller allocations stay where they are without it",
                         &settings::malloc_least, {4096, std::uint64_t{1} << 40})),
      alike(word_setting("WEFT_MPI",
                         "which collectives of an MPI program libweft-mpi carries: off: none, on: the "
                         "non-blocking and persistent ones, all: the blocking ones too",
                         &settings::mpi, {"off", "on", "all"})),
      alike(size_setting("WEFT_MPI_POOL",
                         "shared memory of each rank of an MPI program, through which libweft-mpi copies; "
                         "reserved, taken when touched",
                         &settings::mpi_pool, {std::uint64_t{16} << 20, std::uint64_t{16} << 40})),
      alike(size_setting("WEFT_MPI_LARGEST",
                         "collectives of an MPI program with larger blocks are left to its MPI",
                         &settings::mpi_largest, {0, std::uint64_t{16} << 40})),
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
      warnings.push_back(unknown(name));
      continue;
    }
    try {
      known->set(result, value);
    } catch (const std::invalid_argument& allowed) {
      throw setting_error(format("{}={}: must be {}", name, value, allowed.what()));
    }
  }
  return result;
}

settings present_settings(std::vector<std::string>& warnings) {
  std::size_t count = 0;
  while (environ[count] != nullptr)
    ++count;
  return read_settings(std::span<const char* const>(const_cast<const char* const*>(environ), count),
                       warnings);
}

} // namespace weft::engine
