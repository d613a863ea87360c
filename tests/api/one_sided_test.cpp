// SPDX-License-Identifier: BSD-3-Clause
// What a one-sided collective knows of its arguments, and who is asked to carry it.
#include "include/weft/one_sided.hpp"

#include "tests/api/fixture.hpp"

namespace {

using testing::HasSubstr;
using weft::collectives::operation;

class one_sided_test : public api_test {
protected:
  fake_runtime& begin() {
    fake_runtime& rt = start();
    a = upc_all_alloc(4, 100000);
    b = upc_all_alloc(4, 100000);
    return rt;
  }
  static upc_shared_ptr_t on(upc_shared_ptr_t p, std::uint32_t thread) { return {p.addr, thread, 0}; }
  upc_shared_ptr_t a{}, b{};
};

TEST_F(one_sided_test, between_hosts_what_is_large_is_an_operation_of_the_callers_own_channel) {
  fake_runtime& rt = begin();
  constexpr std::size_t n = 20000, some = 5000; // bytes: more than 64 KiB in all
  upc_broadcast(b, on(a, 3), n);
  ASSERT_EQ(rt.collectives.size(), 1u);
  EXPECT_EQ(rt.collectives.back().r.op, operation::broadcast);
  EXPECT_EQ(rt.collectives.back().r.root, 3u);
  EXPECT_TRUE(rt.collectives.back().blocking);
  EXPECT_NE(upc_gather(on(b, 2), a, n, UPC_ASYNC), UPC_HANDLE_COMPLETE);
  EXPECT_EQ(rt.collectives.back().r.op, operation::gather);
  EXPECT_EQ(rt.collectives.back().r.root, 2u);
  upc_exchange(b, b, some);
  EXPECT_TRUE(rt.collectives.back().r.in_place);
  upc_reduce(on(b, 1), a, UPC_INT, UPC_ADD, n, some);
  EXPECT_EQ(rt.collectives.back().r.op, operation::reduce);
  EXPECT_EQ(rt.collectives.back().r.root, 1u);
  upc_xprefix_reduce(b, a, UPC_DOUBLE, UPC_MAX, n, some);
  EXPECT_EQ(rt.collectives.back().r.op, operation::prefix_reduce);
  const std::size_t so_far = rt.collectives.size();
  upc_broadcast(b, on(a, 3), 8);
  upc_reduce(on(b, 1), a, UPC_INT, UPC_ADD);
  upc_broadcast(b, a, n, UPC_TEAM_ALL);
  EXPECT_EQ(rt.collectives.size(), so_far + 1) << "what is small the caller does";
  upc_broadcast(b, a, 0);
  EXPECT_EQ(rt.collectives.size(), so_far + 1) << "nothing to copy";
}

TEST_F(one_sided_test, a_list_of_threads_on_other_hosts_has_a_channel_too) {
  fake_runtime& rt = begin();
  constexpr std::size_t n = 40000;
  const int some[] = {3, 1}, alone[] = {2}, in_order[] = {0, 1, 2, 3};
  upc_broadcast(on(b, 3), on(a, 1), n, std::span(some));
  EXPECT_EQ(rt.collectives.size(), 0u) << "within a host the caller does it";
  rt.out_of_reach = {1, 2, 3};
  upc_broadcast(on(b, 3), on(a, 1), n, std::span(some));
  ASSERT_EQ(rt.collectives.size(), 1u);
  EXPECT_EQ(rt.channels, (std::vector<std::vector<std::uint32_t>>{{3, 1}}));
  EXPECT_EQ(rt.collectives.back().r.root, 1u) << "its place in the list";
  upc_gather(on(b, 3), on(a, 3), n, std::span(some), UPC_ASYNC);
  EXPECT_EQ(rt.collectives.back().r.root, 0u);
  upc_reduce(on(b, 1), on(a, 3), UPC_INT, UPC_ADD, n, n / 2, std::span(some));
  EXPECT_EQ(rt.collectives.back().r.root, 1u);
  ASSERT_EQ(rt.collectives.size(), 3u);
  upc_broadcast(b, a, n, std::span(in_order));
  EXPECT_TRUE(rt.channels.back().empty()) << "all of them in their order";
  ASSERT_EQ(rt.collectives.size(), 4u);

  upc_broadcast(on(b, 3), a, n, std::span(some));
  upc_reduce(b, on(a, 3), UPC_INT, UPC_ADD, n, n / 2, std::span(some));
  EXPECT_EQ(rt.collectives.size(), 4u) << "the root takes no part";
  upc_scatter(on(a, 1), on(a, 1), n, std::span(some));
  EXPECT_EQ(rt.collectives.size(), 4u) << "in place, and the root is not the first";
  upc_broadcast(on(b, 2), on(a, 2), 8, std::span(alone));
  EXPECT_EQ(rt.collectives.size(), 4u) << "small";
  rt.room_for_channels = false;
  const std::size_t before = rt.puts;
  upc_broadcast(on(b, 3), on(a, 1), n, std::span(some));
  EXPECT_EQ(rt.collectives.size(), 4u) << "there is no room for a channel";
  EXPECT_EQ(rt.puts, before + 1);
}

TEST_F(one_sided_test, says_what_is_wrong) {
  begin();
  const int twice[] = {0, 2, 0}, foreign[] = {0, 7};
  EXPECT_EQ(error_of([&] { upc_broadcast(UPC_SHARED_NULL, a, 8); }).argument, "dst");
  EXPECT_EQ(error_of([&] { upc_broadcast(b, UPC_SHARED_NULL, 8); }).argument, "src");
  EXPECT_THAT(error_of([&] { upc_broadcast(on(b, 1), a, 8); }).rule, HasSubstr("first of the threads"));
  EXPECT_THAT(error_of([&] { upc_scatter(b, on(a, 9), 8); }).rule, HasSubstr("no such thread"));
  EXPECT_THAT(error_of([&] { upc_exchange(b, a, std::size_t{1} << 40); }).rule, HasSubstr("shared heap"));
  EXPECT_EQ(error_of([&] { upc_gather(on(b, 1), a, ~std::size_t{0} / 2); }).argument, "nbytes * threads");
  EXPECT_THAT(error_of([&] { upc_gather(on(a, 2), {a.addr + 8, 0, 0}, 8); }).rule, HasSubstr("overlaps src"));
  EXPECT_THAT(error_of([&] { upc_gather_all(a, a, 8); }).rule, HasSubstr("not in place"));
  EXPECT_EQ(error_of([&] { upc_broadcast(b, a, 8, UPC_IN_MYSYNC); }).argument, "flags");
  EXPECT_EQ(error_of([&] { upc_broadcast(b, a, 8, upc_team_t{77}); }).argument, "team");
  EXPECT_THAT(error_of([&] { upc_broadcast(b, a, 8, std::span(twice)); }).rule, HasSubstr("there twice"));
  EXPECT_EQ(error_of([&] { upc_broadcast(b, a, 8, std::span(foreign)); }).argument, "threads");
  EXPECT_EQ(error_of([&] { upc_broadcast(b, a, 8, std::span<const int>()); }).argument, "threads");
  EXPECT_EQ(error_of([&] { upc_reduce(b, a, UPC_PTS, UPC_ADD); }).argument, "type");
  EXPECT_EQ(error_of([&] { upc_reduce(b, a, 0, UPC_ADD); }).argument, "type");
  EXPECT_THAT(error_of([&] { upc_reduce(b, a, UPC_INT, UPC_FUNC); }).rule, HasSubstr("no other can call"));
  EXPECT_THAT(error_of([&] { upc_reduce(b, a, UPC_DOUBLE, UPC_XOR); }).rule, HasSubstr("not defined"));
  EXPECT_THAT(error_of([&] {
                upc_reduce({b.addr + 2, 0, 0}, a, UPC_INT, UPC_ADD);
              }).rule,
              HasSubstr("align"));
  EXPECT_THAT(error_of([&] {
                upc_prefix_reduce({a.addr + 8, 0, 0}, a, UPC_LONG, UPC_ADD, 16, 4);
              }).rule,
              HasSubstr("overlaps src"));
}

TEST_F(one_sided_test, needs_the_thread_of_an_array_among_those_who_take_part) {
  begin();
  const int some[] = {2, 0};
  EXPECT_THAT(error_of([&] { upc_reduce(b, on(a, 1), UPC_INT, UPC_ADD, 2, 1, std::span(some)); }).rule,
              HasSubstr("one of the threads that take part"));
}

} // namespace
