// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/segment.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weft::transport::ucx {

namespace {

// Beside the large one, of UCX 1.13: a queue, and memory for the messages that come in.
constexpr std::size_t small_segments[] = {16 << 10, 4608 << 10};

// A file there is written in full at once, by each rank of the host.
bool fits_into_shm_files(std::size_t bytes, std::size_t ranks) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) return false;
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::uint64_t memory = static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
                               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t more : small_segments)
    bytes += more;
  return bytes <= free / ranks && bytes <= memory / ranks;
}

[[noreturn]] void refuse(std::size_t bytes, int why) {
  const bool limited = why != ENOMEM;
  throw std::runtime_error(
      "cannot reserve " + std::to_string(bytes >> 20) +
      " MiB of shared memory for a rank: " + std::strerror(why) +
      (limited
           ? ", and /dev/shm has no room for it; lower WEFT_HEAP_SIZE (a rank takes twice as much), or raise "
             "kernel.shmmax, kernel.shmall and kernel.shmmni or enlarge /dev/shm"
           : "; lower WEFT_HEAP_SIZE (a rank takes twice as much)"));
}

} // namespace

memory_trial::memory_trial(std::size_t bytes, std::size_t ranks) {
  found_.no_system_v = hold(bytes);
  for (const std::size_t more : small_segments)
    if (found_.no_system_v == 0) found_.no_system_v = hold(more);
  found_.files_fit = fits_into_shm_files(bytes, ranks);
}

memory_trial::~memory_trial() {
  for (const void* at : held_)
    shmdt(at);
}

// 0, or why the system gives no segment of this size. It is marked as removed at once, and stays while it is
// attached.
int memory_trial::hold(std::size_t bytes) {
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | S_IRUSR | S_IWUSR);
  if (id < 0) return errno;
  const void* at = shmat(id, nullptr, 0);
  const int why = at == reinterpret_cast<void*>(-1) ? errno : 0;
  shmctl(id, IPC_RMID, nullptr);
  if (why == 0) held_.push_back(at);
  return why;
}

shared_memory choose_memory(std::span<const memory_offer> of_host, std::size_t bytes) {
  const auto limited =
      std::ranges::find_if(of_host, [](const memory_offer& o) { return o.no_system_v != 0; });
  if (limited == of_host.end()) return shared_memory::system_v;
  const auto fit = [](const memory_offer& o) { return o.no_system_v != ENOMEM && o.files_fit != 0; };
  if (!std::ranges::all_of(of_host, fit)) refuse(bytes, limited->no_system_v);
  return shared_memory::files;
}

segment::segment(ucp_context_h context, std::size_t bytes) : context_(context), bytes_(bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
  params.address = nullptr;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK;
  const std::string otherwise =
      "cannot reserve " + std::to_string(bytes >> 20) + " MiB of shared memory; lower WEFT_HEAP_SIZE";
  ucp_mem_h memory = nullptr;
  check(ucp_mem_map(context, &params, &memory), otherwise);
  memory_ = memory_ptr(memory, {context});
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
  check(ucp_mem_query(memory, &attributes), "cannot query the shared segment");
  base_ = static_cast<std::byte*>(attributes.address);
  keep_private();
}

void keep_private() {
  for (const mapped_segment& m : mapped_segments()) {
    shmid_ds state{};
    if (shmctl(m.id, IPC_STAT, &state) != 0 || state.shm_perm.uid != geteuid()) continue;
    if ((state.shm_perm.mode & 0777) == (S_IRUSR | S_IWUSR)) continue;
    state.shm_perm.mode = S_IRUSR | S_IWUSR;
    if (shmctl(m.id, IPC_SET, &state) != 0)
      throw std::runtime_error(std::string("cannot make shared memory private: ") + std::strerror(errno));
  }
}

int segment::system_v_id() const {
  for (const mapped_segment& m : mapped_segments())
    if (m.base == reinterpret_cast<std::uintptr_t>(base_)) return m.id;
  return -1;
}

std::vector<std::byte> segment::packed_key() const {
  void* buffer = nullptr;
  std::size_t size = 0;
  check(ucp_rkey_pack(context_, memory_.get(), &buffer, &size), "cannot pack the remote key of the segment");
  const std::unique_ptr<void, decltype(&ucp_rkey_buffer_release)> owner(buffer, ucp_rkey_buffer_release);
  const auto* bytes = static_cast<const std::byte*>(buffer);
  return {bytes, bytes + size};
}

// The inode of such a line is the segment's identifier.
std::vector<mapped_segment> mapped_segments() {
  std::vector<mapped_segment> all;
  std::ifstream maps("/proc/self/maps");
  maps.exceptions(std::ios::badbit); // a stream keeps want of memory to itself otherwise
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    fields.exceptions(std::ios::badbit);
    std::string range, rights, offset, device, path;
    int inode = -1;
    fields >> range >> rights >> offset >> device >> inode >> path;
    if (path.rfind("/SYSV", 0) == 0) all.push_back({inode, std::stoull(range, nullptr, 16)});
  }
  return all;
}

held_segment::held_segment(int id) noexcept : at_(shmat(id, nullptr, SHM_RDONLY)) {
  if (at_ == reinterpret_cast<void*>(-1)) at_ = nullptr;
}

held_segment::~held_segment() {
  if (at_ != nullptr) shmdt(at_);
}

} // namespace weft::transport::ucx
