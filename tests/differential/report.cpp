#include "tests/differential/report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace differential {

namespace {

// Read by the handler only; written with the alarm off.
char last_words[4096];
std::size_t last_length = 0;

extern "C" void time_is_up(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, last_words, last_length);
  _exit(3);
}

} // namespace

std::string report::replay() const {
  return fmt::format("replay with {} ranks: --seed {} --first {} --cases 1", threads_, seed_, index_);
}

void report::begin(std::uint64_t index) {
  index_ = index;
  spoken_ = false;
}

void report::wrong(const std::string& what) {
  ++failures_;
  if (spoken_) return;
  spoken_ = true;
  std::fprintf(stderr, "seed %llu, case %llu, rank %u: %s; %s\n", static_cast<unsigned long long>(seed_),
               static_cast<unsigned long long>(index_), thread_, what.c_str(), replay().c_str());
}

void report::note(unsigned patience_seconds, const std::string& doing) {
  alarm(0);
  const std::string words = fmt::format("seed {}, case {}, rank {}: hangs for {} s: {}; {}\n", seed_, index_,
                                        thread_, patience_seconds, doing, replay());
  last_length = std::min(words.size(), sizeof last_words);
  std::memcpy(last_words, words.data(), last_length);
  last_words[last_length - 1] = '\n';
  std::signal(SIGALRM, time_is_up);
  alarm(patience_seconds);
}

void report::done() {
  alarm(0);
}

} // namespace differential
