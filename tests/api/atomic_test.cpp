// SPDX-License-Identifier: BSD-3-Clause
// Which way an atomic operation goes, and what of it is wrong.
#include "tests/api/fixture.hpp"

namespace {

class atomics : public api_test {
protected:
  fake_runtime& rt = start();
  const upc_shared_ptr_t memory = upc_all_alloc(4, 64);
  upc_shared_ptr_t on(std::uint32_t thread) const { return {memory.addr, thread, 0}; }
};

TEST_F(atomics, words_go_by_the_processor_where_it_reaches_them) {
  weft::atomic_domain<int> d;
  d.set(on(1), 3);
  EXPECT_EQ(d.add(on(1), 4), 3);
  EXPECT_EQ(rt.applied_by_owner, 0u);
  rt.out_of_reach = {1};
  EXPECT_EQ(d.get(on(1)), 7);
  EXPECT_EQ(rt.applied_by_owner, 1u);
  EXPECT_EQ(upc_atomic_isfast(UPC_INT, UPC_ADD, on(0)), UPC_ATOMIC_PERFORMANCE_FAST);
  EXPECT_EQ(upc_atomic_isfast(UPC_INT, UPC_ADD, on(1)), UPC_ATOMIC_PERFORMANCE_NOT_FAST);
  EXPECT_EQ(upc_atomic_isfast(UPC_INT, UPC_ADD, UPC_SHARED_NULL), UPC_ATOMIC_PERFORMANCE_NOT_FAST);
  d.free();
}

TEST_F(atomics, pointers_always_go_by_the_owner) {
  weft::atomic_domain<upc_shared_ptr_t> d;
  d.set(on(0), memory);
  EXPECT_EQ(d.get(on(0)).addr, memory.addr);
  EXPECT_EQ(rt.applied_by_owner, 2u);
  d.free();
}

TEST_F(atomics, wrong_calls_change_nothing) {
  weft::atomic_domain<long> d;
  d.set(on(2), 1);
  const upc_atomicdomain_t h = d.native_handle();
  long a = 5;
  EXPECT_EQ(error_of([&] { upc_atomic_relaxed(h, &a, UPC_LOGAND, on(2), &a, &a); }).argument, "op");
  EXPECT_EQ(error_of([&] { upc_atomic_relaxed(h, &a, UPC_SET, on(4), &a, &a); }).argument, "target");
  EXPECT_EQ(error_of([&] { upc_atomic_strict(h, &a, UPC_SET, on(2), nullptr, &a); }).argument, "operand1");
  EXPECT_EQ(error_of([&] { upc_atomic_strict(h, nullptr, UPC_GET, on(2), &a, &a); }).argument, "fetch_ptr");
  EXPECT_EQ(d.get(on(2)), 1);
  d.free();
  EXPECT_EQ(error_of([&] { upc_atomic_strict(h, &a, UPC_GET, on(2), &a, &a); }).argument, "domain");
}

} // namespace
