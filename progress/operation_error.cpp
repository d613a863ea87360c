#include "progress/operation_error.hpp"

#include <spdlog/fmt/fmt.h>

namespace weft::progress {

namespace {

std::string text_of(const bad_operand& bad) {
  if (bad.which == bad_operand::what::member)
    return fmt::format("perm: thread {}'s element is {}, no thread of the team; its block was not moved",
                       bad.from, bad.to);
  const bool source = bad.which == bad_operand::what::source;
  return fmt::format(
      "{}: the pointer for the block from thread {} to thread {} (thread {}, offset {}) must have "
      "affinity to thread {} and lead to {} bytes of the shared heap; the block was not moved",
      source ? "src" : "dst", bad.from, bad.to, bad.value.thread, bad.value.offset,
      source ? bad.from : bad.to, bad.bytes);
}

} // namespace

std::exception_ptr error_of(const operation& op) {
  if (op.status < 0)
    return std::make_exception_ptr(operation_error(fmt::format(
        "operation {} of the team failed in the transport with status {}; a peer is gone or unreachable",
        op.seq, op.status)));
  if (op.bad) return std::make_exception_ptr(operation_error(text_of(*op.bad)));
  if (op.value.known == 2)
    return std::make_exception_ptr(operation_error(fmt::format(
        "upc_barrier: thread {} gave the value {} and thread {} gave {}; all threads must give the "
        "same value, or none",
        op.value.rank, op.value.value, op.value.other_rank, op.value.other_value)));
  return nullptr;
}

} // namespace weft::progress
