// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/report.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace calls {

report::report(std::uint64_t seed, std::uint32_t thread, std::uint32_t threads, std::string more,
               const patience& with)
    : seed_(seed), thread_(thread), threads_(threads), more_(std::move(more)),
      watch_(with.pulses, thread, threads, with.seconds, with.hold, [this] {
        const std::lock_guard lock(lock_);
        return fmt::format("seed {}, case {}: {}; {}", seed_, index_, doing_, replay());
      }) {}

std::string report::replay() const {
  return fmt::format("replay with {} ranks: --seed {} --first {} --cases 1{}", threads_, seed_, index_,
                     more_);
}

void report::begin(std::uint64_t index) {
  const std::lock_guard lock(lock_);
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

void report::note(const std::string& doing) {
  {
    const std::lock_guard lock(lock_);
    doing_ = doing;
  }
  watch_.beat();
}

} // namespace calls
