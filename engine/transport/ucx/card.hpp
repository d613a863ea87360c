// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::transport::ucx {

constexpr std::uint32_t wire_version = 8;

// What others need to know of a rank to reach it: published through the job before any rank connects.
struct card {
  std::uint32_t version = wire_version;
  bool by_messages = true; // its memory is not to be reached by UCX's put and get
  std::uint64_t base = 0;  // of its segment
  int system_v_id = -1;    // of its segment, if it is one of System V
  std::vector<std::byte> address;
  std::vector<std::byte> key; // of its segment
};

std::vector<std::byte> packed(const card& c);
// Throws std::runtime_error if the bytes are none. Of another version, only the version is read.
card unpacked_card(std::span<const std::byte> bytes);

} // namespace weft::transport::ucx
