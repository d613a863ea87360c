// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  const weft::job job(argc, argv);
  const int count = 1 << 15, all = count * job.size(); // from each rank to each other
  weft::array<double> src(all), dst(all);
  std::ranges::fill(src, job.rank());
  weft::pending exchange = weft::exchange(dst, src);
  double sum = 0; // no call into the library here: the exchange goes on by itself
  for (int i = 1; i < 10'000'000; ++i)
    sum += 1.0 / i;
  exchange.wait();
  const bool right = dst[0] == 0 && dst[all - 1] == job.size() - 1;
  std::printf("rank %d of %d: sum %.6f, blocks %s\n", job.rank(), job.size(), sum, right ? "right" : "wrong");
  return right ? 0 : 1;
}
