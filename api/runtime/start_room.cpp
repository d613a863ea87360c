#include "api/runtime/start_room.hpp"

#include "pmix_boot/client/limits.hpp"

#include <cstring>
#include <vector>

namespace weft::api {

namespace {

constexpr const char* key = "weft.memory";
constexpr const char* rank_start = "the start of a rank";

// Measured with PMIx 4.2 and UCX 1.13, with all transports and what is opened for a moment only, and some
// more. A third of the files is open when the job has been joined.
constexpr std::size_t files = 34, files_of_ucx = 22;
// Of libraries and threads, beside the memory that ranks share.
constexpr std::size_t data = std::size_t{64} << 20;
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
  boot::require_files(files, rank_start);
  boot::require_addresses(addresses, rank_start, "");
  boot::require_data(data, rank_start);
}

void start_room::look(boot::job& job, std::size_t segment_bytes) {
  segment_bytes_ = segment_bytes;
  const std::size_t ranks = neighbours(job).size();
  const std::string start = "the start of a rank with " + std::to_string(ranks) + " on its host";
  boot::require_files(files_of_ucx + ranks, start);
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

} // namespace weft::api
