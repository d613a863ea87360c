#include "engine/transport/ucx/segment.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>

namespace weft::transport::ucx {

namespace {

// The line of this process's memory map that holds an address: its path and its inode, which for System V shared
// memory is the identifier of the segment.
struct mapping {
  std::string path;
  int inode = -1;
};

mapping mapping_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights, offset, device;
    mapping found;
    fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> std::dec >> found.inode;
    if (wanted < begin || wanted >= end) continue;
    std::getline(fields >> std::ws, found.path);
    return found;
  }
  return {};
}

// UCX makes System V segments readable by the user's group; other users' jobs must not attach.
void make_private(const void* address) {
  const mapping found = mapping_of(address);
  if (found.path.rfind("/SYSV", 0) != 0) return;
  shmid_ds state{};
  if (shmctl(found.inode, IPC_STAT, &state) != 0) return;
  state.shm_perm.mode = S_IRUSR | S_IWUSR;
  if (shmctl(found.inode, IPC_SET, &state) != 0)
    throw std::runtime_error(std::string("cannot make the shared segment private: ") + std::strerror(errno));
}

} // namespace

segment::segment(ucp_context_h context, std::size_t bytes) : context_(context), bytes_(bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
  params.address = nullptr;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK;
  check(ucp_mem_map(context, &params, &memory_),
        "cannot reserve " + std::to_string(bytes >> 20) + " MiB of shared memory; lower WEFT_HEAP_SIZE");
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
  check(ucp_mem_query(memory_, &attributes), "cannot query the shared segment");
  base_ = static_cast<std::byte*>(attributes.address);
  make_private(base_);
}

segment::~segment() { ucp_mem_unmap(context_, memory_); }

std::vector<std::byte> segment::packed_key() const {
  void* buffer = nullptr;
  std::size_t size = 0;
  check(ucp_rkey_pack(context_, memory_, &buffer, &size), "cannot pack the remote key of the segment");
  const auto* bytes = static_cast<const std::byte*>(buffer);
  std::vector<std::byte> key(bytes, bytes + size);
  ucp_rkey_buffer_release(buffer);
  return key;
}

} // namespace weft::transport::ucx
