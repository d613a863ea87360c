// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/collective_forms.hpp"

namespace {

using weft::collectives::operation;

// What in place means to the calls that have no root.
class in_place_test : public collective_test {
protected:
  void expect_in_place(const form& c, upc_shared_ptr_t source, upc_flag_t mode) {
    fake_runtime& rt = fake_runtime::instance();
    const std::size_t before = rt.collectives.size();
    c.call(dst, source, 8, mode);
    ASSERT_EQ(rt.collectives.size(), before + 1);
    const fake_runtime::recorded& last = rt.collectives.back();
    EXPECT_EQ(last.r.op, c.of->op);
    EXPECT_TRUE(last.r.in_place);
    EXPECT_EQ(last.r.bytes, 8u);
    EXPECT_EQ(last.at.dst, dst.addr);
    EXPECT_EQ(last.at.src, dst.addr);
  }
};

static_assert(UPC_IN_PLACE == 512);
static_assert((UPC_IN_PLACE | UPC_ASYNC | UPC_IN_MYSYNC) == (512 | 256 | 2));

TEST_F(in_place_test, the_flag_takes_dst_for_src) {
  begin();
  upc_shared_ptr_t other_phase = dst;
  other_phase.phase = 3;
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (c.of->rooted()) continue;
    expect_in_place(c, UPC_SHARED_NULL, UPC_IN_PLACE);
    expect_in_place(c, dst, UPC_IN_PLACE | UPC_IN_MYSYNC | UPC_OUT_NOSYNC);
    expect_in_place(c, other_phase, UPC_IN_PLACE);
    EXPECT_NE(c.call(dst, UPC_SHARED_NULL, 8, UPC_IN_PLACE | UPC_ASYNC), UPC_HANDLE_COMPLETE);
  }
}

TEST_F(in_place_test, so_does_the_word_for_src) {
  begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (c.of->rooted()) continue;
    expect_in_place(c, UPC_IN_PLACE, 0);
    expect_in_place(c, UPC_IN_PLACE_SRC, UPC_IN_MYSYNC);
    expect_in_place(c, UPC_IN_PLACE, UPC_IN_PLACE);
  }
}

TEST_F(in_place_test, another_source_is_an_error) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (c.of->rooted()) continue;
    for (const upc_shared_ptr_t source : {src, behind(dst, 8), on(dst, 1)}) {
      const weft::error e = error_of([&] { c.call(dst, source, 8, UPC_IN_PLACE); });
      EXPECT_EQ(e.call, c.name);
      EXPECT_EQ(e.argument, "src");
      EXPECT_THAT(e.rule, testing::HasSubstr("must be null or dst"));
    }
  }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(in_place_test, without_the_flag_it_is_an_error) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    EXPECT_THAT(error_of([&] { c.call(dst, UPC_SHARED_NULL, 8, 0); }).rule, testing::HasSubstr("null"));
    const weft::error same = error_of([&] { c.call(dst, dst, 8, 0); });
    EXPECT_THAT(same.rule, testing::HasSubstr("UPC_IN_PLACE"));
    EXPECT_THAT(same.rule, testing::HasSubstr("overlap"));
  }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(in_place_test, the_destination_is_checked_all_the_same) {
  begin();
  const std::uint64_t end = fake_runtime::heap_begin + fake_runtime::heap_size;
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (c.of->rooted()) continue;
    for (const upc_shared_ptr_t wrong : {UPC_SHARED_NULL, on(dst, 2), upc_shared_ptr_t{end, 0, 0}})
      EXPECT_EQ(error_of([&] { c.call(wrong, UPC_IN_PLACE, 8, 0); }).argument, "dst");
  }
  upc_all_exchange({end - 64, 0, 0}, UPC_IN_PLACE, 16, 0);
  upc_all_gather_all({end - 64, 0, 0}, UPC_IN_PLACE, 16, 0);
  EXPECT_EQ(error_of([&] { upc_all_gather_all({end - 64, 0, 0}, UPC_IN_PLACE, 17, 0); }).argument, "dst");
  upc_all_exchange({2 * end, 0, 0}, UPC_IN_PLACE, 0, 0); // nothing there is touched
  EXPECT_EQ(error_of([&] { upc_all_permute(dst, UPC_IN_PLACE, dst, 8, 0); }).argument, "perm");
}

TEST_F(in_place_test, rooted_calls_need_their_source) {
  fake_runtime& rt = begin();
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (!c.of->rooted()) continue;
    for (const upc_flag_t flag : {upc_flag_t(UPC_IN_PLACE), 0}) {
      const weft::error e = error_of([&] { c.call(dst, UPC_IN_PLACE, 8, flag); });
      EXPECT_EQ(e.argument, "src");
      EXPECT_EQ(e.value, "UPC_IN_PLACE");
      EXPECT_THAT(e.rule, testing::HasSubstr("only the root's own block is not copied"));
    }
    const weft::error null = error_of([&] { c.call(dst, UPC_SHARED_NULL, 8, UPC_IN_PLACE); });
    EXPECT_EQ(null.argument, "src");
    EXPECT_THAT(null.rule, testing::HasSubstr("only the root's own block is not copied"));
  }
  EXPECT_TRUE(rt.collectives.empty());
}

// Every form of a rooted call, with the areas so that the block of this root is `off` bytes from coinciding.
template <class F>
void for_each_rooted(upc_shared_ptr_t base, std::uint32_t root, std::int64_t off, F&& use) {
  for (const form& c : forms_on(UPC_TEAM_ALL)) {
    if (!c.of->rooted()) continue;
    upc_shared_ptr_t of_root = base, tied = base;
    of_root.thread = root;
    if (c.of->op != operation::broadcast) tied.addr += 8 * root;
    tied.addr += off;
    c.of->any_src ? use(c, tied, of_root) : use(c, of_root, tied);
  }
}

TEST_F(in_place_test, the_block_of_the_root_may_coincide) {
  fake_runtime& rt = begin();
  for (const std::uint32_t root : {0u, 1u, 3u})
    for_each_rooted(behind(dst, 64), root, 0, [&](const form& c, auto d, auto s) {
      c.call(d, s, 8, UPC_IN_PLACE);
      EXPECT_EQ(rt.collectives.back().r.op, c.of->op);
      EXPECT_EQ(rt.collectives.back().r.root, root);
      EXPECT_FALSE(rt.collectives.back().r.in_place) << "only that block is";
      EXPECT_EQ(rt.collectives.back().at.dst, d.addr);
      EXPECT_EQ(rt.collectives.back().at.src, s.addr);
      EXPECT_THAT(error_of([&] { c.call(d, s, 8, 0); }).rule, testing::HasSubstr("UPC_IN_PLACE"));
    });
}

TEST_F(in_place_test, no_other_overlap_is_allowed) {
  fake_runtime& rt = begin();
  for (const std::uint32_t root : {0u, 1u, 3u})
    for (const std::int64_t off : {-1, 1, 7, -7})
      for_each_rooted(behind(dst, 64), root, off, [&](const form& c, auto d, auto s) {
        const weft::error e = error_of([&] { c.call(d, s, 8, UPC_IN_PLACE); });
        EXPECT_THAT(e.rule, testing::HasSubstr("overlaps")) << c.name << root << off;
      });
  // Another root's block.
  EXPECT_THAT(error_of([&] { upc_all_scatter(behind(dst, 8), on(dst, 2), 8, UPC_IN_PLACE); }).rule,
              testing::HasSubstr("overlaps"));
  EXPECT_TRUE(rt.collectives.empty());
  upc_all_broadcast(dst, src, 8, UPC_IN_PLACE); // a hint: two areas are allowed
  upc_all_scatter(dst, src, 8, UPC_IN_PLACE);
  upc_all_gather(dst, src, 8, UPC_IN_PLACE);
  EXPECT_EQ(rt.collectives.size(), 3u);
}

TEST_F(in_place_test, other_calls_do_not_know_the_word) {
  begin();
  EXPECT_EQ(error_of([&] { cray_upc_team_alltoall(dst, UPC_IN_PLACE, 8, UPC_TEAM_ALL); }).argument, "src");
  EXPECT_THAT(error_of([&] { cray_upc_team_alltoall(dst, dst, 8, UPC_TEAM_ALL); }).rule,
              testing::HasSubstr("overlaps"));
}

} // namespace
