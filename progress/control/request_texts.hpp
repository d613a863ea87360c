// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/requests.hpp"

#include <array>
#include <cstdio>
#include <string>

// What a thread waits for that has asked a rank for something, in the words of a report.
namespace weft::control {

inline std::string place(std::uint64_t offset) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "offset 0x%llx", static_cast<unsigned long long>(offset));
  return text.data();
}

inline std::string answer_of(std::uint32_t peer, const std::string& to) {
  return "an answer of thread " + std::to_string(peer) + " to " + to;
}
inline std::string wait_text(std::uint32_t peer, const allocate& r) {
  return answer_of(peer, "upc_global_alloc of " + std::to_string(r.bytes) + " bytes per thread");
}
inline std::string wait_text(std::uint32_t peer, const free_block& r) {
  return answer_of(peer, "upc_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const allocate_mailbox&) {
  return answer_of(peer, "a request for the memory of a team");
}
inline std::string wait_text(std::uint32_t peer, const want_lock& r) {
  return "a lock of thread " + std::to_string(peer) + " at " + place(r.offset);
}
inline std::string wait_text(std::uint32_t peer, const unlock& r) {
  return answer_of(peer, "upc_unlock at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const free_lock& r) {
  return answer_of(peer, "upc_lock_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const do_atomic& r) {
  return answer_of(peer, "an atomic operation at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t peer, const find_block& r) {
  return answer_of(peer, "which block is at " + place(r.offset) + " (WEFT_CHECK)");
}

} // namespace weft::control
