// SPDX-License-Identifier: BSD-3-Clause
// weft info: the settings and their present values, and what the library was built on and runs on.

#include "engine/collectives/tuning.hpp"
#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/context.hpp"
#include "pmix_boot/client/pmix_info.hpp"
#include "progress/driving/cores.hpp"
#include "progress/execution/operation_pool.hpp"
#include "tools/command.hpp"
#include "weft/version.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
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
      engine::print(stdout, "{}{} ", row[k], std::string(widths[k] - row[k].size(), ' '));
    engine::print(stdout, "{}\n", row.back());
  }
}

void print_algorithms(const engine::settings& present) {
  const collectives::tuning t = collectives::tuning_of(present, transport::ucx::network_reaches_memory());
  std::vector<table_row> rows{{"operation", "way", "what it does", "fits where"}};
  for (const collectives::algorithm& a : collectives::algorithms())
    rows.push_back(
        {std::string(name(a.op)), std::string(a.name), std::string(a.summary), std::string(a.restriction)});
  engine::print(stdout, "\n");
  print_table(rows);
  engine::print(stdout, "\ncosts by which they are chosen:");
  const auto values = t.costs.values();
  for (std::size_t k = 0; k < values.size(); ++k)
    engine::print(stdout, " {}={} {}", collectives::cost_table::names[k], values[k],
                  collectives::cost_table::units[k]);
  engine::print(stdout, "\n");
}

void print_paths(const engine::settings& present) {
  const auto& used = collectives::path_of(present, transport::ucx::network_reaches_memory());
  std::vector<table_row> rows{{"path", "between nodes", "payload that travels with its signal"}};
  for (const collectives::far_path& p : collectives::far_paths())
    rows.push_back({std::string(p.name), std::string(p.means),
                    engine::show_size(p.payload) + (p.name == used.name ? ", used here" : "")});
  engine::print(stdout, "\n");
  print_table(rows);
}

struct settings_now {
  engine::settings values;
  std::vector<table_row> rows; // "setting", "type", "default", "now", "meaning"
};

// All settings, or the one of this name.
settings_now look_at_settings(const std::string& one) {
  std::vector<std::string> warnings, names;
  settings_now now{engine::present_settings(warnings), {}};
  const engine::settings defaults;
  for (const engine::setting_entry& e : engine::settings_table()) {
    names.emplace_back(e.name);
    if (one.empty() || one == e.name)
      now.rows.push_back({e.name, e.type, e.show(defaults), e.show(now.values), e.help});
  }
  if (now.rows.empty()) {
    const std::string meant = engine::nearest(one, names);
    throw engine::setting_error(
        one + " is not a setting; " +
        (meant.empty() ? "weft info prints all of them" : "did you mean " + meant + "?"));
  }
  for (const std::string& warning : warnings)
    std::cerr << "weft info: " << warning << "\n";
  return now;
}

// As JSON has it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      out += engine::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string settings_as_json(const settings_now& now) {
  std::string out;
  for (const table_row& r : now.rows)
    out += engine::format(
        "{}\n  {{\"name\": {}, \"type\": {}, \"default\": {}, \"now\": {}, \"meaning\": {}}}",
        out.empty() ? "" : ",", quoted(r[0]), quoted(r[1]), quoted(r[2]), quoted(r[3]), quoted(r[4]));
  return "[" + out + "]";
}

void print_json(const settings_now& now, bool one) {
  if (one) return engine::print(stdout, "{}\n", settings_as_json(now));
  std::string ways;
  for (const collectives::algorithm& a : collectives::algorithms())
    ways +=
        engine::format("{}\n  {{\"operation\": {}, \"way\": {}, \"what\": {}, \"fits\": {}}}",
                       ways.empty() ? "" : ",", quoted(std::string(name(a.op))), quoted(std::string(a.name)),
                       quoted(std::string(a.summary)), quoted(std::string(a.restriction)));
  engine::print(stdout,
                "{{\"weft\": {}, \"ucx\": {}, \"pmix\": {}, \"usable_cores\": {:.1f},\n\"settings\": {},\n"
                "\"algorithms\": [{}]}}\n",
                quoted(WEFT_VERSION), quoted(transport::ucx::version()), quoted(boot::pmix_version()),
                progress::usable_cores(), settings_as_json(now), ways);
}

void print_settings(settings_now now) {
  now.rows.insert(now.rows.begin(), {"setting", "type", "default", "now", "meaning"});
  print_table(now.rows);
}

void print_versions() {
  engine::print(stdout, "weft {}\nUCX {}\nPMIx {}\n", WEFT_VERSION, transport::ucx::version(),
                boot::pmix_version());
  engine::print(stdout, "usable cores {:.1f}\n", progress::usable_cores());
  engine::print(stdout,
                "memory of an outstanding operation {} bytes, taken for {} at a time and used again\n",
                progress::operation_pool::bytes_of_each, progress::operation_pool::chunk_size);
  engine::print(stdout,
                "operands in ordinary memory: blocks up to {} are moved from and to it, larger sources and "
                "vectors by a "
                "copy in the shared heap; WEFT_STATISTICS=1 prints how many bytes\n\n",
                engine::show_size(collectives::tuning{}.eager_bytes));
}

constexpr std::uint32_t most_ranks_counted = 1u << 20;

int count_memory(std::uint32_t ranks, std::uint32_t nodes) {
  const bool fit = nodes != 0 && nodes <= ranks && (ranks - 1) / nodes < most_ranks_of_a_host;
  if (fit)
    print_memory(ranks, nodes);
  else
    std::cerr << engine::format(
        "weft info: {} ranks on {} nodes do not fit: 1 <= nodes <= ranks, and at most {} "
        "ranks on a node\n",
        ranks, nodes, most_ranks_of_a_host);
  return fit ? 0 : 2;
}

} // namespace

void add_info_command(CLI::App& app, int& status) {
  struct options {
    std::string one;
    bool json = false;
  };
  auto asked = std::make_shared<options>();
  CLI::App* info =
      app.add_subcommand("info", "Print versions, usable cores, every setting, algorithms and their costs");
  info->add_option("setting", asked->one, "Print this setting alone, as WEFT_HEAP_SIZE");
  info->add_flag("--json", asked->json, "Print JSON, for programs");
  info->footer("Settings are environment variables, e.g. WEFT_HEAP_SIZE=1G weft run -n 4 ./app");
  const auto ranks = std::make_shared<std::optional<std::uint32_t>>();
  const auto nodes = std::make_shared<std::uint32_t>(1);
  CLI::Option* const counted =
      info->add_option("--ranks", *ranks,
                       "Count instead what a rank of so many takes of memory, and what of it grows")
          ->check(CLI::Range(std::uint32_t{1}, most_ranks_counted).description(""));
  info->add_option("--nodes", *nodes, "On so many nodes")->capture_default_str()->needs(counted);
  info->callback([asked, ranks, nodes, &status] {
    try {
      if (*ranks) {
        status = count_memory(**ranks, *nodes);
        return;
      }
      const bool one = !asked->one.empty();
      const settings_now now = look_at_settings(asked->one);
      if (asked->json) return print_json(now, one);
      if (!one) print_versions();
      print_settings(now);
      if (one) return;
      print_algorithms(now.values);
      print_paths(now.values);
    } catch (const engine::setting_error& e) {
      std::cerr << "weft info: " << e.what() << "\n";
      status = 2;
    }
  });
}

} // namespace weft::tool
