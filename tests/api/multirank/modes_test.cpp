// SPDX-License-Identifier: BSD-3-Clause
// Every collective in every mode, with every hint, blocking and posted, at sizes around the limits of the
// algorithms. Where a mode promises something without a barrier, the test uses none.
#include "tests/api/multirank/pattern.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace {

using collective = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t);

constexpr int in_modes[] = {0, UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
constexpr int out_modes[] = {0, UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}
std::size_t mythread() {
  return static_cast<std::size_t>(MYTHREAD);
}

enum class end { none, source, destination };

struct shape {
  const char* name;
  collective call;
  std::size_t src_blocks, dst_blocks; // on every thread, although some count on the root only
  end rooted;                         // which end is on one thread only
  // Which block of which thread is block k of thread i's destination.
  std::size_t source_thread(std::size_t k, std::size_t root) const {
    return rooted == end::source ? root : k;
  }
  std::size_t source_block(std::size_t i) const { return src_blocks == 1 ? 0 : i; }
  bool receives(std::size_t i, std::size_t root) const { return rooted != end::destination || i == root; }
};

std::array<shape, 5> shapes() {
  return {{{"broadcast", upc_all_broadcast, 1, 1, end::source},
           {"gather_all", upc_all_gather_all, 1, threads(), end::none},
           {"exchange", upc_all_exchange, threads(), threads(), end::none},
           {"scatter", upc_all_scatter, threads(), 1, end::source},
           {"gather", upc_all_gather, 1, threads(), end::destination}}};
}

class run {
public:
  run(const shape& s, std::size_t nbytes)
      : s_(s), nbytes_(nbytes), src_(room(s.src_blocks)), dst_(room(s.dst_blocks)) {}

  void operator()(unsigned round, int in, int out, int flags) {
    const std::size_t root = round % threads();
    const bool in_no = in == UPC_IN_NOSYNC, out_no = out == UPC_OUT_NOSYNC;
    prepare(round);
    if (in_no) upc_barrier;
    upc_coll_handle_t h = s_.call(dst_.on(s_.rooted == end::destination ? root : 0),
                                  src_.on(s_.rooted == end::source ? root : 0), nbytes_, in | out | flags);
    if ((flags & UPC_ASYNC) != 0) upc_wait(h);
    ASSERT_EQ(h, UPC_HANDLE_COMPLETE);
    if (out_no) upc_barrier;
    check(dst_.local(), mythread(), round, root);
    if (out == UPC_OUT_ALLSYNC || out == 0) check_neighbour(round, root);
    if (::testing::Test::HasFailure())
      ADD_FAILURE() << s_.name << " " << nbytes_ << " bytes, flags " << (in | out | flags) << ", root "
                    << root;
  }

private:
  std::size_t room(std::size_t blocks) const { return std::max<std::size_t>(nbytes_ * blocks, 1); }

  void prepare(unsigned round) {
    for (std::size_t b = 0; b != s_.src_blocks; ++b)
      pattern::fill(src_.local() + b * nbytes_, nbytes_, round, mythread(), b);
    std::memset(dst_.local(), untouched(round), dst_.bytes());
  }
  static unsigned char untouched(unsigned round) { return static_cast<unsigned char>(0xc3 ^ round); }

  void check(const unsigned char* dst, std::size_t thread, unsigned round, std::size_t root) const {
    if (!s_.receives(thread, root)) {
      const auto still = std::count(dst, dst + nbytes_ * s_.dst_blocks, untouched(round));
      EXPECT_EQ(static_cast<std::size_t>(still), nbytes_ * s_.dst_blocks) << "thread " << thread;
      return;
    }
    for (std::size_t k = 0; k != s_.dst_blocks; ++k) {
      const std::size_t from = s_.source_thread(k, root), block = s_.source_block(thread);
      const std::size_t wrong = pattern::mismatch(dst + k * nbytes_, nbytes_, round, from, block);
      EXPECT_EQ(wrong, nbytes_) << "thread " << thread << ", block " << k << ": wrong from byte " << wrong;
    }
  }

  // All is complete everywhere, and stays until all have looked.
  void check_neighbour(unsigned round, std::size_t root) const {
    const std::size_t other = (mythread() + 1) % threads();
    std::vector<unsigned char> copy(nbytes_ * s_.dst_blocks + 1);
    upc_memget(copy.data(), dst_.on(other), nbytes_ * s_.dst_blocks);
    check(copy.data(), other, round, root);
    upc_barrier;
  }

  shape s_;
  std::size_t nbytes_;
  pattern::area src_, dst_;
};

class modes : public testing::TestWithParam<std::tuple<int, std::size_t>> {};

// Hints change the direction of the movement only, so large sizes do without most of them.
std::vector<int> hints_for(std::size_t nbytes) {
  return nbytes < 100000 ? std::vector<int>{0, UPC_PUSH, UPC_PULL, UPC_PUSH | UPC_PULL} : std::vector<int>{0};
}

TEST_P(modes, every_combination_moves_the_right_bytes) {
  const auto [which, nbytes] = GetParam();
  run one(shapes()[static_cast<std::size_t>(which)], nbytes);
  unsigned round = 0;
  for (const int in : in_modes)
    for (const int out : out_modes)
      for (const int hint : hints_for(nbytes))
        for (const int async : {0, UPC_ASYNC}) {
          one(++round, in, out, hint | async);
          if (HasFatalFailure()) return;
        }
}

std::string name_of(const testing::TestParamInfo<modes::ParamType>& info) {
  const char* const names[] = {"broadcast", "gather_all", "exchange", "scatter", "gather"};
  return names[std::get<0>(info.param)] + std::string("_") + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(all, modes,
                         testing::Combine(testing::Values(0, 1, 2, 3, 4),
                                          testing::Values<std::size_t>(0, 1, 8, 56, 57, 1000, 2048, 2049,
                                                                       4096, 16384, 70001, 300000)),
                         name_of);

// Nothing comes back from the destinations, so the root may be many operations ahead of the slowest of them;
// what follows must find its way all the same.
TEST(one_way, the_root_may_run_ahead) {
  const pattern::area src(8), dst(8);
  const int root = THREADS - 1;
  for (std::uint64_t i = 1; i != 2000; ++i) {
    if (MYTHREAD == root) std::memcpy(src.local(), &i, sizeof i);
    upc_all_broadcast(dst.shared(), src.on(static_cast<std::size_t>(root)), sizeof i,
                      UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    std::uint64_t got = 0;
    std::memcpy(&got, dst.local(), sizeof got);
    ASSERT_EQ(got, i);
  }
  upc_barrier;
}

// Nor from the root of a gather: its sources may be as far ahead.
TEST(one_way, the_sources_may_run_ahead) {
  const pattern::area src(8), dst(8 * threads());
  const std::size_t root = threads() - 1;
  for (std::uint64_t i = 1; i != 2000; ++i) {
    const std::uint64_t mine = i * threads() + mythread();
    std::memcpy(src.local(), &mine, sizeof mine);
    upc_all_gather(dst.on(root), src.shared(), sizeof mine, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    if (mythread() != root) continue;
    for (std::size_t t = 0; t != threads(); ++t) {
      std::uint64_t got = 0;
      std::memcpy(&got, dst.local() + t * sizeof got, sizeof got);
      ASSERT_EQ(got, i * threads() + t);
    }
  }
  upc_barrier;
}

} // namespace
