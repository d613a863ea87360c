// SPDX-License-Identifier: BSD-3-Clause
#include <upc.h>
#include <stdio.h>

shared [4] int numbers[4 * THREADS];
shared int squares[4 * THREADS];
shared [] long sums[32];
shared double mean;

int main(int argc, char** argv) {
  int i;
  upc_forall (i = 0; i < 4 * THREADS; i++; &numbers[i])
    numbers[i] = 3 * i - 1;
  upc_barrier;
  upc_forall (i = 0; i < 4 * THREADS; i++; i)
    squares[i] = numbers[i] * numbers[i];
  upc_barrier;
  sums[MYTHREAD] = 0;
  for (i = 0; i < 4; i++)
    sums[MYTHREAD] += squares[4 * MYTHREAD + i];
  upc_barrier;
  if (MYTHREAD == 0) {
    mean = 0;
    for (i = 0; i < THREADS; i++)
      mean += sums[i];
    mean = mean / (4 * THREADS);
    printf("%d threads, %.3f on average, %d words\n", THREADS, mean, argc);
    fflush(stdout);
  }
  upc_barrier;
  return MYTHREAD == THREADS - 1 && argc > 2 ? 3 : 0;
}
