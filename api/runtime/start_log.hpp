#pragma once
#include "progress/driving/cores.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::api {

// What WEFT_LOG=info tells of the start of a job: how threads are reached, who drives and why, and what the
// start took. Rank 0 prints, for itself.
class start_log {
public:
  // The part of the start that has just ended.
  void ended(const char* part);
  void print(const std::vector<std::uint32_t>& nodes, progress::mode mode, const std::string& asked,
             double cores, std::uint32_t local_ranks) const;

private:
  using clock = std::chrono::steady_clock;
  clock::time_point last_ = clock::now();
  double total_ = 0; // milliseconds
  std::string parts_;
};

} // namespace weft::api
