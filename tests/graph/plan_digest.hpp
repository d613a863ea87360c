// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/graph/plan_cases.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

// What all plans do, as a line of numbers for each operation, algorithm and mode: a change of the engine that
// changes none of them has changed no plan. The committed ones are in plans.digest.
namespace weft::graph {

// A number that stands for texts, the same everywhere (FNV-1a).
class digest {
public:
  void add(std::string_view text) {
    for (const char c : text)
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::string text() const;

private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// Of one case.
std::string digest_of(const plan_case& c);
// Of the cases of a line: the sampled ones by the shape of the hosts, and the others together; "-" of none.
std::string sampled_digests(const plan_line& line);
std::string other_digest(const plan_line& line);

// The digests of a file by the keys of its lines.
using digest_file = std::map<std::string, std::string, std::less<>>;
digest_file read_digests(const std::string& path);

} // namespace weft::graph
