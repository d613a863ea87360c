// SPDX-License-Identifier: BSD-3-Clause
// The calls of anywhere.cpp: on operands that lie on each rank somewhere else, and what must come out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

namespace anywhere_calls {

inline constexpr std::size_t sizes[] = {8, 2048, 64 << 10, 8 << 20}; // bytes of the larger operand of a rank
inline constexpr std::size_t most = (8 << 20) / sizeof(long) + 4096;

enum what {
  exchange,
  in_place,
  gather_all,
  broadcast,
  scatter,
  gather,
  unequal,
  all,
  one,
  scan,
  before,
  blocks,
  permuted,
  function,
  // In C, each rank with a length of its own.
  all_lengths,
  to_one,
  from_one,
  blocks_of_lengths,
  operations
};
inline constexpr const char* names[] = {"exchange",       "exchange in place",
                                        "gather_all",     "broadcast",
                                        "scatter",        "gather",
                                        "exchange_v",     "reduce_all",
                                        "reduce",         "scan",
                                        "exclusive scan", "reduce_scatter",
                                        "permute",        "reduce_all by a function",
                                        "allgatherv",     "gatherv",
                                        "scatterv",       "reduce_scatterv"};

// What a rank has for another one.
inline long item(int from, int to, std::size_t k) {
  return from * 1'000'003L + to * 10'007L + static_cast<long>(k) * 7;
}

// So many elements, in a vector of this rank, or in shared memory at a place of its own.
class operand {
public:
  operand(bool ordinary, std::size_t n, const weft::array<long>& shared, int rank) {
    if (ordinary)
      own_.assign(n, -1);
    else
      std::ranges::fill(shared.local().subspan(static_cast<std::size_t>(rank) * 24, n), -1L);
    at_ = ordinary ? std::span(own_) : shared.local().subspan(static_cast<std::size_t>(rank) * 24, n);
  }
  std::span<long> elements() const { return at_; }
  upc_shared_ptr_t pointer() const { return weft_pointer_to(at_.data()); }

private:
  std::vector<long> own_;
  std::span<long> at_;
};

struct trial {
  what op = exchange;
  std::size_t bytes = 8;
  int absent = -1, root = 0;
  std::uint64_t ordinary = 0; // two bits for each rank: its source, its destination
  bool by_rows = false; // each rank says in its row where; ordinary memory only if it is alone on its host
};

// Pointers of each rank to its blocks: of destinations and of sources.
struct rows {
  upc_shared_ptr_t dst = weft::upc_all_alloc(THREADS, THREADS * sizeof(upc_shared_ptr_t)),
                   src = weft::upc_all_alloc(THREADS, THREADS * sizeof(upc_shared_ptr_t));
  rows() = default;
  rows(const rows&) = delete;
  rows& operator=(const rows&) = delete;
  ~rows() {
    weft::upc_all_free(dst);
    weft::upc_all_free(src);
  }
  // Of the calling rank, filled with so many blocks of these elements.
  static void fill(upc_shared_ptr_t all, std::span<long> elements, std::size_t block) {
    all.thread = static_cast<std::uint32_t>(MYTHREAD);
    auto* const mine = static_cast<upc_shared_ptr_t*>(weft::upc_cast(all));
    for (std::size_t k = 0; k != elements.size() / block; ++k)
      mine[k] = weft_pointer_to(elements.data() + k * block);
  }
};

class play {
public:
  play(const trial& t, const weft::array<long>& from, const weft::array<long>& to, const rows& r)
      : t_(t), rows_(r), me_(team_.rank()), ranks_(team_.size()), n_(static_cast<std::size_t>(ranks_)),
        block_(std::max<std::size_t>(1, t.bytes / sizeof(long) / (many() ? n_ : 1))),
        src_(is_ordinary(0), block_ * (gives_many() ? n_ : 1), from, me_),
        dst_(is_ordinary(1), block_ * (takes_many() ? n_ : 1), to, me_) {}

  weft::pending post() {
    const auto src = src_.elements(), dst = dst_.elements();
    for (std::size_t k = 0; k != src.size(); ++k)
      src[k] = gives_many() ? item(me_, static_cast<int>(k / block_), k % block_) : item(me_, 0, k);
    if (t_.by_rows) return post_by_rows();
    switch (t_.op) {
    case exchange:
      return weft::exchange(dst, src);
    case in_place:
      std::ranges::copy(src, dst.begin());
      return weft::exchange(dst);
    case gather_all:
      return weft::gather_all(dst, src);
    case broadcast:
      if (me_ == t_.root) std::ranges::copy(src, dst.begin());
      return weft::broadcast(dst, t_.root);
    case scatter:
      return weft::scatter(dst, src, t_.root);
    case gather:
      return weft::gather(dst, src, t_.root);
    case unequal:
      gives_.assign(n_, 0), gets_.assign(n_, 0);
      for (std::size_t r = 0; r != n_; ++r) {
        gives_[r] = length(static_cast<std::size_t>(me_), r);
        gets_[r] = length(r, static_cast<std::size_t>(me_));
      }
      return weft::exchange_v(dst.first(std::reduce(gets_.begin(), gets_.end())), gets_,
                              src.first(std::reduce(gives_.begin(), gives_.end())), gives_);
    case all:
      return weft::reduce_all(dst, src, UPC_ADD);
    case one:
      return weft::reduce(dst, src, std::plus<>(), t_.root);
    case permuted:
      return weft::permute(dst, src, (me_ + t_.root) % ranks_);
    case function:
      return weft::reduce_all(dst, src, [](long a, long b) { return std::max(a, b); });
    case all_lengths:
    case to_one:
    case from_one:
    case blocks_of_lengths:
      return post_lengths();
    default:
      return combine();
    }
  }

  // What must be in dst; -1 where nothing is written.
  bool is_right() const {
    const auto dst = dst_.elements();
    std::vector<std::size_t> place(n_ + 1, 0);
    for (std::size_t r = 0; r != n_ && t_.op == unequal; ++r)
      place[r + 1] = place[r] + gets_[r];
    for (std::size_t k = 0; k != dst.size(); ++k)
      if (dst[k] != expected(k, place)) {
        std::printf("rank %d: %s of %zu bytes, ordinary %llx, absent %d: element %zu is %ld, not %ld\n", me_,
                    names[t_.op], t_.bytes, static_cast<unsigned long long>(t_.ordinary), t_.absent, k,
                    dst[k], expected(k, place));
        return false;
      }
    return true;
  }

private:
  weft::pending post_by_rows() {
    const weft_movement_t movement = t_.op == exchange     ? WEFT_MOVE_EXCHANGE
                                     : t_.op == gather_all ? WEFT_MOVE_GATHER_ALL
                                     : t_.op == broadcast  ? WEFT_MOVE_BROADCAST
                                     : t_.op == scatter    ? WEFT_MOVE_SCATTER
                                                           : WEFT_MOVE_GATHER;
    const bool rooted = movement <= WEFT_MOVE_GATHER;
    rows::fill(rows_.dst, dst_.elements(), block_);
    rows::fill(rows_.src, src_.elements(), block_);
    return weft::pending(weft::weft_all_move_x(movement, rows_.dst, rows_.src, block_ * sizeof(long),
                                               rooted ? t_.root : 0,
                                               UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC, UPC_TEAM_ALL));
  }
  bool is_ordinary(int which) const { return (t_.ordinary >> (2 * me_ + which) & 1) != 0; }
  bool many() const { return gives_many() || takes_many(); }
  bool gives_many() const {
    return t_.op == exchange || t_.op == in_place || t_.op == scatter || t_.op == unequal ||
           t_.op == blocks || t_.op == from_one || t_.op == blocks_of_lengths;
  }
  bool takes_many() const {
    return t_.op == exchange || t_.op == in_place || t_.op == gather_all || t_.op == gather ||
           t_.op == unequal || t_.op == all_lengths || t_.op == to_one;
  }
  // Of the block of a rank, of which there is one for all, or which is for it.
  std::size_t length(std::size_t of) const { return block_ * (of % 3 + 1) / 3; }
  weft::pending post_lengths() {
    upc_handle_t h = 0;
    const upc_shared_ptr_t to = dst_.pointer(), from = src_.pointer();
    const auto me = static_cast<std::size_t>(me_);
    std::vector<std::size_t> counts, bytes;
    std::vector<std::ptrdiff_t> places;
    for (std::size_t r = 0; r != n_; ++r) {
      counts.push_back(length(r));
      bytes.push_back(length(r) * sizeof(long));
      places.push_back(static_cast<std::ptrdiff_t>(r * block_ * sizeof(long)));
    }
    if (t_.op == all_lengths)
      weft::cray_upc_team_allgatherv(to, bytes.data(), places.data(), from, bytes[me], UPC_TEAM_ALL, &h);
    else if (t_.op == to_one)
      weft::cray_upc_team_gatherv(to, bytes.data(), places.data(), from, bytes[me], t_.root, UPC_TEAM_ALL,
                                  &h);
    else if (t_.op == from_one)
      weft::cray_upc_team_scatterv(to, bytes[me], from, bytes.data(), places.data(), t_.root, UPC_TEAM_ALL,
                                   &h);
    else
      weft::cray_upc_team_reduce_scatterv(to, from, counts.data(), CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    return weft::pending(h);
  }
  long expected_of_lengths(std::size_t k) const {
    const auto me = static_cast<std::size_t>(me_), r = k / block_, j = k % block_;
    if (t_.op == all_lengths || (t_.op == to_one && me_ == t_.root))
      return j < length(r) ? item(static_cast<int>(r), 0, j) : -1;
    if (t_.op == to_one || k >= length(me)) return -1;
    if (t_.op == from_one) return item(t_.root, me_, k);
    std::size_t at = k;
    for (std::size_t before_me = 0; before_me != me; ++before_me)
      at += length(before_me);
    long sum = 0;
    for (int from = 0; from != ranks_; ++from)
      sum += item(from, static_cast<int>(at / block_), at % block_);
    return sum;
  }
  std::size_t length(std::size_t from, std::size_t to) const { return block_ * ((from + 2 * to) % 3) / 2; }

  weft::pending combine() {
    upc_handle_t h = 0;
    const upc_shared_ptr_t to = dst_.pointer(), from = src_.pointer();
    if (t_.op == scan)
      weft::cray_upc_team_scan(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    else if (t_.op == before)
      weft::cray_upc_team_exscan(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    else
      weft::cray_upc_team_reduce_scatter(to, from, block_, CRAY_UPC_LONG, UPC_ADD, UPC_TEAM_ALL, &h);
    return weft::pending(h);
  }

  long expected(std::size_t k, const std::vector<std::size_t>& place) const {
    const auto r = static_cast<int>(k / block_);
    const std::size_t j = k % block_;
    long sum = 0;
    switch (t_.op) {
    case exchange:
    case in_place:
      return item(r, me_, j);
    case gather_all:
      return item(r, 0, j);
    case broadcast:
      return item(t_.root, 0, k);
    case scatter:
      return item(t_.root, me_, k);
    case gather:
      return me_ == t_.root ? item(r, 0, j) : -1;
    case unequal: {
      const auto from = static_cast<std::size_t>(std::ranges::upper_bound(place, k) - place.begin()) - 1;
      if (from >= n_) return -1;
      // The giver's blocks lie one behind the other, and hold what lies there.
      std::size_t at = k - place[from];
      for (std::size_t to = 0; to != static_cast<std::size_t>(me_); ++to)
        at += length(from, to);
      return item(static_cast<int>(from), static_cast<int>(at / block_), at % block_);
    }
    case one:
      if (me_ != t_.root) return -1;
      [[fallthrough]];
    case all:
      for (int from = 0; from != ranks_; ++from)
        sum += item(from, 0, k);
      return sum;
    case permuted:
      return item((me_ + ranks_ - t_.root) % ranks_, 0, k);
    case function:
      return item(ranks_ - 1, 0, k);
    case before:
      if (me_ == 0) return -1;
      [[fallthrough]];
    case scan:
      for (int from = 0; from != me_ + (t_.op == scan ? 1 : 0); ++from)
        sum += item(from, 0, k);
      return sum;
    case blocks:
      for (int from = 0; from != ranks_; ++from)
        sum += item(from, me_, k);
      return sum;
    default:
      return expected_of_lengths(k);
    }
    return sum;
  }

  trial t_;
  const rows& rows_;
  weft::team team_;
  int me_, ranks_;
  std::size_t n_, block_;
  operand src_, dst_;
  std::vector<std::size_t> gives_, gets_;
};

} // namespace anywhere_calls
