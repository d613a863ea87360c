#pragma once
#include "engine/out_of_memory.hpp"
#include "engine/transport/message.hpp"

namespace weft::transport::ucx {

// A message that UCX has brought: nothing may be thrown through it.
inline void pass_on(message_sink* sink, const message& m, std::span<const std::byte> payload) noexcept {
  if (sink == nullptr) return;
  try {
    sink->on_message(m, payload);
  } catch (...) {
    engine::end_out_of_memory("a message that has come");
  }
}

} // namespace weft::transport::ucx
