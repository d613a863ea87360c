// SPDX-License-Identifier: BSD-3-Clause
// What a sort knows of its arguments before anything is sent.
#include "engine/sorting/sorting.hpp"
#include "tests/api/fixture.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;
using weft::collectives::operation;

int by_address(upc_shared_ptr_t, upc_shared_ptr_t) {
  return 0;
}

class sort_test : public api_test {
protected:
  fake_runtime& begin() {
    fake_runtime& rt = start();
    a = upc_all_alloc(4, 4096);
    return rt;
  }
  weft::error sort_error(upc_shared_ptr_t at, std::size_t size, std::size_t n, std::size_t b,
                         upc_flag_t mode = 0, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t) = by_address) {
    return error_of([&] { upc_all_sort(at, size, n, b, func, mode); });
  }
  upc_shared_ptr_t a{};
};

TEST_F(sort_test, is_posted_as_one_operation_whatever_the_layout) {
  fake_runtime& rt = begin();
  upc_all_sort(a, 24, 160, 40, by_address, UPC_IN_NOSYNC | UPC_OUT_MYSYNC);
  EXPECT_EQ(rt.collectives.back().r.op, operation::sort);
  EXPECT_TRUE(rt.collectives.back().blocking);
  EXPECT_FALSE(rt.collectives.back().r.by_ranges) << "a block on each of four threads";
  EXPECT_EQ(rt.collectives.back().r.bytes, 2048u / 24 * 24 + 8);
  EXPECT_NE(upc_all_sort(a, 8, 401, 100, by_address, UPC_ASYNC), UPC_HANDLE_COMPLETE);
  EXPECT_TRUE(rt.collectives.back().r.by_ranges) << "a fifth block";
  EXPECT_EQ(rt.collectives.back().r.bytes, 1024u) << "128 samples";
  upc_all_sort(a, 4000, 1, 0, by_address, 0);
  EXPECT_EQ(rt.collectives.back().r.bytes, 32u) << "no sample fits: the cuts of four members";
}

TEST_F(sort_test, of_few_numbers_tells_all_of_them) {
  fake_runtime& rt = begin();
  const weft::ptr<long, 4> p(a);
  for (const std::size_t n : {16u, 17u}) {
    upc_all_sort(p, n, 0);
    EXPECT_TRUE(rt.collectives.back().r.whole);
    EXPECT_FALSE(rt.collectives.back().r.by_ranges);
    EXPECT_EQ(rt.collectives.back().r.bytes, n == 16 ? 32u : 48u) << "four elements, or five";
  }
  upc_all_sort(
      p, 16, [](long x, long y) { return x < y; }, 0);
  EXPECT_FALSE(rt.collectives.back().r.whole) << "it might answer otherwise elsewhere";
  upc_all_sort(p, 400, 0);
  EXPECT_FALSE(rt.collectives.back().r.whole) << "800 bytes on a thread";
}

TEST_F(sort_test, says_what_is_wrong) {
  begin();
  EXPECT_EQ(sort_error(UPC_SHARED_NULL, 8, 16, 4).argument, "A");
  EXPECT_EQ(sort_error(a, 0, 16, 4).argument, "elem_size");
  EXPECT_EQ(sort_error(a, std::size_t{1} << 32, 1, 4).argument, "elem_size");
  EXPECT_EQ(sort_error(a, 8, 16, 4, 0, nullptr).argument, "func");
  EXPECT_EQ(sort_error(a, 8, 16, std::size_t{1} << 32).argument, "blk_size");
  EXPECT_THAT(sort_error({a.addr + 32, 0, 4}, 8, 16, 4).rule, HasSubstr("phase must be below blk_size"));
  EXPECT_THAT(sort_error(a, 8, ~std::size_t{0} / 2, 4).rule, HasSubstr("64 bits"));
  EXPECT_THAT(sort_error(a, 8, std::size_t{1} << 40, 4).rule, HasSubstr("shared heap"));
  EXPECT_THAT(sort_error(a, 8, 16, 4, UPC_IN_PLACE).rule, HasSubstr("always in place"));
  EXPECT_EQ(sort_error(a, 8, 16, 4, UPC_IN_MYSYNC | UPC_IN_NOSYNC).argument, "sync_mode");
  EXPECT_EQ(sort_error(a, 8, 16, 4, UPC_EXCLUSIVE_PREFIX_REDUCE).argument, "sync_mode");
  EXPECT_THAT(sort_error(a, 8, 16, 4, 0x4000).rule, Not(HasSubstr("UPC_IN_PLACE"))) << "it refuses that";
  EXPECT_EQ(sort_error({a.addr, 9, 0}, 8, 16, 4).argument, "A");
}

TEST_F(sort_test, typed_arrays_must_be_aligned) {
  begin();
  const weft::ptr<long, 4> p(upc_shared_ptr_t{a.addr + 4, 0, 0});
  EXPECT_THAT(error_of([&] { upc_all_sort(p, 16, 0); }).rule, HasSubstr("aligned to 8 bytes"));
}

} // namespace
