// SPDX-License-Identifier: BSD-3-Clause
// Elements of arrays in shared memory that lead nowhere: the block is not moved, all others are, no thread
// waits for it, and a thread that would have carried it says what is wrong.
#include "tests/api/multirank/pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace {

constexpr std::size_t block = 4800;
constexpr unsigned char untouched = 0xee;

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}
std::size_t me() {
  return static_cast<std::size_t>(MYTHREAD);
}

// A row of elements on every thread.
template <class T> class array {
public:
  T& operator[](std::size_t i) { return reinterpret_cast<T*>(memory_.local())[i]; }
  upc_shared_ptr_t shared() const { return memory_.shared(); }

private:
  pattern::area memory_{sizeof(T) * threads()};
};

// What every thread has, all of it in order: the tests break one element.
struct operands {
  pattern::area to{block * threads()}, from{block * threads()};
  array<upc_shared_ptr_t> dst, src;
  array<std::size_t> nbytes, perm;
  array<int> said;

  explicit operands(unsigned round) : round(round) {
    std::memset(to.local(), untouched, to.bytes());
    for (std::size_t i = 0; i != threads(); ++i) {
      pattern::fill(from.local() + block * i, block, round, me(), i);
      dst[i] = at(to, me(), i);
      src[i] = at(from, me(), i);
      nbytes[i] = block;
    }
    perm[0] = (me() + 1) % threads();
  }
  static upc_shared_ptr_t at(const pattern::area& where, std::size_t thread, std::size_t i) {
    upc_shared_ptr_t p = where.on(thread);
    p.addr += block * i;
    return p;
  }
  void expect_block(std::size_t i, std::size_t thread, std::size_t of) const {
    EXPECT_EQ(pattern::mismatch(to.local() + block * i, block, round, thread, of), block)
        << "block " << of << " of thread " << thread;
  }
  void expect_untouched(std::size_t i) const {
    const unsigned char* at = to.local() + block * i;
    EXPECT_TRUE(std::all_of(at, at + block, [](unsigned char b) { return b == untouched; })) << "block " << i;
  }
  unsigned round;
};

// What can be wrong with a pointer to a block, and how it is written down.
struct fault {
  const char* name;
  std::function<void(upc_shared_ptr_t&, std::size_t&)> plant;
  const char* value;
};
void PrintTo(const fault& f, std::ostream* to) {
  *to << f.name;
}

const fault faults[] = {
    {"null", [](upc_shared_ptr_t& p, std::size_t&) { p = UPC_SHARED_NULL; }, "(null)"},
    {"foreign", [](upc_shared_ptr_t& p, std::size_t&) { p.thread = 77; }, "(thread 77, offset 0x"},
    {"outside", [](upc_shared_ptr_t& p, std::size_t&) { p.addr = std::uint64_t{1} << 50; },
     "offset 0x4000000000000, phase 0)"},
    {"before", [](upc_shared_ptr_t& p, std::size_t&) { p.addr = 64; }, "offset 0x40, phase 0)"},
    {"long", [](upc_shared_ptr_t&, std::size_t& n) { n = std::size_t{1} << 60; }, "phase 0)"},
    {"longest", [](upc_shared_ptr_t&, std::size_t& n) { n = SIZE_MAX; }, "phase 0)"},
    {"long_by_lines", [](upc_shared_ptr_t&, std::size_t& n) { n = SIZE_MAX - 63; }, "phase 0)"},
    {"long_behind",
     [](upc_shared_ptr_t& p, std::size_t& n) {
       p.addr = SIZE_MAX - 15;
       n = 32;
     },
     "offset 0xfffffffffffffff0, phase 0)"},
};

constexpr upc_flag_t modes[] = {UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC, UPC_IN_MYSYNC | UPC_OUT_MYSYNC,
                                UPC_IN_NOSYNC | UPC_OUT_NOSYNC,   UPC_IN_MYSYNC | UPC_OUT_ALLSYNC,
                                UPC_IN_ALLSYNC | UPC_OUT_MYSYNC,  UPC_IN_NOSYNC | UPC_OUT_MYSYNC};

class bad_elements : public testing::TestWithParam<std::tuple<fault, upc_flag_t>> {
protected:
  void SetUp() override {
    if (THREADS < 2) GTEST_SKIP() << "no other thread could have the bad element";
  }
  const fault& planted = std::get<0>(GetParam());
  const upc_flag_t mode = std::get<1>(GetParam()) | UPC_ASYNC;
  const std::size_t culprit = 1;
  unsigned round = 0;

  // Runs the call on all threads; one at least hears of the fault, and of nothing else.
  void run(operands& o, const std::string& call, const std::string& argument,
           const std::function<upc_coll_handle_t()>& post) {
    upc_barrier;
    upc_coll_handle_t h = post();
    o.said[0] = 0;
    try {
      upc_wait(h);
    } catch (const weft::error& e) {
      o.said[0] = 1;
      EXPECT_EQ(e.call, call);
      if (!argument.empty()) {
        EXPECT_EQ(e.argument, argument);
      }
      EXPECT_THAT(e.value, testing::HasSubstr(planted.value));
      EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("the block was not moved"),
                                           testing::Not(testing::HasSubstr("\n"))));
    }
    upc_barrier;
    int all = 0;
    for (std::size_t t = 0; t != threads(); ++t) {
      int one = 0;
      upc_shared_ptr_t at = o.said.shared();
      at.thread = static_cast<std::uint32_t>(t);
      upc_memget(&one, at, sizeof one);
      all += one;
    }
    EXPECT_GE(all, 1) << "no thread reported it";
  }
  void plant(upc_shared_ptr_t& pointer, std::size_t& nbytes) const { planted.plant(pointer, nbytes); }
  bool at_fault() const { return me() == culprit; }
  // A size stands beside the source: where the destination is to be wrong, there is nothing to do.
  bool skipped(bool source) const { return std::string(planted.name).starts_with("long") && !source; }
  static const char* named(bool source) { return source ? "src" : "dst"; }
};

TEST_P(bad_elements, exchange_x) {
  for (const bool source : {true, false}) {
    if (skipped(source)) continue;
    operands o(++round);
    if (at_fault()) plant(source ? o.src[0] : o.dst[0], o.nbytes[0]);
    run(o, "upc_all_exchange_x", named(source), [&] {
      return upc_all_exchange_x(o.dst.shared(), o.src.shared(), o.nbytes.shared(), mode, UPC_TEAM_ALL);
    });
    for (std::size_t j = 0; j != threads(); ++j) {
      const bool bad = source ? j == culprit && me() == 0 : j == 0 && at_fault();
      bad ? o.expect_untouched(j) : o.expect_block(j, j, me());
    }
    upc_barrier;
  }
}

// The blocks between the two threads stay where they are.
TEST_P(bad_elements, exchange_x_in_place) {
  operands o(++round);
  for (std::size_t i = 0; i != threads(); ++i)
    pattern::fill(o.to.local() + block * i, block, round, me(), i);
  if (at_fault()) plant(o.dst[0], o.nbytes[0]);
  run(o, "upc_all_exchange_x", "", [&] {
    return upc_all_exchange_x(o.dst.shared(), UPC_SHARED_NULL, o.nbytes.shared(), mode | UPC_IN_PLACE,
                              UPC_TEAM_ALL);
  });
  for (std::size_t j = 0; j != threads(); ++j)
    if (!(j == culprit && me() == 0) && !(j == 0 && at_fault())) o.expect_block(j, j, me());
  upc_barrier;
}

TEST_P(bad_elements, gather_all_x) {
  for (const bool source : {true, false}) {
    if (skipped(source)) continue;
    operands o(++round);
    if (at_fault()) plant(source ? o.src[0] : o.dst[0], o.nbytes[0]);
    run(o, "upc_all_gather_all_x", named(source), [&] {
      return upc_all_gather_all_x(o.dst.shared(), o.src.shared(), o.nbytes.shared(), mode, UPC_TEAM_ALL);
    });
    for (std::size_t j = 0; j != threads(); ++j) {
      const bool bad = source ? j == culprit : j == 0 && at_fault();
      bad ? o.expect_untouched(j) : o.expect_block(j, j, 0);
    }
    upc_barrier;
  }
}

TEST_P(bad_elements, broadcast_x) {
  if (skipped(false)) return;
  operands o(++round);
  if (at_fault()) plant(o.dst[0], o.nbytes[0]);
  run(o, "upc_all_broadcast_x", "dst",
      [&] { return upc_all_broadcast_x(o.dst.shared(), o.from.on(0), block, mode, UPC_TEAM_ALL); });
  at_fault() ? o.expect_untouched(0) : o.expect_block(0, 0, 0);
  upc_barrier;
}

TEST_P(bad_elements, scatter_x) {
  for (const bool source : {true, false}) {
    if (skipped(source)) continue;
    operands o(++round);
    o.src[0] = operands::at(o.from, 0, me());
    if (at_fault()) plant(source ? o.src[0] : o.dst[0], o.nbytes[0]);
    run(o, "upc_all_scatter_x", named(source), [&] {
      return upc_all_scatter_x(o.dst.shared(), o.src.shared(), o.nbytes.shared(), mode, UPC_TEAM_ALL);
    });
    at_fault() ? o.expect_untouched(0) : o.expect_block(0, 0, me());
    upc_barrier;
  }
}

TEST_P(bad_elements, gather_x) {
  for (const bool source : {true, false}) {
    if (skipped(source)) continue;
    operands o(++round);
    o.dst[0] = operands::at(o.to, 0, me());
    if (at_fault()) plant(source ? o.src[0] : o.dst[0], o.nbytes[0]);
    run(o, "upc_all_gather_x", named(source), [&] {
      return upc_all_gather_x(o.dst.shared(), o.src.shared(), o.nbytes.shared(), mode, UPC_TEAM_ALL);
    });
    for (std::size_t j = 0; me() == 0 && j != threads(); ++j)
      j == culprit ? o.expect_untouched(j) : o.expect_block(j, j, 0);
    upc_barrier;
  }
}

TEST_P(bad_elements, permute_x) {
  for (const bool source : {true, false}) {
    if (skipped(source)) continue;
    operands o(++round);
    if (at_fault()) plant(source ? o.src[0] : o.dst[0], o.nbytes[0]);
    run(o, "upc_all_permute_x", named(source), [&] {
      return upc_all_permute_x(o.dst.shared(), o.src.shared(), o.perm.shared(), o.nbytes.shared(), mode,
                               UPC_TEAM_ALL);
    });
    const std::size_t from = (me() + threads() - 1) % threads();
    const bool bad = source ? from == culprit : at_fault();
    bad ? o.expect_untouched(0) : o.expect_block(0, from, 0);
    upc_barrier;
  }
}

INSTANTIATE_TEST_SUITE_P(all, bad_elements,
                         testing::Combine(testing::ValuesIn(faults), testing::ValuesIn(modes)));

// A permutation that is none: one element is no thread, or a thread that another element is already. Then a
// thread gets nothing.
bool one_host() {
  const char* lane = std::getenv("WEFT_LANE");
  return cray_upc_team_size(CRAY_UPC_TEAM_NODE) == THREADS && (lane == nullptr || std::string(lane) != "ucp");
}

class no_permutation : public testing::TestWithParam<std::tuple<bool, upc_flag_t>> {};

constexpr std::size_t culprit = 1, left_out = 2;

// The culprit's element names itself, whom another one names too, or no thread of the team.
void name_wrongly(operands& o, bool rows, bool twice) {
  if (me() == culprit) o.perm[0] = twice ? 1 : 12345;
  if (rows) return;
  const int named = static_cast<int>(o.perm[0]);
  std::memcpy(&o.perm[0], &named, sizeof named);
}

TEST_P(no_permutation, leaves_the_others_alone) {
  const auto [twice, flags] = GetParam();
  const bool waits = (flags & UPC_OUT_NOSYNC) == 0;
  // No message says that a far thread names another one: a thread that is left out between nodes waits.
  if (THREADS < 3) GTEST_SKIP() << "needs a culprit, a thread that is left out, and another";
  if (waits && !one_host()) GTEST_SKIP() << "between nodes a thread that is left out waits";
  const upc_flag_t mode = flags | UPC_ASYNC;
  for (const bool rows : {true, false}) {
    operands o(rows);
    name_wrongly(o, rows, twice);
    int complaints = 0;
    upc_barrier;
    upc_coll_handle_t h = rows
                              ? upc_all_permute_x(o.dst.shared(), o.src.shared(), o.perm.shared(),
                                                  o.nbytes.shared(), mode, UPC_TEAM_ALL)
                              : upc_all_permute(o.to.shared(), o.from.shared(), o.perm.shared(), block, mode);
    try {
      upc_wait(h);
    } catch (const weft::error& e) {
      ++complaints;
      EXPECT_EQ(e.call, rows ? "upc_all_permute_x" : "upc_all_permute");
      EXPECT_EQ(e.argument, "perm");
    }
    const bool complains = (!twice && me() == culprit) || (me() == left_out && waits);
    EXPECT_TRUE(!complains || complaints == 1) << "thread " << me();
    upc_barrier;
    if (me() == left_out)
      o.expect_untouched(0);
    else if (!(twice && me() == culprit))
      o.expect_block(0, (me() + threads() - 1) % threads(), 0);
    upc_barrier;
  }
}

// In place too no thread waits for what never comes; and where whole cycles are moved, all others stay.
TEST_P(no_permutation, in_place_holds_nobody_up) {
  const auto [twice, flags] = GetParam();
  if (THREADS < 3) GTEST_SKIP() << "needs a culprit, a thread that is left out, and another";
  if (!one_host()) GTEST_SKIP() << "between nodes a thread that is left out waits";
  const upc_flag_t mode = flags | UPC_ASYNC | UPC_IN_PLACE;
  for (const bool rows : {true, false}) {
    operands o(rows);
    name_wrongly(o, rows, twice);
    pattern::fill(o.to.local(), block, rows, me(), 0);
    int complaints = 0;
    upc_barrier;
    upc_coll_handle_t h = rows
                              ? upc_all_permute_x(o.dst.shared(), UPC_SHARED_NULL, o.perm.shared(),
                                                  o.nbytes.shared(), mode, UPC_TEAM_ALL)
                              : upc_all_permute(o.to.shared(), UPC_SHARED_NULL, o.perm.shared(), block, mode);
    try {
      upc_wait(h);
    } catch (const weft::error& e) {
      ++complaints;
      EXPECT_EQ(e.argument, "perm");
    }
    const bool complains = (!twice && me() == culprit) || me() == left_out;
    EXPECT_TRUE(!complains || complaints == 1) << "thread " << me();
    upc_barrier;
    if ((flags & UPC_IN_MYSYNC) == 0) o.expect_block(0, me(), 0);
    upc_barrier;
  }
}

INSTANTIATE_TEST_SUITE_P(all, no_permutation, testing::Combine(testing::Bool(), testing::ValuesIn(modes)));

} // namespace
