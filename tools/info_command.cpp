// weft info: the settings and their present values, and what the library was built on and runs on.

#include "engine/collectives/tuning.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/context.hpp"
#include "pmix_boot/client/pmix_info.hpp"
#include "progress/driving/cores.hpp"
#include "progress/execution/operation_pool.hpp"
#include "tools/command.hpp"
#include "weft/version.h"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace weft::tool {

namespace {

using table_row = std::vector<std::string>;

// Columns as wide as what is in them; the first row has their names.
void print_table(const std::vector<table_row>& rows) {
  std::vector<std::size_t> widths;
  for (const table_row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k)
      widths[k] = std::max(widths[k], row[k].size());
  }
  for (const table_row& row : rows) {
    for (std::size_t k = 0; k + 1 < row.size(); ++k)
      fmt::print("{:<{}} ", row[k], widths[k]);
    fmt::print("{}\n", row.back());
  }
}

void print_algorithms(const engine::settings& present) {
  const collectives::tuning t = collectives::tuning_of(present, transport::ucx::network_reaches_memory());
  std::vector<table_row> rows{{"operation", "way", "what it does", "fits where"}};
  for (const collectives::algorithm& a : collectives::algorithms())
    rows.push_back(
        {std::string(name(a.op)), std::string(a.name), std::string(a.summary), std::string(a.restriction)});
  fmt::print("\n");
  print_table(rows);
  fmt::print("\ncosts by which they are chosen:");
  const auto values = t.costs.values();
  for (std::size_t k = 0; k < values.size(); ++k)
    fmt::print(" {}={} {}", collectives::cost_table::names[k], values[k], collectives::cost_table::units[k]);
  fmt::print("\n");
}

void print_paths(const engine::settings& present) {
  const auto& used = collectives::path_of(present, transport::ucx::network_reaches_memory());
  std::vector<table_row> rows{{"path", "between nodes", "payload that travels with its signal"}};
  for (const collectives::far_path& p : collectives::far_paths())
    rows.push_back({std::string(p.name), std::string(p.means),
                    engine::show_size(p.payload) + (p.name == used.name ? ", used here" : "")});
  fmt::print("\n");
  print_table(rows);
}

void print_settings() {
  std::vector<std::string> warnings;
  const engine::settings present = engine::present_settings(warnings);
  const engine::settings defaults;
  std::vector<table_row> rows{{"setting", "type", "default", "now", "meaning"}};
  for (const engine::setting_entry& e : engine::settings_table())
    rows.push_back({e.name, e.type, e.show(defaults), e.show(present), e.help});
  print_table(rows);
  for (const std::string& warning : warnings)
    std::cerr << "weft info: " << warning << "\n";
  print_algorithms(present);
  print_paths(present);
}

void print_versions() {
  fmt::print("weft {}\nUCX {}\nPMIx {}\n", WEFT_VERSION, transport::ucx::version(), boot::pmix_version());
  fmt::print("usable cores {:.1f}\n", progress::usable_cores());
  fmt::print("memory of an outstanding operation {} bytes, taken for {} at a time and used again\n\n",
             progress::operation_pool::bytes_of_each, progress::operation_pool::chunk_size);
}

} // namespace

void add_info_command(CLI::App& app, int& status) {
  CLI::App* info =
      app.add_subcommand("info", "Print versions, usable cores, every setting, algorithms and their costs");
  info->footer("Settings are environment variables, e.g. WEFT_HEAP_SIZE=1G weft run -n 4 ./app");
  info->callback([&status] {
    try {
      print_versions();
      print_settings();
    } catch (const engine::setting_error& e) {
      std::cerr << "weft info: " << e.what() << "\n";
      status = 2;
    }
  });
}

} // namespace weft::tool
