// SPDX-License-Identifier: BSD-3-Clause
// Collectives in place on all threads and on a team, in both readings of the text: results, and that nothing
// else was written.
#include "tests/api/multirank/pattern.hpp"

#include <vector>

namespace {

// The team of all, or of all in falling order: then ranks and threads differ.
class ranked {
public:
  explicit ranked(bool falling) {
    if (!falling) return;
    std::vector<int> list;
    for (int t = THREADS; t-- != 0;)
      list.push_back(t);
    EXPECT_EQ(weft_team_from_threads(UPC_TEAM_ALL, THREADS, list.data(), &team_), 0);
  }
  ranked(const ranked&) = delete;
  ranked& operator=(const ranked&) = delete;
  ~ranked() {
    if (team_ != UPC_TEAM_ALL) cray_upc_team_free(team_);
  }
  upc_team_t team() const { return team_; }
  std::size_t thread(std::size_t rank) const { return team_ == UPC_TEAM_ALL ? rank : threads() - 1 - rank; }
  std::size_t rank() const { return thread(static_cast<std::size_t>(MYTHREAD)); }
  static std::size_t threads() { return static_cast<std::size_t>(THREADS); }

private:
  upc_team_t team_ = UPC_TEAM_ALL;
};

class in_place : public testing::TestWithParam<std::tuple<bool, std::size_t>> {
protected:
  const ranked r{std::get<0>(GetParam())};
  const std::size_t block = std::get<1>(GetParam());
  const std::size_t n = ranked::threads(), me = r.rank();
  unsigned round = 0;

  void fill(unsigned char* to, std::size_t of) { pattern::fill(to, block, round, me, of); }
  void expect(const unsigned char* at, std::size_t rank, std::size_t of) const {
    EXPECT_EQ(pattern::mismatch(at, block, round, rank, of), block)
        << "from rank " << rank << ", block " << of;
  }
  // A call with the word for src, and with the flag and each source that it allows.
  template <class Call> void in_every_reading(upc_shared_ptr_t dst, Call&& call) {
    call(upc_shared_ptr_t(UPC_IN_PLACE), 0);
    call(UPC_SHARED_NULL, UPC_IN_PLACE);
    call(dst, UPC_IN_PLACE | UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }
};

TEST_P(in_place, exchange_transposes) {
  pattern::area a(block * n);
  const upc_shared_ptr_t dst = a.on(r.thread(0));
  in_every_reading(dst, [&](upc_shared_ptr_t src, upc_flag_t flag) {
    ++round;
    for (std::size_t i = 0; i != n; ++i)
      fill(a.local() + block * i, i);
    upc_all_exchange(dst, src, block, flag, r.team());
    for (std::size_t i = 0; i != n; ++i)
      expect(a.local() + block * i, i, me);
    upc_barrier;
  });
}

TEST_P(in_place, gather_all_takes_each_threads_own_block) {
  pattern::area a(block * n);
  const upc_shared_ptr_t dst = a.on(r.thread(0));
  in_every_reading(dst, [&](upc_shared_ptr_t src, upc_flag_t flag) {
    ++round;
    std::memset(a.local(), 0, block * n);
    fill(a.local() + block * me, 0);
    upc_all_gather_all(dst, src, block, flag, r.team());
    for (std::size_t i = 0; i != n; ++i)
      expect(a.local() + block * i, i, 0);
    upc_barrier;
  });
}

TEST_P(in_place, permute_moves_along_the_cycles) {
  pattern::area a(block), perm(sizeof(int));
  const upc_shared_ptr_t dst = a.on(r.thread(0));
  for (std::size_t step = 0; step != n; ++step) // step 0 is the identity
    in_every_reading(dst, [&](upc_shared_ptr_t src, upc_flag_t flag) {
      ++round;
      fill(a.local(), 0);
      const int to = static_cast<int>((me + step) % n);
      std::memcpy(perm.local(), &to, sizeof to);
      upc_all_permute(dst, src, perm.on(r.thread(0)), block, flag, r.team());
      expect(a.local(), (me + n - step) % n, 0);
      upc_barrier;
    });
}

TEST_P(in_place, the_roots_own_block_stays) {
  pattern::area all(block * n), one(block);
  for (std::size_t root = 0; root != n; ++root) {
    const upc_shared_ptr_t of_root = all.on(r.thread(root));
    upc_shared_ptr_t tied = all.on(r.thread(0));
    tied.addr += block * root;
    ++round;
    for (std::size_t i = 0; i != n; ++i)
      fill(all.local() + block * i, i);
    upc_all_scatter(tied, of_root, block, UPC_IN_PLACE, r.team());
    expect(all.local() + block * root, root, me);
    upc_barrier;
    upc_all_gather(of_root, tied, block, UPC_IN_PLACE, r.team());
    for (std::size_t i = 0; me == root && i != n; ++i)
      expect(all.local() + block * i, root, i);
    upc_barrier;
    fill(one.local(), root);
    upc_all_broadcast(one.on(r.thread(0)), one.on(r.thread(root)), block, UPC_IN_PLACE, r.team());
    expect(one.local(), root, root);
    upc_barrier;
  }
}

INSTANTIATE_TEST_SUITE_P(all, in_place,
                         testing::Combine(testing::Bool(), testing::Values<std::size_t>(1, 24, 5000, 70000)));

} // namespace
