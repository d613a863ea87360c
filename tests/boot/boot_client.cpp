// SPDX-License-Identifier: BSD-3-Clause
// Checks, as one rank of a job, what weft::boot::job promises. What the launcher was asked for comes as
// arguments: boot_client RANKS NODES. Exits with 0 only if all of it holds on this rank.

#include "pmix_boot/client/job.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using weft::boot::job;

int failures = 0;

void expect(bool holds, const char* what, std::uint32_t rank) {
  if (holds) return;
  std::printf("boot_client: rank %u: not so: %s\n", rank, what);
  ++failures;
}

// Blocks as even as possible, the larger ones first.
std::vector<std::uint32_t> expected_nodes(std::uint32_t ranks, std::uint32_t nodes) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t node = 0; node < nodes; ++node)
    result.insert(result.end(), ranks / nodes + (node < ranks % nodes ? 1 : 0), node);
  return result;
}

void check_map(const job& me, std::uint32_t ranks, std::uint32_t nodes) {
  const std::uint32_t rank = me.rank();
  expect(me.size() == ranks, "the size is what the launcher was asked for", rank);
  expect(rank < ranks, "the rank is below the size", rank);
  const auto expected = expected_nodes(ranks, nodes);
  expect(me.nodes() == expected, "the nodes hold contiguous blocks of ranks", rank);
  const std::uint32_t my_node = expected.at(rank);
  const auto local = static_cast<std::uint32_t>(std::count(expected.begin(), expected.end(), my_node));
  const auto before =
      static_cast<std::uint32_t>(std::find(expected.begin(), expected.end(), my_node) - expected.begin());
  expect(me.local_size() == local, "the local size counts the ranks of this node", rank);
  expect(me.local_rank() == rank - before, "the local rank counts from the node's first rank", rank);
}

std::vector<std::byte> payload(std::uint32_t rank, std::uint32_t round, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(rank * 131 + round * 17 + i);
  return bytes;
}

// Every round publishes a new value and reads that of every rank: a fence that lets a rank through early, or
// that does not spread what was committed, shows as a missing or older value.
void check_exchange(job& me) {
  constexpr std::uint32_t rounds = 20;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::size_t size = round % 4 == 3 ? 4096 : 8 + round;
    const std::string name = "boot_client." + std::to_string(round);
    me.put(name, payload(me.rank(), round, size));
    me.commit();
    // Both kinds, which may meet in one fence.
    if ((round + me.rank()) % 2 == 0)
      me.fence();
    else
      expect(me.fence([] { return true; }), "a fence to which all come is passed", me.rank());
    for (std::uint32_t peer = 0; peer < me.size(); ++peer)
      expect(me.get(peer, name) == payload(peer, round, size), "the value is the one that the peer published",
             peer);
  }
}

void check_key(job& me) {
  const std::uint64_t key = me.key();
  expect(key != 0, "the key is not zero", me.rank());
  me.put("boot_client.key", std::as_bytes(std::span(&key, 1)));
  me.commit();
  me.fence();
  for (std::uint32_t peer = 0; peer < me.size(); ++peer) {
    const std::vector<std::byte> bytes = me.get(peer, "boot_client.key");
    expect(bytes.size() == sizeof key && std::memcmp(bytes.data(), &key, sizeof key) == 0,
           "all ranks have the same key", peer);
  }
}

void check_missing(const job& me) {
  try {
    me.get(me.size() - 1, "nobody.published.this");
    expect(false, "a missing value is an error", me.rank());
  } catch (const weft::boot::boot_error& error) {
    const std::string text = error.what();
    expect(text.find("nobody.published.this") != std::string::npos, "the error names the value", me.rank());
    expect(text.find("rank " + std::to_string(me.size() - 1)) != std::string::npos,
           "the error names the rank", me.rank());
    expect(me.singleton() || text.find("(-") != std::string::npos, "the error carries PMIx's status",
           me.rank());
  }
}

} // namespace

// Called by the executable of all clients: clients map RANKS NODES.
int check_what_a_client_finds(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto ranks = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const auto nodes = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  expect(me.singleton() == (nodes == 0), "singleton() tells whether there is a launcher", me.rank());
  check_map(me, ranks, nodes == 0 ? 1 : nodes);
  check_key(me);
  check_exchange(me);
  check_missing(me);
  me.fence();
  me.finalize();
  if (failures == 0 && me.rank() == 0)
    std::printf("boot_client: key %016llx\n", (unsigned long long)me.key());
  return failures == 0 ? 0 : 1;
}
