#include "tests/jobs/suite.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

// The GoogleTests of a pattern, on all ranks in the same order. Rank 0 prints all, the others what fails.
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
  const int status = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() > 0 ? status : 2;
}
