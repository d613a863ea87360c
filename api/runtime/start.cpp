// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/start.hpp"

#include "engine/format.hpp"
#include "engine/log.hpp"
#include "pmix_boot/client/limits.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace weft::api {

namespace {

constexpr const char* key = "weft.memory";
constexpr const char* rank_start = "the start of a rank";

constexpr std::size_t addresses = std::size_t{256} << 20, addresses_of_ucx = std::size_t{192} << 20;

// Ranks of this job on this host: virtual nodes are on one.
std::vector<std::uint32_t> neighbours(const boot::job& job) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (job.one_host() || job.nodes()[r] == job.nodes()[job.rank()]) found.push_back(r);
  return found;
}

} // namespace

start_room::start_room() {
  boot::require_files(start_needs::files, rank_start);
  boot::require_addresses(addresses, rank_start, "");
  boot::require_data(start_needs::data, rank_start);
  boot::require_threads(start_needs::threads, rank_start);
}

void start_room::look(boot::job& job, std::size_t segment_bytes) {
  segment_bytes_ = segment_bytes;
  const std::size_t ranks = neighbours(job).size();
  const std::string start = "the start of a rank with " + std::to_string(ranks) + " on its host";
  boot::require_files(start_needs::files_of_ucx + ranks, start);
  // That of another rank is mapped twice for a moment (held_segment).
  boot::require_addresses(addresses_of_ucx + (ranks + (ranks > 1)) * segment_bytes, start,
                          ", or lower WEFT_HEAP_SIZE (each rank of the host takes twice as much)");
  trial_.emplace(segment_bytes, ranks);
  job.put(key, std::as_bytes(std::span(&trial_->found(), 1)));
}

transport::ucx::shared_memory start_room::agree(const boot::job& job) {
  std::vector<transport::ucx::memory_offer> offers;
  for (const std::uint32_t r : neighbours(job)) {
    const std::vector<std::byte> bytes = job.get(r, key);
    if (bytes.size() == sizeof(transport::ucx::memory_offer))
      std::memcpy(&offers.emplace_back(), bytes.data(), bytes.size());
  }
  trial_.reset();
  return transport::ucx::choose_memory(offers, segment_bytes_);
}

namespace {

// The ranks that are on rank 0's node, or those that are not, as in "0-3, 8".
std::string ranks(const std::vector<std::uint32_t>& nodes, bool near) {
  std::string text;
  for (std::size_t first = 0; first < nodes.size(); ++first) {
    if ((nodes[first] == nodes[0]) != near) continue;
    std::size_t last = first;
    while (last + 1 < nodes.size() && (nodes[last + 1] == nodes[0]) == near)
      ++last;
    text += engine::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += engine::format("-{}", last);
    first = last;
  }
  return text.empty() ? "none" : text;
}

const char* name(progress::mode mode) {
  switch (mode) {
  case progress::mode::dedicated:
    return "dedicated";
  case progress::mode::helping:
    return "helping";
  default:
    return "caller";
  }
}

} // namespace

void start_log::ended(const char* part) {
  const auto now = clock::now();
  const double took = std::chrono::duration<double, std::milli>(now - last_).count();
  parts_ += engine::format("{}{} {:.1f}", parts_.empty() ? "" : ", ", part, took);
  total_ += took;
  last_ = now;
}

void start_log::print(const std::vector<std::uint32_t>& nodes, progress::mode mode, const std::string& asked,
                      double cores, std::uint32_t local_ranks) const {
  engine::log(engine::severity::info,
              "lanes: thread 0 reaches threads {} by loads and stores, {} through UCX", ranks(nodes, true),
              ranks(nodes, false));
  engine::log(engine::severity::info, "progress: {} ({}; {:.1f} cores for {} threads on this node)",
              name(mode), asked == "auto" ? "chosen" : "as WEFT_PROGRESS asks", cores, local_ranks);
  engine::log(engine::severity::info, "start: {:.1f} ms ({})", total_, parts_);
}

namespace {

constexpr std::uint64_t page = 4096;

// Of malloc/preload.cpp.
template <class F> F* in_malloc(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}
using begins = bool(void* memory, std::size_t bytes, std::size_t least, std::size_t most_kept);
using ends = bool(void* memory);
using counts = void(void* memory, std::uint64_t* four);

} // namespace

std::uint64_t program_memory::room(const engine::settings& s) {
  return s.malloc ? (s.malloc_room + page - 1) / page * page + page : 0;
}

void program_memory::begin(std::byte* memory, const engine::settings& s, bool shared_for_good, bool speaks) {
  auto* const by = in_malloc<begins>("weft_malloc_begin");
  if (by == nullptr && speaks)
    engine::log(
        engine::severity::warn,
        "WEFT_MALLOC=1 without libweft-malloc.so: allocations of the program stay ordinary memory; start "
        "by weft run or weft mpi, or set LD_PRELOAD to its path");
  if (by == nullptr) return;
  const auto from = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  memory_ = reinterpret_cast<std::byte*>(from);
  const std::uint64_t bytes = room(s) - page;
  if (!by(memory_, bytes, s.malloc_least, shared_for_good ? ~std::size_t{0} : bytes / 2)) memory_ = nullptr;
}

bool program_memory::end() {
  if (memory_ == nullptr) return true;
  const bool gone = in_malloc<ends>("weft_malloc_end")(memory_);
  memory_ = nullptr;
  return gone;
}

void program_memory::print(std::uint32_t rank) const {
  if (memory_ == nullptr) return;
  std::array<std::uint64_t, 4> numbers{};
  in_malloc<counts>("weft_malloc_counts")(memory_, numbers.data());
  constexpr std::array<std::array<const char*, 2>, 4> lines{
      {{"malloc_in_segment", "allocations of the program that were placed in the shared segment"},
       {"malloc_bytes", "bytes of those that are left"},
       {"malloc_most_bytes", "bytes of those that there were at once, at most"},
       {"malloc_elsewhere", "large allocations for which it had no room: WEFT_MALLOC_ROOM"}}};
  for (std::size_t k = 0; k != lines.size(); ++k)
    engine::print(stderr, "weft: rank {}: {:<20} {:>12}  {}\n", rank, lines[k][0], numbers[k], lines[k][1]);
}

} // namespace weft::api
