#include "engine/transport/ucx/system_v.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <sys/shm.h>

namespace weft::transport::ucx {

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
