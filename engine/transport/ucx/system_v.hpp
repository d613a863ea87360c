#pragma once
#include <cstdint>
#include <vector>

namespace weft::transport::ucx {

// A System V segment in the memory map of this process.
struct mapped_segment {
  int id;
  std::uintptr_t base;
};
std::vector<mapped_segment> mapped_segments();

// Keeps a System V segment of this host in being: it ends with the last process that has it attached.
class held_segment {
public:
  explicit held_segment(int id) noexcept;
  ~held_segment();
  held_segment(const held_segment&) = delete;
  held_segment& operator=(const held_segment&) = delete;
  // Whether there was such a segment.
  explicit operator bool() const noexcept { return at_ != nullptr; }

private:
  const void* at_;
};

} // namespace weft::transport::ucx
