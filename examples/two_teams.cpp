// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <numeric>
#include <span>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  const weft::job job(argc, argv);
  const int me = job.rank(), ranks = job.size(), odd = me % 2;
  const weft::team half = job.all().split(odd); // the even ranks are one team, the odd ones another
  weft::array<int> mine(1), of_all(ranks), of_half(ranks);
  mine[0] = me;
  const std::span<int> from[] = {of_all.local(), of_half.local().subspan(0, half.size())};
  weft::pending both[] = {weft::gather_all(from[0], mine), weft::gather_all(from[1], mine, half)};
  int sums[] = {0, 0};
  while (const auto i = weft::wait_any(both)) // whichever is complete first
    sums[*i] = std::reduce(from[*i].begin(), from[*i].end());
  std::printf("rank %d of %d: sum of all %d, of its team %d\n", me, ranks, sums[0], sums[1]);
  return sums[0] == ranks * (ranks - 1) / 2 && sums[1] == half.size() * (half.size() - 1 + odd) ? 0 : 1;
}
