// Random operations, completed in every way there is, by threads that are late: no call may wait for ever,
// and every byte must be right. Everything follows from the seed, and every byte from a formula.
//
//   soak --seed 7 --seconds 5 [--rounds N] [--patience 20] [--pulses FILE] [--hold]
//
// Exit status: 0, 1 for wrong data, 86 when nothing has moved for --patience seconds. --hold keeps a silent
// process for a debugger. soak.py runs one job after the other.
#include "tests/jobs/suite.h"
#include "tests/soak/player.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

namespace {

// The first thread's word counts: all of them stop behind the same round.
class common_end {
public:
  void say(bool over) const {
    for (int t = 0; t < THREADS; ++t)
      upc_memput(soak::berths::on(static_cast<std::uint32_t>(t), words_.addr), &over, sizeof over);
  }
  bool heard() const { return *soak::berths::mine<bool>(words_.addr); }

private:
  const upc_shared_ptr_t words_ = upc_all_alloc(static_cast<std::size_t>(THREADS), 64);
};

} // namespace

WEFT_SUITE(soak) {
  std::uint64_t seed = 1, rounds = ~std::uint64_t{0};
  double seconds = 5;
  std::string pulses;
  unsigned patience = 20;
  bool hold = false, corrupt = false;
  CLI::App app("Random operations, completions and late threads.");
  app.add_option("--seed", seed, "everything follows from it and the number of threads");
  app.add_option("--seconds", seconds, "how long, about");
  app.add_option("--rounds", rounds, "how many rounds at most");
  app.add_option("--pulses", pulses, "a file through which the processes see each other's steps");
  app.add_option("--patience", patience, "seconds of silence that are a hang");
  app.add_flag("--hold", hold, "keep a silent process for a debugger");
  app.add_flag("--corrupt", corrupt, "change one byte: it must be found");
  CLI11_PARSE(app, argc, argv);
  const auto begin = std::chrono::steady_clock::now();
  try {
    const soak::character job(seed, static_cast<std::uint32_t>(THREADS));
    const common_end end;
    soak::player player({job, pulses, patience, hold, corrupt});
    std::uint64_t round = 0;
    for (bool over = false; !over; ++round) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (MYTHREAD == 0) end.say(spent.count() > seconds || round + 1 >= rounds);
      player.play_round(round); // begins and ends with a barrier
      over = end.heard();
      upc_barrier;
    }
    if (MYTHREAD == 0)
      std::printf("soak: seed %llu, %d threads, depth %u, blocks up to %u: %llu rounds, %llu calls\n",
                  static_cast<unsigned long long>(seed), int(THREADS), job.depth, job.largest,
                  static_cast<unsigned long long>(round), static_cast<unsigned long long>(player.calls()));
  } catch (const weft::error& e) {
    std::fprintf(stderr, "soak: seed %llu, rank %d: %s\n", static_cast<unsigned long long>(seed),
                 int(MYTHREAD), e.what());
    std::_Exit(1);
  }
  return 0;
}
