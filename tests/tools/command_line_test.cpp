// SPDX-License-Identifier: BSD-3-Clause
// What programs with options take, refuse and tell. Mutations that this catches: a check that is left out, or
// taken for another one; an option that is written to another place; help or mistakes that a rank tells which
// is to be silent.
#include "tools/options/command_line.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

struct said {
  std::optional<int> status;
  std::string out, err;
};

said parse(weft::command_line& line, std::vector<std::string> arguments, bool tells = true) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> words;
  for (std::string& each : arguments)
    words.push_back(each.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto status = line.parse(static_cast<int>(words.size()), words.data(), tells);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

// The first line of what is said of a mistake.
std::string mistake(weft::command_line& line, const std::vector<std::string>& arguments) {
  const said what = parse(line, arguments);
  EXPECT_GT(what.status.value_or(0), 0);
  EXPECT_EQ(what.out, "");
  return what.err.substr(0, what.err.find('\n'));
}

TEST(command_line, writes_each_argument_to_its_place) {
  int count = 1;
  unsigned seconds = 2;
  std::int64_t index = 3;
  std::uint64_t seed = 4;
  double budget = 5;
  std::string name = "none";
  std::optional<std::uint64_t> wrong;
  std::vector<std::uint64_t> sizes{8};
  std::vector<std::string> names{"all"};
  bool json = false, pin = true;
  weft::command_line line("tries all");
  line.add("--count", &count);
  line.add("--seconds", &seconds);
  line.add("--index", &index);
  line.add("--seed", &seed);
  line.add("--budget", &budget);
  line.add("--name", &name);
  line.add("--wrong", &wrong);
  line.add("--sizes", &sizes).separated_by(',').in_bytes();
  line.add("--names", &names).separated_by(',');
  line.add_flag("--json", json, "print JSON");
  line.add_flag("!--no-pin", pin, "leave it");

  EXPECT_FALSE(parse(line, {}).status);
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(wrong);
  EXPECT_EQ(names, std::vector<std::string>{"all"});
  EXPECT_FALSE(json);
  EXPECT_TRUE(pin);

  const said what = parse(line, {"--count", "-7",       "--seconds", "8",      "--index", "-9",      "--seed",
                                 "10",      "--budget", "0.5",       "--name", "a",       "--wrong", "0",
                                 "--sizes", "16,2K,1M", "--names",   "b,c",    "--json",  "--no-pin"});
  EXPECT_FALSE(what.status);
  EXPECT_EQ(what.out + what.err, "");
  EXPECT_EQ(count, -7);
  EXPECT_EQ(seconds, 8U);
  EXPECT_EQ(index, -9);
  EXPECT_EQ(seed, 10U);
  EXPECT_EQ(budget, 0.5);
  EXPECT_EQ(name, "a");
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{16, 2048, 1 << 20}));
  EXPECT_EQ(names, (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(json);
  EXPECT_FALSE(pin);
}

TEST(command_line, refuses_what_an_option_does_not_take) {
  int part = 1, some = 1;
  double least = 0;
  std::string kind = "S";
  std::uint64_t eight = 8;
  weft::command_line line("refuses");
  line.add("--part", &part).between(1, 4);
  line.add("--some", &some).positive();
  line.add("--least", &least).not_negative();
  line.add("--kind", &kind).one_of({"S", "W"});
  line.add("--eight", &eight).valid_if([](const std::string& n) {
    return n == "8" ? "" : n + " is not eight";
  });

  EXPECT_FALSE(
      parse(line, {"--part", "4", "--some", "1", "--least", "0", "--kind", "W", "--eight", "8"}).status);
  EXPECT_EQ(mistake(line, {"--part", "5"}), "--part: Value 5 not in range 1 to 4");
  EXPECT_EQ(mistake(line, {"--part", "0"}), "--part: Value 0 not in range 1 to 4");
  EXPECT_TRUE(mistake(line, {"--some", "0"}).starts_with("--some: Value 0 not in range "));
  EXPECT_TRUE(mistake(line, {"--least", "-1"}).starts_with("--least: Value -1 not in range 0"));
  EXPECT_EQ(mistake(line, {"--kind", "X"}), "--kind: X not in {S,W}");
  EXPECT_EQ(mistake(line, {"--eight", "9"}), "--eight: 9 is not eight");
  EXPECT_EQ(mistake(line, {"--part", "some"}), "--part: Value some not in range 1 to 4");
  EXPECT_EQ(mistake(line, {"--nothing"}), "The following argument was not expected: --nothing");
}

TEST(command_line, misses_what_is_required) {
  std::string where;
  weft::command_line line("requires");
  line.add("--where", &where).required();
  EXPECT_EQ(mistake(line, {}), "--where is required");
  EXPECT_FALSE(parse(line, {"--where", "here"}).status);
}

TEST(command_line, helps_with_defaults_where_they_are_told) {
  int told = 41, untold = 42;
  weft::command_line line("what it is for");
  line.add("--told", &told, "a number").tells_default();
  line.add("--untold", &untold, "another");
  const said help = parse(line, {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_TRUE(help.out.starts_with("what it is for\n"));
  EXPECT_NE(help.out.find("--told INT=41"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("--untold INT "), std::string::npos) << help.out;
}

TEST(command_line, is_silent_where_another_rank_tells) {
  weft::command_line line("silent");
  for (const char* word : {"--help", "--nothing"}) {
    const said what = parse(line, {word}, false);
    EXPECT_EQ(what.status, parse(line, {word}).status) << word;
    EXPECT_EQ(what.out + what.err, "") << word;
  }
}

} // namespace
