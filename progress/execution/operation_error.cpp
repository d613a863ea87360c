// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/operation_error.hpp"

#include "engine/format.hpp"
#include "progress/execution/channel.hpp"

namespace weft::progress {

element_error::element_error(collectives::operation op, std::string argument, std::string value,
                             std::string rule, collectives::caller by)
    : operation_error(weft::engine::format("{} = {}: {}", argument, value, rule)), op(op), by(by),
      argument(std::move(argument)), value(std::move(value)), rule(std::move(rule)) {}

namespace {

std::string text_of(const shared_pointer& p) {
  if (p.offset == 0 && p.thread == 0 && p.phase == 0) return "(null)";
  return weft::engine::format("(thread {}, offset {:#x}, phase {})", p.thread, p.offset, p.phase);
}

// An element of a permutation, of the type that it has there.
std::string number_of(const collectives::request& r, std::uint64_t element) {
  return r.wide_perm ? std::to_string(element) : std::to_string(static_cast<std::int32_t>(element));
}

element_error error_of(const collectives::request& r, const bad_operand& bad) {
  const collectives::operation op = r.op;
  if (bad.which == bad_operand::what::member)
    return {op, "perm", number_of(r, bad.bytes),
            weft::engine::format("thread {}'s element must be a thread of the team, and each thread's another; its "
                        "block was not moved",
                        bad.from)};
  if (bad.which == bad_operand::what::no_rank)
    return {op, "perm", weft::engine::format("no element {}", bad.from),
            "every thread of the team must be the element of one; nothing was moved to this thread"};
  if (bad.which == bad_operand::what::size)
    return {op, "nbytes", std::to_string(bad.bytes),
            weft::engine::format(
                "thread {} gives thread {} {} bytes: both must say the same; the block was not moved",
                bad.from, bad.to, bad.value.offset),
            r.by};
  if (bad.which == bad_operand::what::gone)
    return {op, bad.to != 0 ? "src" : "dst", weft::engine::format("{:#x}", bad.value.offset),
            weft::engine::format(
                "the {} bytes there are not mapped any more: memory of an operation must stay until it is "
                "complete; {}",
                bad.bytes,
                bad.to != 0 ? "what others got of them is undefined" : "nothing was written there"),
            r.by};
  const bool source = bad.which == bad_operand::what::source;
  return {op, source ? "src" : "dst", text_of(bad.value),
          weft::engine::format(
              "the element for the block from thread {} to thread {} must have affinity to thread {} "
              "and lead to {} bytes of the shared heap; the block was not moved",
              bad.from, bad.to, source ? bad.from : bad.to, bad.bytes)};
}

} // namespace

namespace {

template <class... Values>
std::exception_ptr operation_failed(weft::engine::format_text<std::type_identity_t<Values>...> text,
                                    const Values&... values) noexcept {
  try {
    return std::make_exception_ptr(operation_error(weft::engine::format(text, values...)));
  } catch (...) {
    return std::current_exception();
  }
}

} // namespace

std::exception_ptr member_lost(std::uint32_t rank, const fate& f) noexcept {
  return operation_failed(
      "thread {} of the job {}; no operation of a team that it is a member of can finish any more", rank,
      f.words);
}

std::exception_ptr unfinished(std::uint64_t number, std::uint32_t told_by, std::uint32_t unreachable,
                              const char* why) noexcept {
  return operation_failed("operation {} of the team cannot be finished: thread {} could not reach thread {} "
                          "({}); what it was to write is undefined",
                          number, told_by, unreachable, why);
}

std::exception_ptr error_of(const posted& op, const char* why) noexcept {
  try {
    if (op.status == status_disputed && op.channel->dispute)
      return std::make_exception_ptr(
          mismatch_error(call_name(op.key), text_of(*op.channel->dispute, op.seq)));
    if (op.status < 0 && op.channel->lost != channel::no_rank)
      return member_lost(op.channel->lost, op.channel->why_lost);
    if (op.thrown) return std::make_exception_ptr(user_code_error{op.thrown});
    if (op.status == status_user_code)
      return std::make_exception_ptr(operation_error(
          weft::engine::format("operation {} of the team cannot be finished: a function of the user "
                               "threw on thread {}; what it was "
                               "to write is undefined",
                               op.seq, op.told_by)));
    if (op.status < 0) return unfinished(op.seq, op.told_by, op.unreachable, why);
    if (op.bad) return std::make_exception_ptr(error_of(op.key, *op.bad));
    return std::make_exception_ptr(operation_error(weft::engine::format(
        "upc_barrier: thread {} gave the value {} and thread {} gave {}; all threads must give the "
        "same value, or none",
        op.value.rank, op.value.value, op.value.other_rank, op.value.other_value)));
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr transfer_error(std::uint32_t rank, const char* why) noexcept {
  try {
    fail_transfer(rank, why);
  } catch (...) { // for want of memory: then that
    return std::current_exception();
  }
}

void fail_transfer(std::uint32_t rank, const char* why) {
  throw operation_error(weft::engine::format("thread {} could not be reached ({})", rank, why));
}

} // namespace weft::progress
