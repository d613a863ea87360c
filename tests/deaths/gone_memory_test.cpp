// SPDX-License-Identifier: BSD-3-Clause
// A rank of the same host that dies while another one connects to it: that one is told so.
//
// Mutation that this catches: the key is unpacked without a hold on the memory (UCX 1.13 ends the process).
#include "engine/transport/ucx/links.hpp"
#include "engine/transport/ucx/transport.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace weft::tests {
namespace {

using transport::ucx::ucx_transport;
using bytes = std::vector<std::byte>;

std::unique_ptr<ucx_transport> started_rank(std::uint32_t rank, bytes card_of_other) {
  setenv("UCX_TLS", "self,sysv,cma", 1);
  transport::ucx::options o;
  o.rank = rank;
  o.size = 2;
  o.job_key = 0x5eed;
  o.segment_bytes = 1 << 20;
  o.near.assign(2, true);
  o.card_of = [card = std::move(card_of_other)](std::uint32_t) { return card; };
  o.on_loss = [](std::uint32_t) {};
  return std::make_unique<ucx_transport>(std::move(o));
}

// The card of a rank in another process, which is gone without a word when this returns.
bytes card_of_the_dead() {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bytes card = started_rank(1, {})->card();
    const bool written = write(ends[1], card.data(), card.size()) == static_cast<ssize_t>(card.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  bytes card(1 << 16);
  card.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], card.data(), card.size()))));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return card;
}

// Who dies between the making of the endpoint and the unpacking of the key.
TEST(deaths, memory_of_a_rank_that_died_while_it_was_met) {
  const bytes dead = card_of_the_dead();
  ASSERT_FALSE(dead.empty());
  const auto alive = started_rank(1, {});
  transport::ucx::card forged = transport::ucx::unpacked_card(alive->card());
  const transport::ucx::card gone = transport::ucx::unpacked_card(dead);
  forged.key = gone.key;
  forged.system_v_id = gone.system_v_id;
  const auto rank = started_rank(0, packed(forged));
  try {
    rank->meet(1);
    FAIL() << "met";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("the memory of rank 1 is gone"), std::string::npos) << e.what();
  }
  rank->abandon(1);
}

} // namespace
} // namespace weft::tests
