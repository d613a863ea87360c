// SPDX-License-Identifier: BSD-3-Clause
#include "tests/jobs/suite.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <weft/weft.hpp>

//   gtest [PATTERN [K N]]
//
// The GoogleTests of a pattern, or of N parts of them the K-th, counted round; on all ranks in the same order. Rank 0
// prints all, the others what fails.
WEFT_SUITE(gtest) {
  static const bool initialized = [] {
    int count = 1;
    char name[] = "weft_jobs", *words[] = {name, nullptr};
    testing::InitGoogleTest(&count, words);
    return true;
  }();
  static_cast<void>(initialized);
  GTEST_FLAG_SET(brief, MYTHREAD != 0);
  GTEST_FLAG_SET(filter, argc > 1 ? argv[1] : "*");
  const int parts = argc > 3 ? std::atoi(argv[3]) : 1;
  setenv("GTEST_TOTAL_SHARDS", std::to_string(parts).c_str(), 1);
  setenv("GTEST_SHARD_INDEX", std::to_string(argc > 3 ? std::atoi(argv[2]) % parts : 0).c_str(), 1);
  const int status = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() > 0 ? status : 2;
}
