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

inline std::string answer_of(std::uint32_t whom, const std::string& to) {
  return "an answer of thread " + std::to_string(whom) + " to " + to;
}
inline std::string wait_text(std::uint32_t whom, const allocate& r) {
  return answer_of(whom, "upc_global_alloc of " + std::to_string(r.bytes) + " bytes per thread");
}
inline std::string wait_text(std::uint32_t whom, const free_block& r) {
  return answer_of(whom, "upc_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t whom, const allocate_mailbox&) {
  return answer_of(whom, "a request for the memory of a team");
}
inline std::string wait_text(std::uint32_t whom, const want_lock& r) {
  return "a lock of thread " + std::to_string(whom) + " at " + place(r.offset);
}
inline std::string wait_text(std::uint32_t whom, const unlock& r) {
  return answer_of(whom, "upc_unlock at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t whom, const free_lock& r) {
  return answer_of(whom, "upc_lock_free at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t whom, const do_atomic& r) {
  return answer_of(whom, "an atomic operation at " + place(r.offset));
}
inline std::string wait_text(std::uint32_t whom, const find_block& r) {
  return answer_of(whom, "which block is at " + place(r.offset) + " (WEFT_CHECK)");
}

} // namespace weft::control
