// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/api/fake_runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <weft/weft.hpp>

// A job of four threads seen from one of them, for every test anew.
class api_test : public testing::Test {
protected:
  ~api_test() override {
    if (weft::api::runtime::initialised()) weft_finalize();
  }
  fake_runtime& start(std::uint32_t threads = 4, std::uint32_t mythread = 0) {
    fake_runtime::next_size = threads;
    fake_runtime::next_rank = mythread;
    weft_init(nullptr, nullptr);
    fake_runtime& rt = fake_runtime::instance();
    barriers_of_init_ = std::exchange(rt.barriers, {}).size();
    return rt;
  }
  std::size_t barriers_of_init() const { return barriers_of_init_; }

private:
  std::size_t barriers_of_init_ = 0;
};

// The error that a call throws; every one has one line that names the call and the rule.
template <class F> weft::error error_of(F&& f) {
  try {
    f();
  } catch (const weft::error& e) {
    EXPECT_THAT(e.what(), testing::StartsWith(e.call));
    EXPECT_THAT(e.what(), testing::HasSubstr(e.rule));
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("\n")));
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return weft::error("", "", "", "");
}
