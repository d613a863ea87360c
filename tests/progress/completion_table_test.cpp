// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/completion_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using weft::progress::completion_table;
using status = completion_table::status;

std::uint64_t handle_of(std::uint64_t generation, std::uint32_t slot) {
  return generation << completion_table::slot_bits | slot;
}

TEST(completion_table, zero_is_complete_and_never_issued_as_a_handle) {
  completion_table table;
  EXPECT_EQ(table.query(0), status::complete);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t handle = table.allocate();
    EXPECT_NE(handle, 0u);
    EXPECT_EQ(table.query(0), status::complete);
  }
}

TEST(completion_table, is_pending_until_completed) {
  completion_table table;
  const std::uint64_t first = table.allocate();
  const std::uint64_t second = table.allocate();
  EXPECT_NE(table.index(first), table.index(second));
  EXPECT_EQ(table.query(first), status::pending);
  table.complete(first);
  EXPECT_EQ(table.query(first), status::complete);
  EXPECT_EQ(table.query(second), status::pending);
}

// Caught here: a generation that does not move with the slot's reuse.
TEST(completion_table, stale_handles_stay_complete) {
  completion_table table{1};
  std::vector<std::uint64_t> old;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t handle = table.allocate();
    for (const std::uint64_t each : old) {
      EXPECT_NE(each, handle);
      EXPECT_EQ(table.query(each), status::complete);
    }
    EXPECT_EQ(table.query(handle), status::pending);
    table.complete(handle);
    old.push_back(handle);
  }
}

TEST(completion_table, reuses_the_slot_used_last) {
  completion_table table;
  const std::uint64_t first = table.allocate();
  const std::uint64_t second = table.allocate();
  table.complete(second);
  table.complete(first);
  EXPECT_EQ(table.index(table.allocate()), table.index(first));
  EXPECT_EQ(table.index(table.allocate()), table.index(second));
}

TEST(completion_table, counts_completions_and_what_is_outstanding) {
  completion_table table;
  EXPECT_EQ(table.completions(), 0u);
  EXPECT_EQ(table.outstanding(), 0u);
  const std::uint64_t first = table.allocate();
  const std::uint64_t second = table.allocate();
  EXPECT_EQ(table.completions(), 0u);
  EXPECT_EQ(table.outstanding(), 2u);
  table.complete(first);
  EXPECT_EQ(table.completions(), 1u);
  EXPECT_EQ(table.outstanding(), 1u);
  table.complete(second);
  EXPECT_EQ(table.completions(), 2u);
  EXPECT_EQ(table.outstanding(), 0u);
}

// Sizes on both sides of a chunk's end. Caught here: a chunk that is offered whole although the cap cuts it.
TEST(completion_table, grows_to_the_cap_and_no_further) {
  for (const std::size_t cap : {1u, 3u, 1023u, 1024u, 1025u, 2500u}) {
    completion_table table{cap};
    std::vector<std::uint64_t> handles;
    std::set<std::uint32_t> slots;
    for (std::size_t i = 0; i < cap; ++i) {
      handles.push_back(table.allocate());
      ASSERT_NE(handles.back(), 0u);
      EXPECT_TRUE(slots.insert(table.index(handles.back())).second);
    }
    EXPECT_LT(*slots.rbegin(), cap);
    EXPECT_EQ(table.allocate(), 0u);
    EXPECT_EQ(table.outstanding(), cap);
    for (const std::uint64_t handle : handles)
      EXPECT_EQ(table.query(handle), status::pending);

    table.complete(handles[cap / 2]);
    const std::uint64_t again = table.allocate();
    EXPECT_EQ(table.index(again), table.index(handles[cap / 2]));
    EXPECT_EQ(table.allocate(), 0u);
  }
}

TEST(completion_table, holds_a_million) {
  completion_table table;
  std::vector<std::uint64_t> handles;
  for (std::size_t i = 0; i < completion_table::slots_max; ++i)
    handles.push_back(table.allocate());
  EXPECT_EQ(table.allocate(), 0u);
  EXPECT_EQ(table.query(handles.front()), status::pending);
  EXPECT_EQ(table.query(handles.back()), status::pending);
  for (const std::uint64_t handle : handles)
    table.complete(handle);
  EXPECT_EQ(table.outstanding(), 0u);
}

TEST(completion_table, recognises_what_it_never_issued) {
  completion_table table{2048};
  const std::uint64_t handle = table.allocate();
  ASSERT_EQ(handle, handle_of(1, 0));
  EXPECT_EQ(table.query(handle_of(2, 0)), status::never_issued) << "a generation to come";
  EXPECT_EQ(table.query(handle_of(1, 1)), status::never_issued) << "a slot to come, chunk present";
  EXPECT_EQ(table.query(handle_of(1, 1024)), status::never_issued) << "a slot to come, chunk absent";
  EXPECT_EQ(table.query(handle_of(1, 4096)), status::never_issued) << "a slot beyond the cap";
  EXPECT_EQ(table.query(handle_of(0, 0) + 1), status::never_issued) << "generation zero";
  EXPECT_EQ(table.query(~std::uint64_t{0}), status::never_issued);
  table.complete(handle);
  EXPECT_EQ(table.query(handle_of(2, 0)), status::never_issued);
  EXPECT_EQ(table.query(handle), status::complete);
}

// Caught here: a slot that goes on after its last generation, with handles that have been seen before.
TEST(completion_table, retires_a_slot_that_has_used_its_generations) {
  constexpr std::uint64_t last = completion_table::generation_max;
  completion_table table{1, last - 1};
  EXPECT_EQ(table.query(handle_of(last - 2, 0)), status::never_issued);
  const std::uint64_t one = table.allocate();
  EXPECT_EQ(one, handle_of(last - 1, 0));
  table.complete(one);
  const std::uint64_t two = table.allocate();
  EXPECT_EQ(two, handle_of(last, 0));
  EXPECT_EQ(table.query(two), status::pending);
  table.complete(two);
  EXPECT_EQ(table.allocate(), 0u);
  EXPECT_EQ(table.query(one), status::complete);
  EXPECT_EQ(table.query(two), status::complete);
  EXPECT_EQ(table.outstanding(), 0u);
}

TEST(completion_table, refuses_impossible_limits) {
  EXPECT_THROW(completion_table{0}, std::invalid_argument);
  EXPECT_THROW(completion_table{completion_table::slots_max + 1}, std::invalid_argument);
  EXPECT_THROW((completion_table{1, 0}), std::invalid_argument);
  EXPECT_THROW((completion_table{1, completion_table::generation_max + 1}), std::invalid_argument);
}

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(completion_table, hands_out_an_error_once) {
  completion_table table{2};
  const std::uint64_t bad = table.allocate();
  const std::uint64_t worse = table.allocate();
  EXPECT_EQ(table.take_error(bad), nullptr);
  table.fail(bad, std::make_exception_ptr(std::runtime_error{"the peer is gone"}));
  EXPECT_EQ(table.query(bad), status::complete);
  table.fail(worse, std::make_exception_ptr(std::runtime_error{"so is the other"}));

  const std::uint64_t good = table.allocate(); // in the slot of one that failed
  table.complete(good);
  EXPECT_EQ(table.take_error(good), nullptr) << "the error of another operation";

  EXPECT_EQ(message_of(table.take_error(bad)), "the peer is gone");
  EXPECT_EQ(table.take_error(bad), nullptr);
  EXPECT_EQ(message_of(table.take_error(worse)), "so is the other");
  EXPECT_EQ(table.take_error(worse), nullptr);
}

} // namespace
