#include "engine/transport/ucx/segment.hpp"

#include "engine/transport/ucx/system_v.hpp"

#include <cerrno>
#include <cstring>
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

} // namespace weft::transport::ucx
