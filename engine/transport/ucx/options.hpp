// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/room.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace weft::transport::ucx {

struct options {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t job_key = 0; // in every header: a message of another job is dropped
  std::size_t segment_bytes = 0;
  shared_memory memory = shared_memory::system_v; // of all ranks of this host
  bool one_host = true;                           // no network transport is opened then
  std::vector<bool> near;                         // by rank: its memory is to be reached by loads and stores
  // The card of another rank, as made by card() there.
  std::function<std::vector<std::byte>(std::uint32_t rank)> card_of;
  // Asked before the first connection to a rank: whether its host is to be reached. UCX waits for a
  // connection within the call that makes it, for minutes if nobody answers.
  std::function<bool(std::uint32_t rank)> reaches = [](std::uint32_t) { return true; };
  // Told when the connection to a rank has broken, once; inside poll(), so it must be short.
  std::function<void(std::uint32_t rank)> on_loss = [](std::uint32_t) {};
};

} // namespace weft::transport::ucx
