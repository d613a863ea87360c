// SPDX-License-Identifier: BSD-3-Clause
// The pipelined all-to-all of Cray's manual page cray_upc_team_alltoall, statement by statement: while one
// round travels, the source of the next one is computed. A comment quotes each statement of the page above
// its counterpart here.
//
// What a thread sends depends on the round, on both ends and on what it received in the round before, so that
// a round that is late, early or in the wrong buffer makes every following one wrong; each word is checked.
#include "examples/support/shared_blocks.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <weft/weft.hpp>

namespace {

using shared_chars = weft::ptr<char, 1>;
using word = std::uint64_t;

constexpr int rounds = 50;
constexpr std::size_t words_per_block = 1024;
constexpr std::size_t nbytes = words_per_block * sizeof(word);

// What `source` adds for `destination` in this round.
word contribution(int round, int source, int destination, std::size_t index) {
  const word key =
      ((static_cast<word>(round) * 4099 + source) * 4099 + destination) * words_per_block + index;
  return key * 0x9e3779b97f4a7c15;
}

// What `source` sends to `destination` in this round: its contribution, added to what it got from there in
// the round before. Round 0 is the initial data.
word expected(int round, int source, int destination, std::size_t index) {
  word sum = 0;
  for (int r = 0; r <= round; ++r) {
    const bool there = (round - r) % 2 == 0;
    sum += there ? contribution(r, source, destination, index) : contribution(r, destination, source, index);
  }
  return sum;
}

// The calling thread's block for, or from, `partner` in one of the four buffers.
word* block(shared_chars buffer, int partner) {
  return static_cast<word*>(upc_cast(buffer + MYTHREAD)) +
         static_cast<std::size_t>(partner) * words_per_block;
}

// The application around the loop: it counts rounds and errors.
class application {
public:
  // The initial data look as if a round 0 had just arrived in the buffer that the first round reads.
  void initialize_data(shared_chars (&d)[2], shared_chars (&)[2]) {
    for (int t = 0; t != THREADS; ++t)
      for (std::size_t w = 0; w != words_per_block; ++w)
        block(d[1], t)[w] = expected(0, t, MYTHREAD, w);
  }

  bool finished() { return ++round_ > rounds; }

  void compute_local_source(shared_chars s) {
    for (int t = 0; t != THREADS; ++t)
      for (std::size_t w = 0; w != words_per_block; ++w)
        block(s, t)[w] = contribution(round_, MYTHREAD, t, w);
  }

  void update_local_from_global(shared_chars d, shared_chars s) {
    check(d, round_ - 1);
    for (int t = 0; t != THREADS; ++t)
      for (std::size_t w = 0; w != words_per_block; ++w)
        block(s, t)[w] += block(d, t)[w];
  }

  void check(shared_chars d, int round) {
    for (int t = 0; t != THREADS; ++t)
      for (std::size_t w = 0; w != words_per_block; ++w)
        if (block(d, t)[w] != expected(round, t, MYTHREAD, w) && errors_++ == 0)
          std::fprintf(stderr, "pipeline: round %d: word %zu from thread %d is wrong on thread %d\n", round,
                       w, t, int(MYTHREAD));
  }

  std::size_t errors() const { return errors_; }

private:
  int round_ = 0;
  std::size_t errors_ = 0;
};

std::size_t run() {
  application program;
  // "int i;"
  int i;
  // "upc_handle_t h = UPC_COMPLETE_HANDLE;"
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  // "shared char *d[2], *s[2];"
  shared_chars d[2], s[2];

  // "d[0] = (shared char *) upc_all_alloc( 4 * THREADS, THREADS * nbytes );"
  d[0] = shared_chars(upc_all_alloc(4 * THREADS, THREADS * nbytes));
  // "d[1] = d[0] + THREADS * THREADS * nbytes;"
  d[1] = d[0] + THREADS * THREADS * nbytes;
  // "s[0] = d[1] + THREADS * THREADS * nbytes;"
  s[0] = d[1] + THREADS * THREADS * nbytes;
  // "s[1] = s[0] + THREADS * THREADS * nbytes;"
  s[1] = s[0] + THREADS * THREADS * nbytes;
  // "initialize_data( d, s );"
  program.initialize_data(d, s);

  // "for ( i=0 ; ; i=1-i ) {"
  for (i = 0;; i = 1 - i) {
    // "if ( finished() ) break;"
    if (program.finished()) break;
    // "compute_local_source( s[i] );"
    program.compute_local_source(s[i]);

    // "upc_sync( h );"
    upc_sync(h);

    // "update_local_from_global( d[1-i], s[i] );"
    program.update_local_from_global(d[1 - i], s[i]);

    // "h = cray_upc_team_alltoall_nb( d[i], s[i], nbytes, CRAY_UPC_TEAM_ALL );"
    // All threads have entered when it returns, so each has completed the round before: s[1-i] is free.
    h = cray_upc_team_alltoall_nb(d[i], s[i], nbytes, CRAY_UPC_TEAM_ALL);
  }
  // "upc_sync( h );"
  upc_sync(h);
  program.check(d[1 - i], rounds);
  // "cray_upc_team_barrier( CRAY_UPC_TEAM_ALL );"
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);

  upc_all_free(d[0]);
  return program.errors();
}

} // namespace

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const auto errors = example::gatherer<std::size_t>()(run());
  const auto wrong = std::accumulate(errors.begin(), errors.end(), std::size_t{0});
  if (MYTHREAD == 0 && wrong == 0)
    std::printf("pipeline: %d rounds, threads: %d, data verified\n", rounds, int(THREADS));
  else if (MYTHREAD == 0)
    std::printf("pipeline: %zu wrong words\n", wrong);
  weft_finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
