// SPDX-License-Identifier: BSD-3-Clause
// The books of libweft-malloc: random calls beside an oracle, several threads, copies for a fork.
#include "malloc/arena.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace {

using weft::memory::arena;
constexpr std::uint64_t page = arena::page;

// Memory that is shared with other processes, as the segment is.
class shared_memory {
public:
  explicit shared_memory(std::uint64_t bytes)
      : bytes_(bytes), at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory() { munmap(at_, bytes_); }
  std::byte* begin() const { return static_cast<std::byte*>(at_); }
  std::uint64_t bytes() const { return bytes_; }

private:
  std::uint64_t bytes_;
  void* at_;
};

std::uint64_t whole(std::uint64_t bytes) {
  return std::max(page, (bytes + page - 1) / page * page);
}

// What the oracle knows: [begin, end) of each allocation, and what it was filled with.
struct kept {
  std::uint64_t bytes;
  int value;
};

bool filled(const std::byte* p, const kept& k) {
  for (std::uint64_t at = 0; at < k.bytes; at += 97)
    if (std::to_integer<int>(p[at]) != k.value) return false;
  return true;
}

TEST(arena_books, random_calls_do_not_meet) {
  const shared_memory memory(1024 * page);
  for (const std::uint64_t most_kept : {std::uint64_t{0}, 100 * page, ~std::uint64_t{0}}) {
    arena a;
    ASSERT_TRUE(a.open(memory.begin(), memory.bytes(), most_kept));
    std::memset(memory.begin(), 0, memory.bytes());
    std::mt19937 random(7);
    std::map<std::byte*, kept> all;
    std::uint64_t live = 0, refused = 0;
    for (int round = 0; round != 4'000; ++round) {
      const std::uint64_t bytes = random() % (random() % 8 == 0 ? 200 * page : 8 * page);
      const auto any = all.empty() ? all.end() : std::next(all.begin(), random() % all.size());
      if (any != all.end()) {
        ASSERT_TRUE(filled(any->first, any->second));
        ASSERT_EQ(a.usable(any->first), whole(any->second.bytes));
        ASSERT_FALSE(a.free(any->first + 64));
      }
      const unsigned what = random() % 8;
      if (what < 4 || any == all.end()) {
        const std::uint64_t alignment = std::uint64_t{1} << random() % 16;
        auto* const p = static_cast<std::byte*>(a.allocate(bytes, alignment));
        if (p == nullptr) {
          ++refused;
          continue;
        }
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max(alignment, page), 0U);
        ASSERT_GE(p, memory.begin());
        ASSERT_LE(p + whole(bytes), memory.begin() + memory.bytes());
        const auto after = all.lower_bound(p);
        ASSERT_TRUE(after == all.end() || p + whole(bytes) <= after->first);
        ASSERT_TRUE(after == all.begin() ||
                    std::prev(after)->first + whole(std::prev(after)->second.bytes) <= p);
        a.clear(p, bytes);
        ASSERT_TRUE(filled(p, {bytes, 0}));
        const int value = static_cast<int>(random() % 255) + 1;
        std::memset(p, value, whole(bytes));
        all[p] = {bytes, value};
        live += whole(bytes);
      } else if (what < 7) {
        ASSERT_TRUE(a.free(any->first));
        ASSERT_FALSE(a.free(any->first));
        live -= whole(any->second.bytes);
        all.erase(any);
      } else if (a.resize(any->first, bytes)) {
        live += whole(bytes) - whole(any->second.bytes);
        ASSERT_TRUE(filled(any->first, {std::min(bytes, any->second.bytes), any->second.value}));
        std::memset(any->first, any->second.value, whole(bytes));
        any->second.bytes = bytes;
        const auto after = std::next(any);
        ASSERT_TRUE(after == all.end() || any->first + whole(bytes) <= after->first);
      }
      ASSERT_EQ(a.look().live_bytes, live);
    }
    EXPECT_EQ(a.look().refused, refused);
    EXPECT_FALSE(a.close());
    for (const auto& [p, k] : all)
      EXPECT_TRUE(a.free(p));
    EXPECT_TRUE(a.close());
    EXPECT_FALSE(a.holds(memory.begin()));
    ASSERT_TRUE(a.open(memory.begin(), memory.bytes(), 0));
    EXPECT_EQ(a.allocate(memory.bytes(), 1), memory.begin()); // all of it is one run again
  }
}

TEST(arena_books, what_is_given_back_is_zero_again) {
  const shared_memory memory(64 * page);
  arena a;
  ASSERT_TRUE(a.open(memory.begin(), memory.bytes(), 0));
  void* const p = a.allocate(32 * page, 1);
  std::memset(p, 1, 32 * page);
  ASSERT_TRUE(a.free(p));
  std::vector<std::byte> zeros(32 * page);
  EXPECT_EQ(std::memcmp(p, zeros.data(), zeros.size()), 0);
}

TEST(arena_books, threads_do_not_meet) {
  const shared_memory memory(2048 * page);
  arena a;
  ASSERT_TRUE(a.open(memory.begin(), memory.bytes(), 64 * page));
  const auto work = [&](int me) {
    std::mt19937 random(static_cast<unsigned>(me));
    std::vector<std::pair<std::byte*, kept>> mine;
    for (int round = 0; round != 1'000; ++round) {
      const std::uint64_t bytes = random() % (16 * page);
      if (auto* const p = static_cast<std::byte*>(a.allocate(bytes, 1)); p != nullptr) {
        a.clear(p, bytes);
        EXPECT_TRUE(filled(p, {bytes, 0}));
        std::memset(p, me, whole(bytes));
        mine.push_back({p, {bytes, me}});
      }
      while (mine.size() > 20 || (!mine.empty() && random() % 3 == 0)) {
        EXPECT_TRUE(filled(mine.front().first, mine.front().second));
        EXPECT_TRUE(a.free(mine.front().first));
        mine.erase(mine.begin());
      }
    }
    for (const auto& [p, k] : mine)
      EXPECT_TRUE(filled(p, k) && a.free(p));
  };
  std::vector<std::thread> threads;
  for (int k = 1; k != 5; ++k)
    threads.emplace_back(work, k);
  for (std::thread& t : threads)
    t.join();
  EXPECT_TRUE(a.close());
}

// As in the child of a fork, whose parent goes on.
TEST(arena_books, become_private) {
  const shared_memory memory(256 * page);
  arena a;
  ASSERT_TRUE(a.open(memory.begin(), memory.bytes(), ~std::uint64_t{0}));
  auto* const first = static_cast<std::byte*>(a.allocate(10 * page, 1));
  void* const gone = a.allocate(3 * page, 1);
  auto* const second = static_cast<std::byte*>(a.allocate(100 * page, 1));
  std::memset(first, 1, 10 * page);
  std::memset(second + 50 * page, 2, page);
  ASSERT_TRUE(a.free(gone));
  a.lock();
  a.copy();
  std::memset(first, 9, 10 * page); // by the parent, or another rank
  ASSERT_TRUE(a.become_private());
  a.unlock();
  EXPECT_TRUE(filled(first, {10 * page, 1}));
  EXPECT_TRUE(filled(second, {50 * page, 0}) && filled(second + 50 * page, {page, 2}));
  EXPECT_EQ(a.allocate(page, 1), nullptr);
  EXPECT_TRUE(a.resize(second, 5 * page));
  EXPECT_TRUE(a.free(first) && a.free(second));
}

} // namespace
