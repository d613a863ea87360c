// SPDX-License-Identifier: BSD-3-Clause
// What a reduction knows of its arguments before anything is sent.
#include "api/calls/distributed_array.hpp"
#include "api/calls/reduction_call.hpp"
#include "engine/reductions/reduction.hpp"
#include "tests/api/fixture.hpp"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using weft::collectives::operation;

class reduction_test : public api_test {
protected:
  fake_runtime& begin() {
    fake_runtime& rt = start();
    src = upc_all_alloc(4, 4096);
    dst = upc_all_alloc(4, 4096);
    return rt;
  }
  weft::error reduce_error(upc_shared_ptr_t to, upc_shared_ptr_t from, upc_op_t op, std::size_t n,
                           std::size_t b, upc_flag_t mode = 0) {
    return error_of([&] { upc_all_reduceD(to, from, op, n, b, nullptr, mode); });
  }
  upc_shared_ptr_t src{}, dst{};
};

TEST_F(reduction_test, the_three_kinds_are_posted_as_they_are) {
  fake_runtime& rt = begin();
  upc_all_reduceD({dst.addr, 2, 0}, src, UPC_ADD, 100, 3, nullptr, UPC_IN_NOSYNC | UPC_OUT_MYSYNC);
  EXPECT_EQ(rt.collectives.back().r.op, operation::reduce);
  EXPECT_EQ(rt.collectives.back().r.root, 2u);
  EXPECT_EQ(rt.collectives.back().r.bytes, sizeof(double));
  EXPECT_TRUE(rt.collectives.back().blocking);
  const upc_coll_handle_t h =
      upc_all_reduce_allI(dst, src, UPC_MAX, 100, 3, nullptr, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  EXPECT_NE(h, UPC_HANDLE_COMPLETE);
  EXPECT_EQ(rt.collectives.back().r.op, operation::reduce_all);
  upc_all_prefix_reduceL(dst, src, UPC_ADD, 100, 10, nullptr, UPC_EXCLUSIVE_PREFIX_REDUCE);
  EXPECT_EQ(rt.collectives.back().r.op, operation::prefix_reduce);
  EXPECT_EQ(rt.collectives.back().r.bytes, 3 * sizeof(long)) << "ten blocks over four threads";
  EXPECT_FALSE(rt.collectives.back().r.by_ranges);
  upc_all_prefix_reduceL(dst, src, UPC_ADD, 500, 1, nullptr, UPC_EXCLUSIVE_PREFIX_REDUCE);
  EXPECT_FALSE(rt.collectives.back().r.by_ranges) << "125 rows are a table still";
  upc_all_prefix_reduceL({dst.addr + 16, 0, 2}, src, UPC_ADD, 100, 10, nullptr, 0);
  EXPECT_TRUE(rt.collectives.back().r.by_ranges) << "another phase";
}

// Does the root of a reproducible reduce bring so many elements? Its threads are on several hosts.
bool root_brings(fake_runtime& rt, std::size_t elements) {
  const upc_shared_ptr_t all = upc_all_alloc(rt.size(), (elements / rt.size() + 1) * sizeof(double));
  upc_all_reduceD(all, all, UPC_ADD, elements, 1, nullptr, WEFT_REPRODUCIBLE);
  EXPECT_TRUE(rt.collectives.back().r.by_ranges);
  return rt.collectives.back().r.whole;
}
constexpr std::size_t little = (256 << 10) / sizeof(double);

TEST_F(reduction_test, a_root_of_few_on_several_hosts_brings_more) {
  EXPECT_TRUE(root_brings(start(4), little + 1));
}

TEST_F(reduction_test, the_root_brings_little_and_chooses_whether_it_brings_more) {
  fake_runtime& rt = start(5);
  EXPECT_TRUE(root_brings(rt, little));
  EXPECT_FALSE(root_brings(rt, little + 1));
  constexpr std::uint32_t threads = 100;
  constexpr std::uint64_t most = (64 << 20) / sizeof(double);
  for (const std::uint64_t elements : {std::uint64_t{little + 1}, most, most + 1}) {
    weft::reductions::reduction r;
    r.from = weft::reductions::layout::of(0, elements, 1, 0, 0, threads, sizeof(double));
    r.by_ranges = true;
    weft::collectives::request wanted{.op = operation::reduce};
    weft::api::prepare(r, threads, wanted);
    EXPECT_EQ(r.room_alone >= elements * sizeof(double), elements <= most) << elements;
    EXPECT_TRUE(wanted.large) << "of few on each thread the root may bring too many for a pass";
  }
}

TEST_F(reduction_test, operators_must_fit_the_type) {
  begin();
  for (const upc_op_t op : {UPC_AND, UPC_OR, UPC_XOR}) {
    const weft::error e = reduce_error(dst, src, op, 8, 2);
    EXPECT_EQ(e.call, "upc_all_reduceD");
    EXPECT_EQ(e.argument, "op");
    EXPECT_THAT(e.rule, HasSubstr("not defined for this type"));
  }
  EXPECT_THAT(error_of([&] { upc_all_reduceDX(dst, src, UPC_MIN, 8, 2, nullptr, 0); }).value,
              HasSubstr("UPC_MIN"));
  EXPECT_THAT(error_of([&] { upc_all_reduceB(dst, src, UPC_ADD, 8, 2, nullptr, 0); }).rule,
              HasSubstr("pass UPC_LOGAND, UPC_LOGOR, UPC_FUNC or UPC_NONCOMM_FUNC"));
  for (const upc_op_t op : {0u, 3u, 512u, 4096u, UPC_FUNC | UPC_ADD})
    EXPECT_THAT(reduce_error(dst, src, op, 8, 2).rule, HasSubstr("is no operator"));
  for (const upc_op_t op : {UPC_FUNC, UPC_NONCOMM_FUNC})
    EXPECT_EQ(reduce_error(dst, src, op, 8, 2).argument, "func");
}

// A text offers nothing that the call refuses.
TEST_F(reduction_test, errors_name_the_operators_and_flags_of_the_call) {
  begin();
  const auto rule = [](auto&& call) { return error_of(call).rule; };
  const std::string integers =
      "pass UPC_ADD, UPC_MULT, UPC_AND, UPC_OR, UPC_XOR, UPC_LOGAND, UPC_LOGOR, UPC_MIN or UPC_MAX";
  EXPECT_THAT(rule([&] { upc_reduce(dst, src, UPC_INT, 3); }), EndsWith(integers));
  EXPECT_THAT(rule([&] { static_cast<void>(weft::reduce_all(1, 3)); }), EndsWith(integers));
  EXPECT_THAT(rule([&] { upc_all_reduceF(dst, src, 3, 8, 2, nullptr, 0); }),
              EndsWith("UPC_MIN, UPC_MAX, UPC_FUNC or UPC_NONCOMM_FUNC"));
  EXPECT_THAT(rule([&] {
                cray_upc_team_allreduce(dst, src, 8, CRAY_UPC_DOUBLE_INT, UPC_ADD, CRAY_UPC_TEAM_ALL,
                                        nullptr);
              }),
              EndsWith("pass CRAY_UPC_MINLOC or CRAY_UPC_MAXLOC"));
  EXPECT_THAT(rule([&] { upc_all_reduceI(dst, src, UPC_ADD, 8, 2, nullptr, 0x4000); }),
              EndsWith("UPC_ASYNC, UPC_IN_PLACE and WEFT_REPRODUCIBLE only"));
  EXPECT_THAT(rule([&] { upc_all_prefix_reduceI(dst, src, UPC_ADD, 8, 2, nullptr, 0x4000); }),
              HasSubstr("UPC_EXCLUSIVE_PREFIX_REDUCE"));
  EXPECT_EQ(reduce_error(dst, src, UPC_ADD, 8, 2, UPC_EXCLUSIVE_PREFIX_REDUCE).argument, "sync_mode");
}

TEST_F(reduction_test, operators_are_distinct_bits_and_functions_no_join_of_them) {
  const upc_op_t all[] = {UPC_ADD,    UPC_MULT,  UPC_AND, UPC_OR, UPC_XOR,
                          UPC_LOGAND, UPC_LOGOR, UPC_MIN, UPC_MAX};
  upc_op_t joined = 0;
  for (const upc_op_t op : all) {
    EXPECT_EQ(joined & op, 0u);
    joined |= op;
  }
  EXPECT_LT(joined, 65536u);
  EXPECT_GE(UPC_FUNC, 65536u);
  EXPECT_NE(UPC_FUNC, UPC_NONCOMM_FUNC);
}

TEST_F(reduction_test, arrays_must_be_where_their_layout_says) {
  begin();
  EXPECT_EQ(reduce_error(dst, UPC_SHARED_NULL, UPC_ADD, 8, 2).argument, "src");
  EXPECT_EQ(reduce_error(UPC_SHARED_NULL, src, UPC_ADD, 8, 2).argument, "dst");
  EXPECT_THAT(reduce_error(dst, {src.addr + 16, 0, 2}, UPC_ADD, 8, 2).rule, HasSubstr("phase must be below"));
  EXPECT_THAT(reduce_error(dst, {src.addr + 4, 0, 0}, UPC_ADD, 8, 2).rule, HasSubstr("aligned to 8 bytes"));
  EXPECT_THAT(reduce_error(dst, {src.addr, 4, 0}, UPC_ADD, 8, 2).argument, "src");
  EXPECT_THAT(reduce_error({dst.addr, 4, 0}, src, UPC_ADD, 8, 2).argument, "dst");
  EXPECT_EQ(reduce_error(dst, src, UPC_ADD, std::size_t{1} << 40, 1).argument, "src");
  EXPECT_EQ(reduce_error(dst, src, UPC_ADD, std::size_t{1} << 62, 1).argument, "nelems * sizeof(TYPE)");
  EXPECT_EQ(reduce_error(dst, src, UPC_ADD, 8, std::size_t{1} << 32).argument, "blk_size");
  EXPECT_THAT(error_of([&] {
                upc_all_reduce_allD({dst.addr, 1, 0}, src, UPC_ADD, 8, 2, nullptr, 0);
              }).rule,
              HasSubstr("affinity to thread 0"));
  upc_all_reduceD(dst, src, UPC_ADD, 0, 2, nullptr, 0); // nothing lies anywhere
}

TEST_F(reduction_test, what_one_thread_has_alone_need_not_be_symmetric) {
  fake_runtime& rt = begin();
  const upc_shared_ptr_t mine = upc_alloc(80);
  upc_all_reduceD(dst, mine, UPC_ADD, 10, 0, nullptr, 0);
  upc_all_reduceD(dst, mine, UPC_ADD, 10, 10, nullptr, 0);
  EXPECT_EQ(rt.collectives.size(), 2u);
  EXPECT_EQ(reduce_error(dst, mine, UPC_ADD, 10, 5).argument, "src");
}

TEST_F(reduction_test, elements_must_lie_on_the_team) {
  fake_runtime& rt = begin();
  const upc_team_t team = rt.make_team({0, 2});
  upc_all_reduceD(dst, {src.addr, 2, 0}, UPC_ADD, 10, 0, nullptr, 0, team);
  EXPECT_EQ(rt.collectives.back().team, team);
  const weft::error e = error_of([&] { upc_all_reduceD(dst, src, UPC_ADD, 8, 2, nullptr, 0, team); });
  EXPECT_EQ(e.value, "thread 1");
  EXPECT_THAT(e.rule, HasSubstr("is no member of the team"));
  EXPECT_EQ(error_of([&] {
              upc_all_reduceD_team({dst.addr, 1, 0}, src, UPC_ADD, 2, 2, nullptr, 0, team);
            }).argument,
            "dst");
}

TEST_F(reduction_test, prefixes_in_place_need_the_flag) {
  fake_runtime& rt = begin();
  const auto prefix = [&](upc_shared_ptr_t to, upc_shared_ptr_t from, upc_flag_t mode) {
    upc_all_prefix_reduceD(to, from, UPC_ADD, 16, 2, nullptr, mode);
  };
  EXPECT_THAT(error_of([&] { prefix(src, src, 0); }).rule, HasSubstr("overlaps src"));
  EXPECT_THAT(error_of([&] { prefix({src.addr + 16, 0, 0}, src, 0); }).rule, HasSubstr("overlaps src"));
  prefix(src, src, UPC_IN_PLACE);
  prefix(src, UPC_SHARED_NULL, UPC_IN_PLACE);
  prefix(src, UPC_IN_PLACE, 0);
  EXPECT_EQ(rt.collectives.size(), 3u);
  EXPECT_EQ(rt.collectives.back().at.src, rt.collectives.back().at.dst);
  EXPECT_EQ(error_of([&] { prefix(dst, src, 4096); }).argument, "sync_mode");
}

TEST_F(reduction_test, vectors_of_a_team_lie_on_the_calling_thread) {
  fake_runtime& rt = begin();
  const auto allreduce = [&](upc_shared_ptr_t to, upc_shared_ptr_t from, std::size_t n = 8,
                             cray_upc_dtype_t type = CRAY_UPC_DOUBLE, upc_op_t op = UPC_ADD) {
    return cray_upc_team_allreduce(to, from, n, type, op, CRAY_UPC_TEAM_ALL, nullptr);
  };
  EXPECT_EQ(allreduce(dst, src), CRAY_UPC_SUCCESS);
  EXPECT_EQ(rt.collectives.back().r.op, operation::team_allreduce);
  EXPECT_EQ(rt.collectives.back().r.bytes, 64u);
  EXPECT_TRUE(rt.collectives.back().r.apart);
  allreduce(UPC_SHARED_NULL, src);
  EXPECT_EQ(rt.collectives.back().at.dst, src.addr);
  EXPECT_THAT(error_of([&] { allreduce(dst, {src.addr, 1, 0}); }).rule, HasSubstr("calling thread"));
  EXPECT_THAT(error_of([&] { allreduce(src, src); }).rule, HasSubstr("overlaps src"));
  EXPECT_EQ(error_of([&] { allreduce(dst, UPC_SHARED_NULL); }).argument, "src");
  EXPECT_EQ(error_of([&] { allreduce(dst, src, std::size_t{1} << 62); }).argument, "nelems * size of dtype");
  EXPECT_EQ(error_of([&] { allreduce(dst, src, 8, CRAY_UPC_DOUBLE_INT); }).argument, "op");
  EXPECT_EQ(error_of([&] { allreduce(dst, src, 8, CRAY_UPC_DOUBLE, CRAY_UPC_MINLOC); }).argument, "op");
  EXPECT_EQ(error_of([&] { allreduce(dst, src, 8, static_cast<cray_upc_dtype_t>(99)); }).argument, "dtype");
  EXPECT_EQ(error_of([&] {
              cray_upc_team_reduce(dst, src, 8, CRAY_UPC_INT, UPC_ADD, 4, CRAY_UPC_TEAM_ALL, nullptr);
            }).argument,
            "root");
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  cray_upc_team_reduce(dst, src, 8, CRAY_UPC_2INT, CRAY_UPC_MAXLOC, 3, CRAY_UPC_TEAM_ALL, &h);
  EXPECT_NE(h, UPC_COMPLETE_HANDLE);
  EXPECT_EQ(rt.collectives.back().r.root, 3u);
}

void add_words(const void* in, void* inout, std::size_t nelems, void*) {
  for (std::size_t k = 0; k != nelems; ++k)
    static_cast<std::uint64_t*>(inout)[k] += static_cast<const std::uint64_t*>(in)[k];
}
void add_ints(void* in, void* inout, std::size_t* nelems, cray_upc_dtype_t*) {
  for (std::size_t k = 0; k != *nelems; ++k)
    static_cast<int*>(inout)[k] += static_cast<int*>(in)[k];
}

TEST_F(reduction_test, an_operator_of_the_program_serves_until_it_is_freed) {
  fake_runtime& rt = begin();
  upc_op_t ints = 0, words = 0;
  EXPECT_EQ(error_of([&] { cray_upc_op_create(nullptr, 1, &ints); }).argument, "func");
  EXPECT_EQ(error_of([&] { cray_upc_op_create(add_ints, 1, nullptr); }).argument, "op");
  EXPECT_EQ(error_of([&] { weft_op_create(add_words, nullptr, 0, 1, &words); }).argument, "elem_size");
  EXPECT_EQ(error_of([&] { weft_op_create(add_words, nullptr, 4097, 1, &words); }).argument, "elem_size");
  ASSERT_EQ(cray_upc_op_create(add_ints, 1, &ints), CRAY_UPC_SUCCESS);
  ASSERT_EQ(weft_op_create(add_words, nullptr, 24, 0, &words), CRAY_UPC_SUCCESS);
  const auto scan = [&](cray_upc_dtype_t type, upc_op_t op) {
    cray_upc_team_scan(dst, src, 2, type, op, CRAY_UPC_TEAM_ALL, nullptr);
  };
  scan(CRAY_UPC_INT, ints);
  EXPECT_EQ(rt.collectives.back().r.op, operation::team_scan);
  EXPECT_EQ(rt.collectives.back().r.bytes, 8u);
  EXPECT_TRUE(rt.collectives.back().r.whole);
  scan(WEFT_OPAQUE, words);
  EXPECT_EQ(rt.collectives.back().r.bytes, 48u);
  EXPECT_EQ(error_of([&] { scan(CRAY_UPC_INT, words); }).argument, "dtype");
  EXPECT_EQ(error_of([&] { scan(WEFT_OPAQUE, ints); }).argument, "dtype");
  EXPECT_EQ(error_of([&] { scan(WEFT_OPAQUE, UPC_ADD); }).argument, "op");
  cray_upc_op_free(ints);
  EXPECT_THAT(error_of([&] { scan(CRAY_UPC_INT, ints); }).rule, HasSubstr("was freed"));
  EXPECT_THAT(error_of([&] { cray_upc_op_free(ints); }).rule, HasSubstr("was freed"));
  upc_op_t another = 0;
  cray_upc_op_create(add_ints, 1, &another);
  EXPECT_NE(another, ints);
  EXPECT_EQ(error_of([&] { scan(CRAY_UPC_INT, ints); }).argument, "op");
  cray_upc_op_free(another);
  cray_upc_op_free(words);
}

TEST_F(reduction_test, blocks_of_a_result_are_those_of_the_counts) {
  fake_runtime& rt = begin();
  const std::size_t counts[] = {1, 0, 2, 5};
  const auto scatter = [&](upc_shared_ptr_t to, const std::size_t* of) {
    cray_upc_team_reduce_scatterv(to, src, of, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL, nullptr);
  };
  scatter(dst, counts);
  EXPECT_EQ(rt.collectives.back().r.op, operation::team_reduce_scatter);
  EXPECT_EQ(rt.collectives.back().r.bytes, 32u);
  EXPECT_EQ(rt.collectives.back().at.sizes, 8u);
  cray_upc_team_reduce_scatter(dst, src, 3, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL, nullptr);
  EXPECT_EQ(rt.collectives.back().r.bytes, 48u);
  EXPECT_EQ(error_of([&] { scatter(dst, nullptr); }).argument, "counts");
  const std::size_t many[] = {1, ~std::size_t{0}, 2, 5};
  EXPECT_EQ(error_of([&] { scatter(dst, many); }).argument, "counts");
  EXPECT_THAT(error_of([&] { scatter(src, counts); }).rule, HasSubstr("overlaps src"));
}

TEST_F(reduction_test, unequal_blocks_are_apart_and_behind_their_pointer) {
  fake_runtime& rt = begin();
  const std::size_t nbytes[] = {8, 0, 16, 3};
  const std::ptrdiff_t places[] = {0, -1, 8, 24}, negative[] = {0, 0, -8, 24}, over[] = {0, 0, 8, 23};
  const auto exchange = [&](const std::size_t* sizes, const std::ptrdiff_t* to, upc_shared_ptr_t from) {
    cray_upc_team_alltoallv(dst, sizes, to, from, nbytes, places, CRAY_UPC_TEAM_ALL, nullptr);
  };
  exchange(nbytes, places, src);
  EXPECT_EQ(rt.collectives.back().r.op, operation::team_alltoallv);
  EXPECT_EQ(rt.collectives.back().r.in, weft::graph::sync::my);
  EXPECT_EQ(error_of([&] { exchange(nullptr, places, src); }).argument, "dst_nbytes");
  EXPECT_EQ(error_of([&] { exchange(nbytes, nullptr, src); }).argument, "dst_places");
  EXPECT_EQ(error_of([&] { exchange(nbytes, negative, src); }).value, "-8");
  EXPECT_THAT(error_of([&] { exchange(nbytes, over, src); }).rule, HasSubstr("two blocks of dst overlap"));
  EXPECT_THAT(error_of([&] { exchange(nbytes, places, dst); }).rule, HasSubstr("overlaps one of dst"));
  EXPECT_THAT(error_of([&] {
                exchange(nbytes, places, {src.addr, 1, 0});
              }).rule,
              HasSubstr("calling thread"));
  const std::size_t other[] = {9, 0, 16, 3};
  const std::ptrdiff_t wide[] = {0, 0, 16, 40};
  EXPECT_THAT(error_of([&] { exchange(other, wide, src); }).rule, HasSubstr("for itself has 8 bytes"));
  const std::size_t count = rt.collectives.size();
  cray_upc_team_allgatherv(dst, nbytes, places, src, 8, CRAY_UPC_TEAM_ALL, nullptr);
  cray_upc_team_allgatherv(dst, nbytes, places, UPC_SHARED_NULL, 8, CRAY_UPC_TEAM_ALL, nullptr);
  cray_upc_team_gatherv(dst, nullptr, nullptr, src, 8, 3, CRAY_UPC_TEAM_ALL, nullptr);
  cray_upc_team_scatterv(dst, 8, src, nullptr, nullptr, 2, CRAY_UPC_TEAM_ALL, nullptr);
  cray_upc_team_scatterv(UPC_SHARED_NULL, 0, src, nbytes, places, 0, CRAY_UPC_TEAM_ALL, nullptr);
  EXPECT_EQ(rt.collectives.size(), count + 5);
  EXPECT_EQ(error_of([&] {
              cray_upc_team_gatherv(dst, nbytes, places, src, 8, 4, CRAY_UPC_TEAM_ALL, nullptr);
            }).argument,
            "root");
}

TEST_F(reduction_test, a_repeated_call_starts_the_same_and_a_changed_one_what_it_says) {
  fake_runtime& rt = begin();
  const auto all = [&](upc_op_t op, std::size_t n, std::size_t block, upc_flag_t mode) {
    upc_all_reduce_allI(dst, src, op, n, block, nullptr, mode);
    return rt.collectives.back();
  };
  const auto repeat = [&] {
    all(UPC_ADD, 100, 3, 0);
    return all(UPC_ADD, 100, 3, 0);
  };
  EXPECT_EQ(all(UPC_ADD, 100, 3, 0).r, repeat().r);
  EXPECT_EQ(all(UPC_ADD, 40, 3, 0).at.sizes, 40u);
  repeat();
  EXPECT_TRUE(all(UPC_ADD, 100, 3, WEFT_REPRODUCIBLE).r.by_ranges);
  EXPECT_FALSE(repeat().r.by_ranges);
  upc_all_reduce_allL(dst, src, UPC_ADD, 100, 3, nullptr, 0);
  EXPECT_EQ(rt.collectives.back().r.bytes, sizeof(long)) << "another type";
  upc_all_reduceI({dst.addr, 2, 0}, src, UPC_ADD, 100, 3, nullptr, 0);
  EXPECT_EQ(rt.collectives.back().r.op, operation::reduce) << "another operation";
  repeat();
  EXPECT_EQ(error_of([&] { all(3, 100, 3, 0); }).argument, "op");
  repeat();
  error_of([&] { all(UPC_FUNC, 100, 3, 0); });
  error_of([&] { all(UPC_FUNC, 100, 3, 0); });

  const auto vectors = [&](std::size_t n, cray_upc_dtype_t type, int root) {
    cray_upc_team_reduce(dst, src, n, type, UPC_ADD, root, CRAY_UPC_TEAM_ALL, nullptr);
    return rt.collectives.back();
  };
  EXPECT_EQ(vectors(8, CRAY_UPC_INT, 1).r, vectors(8, CRAY_UPC_INT, 1).r);
  EXPECT_EQ(vectors(9, CRAY_UPC_INT, 1).r.bytes, 36u);
  EXPECT_EQ(vectors(9, CRAY_UPC_DOUBLE, 1).r.bytes, 72u);
  EXPECT_EQ(vectors(9, CRAY_UPC_DOUBLE, 2).r.root, 2u);
  EXPECT_NE(vectors(9, CRAY_UPC_DOUBLE, 2).at.task, nullptr);
}

// Against every element: the areas that a distributed array has on its threads, together.
TEST(distributed_array, its_extent_reaches_to_the_last_element_of_any_thread) {
  for (std::uint32_t threads = 1; threads <= 4; ++threads)
    for (std::uint64_t elements = 1; elements <= 20; ++elements)
      for (std::uint64_t block = 0; block <= 5; ++block)
        for (std::uint32_t phase = 0; phase < std::max<std::uint64_t>(block, 1); ++phase)
          for (std::uint32_t first = 0; first < threads; ++first) {
            const auto l = weft::reductions::layout::of(1000, elements, block, phase, first, threads, 4);
            std::uint64_t begin = ~std::uint64_t{0}, end = 0;
            for (std::uint64_t k = 0; k < elements; ++k) {
              begin = std::min(begin, l.address_of(k));
              end = std::max(end, l.address_of(k) + 4);
            }
            const auto e = weft::api::distributed_array::extent_of(l);
            EXPECT_LE(e.begin, begin);
            EXPECT_EQ(e.end, end) << elements << " elements, blocks of " << block << ", phase " << phase
                                  << ", from thread " << first << " of " << threads;
          }
}

} // namespace
