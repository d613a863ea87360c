// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::engine {

struct setting_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Everything that a user can set, by environment variables only.
struct settings {
  std::uint64_t heap_size = std::uint64_t{256} << 20;
  std::string lane = "direct";
  std::string progress = "auto";
  std::uint64_t spins = 500;
  std::uint64_t yields = 2000;
  std::uint64_t sleep = 10;
  std::uint64_t plan_cache = std::uint64_t{4} << 20;
  std::uint64_t max_operations = std::uint64_t{1} << 20;
  std::uint64_t eager = 2048;
  std::string path = "auto";
  std::uint64_t whole_block = 16 << 10;
  std::uint64_t window = 64;
  bool check = false;
  std::uint64_t timeout = 60;
  std::string algorithm;
  std::string costs;
  std::string log = "warn";
  std::string net_devices;
  bool statistics = false;
  std::string trace;
  bool malloc = false;
  std::uint64_t malloc_room = std::uint64_t{1} << 30;
  std::uint64_t malloc_least = std::uint64_t{64} << 10;
  std::string mpi = "on";
  std::uint64_t mpi_pool = std::uint64_t{512} << 20;
  std::uint64_t mpi_largest = std::uint64_t{16} << 40;
};

// One line of the only list of settings: what the reader, the info tool and the manual know of them.
struct setting_entry {
  const char* name;
  const char* type; // "size", "count", "word", "flag"
  const char* help;
  std::vector<std::string> words; // allowed values of a word, empty = any
  std::function<void(settings&, const std::string&)> set;
  std::function<std::string(const settings&)> show;
  std::function<std::uint64_t(const settings&)> number; // of a word: its place in `words`
  // Must be the same on all ranks; else each rank's own value counts, or rank 0's if the help says so.
  bool alike = false;
};
const std::vector<setting_entry>& settings_table();

// Reads WEFT_* from an environment ("NAME=value" strings). A bad value throws and says what is allowed; an
// unknown WEFT_ name is a warning that names the nearest known one.
settings read_settings(std::span<const char* const> environment, std::vector<std::string>& warnings);

// The same of this process's environment.
settings present_settings(std::vector<std::string>& warnings);

// The known word that is most like this one; empty if none is like it at all.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

std::string show_size(std::uint64_t bytes);

} // namespace weft::engine
