// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of machines: found, read line by line, and refused by line and rule.

#include "tools/machine.hpp"

#include "engine/format.hpp"
#include "tools/command.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

namespace weft::tool {

namespace {

struct unit {
  std::string_view name;
  double each; // of it in the unit that is kept
};

// What a value is made of, and how it is kept: a number, a time in ns, bytes in ns/1000 for each of them.
enum class quantity : std::uint8_t { number, time, speed, path };

struct property {
  std::string_view name;
  quantity of;
  double least, most; // as they are written, in the first unit
  std::string_view rule;
};

constexpr std::string_view times = "a time of 1 ns to 1 s, as in 600 ns or 1.3 us";
constexpr std::string_view speeds = "a speed of 0.001 to 10000 GB/s, as in 25 GB/s or 800 MB/s";

constexpr auto properties = std::to_array<property>({
    {"hosts", quantity::number, 1, 1'000'000, "a whole number of 1 to 1000000"},
    {"cores", quantity::number, 1, most_ranks_of_a_host, "a whole number of 1 to 4096, those of a host"},
    {"hosts_of_group", quantity::number, 1, 1'000'000, "a whole number of 1 to 1000000"},
    {"path", quantity::path, 0, 0, "memory (the network reads and writes it by itself) or sockets"},
    {"latency", quantity::time, 1, 1e9, times},
    {"latency_between_groups", quantity::time, 1, 1e9, times},
    {"overhead", quantity::time, 1, 1e9, times},
    {"gap", quantity::time, 1, 1e9, times},
    {"bandwidth", quantity::speed, 0.001, 10000, speeds},
    {"bandwidth_between_groups", quantity::speed, 0.001, 10000, speeds},
    {"copy", quantity::time, 1, 1e9, times},
    {"copy_bandwidth", quantity::speed, 0.001, 10000, speeds},
});

std::string_view stripped(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// A piece of a description as a message may show it: in one line, whatever the file is, and not all of a long
// one.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string all(text.substr(0, most));
  std::ranges::replace_if(
      all, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? all + "..." : all;
}

// The value in the first unit of its kind; nothing if it is none.
std::optional<double> read(const property& p, std::string_view text) {
  if (p.of == quantity::path) {
    if (text == "memory") return 1;
    return text == "sockets" ? std::optional<double>(0) : std::nullopt;
  }
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{}) return std::nullopt;
  const std::string_view unit = stripped(text.substr(static_cast<std::size_t>(end - text.data())));
  if (p.of == quantity::number) {
    if (!unit.empty() || value != std::floor(value)) return std::nullopt;
  } else if (p.of == quantity::time) {
    if (unit == "us")
      value *= 1000;
    else if (unit != "ns")
      return std::nullopt;
  } else if (unit == "MB/s")
    value /= 1000;
  else if (unit != "GB/s")
    return std::nullopt;
  return value >= p.least && value <= p.most ? std::optional(value) : std::nullopt;
}

std::string names_of_all() {
  std::string all;
  for (const property& p : properties)
    all += (all.empty() ? "" : ", ") + std::string(p.name);
  return all;
}

class reader {
public:
  explicit reader(const std::string& file) : file_(file) {}

  machine read_all() {
    std::error_code none; // what is no file is not opened: that of a pipe would wait for a writer
    const bool is_file = std::filesystem::is_regular_file(file_, none);
    const std::uint64_t size = is_file ? std::filesystem::file_size(file_, none) : 0;
    if (size > most_bytes)
      throw machine_error(engine::format("{}: has {} bytes, and a description at most {}: name another file",
                                         file_, size, most_bytes));
    std::ifstream in;
    if (is_file) in.open(file_);
    if (!in.is_open())
      throw machine_error(
          engine::format("{}: cannot be read: name a file, or one of {}", file_, installed_machines()));
    std::string text;
    for (line_ = 1; std::getline(in, text); ++line_)
      read_line(text);
    for (const property& p : properties)
      if (!found_.contains(p.name))
        throw machine_error(engine::format("{}: no line has {}: add {} = VALUE, which must be {}", file_,
                                           p.name, p.name, p.rule));
    return made();
  }

private:
  static constexpr std::uint64_t most_bytes = 1 << 20;
  struct at_line {
    double value;
    unsigned line;
  };

  [[noreturn]] void wrong(unsigned line, const std::string& text) const {
    throw machine_error(engine::format("{}:{}: {}", file_, line, text));
  }

  void read_line(std::string_view text) {
    text = stripped(text.substr(0, text.find('#')));
    if (text.empty()) return;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      wrong(line_, engine::format("\"{}\" is no line property = value: write it so, or a # in front of it",
                                  shown(text)));
    const std::string_view name = stripped(text.substr(0, equals)), value = stripped(text.substr(equals + 1));
    const auto p = std::ranges::find(properties, name, &property::name);
    if (p == properties.end())
      wrong(line_,
            engine::format("{} is no property of a machine: there are {}", shown(name), names_of_all()));
    if (const auto before = found_.find(p->name); before != found_.end())
      wrong(line_,
            engine::format("{} is said by line {} too: leave one of them out", name, before->second.line));
    const std::optional<double> read_value = read(*p, value);
    if (!read_value) wrong(line_, engine::format("{} = {}: must be {}", name, shown(value), p->rule));
    found_[p->name] = {*read_value, line_};
  }

  double value(std::string_view name) const { return found_.at(name).value; }
  std::uint64_t whole(std::string_view name) const { return static_cast<std::uint64_t>(value(name) + 0.5); }
  std::uint64_t picoseconds(std::string_view speed) const {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1000 / value(speed) + 0.5));
  }

  // The farther is never the better.
  void check(std::string_view name, std::string_view between, bool farther_is_more) const {
    if (farther_is_more ? value(between) >= value(name) : value(between) <= value(name)) return;
    wrong(found_.at(between).line,
          engine::format(
              "{} is better than {} of line {}: it must be at {} as {}, give both the same value if "
              "there are no groups",
              between, name, found_.at(name).line, farther_is_more ? "least as long" : "most as fast", name));
  }

  machine made() const {
    check("latency", "latency_between_groups", true);
    check("bandwidth", "bandwidth_between_groups", false);
    machine m;
    m.name = std::filesystem::path(file_).filename().string();
    m.hosts = static_cast<std::uint32_t>(whole("hosts"));
    m.cores = static_cast<std::uint32_t>(whole("cores"));
    m.hosts_of_group = static_cast<std::uint32_t>(whole("hosts_of_group"));
    if (m.hosts_of_group > m.hosts)
      wrong(
          found_.at("hosts_of_group").line,
          engine::format("hosts_of_group = {} is more than hosts = {} of line {}: it must be at most as many",
                         m.hosts_of_group, m.hosts, found_.at("hosts").line));
    m.reaches_memory = value("path") != 0;
    m.within = {.latency = whole("latency"),
                .overhead = whole("overhead"),
                .gap = whole("gap"),
                .byte = picoseconds("bandwidth"),
                .copy = whole("copy"),
                .copied_byte = picoseconds("copy_bandwidth")};
    m.between = m.within;
    m.between.latency = whole("latency_between_groups");
    m.between.byte = picoseconds("bandwidth_between_groups");
    return m;
  }

  std::string file_;
  unsigned line_ = 0;
  std::map<std::string_view, at_line> found_;
};

std::filesystem::path folder() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / WEFT_MACHINES_FROM_PROGRAMS;
}

} // namespace

std::string installed_machines() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder(), none))
    names.push_back(file.path().filename().string());
  std::ranges::sort(names);
  std::string all;
  for (const std::string& name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none that is installed" : all;
}

machine machine_of(const std::string& file_or_name) {
  if (file_or_name.find_first_of("/.") != std::string::npos) return reader(file_or_name).read_all();
  std::error_code none;
  if (std::filesystem::is_regular_file(folder() / file_or_name, none))
    return reader((folder() / file_or_name).lexically_normal().string()).read_all();
  throw machine_error(
      engine::format("{} is no machine that is installed: name one of {}, or a file, as in ./{}",
                     file_or_name.empty() ? "\"\"" : file_or_name, installed_machines(),
                     file_or_name.empty() ? "machine.txt" : file_or_name));
}

} // namespace weft::tool
