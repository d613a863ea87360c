#include "progress/operation_error.hpp"

#include <spdlog/fmt/fmt.h>

namespace weft::progress {

std::exception_ptr error_of(const operation& op) {
  if (op.status < 0)
    return std::make_exception_ptr(operation_error(fmt::format(
        "operation {} of the team failed in the transport with status {}; a peer is gone or unreachable",
        op.seq, op.status)));
  if (op.value.known == 2)
    return std::make_exception_ptr(operation_error(fmt::format(
        "upc_barrier: thread {} gave the value {} and thread {} gave {}; all threads must give the "
        "same value, or none",
        op.value.rank, op.value.value, op.value.other_rank, op.value.other_value)));
  return nullptr;
}

} // namespace weft::progress
