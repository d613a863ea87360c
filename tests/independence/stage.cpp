// SPDX-License-Identifier: BSD-3-Clause
#include "tests/independence/stage.hpp"

#include "tests/calls/issue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace schedules {

namespace {

word sum_of(word x, word y) {
  return x + y;
}
void add_vectors(void* in, void* inout, std::size_t* n, cray_upc_dtype_t*) {
  for (std::size_t k = 0; k != *n; ++k)
    static_cast<word*>(inout)[k] += static_cast<word*>(in)[k];
}
int order_of(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  const word x = *static_cast<const word*>(upc_cast(a)), y = *static_cast<const word*>(upc_cast(b));
  return (x > y) - (x < y);
}

// The word that a rank of the team has at this index, for all to know.
word value(std::size_t op, std::size_t rank, std::uint64_t index) {
  return (op * 7919 + rank * 104729 + index * 31 + 1) * 0x9e3779b97f4a7c15u >> 16;
}

// What a rank of the team has for another one, in words.
std::uint64_t unequal(const operation& o, std::size_t from, std::size_t to) {
  return (from + 2 * to) % 4 == 3 ? 0 : o.words - (from * 5 + to) % std::min<std::uint64_t>(o.words, 7);
}

} // namespace

stage::stage(std::uint64_t operations, std::uint64_t largest)
    : ground_(operations, largest),
      domain_(upc_all_atomicdomain_alloc(UPC_ULONG, UPC_ADD, UPC_ATOMIC_HINT_DEFAULT)) {
  for (std::size_t t = 0; t != threads(); ++t)
    locks_.push_back(upc_all_lock_alloc());
}
stage::~stage() {
  for (upc_lock_t lock : locks_)
    upc_all_lock_free(lock);
  upc_all_atomicdomain_free(domain_);
}

std::size_t stage::rank_in(const operation& o) const {
  return static_cast<std::size_t>(std::ranges::find(members(o), me()) - members(o).begin());
}

// An index goes round the members, so that each of them knows what all have.
void stage::set(const schedule& s, std::vector<upc_team_t> teams) {
  s_ = &s;
  teams_ = std::move(teams);
  for (std::size_t op = 0; op != s_->operations.size(); ++op) {
    if (!s_->is_member(me(), op)) continue;
    const operation& o = s_->operations[op];
    for (std::uint64_t w = 0; w != ground_.each() / sizeof(word); ++w) {
      ground_.my_src(op)[w] = value(op, rank_in(o), w);
      ground_.my_dst(op)[w] = ~word{0};
    }
    const int next = static_cast<int>(o.next[rank_in(o)]);
    std::memcpy(upc_cast(ground_.permutation(op, me())), &next, sizeof next);
  }
}

unsigned long long stage::post(std::size_t op) const {
  const operation& o = s_->operations[op];
  const upc_flag_t mode = calls::in_flag(o.in) | calls::out_flag(o.out) | UPC_ASYNC;
  if (o.what <= kind::permute) return post_move(op, o, mode);
  if (is_array(o.what)) return post_array(op, o, mode);
  if (is_vector(o.what)) return post_vector(op, o);
  return post_other(op, o);
}
unsigned long long stage::post_move(std::size_t op, const operation& o, upc_flag_t mode) const {
  const upc_team_t team = teams_[o.team];
  const std::size_t first = members(o)[0], root = members(o)[o.root];
  const std::uint64_t n = o.words * sizeof(word);
  switch (o.what) {
  case kind::broadcast:
    return upc_all_broadcast(ground_.dst(op, first), ground_.src(op, root), n, mode, team);
  case kind::scatter:
    return upc_all_scatter(ground_.dst(op, first), ground_.src(op, root), n, mode, team);
  case kind::gather:
    return upc_all_gather(ground_.dst(op, root), ground_.src(op, first), n, mode, team);
  case kind::gather_all:
    return upc_all_gather_all(ground_.dst(op, first), ground_.src(op, first), n, mode, team);
  case kind::exchange:
    return upc_all_exchange(ground_.dst(op, first), ground_.src(op, first), n, mode, team);
  default:
    return upc_all_permute(ground_.dst(op, first), ground_.src(op, first), ground_.permutation(op, first), n,
                           mode, team);
  }
}
unsigned long long stage::post_array(std::size_t op, const operation& o, upc_flag_t mode) const {
  const upc_op_t by = o.how == combined::function            ? UPC_FUNC
                      : o.how == combined::strictly_in_order ? UPC_NONCOMM_FUNC
                                                             : UPC_ADD;
  const std::uint64_t n = o.words * threads();
  const std::uint64_t blk = o.words % o.blk == 0 ? o.blk : o.words;
  if (o.how == combined::reproducible && o.what != kind::sort) mode |= WEFT_REPRODUCIBLE;
  const upc_shared_ptr_t src = ground_.src(op, 0), dst = ground_.dst(op, 0);
  switch (o.what) {
  case kind::reduce:
    return upc_all_reduceUL(ground_.dst(op, o.root), src, by, n, blk, sum_of, mode);
  case kind::reduce_all:
    return upc_all_reduce_allUL(dst, src, by, n, blk, sum_of, mode);
  case kind::prefix:
    return upc_all_prefix_reduceUL(dst, src, by, n, blk, sum_of, mode);
  default:
    return upc_all_sort(src, sizeof(word), n, blk, order_of, mode);
  }
}
unsigned long long stage::post_vector(std::size_t op, const operation& o) const {
  const upc_team_t team = teams_[o.team];
  const upc_shared_ptr_t src = ground_.src(op, me()), dst = ground_.dst(op, me());
  upc_op_t by = UPC_ADD;
  if (o.how == combined::function) cray_upc_op_create(add_vectors, 1, &by);
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  switch (o.what) {
  case kind::team_reduce:
    cray_upc_team_reduce(dst, src, o.words, CRAY_UPC_ULONG, by, static_cast<int>(o.root), team, &h);
    break;
  case kind::team_allreduce:
    cray_upc_team_allreduce(dst, src, o.words, CRAY_UPC_ULONG, by, team, &h);
    break;
  case kind::team_scan:
    cray_upc_team_scan(dst, src, o.words, CRAY_UPC_ULONG, by, team, &h);
    break;
  case kind::team_exscan:
    cray_upc_team_exscan(dst, src, o.words, CRAY_UPC_ULONG, by, team, &h);
    break;
  default:
    cray_upc_team_reduce_scatter(dst, src, o.words, CRAY_UPC_ULONG, by, team, &h);
  }
  if (o.how == combined::function) cray_upc_op_free(by);
  return h;
}

// Blocks that only their two ends know, and barriers.
unsigned long long stage::post_other(std::size_t op, const operation& o) const {
  const upc_team_t team = teams_[o.team];
  const std::size_t n = members(o).size(), mine = rank_in(o), root = o.root;
  const upc_shared_ptr_t src = ground_.src(op, me()), dst = ground_.dst(op, me());
  std::vector<std::size_t> given(n), taken(n);
  std::vector<std::ptrdiff_t> places(n);
  for (std::size_t k = 0; k != n; ++k) {
    given[k] = unequal(o, mine, k) * sizeof(word);
    taken[k] = unequal(o, k, o.what == kind::allgatherv ? 0 : mine) * sizeof(word);
    places[k] = static_cast<std::ptrdiff_t>(k * o.words * sizeof(word));
  }
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  switch (o.what) {
  case kind::alltoallv:
    cray_upc_team_alltoallv(dst, taken.data(), places.data(), src, given.data(), places.data(), team, &h);
    return h;
  case kind::allgatherv:
    cray_upc_team_allgatherv(dst, taken.data(), places.data(), src, given[0], team, &h);
    return h;
  case kind::gatherv:
    cray_upc_team_gatherv(dst, taken.data(), places.data(), src, given[root], static_cast<int>(root), team,
                          &h);
    return h;
  case kind::scatterv:
    cray_upc_team_scatterv(dst, taken[root], src, given.data(), places.data(), static_cast<int>(root), team,
                           &h);
    return h;
  case kind::barrier_nb:
    return cray_upc_team_barrier_nb(team);
  case kind::alltoall_nb:
    return cray_upc_team_alltoall_nb(ground_.dst(op, members(o)[0]), ground_.src(op, members(o)[0]),
                                     o.words * sizeof(word), team);
  default:
    upc_notify;
    return 0;
  }
}

// What no other rank has a part in, whatever that does.
void stage::call_alone(std::size_t which) const {
  const std::size_t other = which / 16 % threads();
  const upc_shared_ptr_t mine = ground_.of_caller(me(), other), first = ground_.of_caller(me(), 0),
                         read = ground_.read_alone(other);
  std::vector<word> buffer(ground::alone_block / sizeof(word), me());
  const std::size_t bytes = which % 3 == 0 ? 8 : ground::alone_block;
  const word one = 1;
  switch (which % 11) {
  case 0:
    upc_memput(mine, buffer.data(), bytes);
    upc_memget(buffer.data(), mine, bytes);
    break;
  case 1:
    upc_sync(upc_memget_nb(buffer.data(), read, bytes));
    break;
  case 2:
    upc_atomic_relaxed(domain_, buffer.data(), UPC_ADD, mine, &one, nullptr);
    break;
  case 3:
    upc_lock(locks_[other]);
    upc_unlock(locks_[other]);
    break;
  case 4:
    upc_free(upc_global_alloc(threads(), 64));
    break;
  case 5:
    weft::upc_broadcast(first, read, bytes);
    break;
  case 6:
    weft::upc_gather_all(first, ground_.read_alone(0), bytes);
    break;
  case 7:
    weft::upc_exchange(first, ground_.read_alone(0), bytes);
    break;
  case 8:
    weft::upc_reduce(mine, ground_.read_alone(0), UPC_ULONG, UPC_ADD);
    break;
  case 9: {
    const upc_shared_ptr_t signal = ground_.of_caller(me(), other);
    upc_sync(weft_put_signal({signal.addr + 8, signal.thread, 0}, buffer.data(), bytes - 8 + 8 * (bytes == 8),
                             signal, 1, WEFT_SIGNAL_ADD));
    break;
  }
  default:
    upc_wait(weft::upc_gather_all_team(first, ground_.read_alone(0), bytes, UPC_ASYNC, UPC_TEAM_ALL));
  }
}

// What this rank should have of an operation, word by word.
bool stage::is_right(std::size_t op) const {
  const operation& o = s_->operations[op];
  const std::size_t n = members(o).size(), mine = rank_in(o);
  const word* const got = ground_.my_dst(op);
  const bool is_root = mine == o.root;
  const auto block = [&](std::uint64_t at, std::uint64_t words, std::size_t from, std::uint64_t behind) {
    for (std::uint64_t w = 0; w != words; ++w)
      if (got[at + w] != value(op, from, behind + w)) return false;
    return true;
  };
  const auto each = [&](auto&& words, auto&& behind, std::uint64_t stride) {
    for (std::size_t k = 0; k != n; ++k)
      if (!block(k * stride, words(k), k, behind(k))) return false;
    return true;
  };
  const auto sums = [&](std::size_t ranks, std::uint64_t behind) {
    for (std::uint64_t w = 0; w != o.words && ranks != 0; ++w) {
      word sum = 0;
      for (std::size_t k = 0; k != ranks; ++k)
        sum += value(op, k, behind + w);
      if (got[w] != sum) return false;
    }
    return true;
  };
  const auto whole = [&](std::size_t) { return o.words; };
  const auto from_begin = [](std::size_t) { return std::uint64_t{0}; };
  const auto of_mine = [&](std::size_t) { return mine * o.words; };
  switch (o.what) {
  case kind::broadcast:
    return block(0, o.words, o.root, 0);
  case kind::scatter:
    return block(0, o.words, o.root, mine * o.words);
  case kind::gather:
    return !is_root || each(whole, from_begin, o.words);
  case kind::gather_all:
    return each(whole, from_begin, o.words);
  case kind::exchange:
  case kind::alltoall_nb:
    return each(whole, of_mine, o.words);
  case kind::permute:
    return block(0, o.words, static_cast<std::size_t>(std::ranges::find(o.next, mine) - o.next.begin()), 0);
  case kind::team_reduce:
    return !is_root || sums(n, 0);
  case kind::team_allreduce:
    return sums(n, 0);
  case kind::team_scan:
    return sums(mine + 1, 0);
  case kind::team_exscan:
    return sums(mine, 0);
  case kind::team_reduce_scatter:
    return sums(n, mine * o.words);
  case kind::alltoallv:
    return each([&](std::size_t k) { return unequal(o, k, mine); }, of_mine, o.words);
  case kind::allgatherv:
    return each([&](std::size_t k) { return unequal(o, k, 0); }, from_begin, o.words);
  case kind::gatherv:
    return !is_root || each([&](std::size_t k) { return unequal(o, k, o.root); }, from_begin, o.words);
  case kind::scatterv:
    return block(0, unequal(o, o.root, mine), o.root, mine * o.words);
  case kind::reduce:
  case kind::reduce_all: {
    if (o.what == kind::reduce && !is_root) return true;
    word sum = 0;
    for (std::size_t k = 0; k != n; ++k)
      for (std::uint64_t w = 0; w != o.words; ++w)
        sum += value(op, k, w);
    return got[0] == sum;
  }
  default:
    return true;
  }
}

} // namespace schedules
