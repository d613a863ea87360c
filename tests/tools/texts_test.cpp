// SPDX-License-Identifier: BSD-3-Clause
// Texts of values, and places in a program as lines of its source.
#include "engine/format.hpp"
#include "pmix_boot/client/source_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace weft {
namespace {

using boot::with_source_lines;
using engine::format;

TEST(format, stands_for_values_in_their_order) {
  const std::string text = "abc";
  EXPECT_EQ(format("plain"), "plain");
  EXPECT_EQ(format("{} {}{}", 1, text, "x"), "1 abcx");
  EXPECT_EQ(format("{{{}}}", std::uint8_t{200}), "{200}");
  EXPECT_EQ(format("{}{}{}", std::int8_t{-3}, true, 'c'), "-3truec");
  EXPECT_EQ(format("{} {}", std::uint64_t{0} - 1, INT64_MIN), "18446744073709551615 -9223372036854775808");
  EXPECT_EQ(format("{} {} {}", 0.1, 1e300, std::string_view()), "0.1 1e+300 ");
}

TEST(format, fills_what_is_shorter_than_its_width) {
  EXPECT_EQ(format("{:<5}|{:>5}|{:5}|{:5}|{:<5}|", "ab", "ab", "ab", 12, 12),
            "ab   |   ab|ab   |   12|12   |");
  EXPECT_EQ(format("{}.{:03}", 5, 7), "5.007");
  EXPECT_EQ(format("{:>2}{:<1}", "long", 1234), "long1234");
}

TEST(format, shows_numbers_as_asked) {
  EXPECT_EQ(format("{:#x} {:x} {:04x}", 255u, 16, 31u), "0xff 10 001f");
  EXPECT_EQ(format("{:.3f} {:>9.1f} {:.0f}", 1.0 / 3, 2.25, 7.0), "0.333       2.2 7");
  EXPECT_EQ(format("{:.1f}", 1e300).size(), 303u);
}

TEST(source_lines, are_left_alone_where_no_place_is) {
  for (const char* text : {"", "plain", "[label=\"x\"]", "[/not/a/place]", "a[+0x12]"})
    EXPECT_EQ(with_source_lines(text), text);
}

TEST(source_lines, say_how_to_ask_where_nothing_is_known) {
  EXPECT_EQ(with_source_lines("at [/no/such program+0x12 +0x34], and [/b+0x5]: x"),
            "at such program+0x12 [addr2line -e /no/such program 0x12], and b+0x5 [addr2line -e /b 0x5]: x");
}

// What is done while addr2line is this script, in a folder that it may write to.
template <class F> void with_a_reader(const std::string& script, F&& f) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("addr2line_for_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path program = folder / "addr2line";
  std::ofstream(program) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (folder.string() + ":" + before).c_str(), 1);
  f(folder);
  setenv("PATH", before.c_str(), 1);
  std::filesystem::remove_all(folder);
}

// Another rank's failure ends the job while this one asks for its line.
TEST(source_lines, are_read_to_their_end_while_the_job_is_ended) {
  with_a_reader("for signal in HUP INT QUIT TERM; do kill -$signal $$; done\necho /somewhere/solver.c:7\n",
                [](const auto&) { EXPECT_EQ(with_source_lines("at [/b+0x5]: x"), "at solver.c:7: x"); });
}

// A program may catch an error a thousand times a second.
TEST(source_lines, are_asked_for_once_for_a_place_and_for_few_places) {
  with_a_reader("echo x >>$(dirname $0)/asked\necho /somewhere/solver.c:7\n", [](const auto& folder) {
    const auto asked = [&] {
      std::ifstream lines(folder / "asked");
      return std::count(std::istreambuf_iterator(lines), {}, '\n');
    };
    for (int k = 0; k != 100; ++k)
      EXPECT_EQ(boot::with_kept_source_lines("at [/kept+0x5 +0x6]: x"), "at solver.c:7: x");
    EXPECT_EQ(asked(), 1);
    std::string last;
    for (int k = 0; k != 100; ++k)
      last = boot::with_kept_source_lines("at [/kept+0x" + std::to_string(10 + k) + "]");
    EXPECT_EQ(last, "at kept+0x109 [addr2line -e /kept 0x109]");
    EXPECT_LE(asked(), 16);
    EXPECT_GT(asked(), 1);
    EXPECT_EQ(boot::with_kept_source_lines("at [/kept+0x5 +0x6]: x"), "at solver.c:7: x");
  });
}

} // namespace
} // namespace weft
