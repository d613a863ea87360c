// SPDX-License-Identifier: BSD-3-Clause
// More programs that stand twice, see pairs.cpp: a sort by samples, a loop of exchanges of several teams, and
// a queue of tasks.
//
// Mutations that this catches: a place of alltoallv that is an element later; a team in the order of the job;
// a round that is read before it has come, or from the buffer of the next one; a ticket that two ranks have;
// a list that is written without the lock.
#include "tests/users/pairs.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>

namespace {

using weft_pairs::same;

// ---- a sort by samples

constexpr std::size_t sampled = 8;

std::vector<long> numbers_of(std::size_t rank, std::size_t count) {
  std::mt19937 dice(unsigned(rank) + 5);
  std::vector<long> numbers(count + rank * 10);
  for (long& x : numbers)
    x = long(dice() % 10'000);
  return numbers;
}
// So many of them, in their order; of none zeros.
std::vector<long> sample_of(std::span<const long> sorted) {
  std::vector<long> sample(sampled);
  for (std::size_t k = 0; k != sampled && !sorted.empty(); ++k)
    sample[k] = sorted[(2 * k + 1) * sorted.size() / (2 * sampled)];
  return sample;
}
// How many of the sorted numbers go to each rank, by the samples of all.
std::vector<std::size_t> shares(std::span<const long> sorted, std::vector<long> samples) {
  std::ranges::sort(samples);
  std::vector<std::size_t> counts;
  auto begin = sorted.begin();
  for (std::size_t k = sampled; k <= samples.size(); k += sampled) {
    const auto end = k == samples.size() ? sorted.end() : std::ranges::lower_bound(sorted, samples[k]);
    counts.push_back(std::size_t(end - begin));
    begin = end;
  }
  return counts;
}

// [before: sort]
std::vector<long> sorted_before(std::vector<long> mine) {
  const std::size_t ranks = THREADS, bytes = sampled * sizeof(long), row = ranks * sizeof(std::size_t);
  const upc_shared_ptr_t sample = upc_all_alloc(ranks, bytes), samples = upc_all_alloc(ranks, ranks * bytes);
  const upc_shared_ptr_t leaving = upc_all_alloc(ranks, row), coming = upc_all_alloc(ranks, row);
  const long* const all = static_cast<long*>(upc_cast(upc_ptradd(samples, 1, ranks * bytes, MYTHREAD)));
  std::size_t* const leave = static_cast<std::size_t*>(upc_cast(upc_ptradd(leaving, 1, row, MYTHREAD)));
  std::size_t* const come = static_cast<std::size_t*>(upc_cast(upc_ptradd(coming, 1, row, MYTHREAD)));
  std::ranges::sort(mine);
  std::memcpy(upc_cast(upc_ptradd(sample, 1, bytes, MYTHREAD)), sample_of(mine).data(), bytes);
  upc_all_gather_all(samples, sample, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  std::ranges::copy(shares(mine, {all, all + ranks * sampled}), leave);
  upc_all_exchange(coming, leaving, sizeof(std::size_t), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  std::vector<std::size_t> src_nbytes(ranks), dst_nbytes(ranks);
  std::vector<std::ptrdiff_t> src_places(ranks), dst_places(ranks);
  std::size_t sent = 0, received = 0;
  for (std::size_t r = 0; r != ranks; ++r) {
    src_nbytes[r] = leave[r] * sizeof(long);
    src_places[r] = static_cast<std::ptrdiff_t>(sent);
    sent += src_nbytes[r];
    dst_nbytes[r] = come[r] * sizeof(long);
    dst_places[r] = static_cast<std::ptrdiff_t>(received);
    received += dst_nbytes[r];
  }
  std::vector<long> got(received / sizeof(long));
  cray_upc_team_alltoallv(weft_pointer_to(got.data()), dst_nbytes.data(), dst_places.data(),
                          weft_pointer_to(mine.data()), src_nbytes.data(), src_places.data(), UPC_TEAM_ALL,
                          nullptr);
  std::ranges::sort(got);
  upc_all_free(sample);
  upc_all_free(samples);
  upc_all_free(leaving);
  upc_all_free(coming);
  return got;
}
// [end]

// [after: sort]
std::vector<long> sorted_after(std::vector<long> mine) {
  const std::size_t ranks = weft::team().size();
  std::ranges::sort(mine);
  std::vector<long> samples(sampled * ranks);
  weft::gather_all(samples, sample_of(mine)).wait();
  const std::vector<std::size_t> leave = shares(mine, samples);
  std::vector<std::size_t> come(ranks);
  weft::exchange(come, leave).wait();
  std::vector<long> got(std::reduce(come.begin(), come.end()));
  weft::exchange_v(got, come, mine, leave).wait();
  std::ranges::sort(got);
  return got;
}
// [end]

std::vector<long> sorted_alone(std::size_t me, std::size_t ranks, std::size_t count) {
  std::vector<long> all, samples;
  for (std::size_t r = 0; r != ranks; ++r) {
    std::vector<long> its = numbers_of(r, count);
    std::ranges::sort(its);
    all.insert(all.end(), its.begin(), its.end());
    const std::vector<long> sample = sample_of(its);
    samples.insert(samples.end(), sample.begin(), sample.end());
  }
  std::ranges::sort(all);
  const std::vector<std::size_t> of_rank = shares(all, samples);
  const auto begin = all.begin() + std::accumulate(of_rank.begin(), of_rank.begin() + long(me), 0L);
  return {begin, begin + long(of_rank[me])};
}

// ---- Cray's loop: an all-to-all of each of three teams a round, the next ones on their way already

long number_of(int rank, int team, int round, std::size_t k) {
  return 1'000'000L * rank + 100'000L * team + 1000L * round + long(k);
}
void fill(std::span<long> blocks, int rank, int team, int round) {
  for (std::size_t k = 0; k != blocks.size(); ++k)
    blocks[k] = number_of(rank, team, round, k);
}

// [before: teams]
std::vector<long> rounds_before(int across, int rounds, std::size_t block) {
  cray_upc_team_t teams[3];
  if (cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD / across, 0, &teams[0]) != CRAY_UPC_SUCCESS ||
      cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD % across, 0, &teams[1]) != CRAY_UPC_SUCCESS ||
      cray_upc_team_split(CRAY_UPC_TEAM_ALL, 0, -MYTHREAD, &teams[2]) != CRAY_UPC_SUCCESS)
    upc_global_exit(1);
  const std::size_t block_bytes = block * sizeof(long),
                    bytes = static_cast<std::size_t>(THREADS) * block_bytes;
  upc_shared_ptr_t src[3][2], dst[3][2];
  for (int t = 0; t != 3; ++t)
    for (int half = 0; half != 2; ++half) {
      src[t][half] = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
      dst[t][half] = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
    }
  upc_handle_t posted[3][2];
  std::vector<long> all;
  for (int round = 0; round <= rounds; ++round)
    for (int t = 0; t != 3; ++t) {
      const std::size_t count = block * static_cast<std::size_t>(cray_upc_team_size(teams[t]));
      const int now = round % 2, before = 1 - now;
      if (round != rounds) {
        const int first = weft_team_thread(teams[t], 0);
        long* const mine = static_cast<long*>(upc_cast(upc_ptradd(src[t][now], 1, bytes, MYTHREAD)));
        fill({mine, count}, MYTHREAD, t, round);
        posted[t][now] =
            cray_upc_team_alltoall_nb(upc_ptradd(dst[t][now], 1, bytes, first),
                                      upc_ptradd(src[t][now], 1, bytes, first), block_bytes, teams[t]);
      }
      if (round != 0) {
        upc_sync(posted[t][before]);
        const long* const got = static_cast<long*>(upc_cast(upc_ptradd(dst[t][before], 1, bytes, MYTHREAD)));
        all.insert(all.end(), got, got + count);
      }
    }
  for (int t = 0; t != 3; ++t) {
    for (int half = 0; half != 2; ++half) {
      upc_all_free(src[t][half]);
      upc_all_free(dst[t][half]);
    }
    cray_upc_team_free(teams[t]);
  }
  return all;
}
// [end]

// [after: teams]
std::vector<long> rounds_after(int across, int rounds, std::size_t block) {
  const weft::team all;
  const int me = all.rank();
  const weft::team teams[] = {all.split(me / across), all.split(me % across), all.split(0, -me)};
  std::vector<weft::array<long>> src, dst; // two of each team, in turns
  for (int k = 0; k != 6; ++k) {
    src.emplace_back(block * all.size());
    dst.emplace_back(block * all.size());
  }
  weft::pending posted[6];
  std::vector<long> got;
  for (int round = 0; round <= rounds; ++round)
    for (int t = 0; t != 3; ++t) {
      const int now = 2 * t + round % 2, before = 2 * t + (round + 1) % 2;
      const std::size_t count = block * teams[t].size();
      if (round != rounds) {
        const auto mine = src[now].part(0, count);
        fill(mine, me, t, round);
        posted[now] = weft::exchange(dst[now].part(0, count), mine, teams[t]);
      }
      if (round != 0) {
        posted[before].wait();
        got.insert(got.end(), dst[before].begin(), dst[before].begin() + count);
      }
    }
  return got;
}
// [end]

std::vector<long> rounds_alone(int me, int ranks, int across, int rounds, std::size_t block) {
  std::array<std::vector<int>, 3> teams;
  for (int rank = 0; rank != ranks; ++rank) {
    if (rank / across == me / across) teams[0].push_back(rank);
    if (rank % across == me % across) teams[1].push_back(rank);
    teams[2].insert(teams[2].begin(), rank);
  }
  std::vector<long> all;
  for (int round = 0; round != rounds; ++round)
    for (int t = 0; t != 3; ++t) {
      const auto& members = teams[std::size_t(t)];
      const auto place = std::size_t(std::ranges::find(members, me) - members.begin());
      for (const int from : members)
        for (std::size_t k = 0; k != block; ++k)
          all.push_back(number_of(from, t, round, place * block + k));
    }
  return all;
}

// ---- tasks, of which a rank that is free takes some, and a list of those that have found something

long work(long task) {
  return task * task % 97;
}
bool finds(long value) {
  return value % 10 == 3;
}

// [before: queue]
std::vector<long> found_before(long count, long at_once) {
  const upc_shared_ptr_t next = upc_all_alloc(1, sizeof(long)), length = upc_all_alloc(1, sizeof(long));
  const upc_shared_ptr_t list = upc_all_alloc(1, static_cast<std::size_t>(count) * sizeof(long));
  const upc_atomicdomain_t taking = upc_all_atomicdomain_alloc(UPC_LONG, UPC_ADD, UPC_ATOMIC_HINT_DEFAULT);
  const upc_lock_t writing = upc_all_lock_alloc();
  if (MYTHREAD == 0) {
    upc_memset(next, 0, sizeof(long));
    upc_memset(length, 0, sizeof(long));
  }
  upc_barrier;
  long sum = 0;
  for (;;) {
    long first = 0;
    upc_atomic_relaxed(taking, &first, UPC_ADD, next, &at_once, nullptr);
    if (first >= count) break;
    for (long task = first; task != std::min(first + at_once, count); ++task) {
      const long value = work(task);
      sum += value;
      if (!finds(value)) continue;
      upc_lock(writing);
      long place = 0;
      upc_memget(&place, length, sizeof(long));
      upc_memput(upc_ptradd(list, 0, sizeof(long), place), &task, sizeof(long));
      ++place;
      upc_memput(length, &place, sizeof(long));
      upc_unlock(writing);
    }
  }
  long total = 0;
  cray_upc_team_allreduce(weft_pointer_to(&total), weft_pointer_to(&sum), 1, CRAY_UPC_LONG, UPC_ADD,
                          UPC_TEAM_ALL, nullptr);
  upc_barrier;
  long entries = 0;
  upc_memget(&entries, length, sizeof(long));
  std::vector<long> found(static_cast<std::size_t>(entries));
  upc_memget(found.data(), list, found.size() * sizeof(long));
  std::ranges::sort(found);
  found.push_back(total);
  upc_all_lock_free(writing);
  upc_all_atomicdomain_free(taking);
  upc_all_free(list);
  upc_all_free(length);
  upc_all_free(next);
  return found;
}
// [end]

// [after: queue]
std::vector<long> found_after(long count, long at_once) {
  weft::array<long> next(1), length(1), list(count);
  next[0] = length[0] = 0;
  weft::mutex writing;
  weft::barrier();
  long sum = 0;
  for (long first; (first = next.on(0)[0].fetch_add(at_once)) < count;)
    for (long task = first; task != std::min(first + at_once, count); ++task) {
      const long value = work(task);
      sum += value;
      if (!finds(value)) continue;
      const std::lock_guard hold(writing);
      const long place = length.on(0)[0];
      list.on(0)[place] = task;
      length.on(0)[0] = place + 1;
    }
  const long total = weft::reduce_all(sum, std::plus<>()).get();
  weft::barrier();
  std::vector<long> found(length.on(0)[0]);
  list.on(0).first(found.size()).get(found).wait();
  std::ranges::sort(found);
  found.push_back(total);
  return found;
}
// [end]

std::vector<long> found_alone(long count) {
  std::vector<long> found;
  long total = 0;
  for (long task = 0; task != count; ++task) {
    total += work(task);
    if (finds(work(task))) found.push_back(task);
  }
  found.push_back(total);
  return found;
}

} // namespace

WEFT_SUITE(pair_sort) {
  const weft::team all;
  const auto me = std::size_t(all.rank());
  bool right = true;
  for (const std::size_t count : {0, 1, 2000})
    right &= same("sort", sorted_before(numbers_of(me, count)), sorted_after(numbers_of(me, count)),
                  sorted_alone(me, std::size_t(all.size()), count));
  return right ? 0 : 1;
}

WEFT_SUITE(pair_teams) {
  const weft::team all;
  bool right = true;
  for (const int across : {1, 2, 3})
    for (const std::size_t block : {1, 300})
      right &= same("teams", rounds_before(across, 9, block), rounds_after(across, 9, block),
                    rounds_alone(all.rank(), all.size(), across, 9, block));
  return right ? 0 : 1;
}

WEFT_SUITE(pair_queue) {
  bool right = true;
  for (const long at_once : {1, 7})
    right &= same("queue", found_before(3000, at_once), found_after(3000, at_once), found_alone(3000));
  return right ? 0 : 1;
}
