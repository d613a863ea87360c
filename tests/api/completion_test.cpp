// SPDX-License-Identifier: BSD-3-Clause
// The completion of any, all or some of several handles.
#include "tests/api/fixture.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

namespace {

using handles = std::vector<upc_coll_handle_t>;

class several : public api_test {
protected:
  void SetUp() override {
    rt = &start();
    dst = upc_all_alloc(4, 64);
    src = upc_all_alloc(4, 64);
  }
  upc_coll_handle_t post() { return upc_all_exchange(dst, src, 8, UPC_ASYNC); }
  handles post(std::size_t count) {
    handles h(count);
    std::ranges::generate(h, [&] { return post(); });
    return h;
  }
  // While a call drives, the operations of these complete, one each time.
  void complete_meanwhile(handles order) {
    order_ = std::move(order);
    rt->meanwhile = [this, next = std::size_t{0}]() mutable {
      if (next != order_.size()) rt->finish(order_[next++]);
    };
  }
  static int size(const handles& h) { return static_cast<int>(h.size()); }

  fake_runtime* rt = nullptr;
  upc_shared_ptr_t dst{}, src{};

private:
  handles order_;
};

constexpr upc_coll_handle_t none = UPC_HANDLE_COMPLETE, never = 0xabcdef;

struct named {
  const char* name;
  std::function<int(int, upc_coll_handle_t*)> call;
};
std::vector<named> all_calls() {
  static int indices[1000];
  return {{"upc_waitany", upc_waitany},
          {"upc_testany", upc_testany},
          {"upc_waitall",
           [](int n, upc_coll_handle_t* h) {
             upc_waitall(n, h);
             return 0;
           }},
          {"upc_testall", upc_testall},
          {"upc_waitsome", upc_waitsome},
          {"upc_testsome", upc_testsome},
          {"weft_waitany_for", [](int n, upc_coll_handle_t* h) { return weft_waitany_for(n, h, 0); }},
          {"weft_waitsome_indices",
           [](int n, upc_coll_handle_t* h) { return weft_waitsome_indices(n, h, indices); }},
          {"weft_testsome_indices",
           [](int n, upc_coll_handle_t* h) { return weft_testsome_indices(n, h, indices); }}};
}

TEST_F(several, none_is_active) {
  handles h(5, none);
  std::array<int, 5> indices{};
  for (const int count : {0, 5}) {
    upc_coll_handle_t* const array = count == 0 ? nullptr : h.data();
    EXPECT_EQ(upc_waitany(count, array), -2);
    EXPECT_EQ(upc_testany(count, array), -2);
    EXPECT_EQ(weft_waitany_for(count, array, UINT64_MAX), -2);
    upc_waitall(count, array);
    EXPECT_GT(upc_testall(count, array), 0);
    EXPECT_EQ(upc_waitsome(count, array), 0);
    EXPECT_EQ(upc_testsome(count, array), 0);
    EXPECT_EQ(weft_waitsome_indices(count, array, indices.data()), 0);
    EXPECT_EQ(weft_testsome_indices(count, array, indices.data()), 0);
  }
  EXPECT_EQ(weft_waitsome_indices(0, nullptr, nullptr), 0);
  EXPECT_EQ(rt->tested, 0u) << "at once";
}

TEST_F(several, any_completes_one_and_skips_inactive_handles) {
  handles h = post(4);
  h[1] = none;
  const handles before = h;
  EXPECT_EQ(upc_testany(4, h.data()), -1);
  EXPECT_EQ(h, before);
  EXPECT_EQ(rt->tested, 1u) << "asking moves operations on";
  rt->finish(h[2]);
  EXPECT_EQ(upc_testany(4, h.data()), 2);
  EXPECT_EQ(h, (handles{before[0], none, none, before[3]}));
  complete_meanwhile({before[3]});
  EXPECT_EQ(upc_waitany(4, h.data()), 3);
  EXPECT_EQ(h, (handles{before[0], none, none, none}));
  complete_meanwhile({before[0]});
  EXPECT_EQ(upc_testany(4, h.data()), 0) << "what completes during the test is found by it";
  EXPECT_EQ(upc_waitany(4, h.data()), -2);
}

TEST_F(several, any_for_a_time_ends_with_it) {
  handles h = post(3);
  const handles before = h;
  for (const std::uint64_t limit : {0u, 1000u, 1000000u}) {
    const auto begin = std::chrono::steady_clock::now();
    rt->meanwhile = [&] { std::this_thread::sleep_for(std::chrono::microseconds(50)); };
    EXPECT_EQ(weft_waitany_for(3, h.data(), limit), -1);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::nanoseconds(limit));
    EXPECT_EQ(h, before);
  }
  complete_meanwhile({before[1]});
  EXPECT_EQ(weft_waitany_for(3, h.data(), UINT64_MAX), 1);
  EXPECT_EQ(h, (handles{before[0], none, before[2]}));
  rt->finish(h[2]);
  EXPECT_EQ(weft_waitany_for(3, h.data(), 0), 2) << "what is ready is found without time";
}

TEST_F(several, a_stale_handle_is_ready_and_is_reported_once) {
  const upc_coll_handle_t stale = post();
  upc_wait(stale);
  handles h{none, stale, stale};
  std::set<int> reported{upc_waitany(3, h.data()), upc_testany(3, h.data())};
  EXPECT_EQ(reported, (std::set<int>{1, 2}));
  EXPECT_EQ(upc_waitany(3, h.data()), -2);
  h = {stale, none, stale};
  EXPECT_EQ(upc_waitsome(3, h.data()), 2);
  EXPECT_EQ(h, handles(3, none));
  h = {stale};
  EXPECT_GT(upc_testall(1, h.data()), 0);
  EXPECT_EQ(h, handles{none});
}

// Mutation: a search that always begins at 0 reports handle 0 for ever.
TEST_F(several, any_starves_no_handle) {
  for (const bool waiting : {true, false}) {
    handles h = post(100);
    std::vector<int> reports(h.size());
    for (int round = 0; round != 1000; ++round) {
      for (const upc_coll_handle_t each : h)
        rt->finish(each);
      const int i = waiting ? upc_waitany(size(h), h.data()) : upc_testany(size(h), h.data());
      ASSERT_GE(i, 0);
      ++reports[static_cast<std::size_t>(i)];
      h[static_cast<std::size_t>(i)] = post();
    }
    EXPECT_THAT(reports, testing::Each(10));
  }
}

// More arrays than are remembered, in a fixed rhythm.
TEST_F(several, any_starves_no_handle_of_many_arrays) {
  std::vector<handles> arrays;
  for (int i = 0; i != 64; ++i)
    arrays.push_back(post(5));
  std::vector<std::set<int>> reported(arrays.size());
  for (int round = 0; round != 200; ++round)
    for (std::size_t a = 0; a != arrays.size(); ++a) {
      handles& h = arrays[a];
      for (const upc_coll_handle_t each : h)
        rt->finish(each);
      const int i = upc_waitany(5, h.data());
      reported[a].insert(i);
      h[static_cast<std::size_t>(i)] = post();
    }
  for (const std::set<int>& indices : reported)
    EXPECT_EQ(indices.size(), 5u);
}

// A handle that completes late is found although others, nearer to where the search begins, complete all the
// time. Mutation: a search that is begun anew after every completion.
TEST_F(several, any_finds_what_is_far_away) {
  handles h = post(1000);
  handles others = post(500);
  rt->finish(h[700]);
  complete_meanwhile(others);
  EXPECT_EQ(upc_waitany(1000, h.data()), 700);
  EXPECT_LT(rt->tested, 100u);
}

// How many handles are looked at for each that is completed, while they complete one by one, with some sweeps
// in between, in the order of their posts. The first search is not counted: it begins where an earlier array at
// this address left off. Mutations: looking at all before the first sweep or after it.
TEST_F(several, the_cost_of_any_does_not_grow_with_the_number_of_handles) {
  const auto cost = [&](std::size_t count) {
    handles h = post(count);
    rt->finish(h[0]);
    EXPECT_EQ(upc_waitany(size(h), h.data()), 0);
    handles order;
    for (std::size_t i = 1; i != count; ++i)
      order.insert(order.end(), {h[i], none, none, none});
    complete_meanwhile(order);
    rt->queries = 0;
    for (std::size_t i = 1; i != count; ++i)
      EXPECT_EQ(upc_waitany(size(h), h.data()), static_cast<int>(i));
    return static_cast<double>(rt->queries) / static_cast<double>(count);
  };
  rt->finish(post());
  EXPECT_LE(cost(10), 12);
  const double thousand = cost(1000);
  EXPECT_LE(cost(10000), thousand * 1.2);
}

// Mutation: looking although no completion was counted since.
TEST_F(several, nothing_is_looked_at_again_before_something_completes) {
  handles h = post(300);
  rt->meanwhile = [this, &h, sweeps = 0]() mutable {
    if (++sweeps == 90) rt->finish(h[299]);
  };
  EXPECT_EQ(upc_waitany(300, h.data()), 299);
  EXPECT_LE(rt->queries, 1000u);
  EXPECT_GE(rt->tested, 90u);
}

TEST_F(several, all_waits_for_all) {
  handles h = post(3);
  const handles before = h;
  h[1] = none;
  upc_waitall(3, h.data());
  EXPECT_EQ(h, handles(3, none));
  EXPECT_EQ(rt->waited, (std::vector<weft::api::handle>{before[0], before[2]}));
}

// Mutation: clearing the handles that are complete before the last is known to be.
TEST_F(several, testall_that_fails_changes_no_handle) {
  handles h = post(3);
  const handles before = h;
  rt->finish(h[0]);
  rt->finish(h[1]);
  EXPECT_LT(upc_testall(3, h.data()), 0);
  EXPECT_EQ(h, before);
  EXPECT_TRUE(rt->waited.empty()) << "no operation is left";
  EXPECT_EQ(rt->tested, 1u);
  complete_meanwhile({h[2]});
  EXPECT_GT(upc_testall(3, h.data()), 0);
  EXPECT_EQ(h, handles(3, none));
}

TEST_F(several, some_completes_all_that_are_ready) {
  handles h = post(6);
  const handles before = h;
  EXPECT_EQ(upc_testsome(6, h.data()), 0);
  EXPECT_EQ(rt->tested, 1u);
  EXPECT_EQ(h, before);
  rt->finish(h[1]);
  rt->finish(h[4]);
  EXPECT_EQ(upc_testsome(6, h.data()), 2);
  EXPECT_EQ(h, (handles{before[0], none, before[2], before[3], none, before[5]}));
  complete_meanwhile({before[3]});
  EXPECT_EQ(upc_waitsome(6, h.data()), 1);
  complete_meanwhile({before[0]});
  EXPECT_EQ(upc_testsome(6, h.data()), 1) << "what completes during the test is found by it";
  EXPECT_EQ(h, (handles{none, none, before[2], none, none, before[5]}));
}

TEST_F(several, some_says_which) {
  handles h = post(6);
  std::array<int, 6> indices{-7, -7, -7, -7, -7, -7};
  EXPECT_EQ(weft_testsome_indices(6, h.data(), indices.data()), 0);
  rt->finish(h[5]);
  rt->finish(h[2]);
  EXPECT_EQ(weft_testsome_indices(6, h.data(), indices.data()), 2);
  EXPECT_THAT(indices, testing::ElementsAre(2, 5, -7, -7, -7, -7));
  complete_meanwhile({h[4]});
  EXPECT_EQ(weft_waitsome_indices(6, h.data(), indices.data()), 1);
  EXPECT_EQ(indices[0], 4);
  EXPECT_EQ(std::ranges::count(h, none), 3);
}

TEST_F(several, a_wait_ends_when_another_thread_completes_the_last_handle) {
  handles h = post(40);
  rt->meanwhile = [&] { std::ranges::fill(h, none); };
  EXPECT_EQ(upc_waitany(40, h.data()), -2);
  h = post(40);
  EXPECT_EQ(upc_waitsome(40, h.data()), 0);
}

TEST_F(several, wrong_arguments_are_errors) {
  upc_coll_handle_t h = none;
  for (const named& c : all_calls()) {
    const weft::error negative = error_of([&] { c.call(-1, &h); });
    EXPECT_EQ(negative.call, c.name);
    EXPECT_EQ(negative.argument, "count");
    EXPECT_EQ(negative.value, "-1");
    EXPECT_EQ(error_of([&] { c.call(3, nullptr); }).argument, "handles");
  }
  EXPECT_EQ(error_of([&] { weft_waitsome_indices(1, &h, nullptr); }).argument, "indices");
  EXPECT_EQ(error_of([&] { weft_testsome_indices(1, &h, nullptr); }).argument, "indices");
}

TEST_F(several, a_handle_that_was_never_issued_is_named_and_nothing_is_lost) {
  for (const named& c : all_calls())
    for (const bool ready : {false, true}) {
      if (ready && std::string(c.name).find("any") != std::string::npos)
        continue; // they may take what is ready first
      handles h = post(3);
      if (ready) rt->finish(h[0]);
      h.insert(h.begin() + 1, never);
      const handles before = h;
      const weft::error e = error_of([&] { c.call(4, h.data()); });
      EXPECT_EQ(e.call, c.name);
      EXPECT_EQ(e.argument, "handles[1]");
      EXPECT_EQ(e.value, "0xabcdef");
      EXPECT_THAT(e.rule, testing::HasSubstr("never issued"));
      EXPECT_EQ(h, before) << c.name;
    }
}

// Mutation: clearing handles on the way to the one that failed.
TEST_F(several, the_call_that_completes_a_failed_operation_reports_it_and_leaves_the_others) {
  for (const named& c : all_calls()) {
    handles h = post(4);
    const handles before = h;
    rt->failures = {{h[2], "thread 3 died"}};
    const bool any = std::string(c.name).find("any") != std::string::npos;
    if (any) {
      rt->finish(h[2]);
    } else {
      for (const upc_coll_handle_t each : h)
        rt->finish(each);
    }
    const weft::error e = error_of([&] { c.call(4, h.data()); });
    EXPECT_EQ(e.call, c.name);
    EXPECT_EQ(e.argument, "handles[2]");
    EXPECT_EQ(e.rule, "thread 3 died");
    EXPECT_EQ(h, (handles{before[0], before[1], none, before[3]})) << c.name;
    for (const upc_coll_handle_t each : h)
      rt->finish(each);
    upc_waitall(4, h.data());
    EXPECT_EQ(h, handles(4, none));
  }
}

TEST_F(several, each_failure_is_reported_by_itself) {
  handles h = post(3);
  rt->failures = {{h[0], "first"}, {h[2], "second"}};
  for (const upc_coll_handle_t each : h)
    rt->finish(each);
  EXPECT_EQ(error_of([&] { upc_waitsome(3, h.data()); }).rule, "first");
  EXPECT_EQ(error_of([&] { upc_waitsome(3, h.data()); }).rule, "second");
  EXPECT_EQ(upc_waitsome(3, h.data()), 1);
}

TEST_F(several, status_leaves_the_error_to_the_call_that_completes) {
  upc_coll_handle_t h = post();
  EXPECT_LT(upc_get_status(h), 0);
  EXPECT_EQ(rt->tested, 1u) << "asking moves the operation on";
  rt->failures = {{h, "thread 3 died"}};
  rt->finish(h);
  EXPECT_GT(upc_get_status(h), 0);
  EXPECT_GT(upc_get_status(h), 0);
  EXPECT_EQ(rt->tested, 1u) << "there is nothing left to move";
  EXPECT_EQ(error_of([&] { upc_wait(h); }).rule, "thread 3 died");
}

} // namespace
