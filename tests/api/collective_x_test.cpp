// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fixture.hpp"

#include <functional>
#include <string>
#include <vector>

namespace {

using weft::collectives::operation;
using weft::graph::hint;
using weft::graph::sync;

// What the calls take: arrays for all of them, and a block for broadcast_x.
struct operands {
  upc_shared_ptr_t dst{}, src{}, nbytes{}, perm{}, block{};
};

struct named_x {
  std::string name;
  std::function<upc_coll_handle_t(const operands&, upc_flag_t, upc_team_t)> call;
  operation op;
  bool dst_rows = false, src_rows = false, nbytes_rows = false; // a row for each thread, not an element
  bool may_be_in_place = false;
  bool wide = false;
};

using three = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, upc_shared_ptr_t, upc_flag_t,
                                    upc_team_t);
using four = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, upc_shared_ptr_t, upc_shared_ptr_t,
                                   upc_flag_t, upc_team_t);

auto with(three f) {
  return [f](const operands& o, upc_flag_t m, upc_team_t t) { return f(o.dst, o.src, o.nbytes, m, t); };
}
auto with(four f) {
  return
      [f](const operands& o, upc_flag_t m, upc_team_t t) { return f(o.dst, o.src, o.perm, o.nbytes, m, t); };
}

const std::vector<named_x> all{
    {"upc_all_scatter_x", with(upc_all_scatter_x), operation::scatter_x},
    {"upc_all_gather_x", with(upc_all_gather_x), operation::gather_x},
    {"upc_all_gather_all_x", with(upc_all_gather_all_x), operation::gather_all_x, true, false, false, true},
    {"upc_all_exchange_x", with(upc_all_exchange_x), operation::exchange_x, true, true, true, true},
    {"upc_all_permute_x", with(static_cast<four>(upc_all_permute_x)), operation::permute_x, false, false,
     false, true, true},
    {"upc_all_permute_xi", with(upc_all_permute_xi), operation::permute_x, false, false, false, true},
};

bool permutes(const named_x& c) {
  return c.op == operation::permute_x;
}

class collective_x_test : public api_test {
protected:
  fake_runtime& begin() {
    fake_runtime& rt = start(4, 2);
    team = rt.make_team({3, 2});
    o.dst = upc_all_alloc(4, 4 * sizeof(upc_shared_ptr_t));
    o.src = upc_all_alloc(4, 4 * sizeof(upc_shared_ptr_t));
    o.nbytes = upc_all_alloc(4, 4 * sizeof(size_t));
    o.perm = upc_all_alloc(4, sizeof(size_t));
    o.block = upc_all_alloc(4, 64);
    return rt;
  }
  upc_coll_handle_t broadcast(upc_flag_t mode = 0, size_t nbytes = 24) {
    return upc_all_broadcast_x(o.dst, o.block, nbytes, mode, team);
  }
  operands o;
  upc_team_t team = 0;
};

// The argument of each array that a call takes.
std::vector<std::pair<const char*, upc_shared_ptr_t operands::*>> arrays_of(const named_x& c) {
  std::vector<std::pair<const char*, upc_shared_ptr_t operands::*>> list{
      {"dst", &operands::dst}, {"src", &operands::src}, {"nbytes", &operands::nbytes}};
  if (permutes(c)) list.push_back({"perm", &operands::perm});
  return list;
}

TEST_F(collective_x_test, arrays_and_modes_arrive) {
  fake_runtime& rt = begin();
  for (const named_x& c : all)
    for (const upc_team_t t : {team, upc_team_t(UPC_TEAM_ALL)}) {
      EXPECT_EQ(c.call(o, UPC_IN_MYSYNC | UPC_OUT_NOSYNC | UPC_PUSH, t), UPC_HANDLE_COMPLETE);
      const fake_runtime::recorded& last = rt.collectives.back();
      EXPECT_EQ(
          last.r,
          (fake_runtime::request{
              .op = c.op, .in = sync::my, .out = sync::no, .direction = hint::push, .wide_perm = c.wide}));
      EXPECT_EQ(last.team, t);
      EXPECT_EQ(last.at.dst, o.dst.addr);
      EXPECT_EQ(last.at.src, o.src.addr);
      EXPECT_EQ(last.at.sizes, o.nbytes.addr);
      EXPECT_EQ(last.at.perm, permutes(c) ? o.perm.addr : 0);
      EXPECT_TRUE(last.blocking);
      EXPECT_NE(c.call(o, UPC_ASYNC, t), UPC_HANDLE_COMPLETE);
      EXPECT_FALSE(rt.collectives.back().blocking);
    }
}

TEST_F(collective_x_test, movements_between_places_of_each_arrive) {
  fake_runtime& rt = begin();
  constexpr operation moved[] = {operation::broadcast, operation::scatter, operation::gather,
                                 operation::gather_all, operation::exchange};
  for (int what = WEFT_MOVE_BROADCAST; what <= WEFT_MOVE_EXCHANGE; ++what) {
    weft_all_move_x(static_cast<weft_movement_t>(what), o.dst, o.src, 24, 1, UPC_IN_MYSYNC, team);
    const fake_runtime::recorded& last = rt.collectives.back();
    EXPECT_EQ(last.r, (fake_runtime::request{.op = moved[what],
                                             .in = sync::my,
                                             .root = what <= WEFT_MOVE_GATHER ? 1u : 0u,
                                             .bytes = 24,
                                             .apart = true,
                                             .whole = true}));
    EXPECT_EQ(last.at.dst, o.dst.addr);
    EXPECT_EQ(last.at.src, o.src.addr);
  }
  const auto refused = [&](int what, upc_shared_ptr_t dst, int root, const char* argument, const char* rule) {
    const weft::error e =
        error_of([&] { weft_all_move_x(static_cast<weft_movement_t>(what), dst, o.src, 8, root, 0, team); });
    EXPECT_EQ(e.argument, argument);
    EXPECT_THAT(e.rule, testing::HasSubstr(rule));
  };
  refused(5, o.dst, 0, "what", "is no movement");
  refused(-1, o.dst, 0, "what", "is no movement");
  refused(WEFT_MOVE_EXCHANGE, o.dst, 2, "root", "0 to 1");
  refused(WEFT_MOVE_EXCHANGE, o.dst, -1, "root", "0 to 1");
  refused(WEFT_MOVE_EXCHANGE, UPC_SHARED_NULL, 0, "dst", "must not be null");
  refused(WEFT_MOVE_EXCHANGE, o.src, 0, "src", "is dst");
  // A row does not fit where one element does.
  upc_shared_ptr_t narrow = upc_all_alloc(4, sizeof(upc_shared_ptr_t));
  weft_all_move_x(WEFT_MOVE_SCATTER, narrow, o.src, 8, 0, 0, team);
  EXPECT_EQ(rt.collectives.size(), 6U);
}

TEST_F(collective_x_test, a_broadcast_has_a_block_and_a_root) {
  fake_runtime& rt = begin();
  for (const std::uint32_t thread : {3u, 2u}) {
    o.block.thread = thread;
    o.block.phase = 5;
    broadcast(UPC_OUT_MYSYNC);
    const fake_runtime::recorded& last = rt.collectives.back();
    EXPECT_EQ(
        last.r,
        (fake_runtime::request{
            .op = operation::broadcast_x, .out = sync::my, .root = thread == 3 ? 0u : 1u, .bytes = 24}));
    EXPECT_EQ(last.team, team);
    EXPECT_EQ(last.at.dst, o.dst.addr);
    EXPECT_EQ(last.at.src, o.block.addr);
  }
  EXPECT_NE(broadcast(UPC_ASYNC), UPC_HANDLE_COMPLETE);
}

TEST_F(collective_x_test, the_block_of_a_broadcast_is_checked) {
  fake_runtime& rt = begin();
  const auto refused = [&](upc_shared_ptr_t block, size_t nbytes, upc_flag_t mode, const char* rule) {
    o.block = block;
    const weft::error e = error_of([&] { broadcast(mode, nbytes); });
    EXPECT_EQ(e.call, "upc_all_broadcast_x");
    EXPECT_EQ(e.argument, "src");
    EXPECT_THAT(e.rule, testing::HasSubstr(rule));
  };
  const upc_shared_ptr_t block = o.block;
  refused({block.addr, 0, 0}, 8, 0, "no member");
  refused({block.addr, 0, 0}, 0, 0, "no member");
  refused({block.addr, 4, 0}, 8, 0, "no such thread");
  refused(UPC_SHARED_NULL, 8, 0, "null");
  refused(UPC_SHARED_NULL, 8, UPC_IN_PLACE, "only the root's own block");
  refused(UPC_IN_PLACE, 8, 0, "only the root's own block");
  refused({block.addr, 3, 0}, fake_runtime::heap_size, 0, "shared heap");
  EXPECT_TRUE(rt.collectives.empty());
  o.block = UPC_SHARED_NULL;
  broadcast(0, 0);
  o.block = {fake_runtime::heap_size * 2, 3, 0};
  broadcast(0, 0);
  o.block = {block.addr, 3, 0};
  broadcast(UPC_IN_PLACE);
  EXPECT_EQ(rt.collectives.size(), 3u);
  EXPECT_FALSE(rt.collectives.back().r.in_place);
}

// An array that cannot be one, and the rule that says so.
struct defect {
  std::function<void(upc_shared_ptr_t&)> make;
  const char* rule;
};
const std::vector<defect> defects{
    {[](upc_shared_ptr_t& p) { p = UPC_SHARED_NULL; }, "null"},
    {[](upc_shared_ptr_t& p) { p.thread = 3; }, "affinity to thread 0"},
    {[](upc_shared_ptr_t& p) { p.addr += 2; }, "aligned"},
    {[](upc_shared_ptr_t& p) { p.addr = fake_runtime::heap_begin + fake_runtime::heap_size; },
     "shared heap"}};

TEST_F(collective_x_test, arrays_begin_on_thread_0_and_are_aligned) {
  fake_runtime& rt = begin();
  for (const defect& d : defects) {
    for (const named_x& c : all)
      for (const auto& [argument, member] : arrays_of(c)) {
        operands wrong = o;
        d.make(wrong.*member);
        const weft::error e = error_of([&] { c.call(wrong, 0, team); });
        EXPECT_EQ(e.call, c.name);
        EXPECT_EQ(e.argument, argument);
        EXPECT_THAT(e.rule, testing::HasSubstr(d.rule));
      }
    operands wrong = o;
    d.make(wrong.dst);
    const weft::error e = error_of([&] { upc_all_broadcast_x(wrong.dst, o.block, 0, 0, UPC_TEAM_ALL); });
    EXPECT_EQ(e.argument, "dst");
    EXPECT_THAT(e.rule, testing::HasSubstr(d.rule));
  }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collective_x_test, phases_of_arrays_do_not_matter) {
  fake_runtime& rt = begin();
  for (const named_x& c : all)
    for (const auto& [argument, member] : arrays_of(c)) {
      operands cast = o;
      (cast.*member).phase = 1;
      c.call(cast, 0, team);
    }
  EXPECT_GE(rt.collectives.size(), all.size());
}

TEST_F(collective_x_test, memory_of_one_thread_holds_no_array) {
  fake_runtime& rt = begin();
  upc_shared_ptr_t own = upc_alloc(4096);
  own.thread = 0;
  for (const named_x& c : all)
    for (const auto& [argument, member] : arrays_of(c)) {
      operands wrong = o;
      wrong.*member = own;
      const weft::error e = error_of([&] { c.call(wrong, 0, team); });
      EXPECT_EQ(e.argument, argument);
      EXPECT_THAT(e.rule, testing::HasSubstr("upc_alloc"));
    }
  EXPECT_TRUE(rt.collectives.empty());
}

TEST_F(collective_x_test, elements_have_their_natural_alignment) {
  fake_runtime& rt = begin();
  for (const named_x& c : all)
    for (const auto& [argument, member] : arrays_of(c)) {
      operands wrong = o;
      (wrong.*member).addr += 4;
      if (c.name == "upc_all_permute_xi" && argument == std::string("perm")) {
        c.call(wrong, 0, team);
        continue;
      }
      EXPECT_THAT(error_of([&] { c.call(wrong, 0, team); }).rule, testing::HasSubstr("aligned to 8 bytes"));
    }
  EXPECT_EQ(rt.collectives.size(), 1u);
}

TEST_F(collective_x_test, the_elements_of_this_thread_are_in_the_heap) {
  fake_runtime& rt = begin();
  const std::uint64_t end = fake_runtime::heap_begin + fake_runtime::heap_size;
  for (const named_x& c : all)
    for (const auto& [argument, member] : arrays_of(c)) {
      const bool rows = (member == &operands::dst && c.dst_rows) ||
                        (member == &operands::src && c.src_rows) ||
                        (member == &operands::nbytes && c.nbytes_rows);
      const std::size_t element = member == &operands::dst || member == &operands::src ? 16
                                  : member == &operands::perm && !c.wide               ? 4
                                                                                       : 8;
      operands last = o;
      (last.*member).addr = end - element * (rows ? 4 : 1);
      c.call(last, 0, team);
      (last.*member).addr += element;
      EXPECT_EQ(error_of([&] { c.call(last, 0, team); }).argument, argument) << c.name;
    }
  EXPECT_EQ(rt.collectives.size(), 3 * all.size() + 2);
  o.dst.addr = end - 16;
  o.block.thread = 3;
  broadcast();
}

TEST_F(collective_x_test, in_place_is_dst_for_src) {
  fake_runtime& rt = begin();
  for (const named_x& c : all) {
    if (!c.may_be_in_place) continue;
    const auto expect_in_place = [&](upc_shared_ptr_t src, upc_flag_t mode) {
      operands in_place = o;
      in_place.src = src;
      const std::size_t before = rt.collectives.size();
      c.call(in_place, mode, team);
      ASSERT_EQ(rt.collectives.size(), before + 1);
      EXPECT_TRUE(rt.collectives.back().r.in_place);
      EXPECT_EQ(rt.collectives.back().at.src, o.dst.addr);
      EXPECT_EQ(rt.collectives.back().at.dst, o.dst.addr);
      EXPECT_EQ(rt.collectives.back().r.wide_perm, c.wide);
    };
    expect_in_place(UPC_SHARED_NULL, UPC_IN_PLACE);
    expect_in_place(o.dst, UPC_IN_PLACE);
    expect_in_place(UPC_IN_PLACE, 0);
    expect_in_place(UPC_IN_PLACE_SRC, UPC_IN_PLACE);
    EXPECT_THAT(error_of([&] { c.call(o, UPC_IN_PLACE, team); }).rule,
                testing::HasSubstr("must be null or dst"));
    operands same = o;
    same.src = o.dst;
    EXPECT_THAT(error_of([&] { c.call(same, 0, team); }).rule, testing::HasSubstr("UPC_IN_PLACE"));
  }
}

TEST_F(collective_x_test, scatter_and_gather_need_their_sources_in_place) {
  fake_runtime& rt = begin();
  for (const named_x& c : all) {
    if (c.may_be_in_place) continue;
    c.call(o, UPC_IN_PLACE, team);
    EXPECT_FALSE(rt.collectives.back().r.in_place);
    EXPECT_EQ(rt.collectives.back().at.src, o.src.addr);
    for (const upc_shared_ptr_t src : {UPC_SHARED_NULL, UPC_IN_PLACE_SRC}) {
      operands wrong = o;
      wrong.src = src;
      const weft::error e = error_of([&] { c.call(wrong, UPC_IN_PLACE, team); });
      EXPECT_EQ(e.argument, "src");
      EXPECT_THAT(e.rule, testing::HasSubstr("only the root's own block"));
    }
  }
}

TEST_F(collective_x_test, flags_are_checked) {
  fake_runtime& rt = begin();
  o.block.thread = 3;
  for (const int mode : {UPC_IN_NOSYNC | UPC_IN_MYSYNC, UPC_OUT_NOSYNC | UPC_OUT_MYSYNC, 1 << 20}) {
    for (const named_x& c : all)
      EXPECT_EQ(error_of([&] { c.call(o, mode, team); }).argument, "sync_mode");
    EXPECT_EQ(error_of([&] { broadcast(mode); }).argument, "sync_mode");
  }
  EXPECT_TRUE(rt.collectives.empty());
}

// The typed pointers and arrays of C++, at every parameter, as in the examples of the text.
using place = weft::ptr<char, 0>; // shared [] char *
static_assert(sizeof(place) == sizeof(upc_shared_ptr_t));

TEST_F(collective_x_test, typed_operands_convert) {
  fake_runtime& rt = start(3);
  const weft::shared_array<place> a(weft::per_thread(1)), b(weft::per_thread(1));
  const weft::shared_array<place, weft::dynamic_block> rows_a(weft::per_thread(1),
                                                              weft::per_thread(weft::per_thread(1)));
  const weft::shared_array<place, weft::dynamic_block> rows_b(weft::per_thread(1),
                                                              weft::per_thread(weft::per_thread(1)));
  const weft::shared_array<size_t> nbytes(weft::per_thread(1));
  const weft::shared_array<size_t, weft::dynamic_block> row_bytes(weft::per_thread(1),
                                                                  weft::per_thread(weft::per_thread(1)));
  const weft::shared_array<char, 9> d(weft::per_thread(9));
  a[1] = place(&d[11]);
  EXPECT_EQ(a[1].get(), place(&d[11]));

  upc_all_broadcast_x(b, &d[1], 4 * sizeof(char), 0, UPC_TEAM_ALL);
  EXPECT_EQ(rt.collectives.back().at.src, (&d[1]).addrfield());
  upc_all_scatter_x(b, a, nbytes, UPC_PULL, UPC_TEAM_ALL);
  upc_all_gather_x(&b[0], &a[0], &nbytes[0], UPC_PUSH, UPC_TEAM_ALL);
  upc_all_gather_all_x(rows_b, a, nbytes, 0, UPC_TEAM_ALL);
  upc_all_exchange_x(rows_b, rows_a, row_bytes, 0, UPC_TEAM_ALL);
  upc_all_exchange_x(rows_b, UPC_IN_PLACE, row_bytes, 0, UPC_TEAM_ALL);
  EXPECT_EQ(rt.collectives.size(), 6u);
}

TEST_F(collective_x_test, the_type_of_perm_says_its_width) {
  fake_runtime& rt = start(3);
  const weft::shared_array<place> a(weft::per_thread(1)), b(weft::per_thread(1));
  const weft::shared_array<size_t> nbytes(weft::per_thread(1)), wide(weft::per_thread(1));
  const weft::shared_array<int> narrow(weft::per_thread(1));
  const auto width = [&] { return rt.collectives.back().r.wide_perm; };
  upc_all_permute_x(b, a, narrow, nbytes, 0, UPC_TEAM_ALL);
  EXPECT_FALSE(width());
  EXPECT_EQ(rt.collectives.back().at.perm, narrow.begin().addrfield());
  upc_all_permute_x(b, a, &narrow[0], nbytes, 0, UPC_TEAM_ALL);
  EXPECT_FALSE(width());
  upc_all_permute_x(b, a, weft::ptr<const int>(&narrow[0]), nbytes, 0, UPC_TEAM_ALL);
  EXPECT_FALSE(width());
  upc_all_permute_x(b, a, wide, nbytes, 0, UPC_TEAM_ALL);
  EXPECT_TRUE(width());
  upc_all_permute_x(b, a, &wide[0], nbytes, 0, UPC_TEAM_ALL);
  EXPECT_TRUE(width());
  upc_all_permute_x(b, a, upc_shared_ptr_t(wide), nbytes, 0, UPC_TEAM_ALL);
  EXPECT_TRUE(width());
  upc_all_permute_xi(b, UPC_IN_PLACE, narrow, nbytes, 0, UPC_TEAM_ALL);
  EXPECT_FALSE(width());
  EXPECT_EQ(rt.collectives.size(), 7u);
}

} // namespace
