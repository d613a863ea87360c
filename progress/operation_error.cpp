#include "progress/operation_error.hpp"

#include <spdlog/fmt/fmt.h>

namespace weft::progress {

element_error::element_error(collectives::operation op, std::string argument, std::string value,
                             std::string rule)
    : operation_error(fmt::format("{} = {}: {}", argument, value, rule)), op(op),
      argument(std::move(argument)), value(std::move(value)), rule(std::move(rule)) {}

namespace {

std::string text_of(const shared_pointer& p) {
  if (p.offset == 0 && p.thread == 0 && p.phase == 0) return "(null)";
  return fmt::format("(thread {}, offset {:#x}, phase {})", p.thread, p.offset, p.phase);
}

element_error error_of(collectives::operation op, const bad_operand& bad) {
  if (bad.which == bad_operand::what::member)
    return {op, "perm", std::to_string(bad.to),
            fmt::format("thread {}'s element must be a thread of the team, and each thread's another; its "
                        "block was not moved",
                        bad.from)};
  if (bad.which == bad_operand::what::nobody)
    return {op, "perm", fmt::format("no element {}", bad.from),
            "every thread of the team must be the element of one; nothing was moved to this thread"};
  const bool source = bad.which == bad_operand::what::source;
  return {op, source ? "src" : "dst", text_of(bad.value),
          fmt::format("the element for the block from thread {} to thread {} must have affinity to thread {} "
                      "and lead to {} bytes of the shared heap; the block was not moved",
                      bad.from, bad.to, source ? bad.from : bad.to, bad.bytes)};
}

} // namespace

std::exception_ptr error_of(const posted& op) {
  if (op.status < 0)
    return std::make_exception_ptr(operation_error(fmt::format(
        "operation {} of the team failed in the transport with status {}; a peer is gone or unreachable",
        op.seq, op.status)));
  if (op.bad) return std::make_exception_ptr(error_of(op.key.op, *op.bad));
  if (op.value.known == 2)
    return std::make_exception_ptr(operation_error(fmt::format(
        "upc_barrier: thread {} gave the value {} and thread {} gave {}; all threads must give the "
        "same value, or none",
        op.value.rank, op.value.value, op.value.other_rank, op.value.other_value)));
  return nullptr;
}

} // namespace weft::progress
