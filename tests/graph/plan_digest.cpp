// SPDX-License-Identifier: BSD-3-Clause
#include "tests/graph/plan_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace weft::graph {

std::string digest::text() const {
  return fmt::format("{:08x}", static_cast<std::uint32_t>(value_ ^ value_ >> 32));
}

std::string digest_of(const plan_case& c) {
  digest of;
  of.add(c.told());
  return of.text();
}

namespace {

// Several cases as one, which none of them leaves as it was.
class summary {
public:
  void add(const plan_case& c) {
    empty_ = false;
    all_.add(fmt::format("{} {}\n", c.key(), digest_of(c)));
  }
  std::string text() const { return empty_ ? "-" : all_.text(); }

private:
  digest all_;
  bool empty_ = true;
};

} // namespace

std::string sampled_digests(const plan_line& line) {
  std::array<summary, host_shapes> by_shape;
  for_each_case(line, sampling::sample, [&](const plan_case& c) { by_shape[c.shape].add(c); });
  std::array<std::string, host_shapes> texts;
  for (std::size_t k = 0; k < host_shapes; ++k)
    texts[k] = by_shape[k].text();
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string other_digest(const plan_line& line) {
  summary all;
  for_each_case(line, sampling::rest, [&](const plan_case& c) { all.add(c); });
  return all.text();
}

digest_file read_digests(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  digest_file found;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    found[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return found;
}

} // namespace weft::graph
