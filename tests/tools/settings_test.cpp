// SPDX-License-Identifier: BSD-3-Clause
// Every number has a range, and an error says which; a name that is none is answered by the one that was meant.
#include "engine/settings.hpp"

#include <gtest/gtest.h>

namespace weft::engine {
namespace {

std::vector<std::string> warnings_of(const std::string& entry) {
  std::vector<std::string> warnings;
  const char* environment[] = {entry.c_str()};
  read_settings(environment, warnings);
  return warnings;
}

std::string refusal_of(const std::string& entry) {
  try {
    warnings_of(entry);
  } catch (const setting_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(settings, numbers_out_of_range_name_the_setting_the_value_and_the_range) {
  const struct {
    const char *name, *least, *most, *below, *above;
  } numbers[] = {{"WEFT_HEAP_SIZE", "1", "16T", "0", "17592186044417"},
                 {"WEFT_SPINS", "0", "1000000000", "-1", "1000000001"},
                 {"WEFT_YIELDS", "0", "1000000000", "-1", "1000000001"},
                 {"WEFT_SLEEP", "1", "3600000", "0", "3600001"},
                 {"WEFT_PLAN_CACHE", "0", "1T", "-1", "1025G"},
                 {"WEFT_MAX_OPERATIONS", "1", "1048576", "0", "1048577"},
                 {"WEFT_EAGER", "0", "2K", "-1", "2049"},
                 {"WEFT_WHOLE_BLOCK", "0", "16T", "-1", "17T"},
                 {"WEFT_WINDOW", "1", "64", "0", "65"}};
  for (const auto& n : numbers) {
    const std::string name = n.name;
    EXPECT_EQ(refusal_of(name + "=" + n.least), "accepted");
    EXPECT_EQ(refusal_of(name + "=" + n.most), "accepted");
    const std::string rule = std::string(": must be from ") + n.least + " to " + n.most;
    for (const std::string value : {n.above, "18446744073709551615", "18446744073709551616", "99999999999999999999999"})
      EXPECT_EQ(refusal_of(name + "=" + value), name + "=" + value + rule);
    if (n.below[0] != '-') {
      EXPECT_EQ(refusal_of(name + "=" + n.below), name + "=" + n.below + rule);
    }
    for (const std::string value : {"-1", "", "x", "1 ", "0x10"})
      EXPECT_NE(refusal_of(name + "=" + value), "accepted") << name << "=" << value;
  }
  EXPECT_EQ(refusal_of("WEFT_HEAP_SIZE=18446744073709551615T"),
            "WEFT_HEAP_SIZE=18446744073709551615T: must be from 1 to 16T");
}

TEST(settings, an_unknown_name_is_answered_by_the_nearest) {
  const struct {
    const char *given, *meant;
  } names[] = {{"HEAP", "HEAP_SIZE"},       {"HEAPSIZE", "HEAP_SIZE"},  {"SIZE", "HEAP_SIZE"},
               {"SPIN", "SPINS"},           {"SPIN_COUNT", "SPINS"},    {"CACHE", "PLAN_CACHE"},
               {"OPERATIONS", "MAX_OPERATIONS"}, {"MAXOPS", "MAX_OPERATIONS"}, {"STATS", "STATISTICS"},
               {"LGO", "LOG"},              {"ALGO", "ALGORITHM"},      {"BLOCK", "WHOLE_BLOCK"},
               {"DEVICES", "NET_DEVICES"},  {"COST", "COSTS"},          {"PROGRES", "PROGRESS"},
               {"EAGER_SIZE", "EAGER"},     {"YIELD", "YIELDS"},        {"WINDOWS", "WINDOW"}};
  for (const auto& n : names) {
    const std::string given = std::string("WEFT_") + n.given;
    EXPECT_EQ(warnings_of(given + "=1"), std::vector<std::string>{given + " is not a setting; did you mean WEFT_" +
                                                                  n.meant + "?"});
  }
  EXPECT_EQ(warnings_of("WEFT_XYZZY=1"),
            std::vector<std::string>{"WEFT_XYZZY is not a setting; weft info lists them"});
  EXPECT_EQ(warnings_of("WEFT_=1"), std::vector<std::string>{"WEFT_ is not a setting; weft info lists them"});
}

} // namespace
} // namespace weft::engine
