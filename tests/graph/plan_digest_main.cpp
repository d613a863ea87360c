// SPDX-License-Identifier: BSD-3-Clause
// What plans do, in digests and in words: see plan_digest.hpp, and plan_digest.py, which compares.
//
//   plan_digest [--sampled] [KEY]      the lines of the file whose keys begin so
//   plan_digest --cases KEY            the digest of each case of one line
//   plan_digest --told KEY             what the plans of one case do
#include "tests/graph/plan_digest.hpp"

#include <fmt/format.h>

#include <iostream>
#include <span>
#include <vector>

namespace {
using namespace weft::graph;

void for_each_line_of(std::string_view key, const line_visitor& visit) {
  for (const auto op : weft::collectives::operations)
    for_each_line(op, [&](const plan_line& line) {
      if (line.key().starts_with(key)) visit(line);
    });
}

void print_lines(std::string_view key, bool all) {
  for_each_line_of(key, [&](const plan_line& line) {
    const std::string sampled = sampled_digests(line), rest = all ? other_digest(line) : "";
    if ((sampled + rest).find_first_not_of("- ") == std::string::npos) return; // it has no case
    std::cout << fmt::format("{}: {} {}\n", line.key(), sampled, rest);
  });
}

// Of the lines whose keys begin as that of the case.
void for_each_case_of(std::string_view key, const plan_case_visitor& visit) {
  const std::string_view of_line = key.substr(0, key.find(" P="));
  for_each_line_of(of_line, [&](const plan_line& line) {
    if (line.key() != of_line) return;
    for (const sampling which : {sampling::sample, sampling::rest})
      for_each_case(line, which, [&](const plan_case& c) {
        if (c.key().starts_with(key)) visit(c);
      });
  });
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() || !words[0].starts_with("--") ? "" : words[0];
  const std::string key = words.size() > (what.empty() ? 0u : 1u) ? words.back() : "";
  if (what == "--cases")
    for_each_case_of(key, [](const plan_case& c) { std::cout << c.key() << ": " << digest_of(c) << "\n"; });
  else if (what == "--told")
    for_each_case_of(key, [](const plan_case& c) { std::cout << "# " << c.key() << "\n" << c.told(); });
  else
    print_lines(key, what != "--sampled");
}
