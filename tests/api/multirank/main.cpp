// Every rank runs the same tests in the same order, as one job; a failure on any rank is the job's.
#include <cstring>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  weft_init(&argc, &argv);
  if (MYTHREAD != 0) GTEST_FLAG_SET(brief, true); // one rank speaks, the others only when they fail
  const int status = RUN_ALL_TESTS();
  weft_finalize();
  return status;
}
