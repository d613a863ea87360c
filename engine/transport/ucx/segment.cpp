// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/segment.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::transport::ucx {

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
