// SPDX-License-Identifier: BSD-3-Clause
// The pages tell of every setting what the library's own list tells.

#include "engine/settings.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace weft::engine {
namespace {

std::vector<std::string> lines_of(const char* file) {
  std::ifstream in(std::string(WEFT_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// Words that begin like a setting.
std::set<std::string> settings_in(const std::vector<std::string>& lines) {
  std::set<std::string> found;
  for (const std::string& line : lines) {
    for (std::size_t at = line.find("WEFT_"); at != std::string::npos; at = line.find("WEFT_", at + 1)) {
      const std::size_t end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at);
      const std::string word = line.substr(at, end == std::string::npos ? end : end - at);
      if (word != "WEFT_") found.insert(word);
    }
  }
  return found;
}

void expect_only_settings(const char* file) {
  for (const std::string& word : settings_in(lines_of(file))) {
    if (word == "WEFT_REPRODUCIBLE" || word.starts_with("WEFT_SIGNAL_") || word.starts_with("WEFT_BUILD_") ||
        word == "WEFT_OPAQUE")
      continue; // of calls, and of CMake
    EXPECT_TRUE(std::any_of(settings_table().begin(), settings_table().end(),
                            [&](const setting_entry& e) { return word == e.name; }))
        << file << " tells of " << word << ", which is no setting";
  }
}

std::string row_of(const setting_entry& e) {
  return fmt::format("| `{}` | {} | {} |", e.name, e.show(settings{}), e.help);
}

TEST(manuals, page_of_settings_has_a_row_for_every_one) {
  const std::vector<std::string> lines = lines_of("docs/settings.md");
  for (const setting_entry& e : settings_table())
    EXPECT_TRUE(has(lines, row_of(e))) << "docs/settings.md needs this line:\n" << row_of(e);
}

TEST(manuals, readme_has_the_same_rows_for_some) {
  std::vector<std::string> rows;
  for (const setting_entry& e : settings_table())
    rows.push_back(row_of(e));
  std::size_t found = 0;
  for (const std::string& line : lines_of("README.md")) {
    if (!line.starts_with("| `WEFT_")) continue;
    EXPECT_TRUE(has(rows, line)) << "README.md has this row, the list of settings has not:\n" << line;
    ++found;
  }
  EXPECT_EQ(found, 5u);
}

TEST(manuals, manual_page_has_every_setting) {
  const std::vector<std::string> lines = lines_of("docs/man/weft.1");
  for (const setting_entry& e : settings_table()) {
    const std::string value = e.show(settings{});
    const std::string head = fmt::format(".BR {}{}", e.name, value.empty() ? "" : " \" (" + value + ")\"");
    const auto at = std::find(lines.begin(), lines.end(), head);
    ASSERT_NE(at, lines.end()) << "docs/man/weft.1 needs this line:\n" << head;
    ASSERT_NE(at + 1, lines.end());
    EXPECT_EQ(*(at + 1), e.help) << "of " << e.name;
  }
}

TEST(manuals, readme_shows_the_examples_that_are_built) {
  const std::vector<std::string> readme = lines_of("README.md");
  for (const char* file : {"examples/overlap.cpp", "examples/two_teams.cpp"}) {
    std::vector<std::string> program = lines_of(file);
    program.erase(program.begin()); // says what it shows, as the README does above it
    EXPECT_NE(std::search(readme.begin(), readme.end(), program.begin(), program.end()), readme.end())
        << file;
  }
}

TEST(manuals, tell_of_no_other_setting) {
  expect_only_settings("README.md");
  expect_only_settings("docs/settings.md");
  expect_only_settings("docs/functions.md");
  expect_only_settings("docs/man/weft.1");
  expect_only_settings("docs/architecture.md");
  expect_only_settings("docs/semantics.md");
  expect_only_settings("docs/performance.md");
}

} // namespace
} // namespace weft::engine
