// SPDX-License-Identifier: BSD-3-Clause
// Teams made of lists of threads, and the collectives of V1.0 on them: everything is counted in team ranks.
#include "tests/api/multirank/pattern.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <vector>

namespace {

constexpr std::size_t block = 24;

// A team of a list, for as long as the scope; no team on the threads outside of the list.
class listed_team {
public:
  explicit listed_team(std::vector<int> list, upc_team_t parent = UPC_TEAM_ALL) : list_(std::move(list)) {
    EXPECT_EQ(weft_team_from_threads(parent, static_cast<int>(list_.size()), list_.data(), &team_), 0);
  }
  listed_team(const listed_team&) = delete;
  listed_team& operator=(const listed_team&) = delete;
  ~listed_team() {
    if (team_ != 0) cray_upc_team_free(team_);
  }
  upc_team_t team() const { return team_; }
  bool member() const { return std::find(list_.begin(), list_.end(), MYTHREAD) != list_.end(); }
  std::size_t size() const { return list_.size(); }
  std::size_t rank() const {
    return static_cast<std::size_t>(std::find(list_.begin(), list_.end(), MYTHREAD) - list_.begin());
  }
  std::size_t thread(std::size_t rank) const { return static_cast<std::size_t>(list_[rank]); }

private:
  std::vector<int> list_;
  upc_team_t team_ = 77;
};

std::vector<int> downwards() {
  std::vector<int> list;
  for (int t = THREADS; t-- != 0;)
    list.push_back(t);
  return list;
}

std::vector<int> every_second() {
  std::vector<int> list;
  for (int t = (THREADS - 1) / 2 * 2; t >= 0; t -= 2)
    list.push_back(t);
  return list;
}

void expect_block(const unsigned char* at, unsigned round, std::size_t rank, std::size_t of) {
  EXPECT_EQ(pattern::mismatch(at, block, round, rank, of), block) << "from rank " << rank << ", block " << of;
}

// Every thread's blocks are named after its team rank, so a result tells who was taken for whom.
void symmetric_calls(const listed_team& t, unsigned round) {
  const std::size_t n = t.size();
  pattern::area dst(block * n), src(block * n);
  if (t.member()) {
    for (std::size_t i = 0; i != n; ++i)
      pattern::fill(src.local() + block * i, block, round, t.rank(), i);
    const upc_shared_ptr_t d = dst.on(t.thread(0)), s = src.on(t.thread(0));
    upc_all_exchange(d, s, block, 0, t.team());
    for (std::size_t i = 0; i != n; ++i)
      expect_block(dst.local() + block * i, round, i, t.rank());
    std::memset(dst.local(), 0, block * n);
    upc_wait(upc_all_gather_all(d, s, block, UPC_ASYNC, t.team()));
    for (std::size_t i = 0; i != n; ++i)
      expect_block(dst.local() + block * i, round, i, 0);
    upc_all_exchange_team(d, s, block, 0, t.team());
  }
  upc_barrier;
}

void rooted_calls(const listed_team& t, unsigned round) {
  const std::size_t n = t.size();
  pattern::area dst(block * n), src(block * n);
  for (std::size_t root = 0; root != n; ++root) {
    if (!t.member()) continue;
    for (std::size_t i = 0; i != n; ++i)
      pattern::fill(src.local() + block * i, block, round, t.rank(), i);
    const upc_shared_ptr_t tied_dst = dst.on(t.thread(0)), tied_src = src.on(t.thread(0));
    upc_all_broadcast(tied_dst, src.on(t.thread(root)), block, 0, t.team());
    expect_block(dst.local(), round, root, 0);
    upc_all_scatter(tied_dst, src.on(t.thread(root)), block, 0, t.team());
    expect_block(dst.local(), round, root, t.rank());
    upc_all_gather(dst.on(t.thread(root)), tied_src, block, 0, t.team());
    if (t.rank() == root)
      for (std::size_t i = 0; i != n; ++i)
        expect_block(dst.local() + block * i, round, i, 0);
    cray_upc_team_barrier(t.team());
  }
  upc_barrier;
}

TEST(teams, a_list_says_who_is_a_member_and_at_which_rank) {
  for (const std::vector<int>& list : {downwards(), every_second(), {THREADS - 1}}) {
    const listed_team t(list);
    if (!t.member()) {
      EXPECT_EQ(t.team(), 0u);
      continue;
    }
    EXPECT_EQ(cray_upc_team_size(t.team()), static_cast<int>(list.size()));
    EXPECT_EQ(cray_upc_team_rank(t.team()), static_cast<int>(t.rank()));
  }
}

TEST(teams, collectives_count_in_team_ranks) {
  unsigned round = 0;
  for (const std::vector<int>& list : {downwards(), every_second(), {THREADS - 1}}) {
    const listed_team t(list);
    symmetric_calls(t, ++round);
    rooted_calls(t, ++round);
  }
}

TEST(teams, a_team_is_made_of_a_team) {
  const listed_team parent(every_second());
  if (parent.member()) {
    std::vector<int> back;
    for (std::size_t rank = parent.size(); rank-- != 0;)
      back.push_back(static_cast<int>(parent.thread(rank)));
    const listed_team child(back, parent.team());
    EXPECT_EQ(cray_upc_team_rank(child.team()), static_cast<int>(parent.size() - 1 - parent.rank()));
    cray_upc_team_barrier(child.team());
  }
  upc_barrier;
}

TEST(teams, lists_that_differ_are_an_error_of_all) {
  if (THREADS < 2) GTEST_SKIP() << "one thread has one list";
  const int mine[] = {MYTHREAD == 0 ? 1 : 0, MYTHREAD == 0 ? 0 : 1};
  const int counts[] = {2, MYTHREAD == 0 ? 1 : 2};
  const int same[] = {0, 1};
  upc_team_t made = 77;
  for (const auto& [list, count] : {std::pair{mine, counts[0]}, {same, counts[1]}}) {
    try {
      weft_team_from_threads(UPC_TEAM_ALL, count, list, &made);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const weft::error& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("weft_team_from_threads: two threads gave different lists"));
    }
  }
  EXPECT_EQ(made, 77u);
  const listed_team after(downwards());
  cray_upc_team_barrier(after.team());
}

TEST(teams, made_and_freed_in_turn_beside_operations_of_all) {
  pattern::area dst(block * static_cast<std::size_t>(THREADS)), src(dst.bytes());
  for (unsigned round = 0; round != 200; ++round) {
    for (std::size_t i = 0; i != static_cast<std::size_t>(THREADS); ++i)
      pattern::fill(src.local() + block * i, block, round, static_cast<std::size_t>(MYTHREAD), i);
    upc_coll_handle_t h = upc_all_exchange(dst.shared(), src.shared(), block, UPC_ASYNC);
    {
      const listed_team t(round % 2 == 0 ? downwards() : every_second());
      if (round % 16 == 0 && t.member()) cray_upc_team_barrier(t.team());
    }
    upc_wait(h);
    for (std::size_t i = 0; i != static_cast<std::size_t>(THREADS); ++i)
      expect_block(dst.local() + block * i, round, i, static_cast<std::size_t>(MYTHREAD));
    upc_barrier;
  }
}

} // namespace
