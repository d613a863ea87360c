// SPDX-License-Identifier: BSD-3-Clause
// The meeting point of ranks that share memory.
#include "perf/bench/backend.hpp"
#include "perf/bench/meeting.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <fcntl.h>

namespace perf {
namespace {

// A counting barrier: the last to arrive resets the count, then moves the generation (release), which the
// others watch (acquire). The reset cannot be overtaken, because no rank arrives again before the generation
// has moved.
struct barrier_cell {
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> generation;
};

bool last_to_arrive(barrier_cell& cell, int size) {
  if (cell.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<std::uint32_t>(size))
    return false;
  cell.arrived.store(0, std::memory_order_relaxed);
  cell.generation.fetch_add(1, std::memory_order_release);
  return true;
}

// std::atomic::wait uses the process-private futex, which does not reach another process.
void futex(std::atomic<std::uint32_t>& word, int command, std::uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), command, value, nullptr, nullptr, 0);
}

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct shared_state {
  barrier_cell aligned;
  barrier_cell resting;
  alignas(64) double rows[1];
};

class shared_meeting final : public meeting {
public:
  explicit shared_meeting(backend& library);
  ~shared_meeting() override { munmap(state_, segment_bytes()); }

  void align() override;
  void rest() override;
  using meeting::maximum;
  void maximum(std::span<double> values) override;

private:
  static constexpr std::size_t chunk = 512;

  double* row(int rank) const { return state_->rows + static_cast<std::size_t>(rank) * chunk; }
  std::size_t segment_bytes() const {
    return sizeof(shared_state) + static_cast<std::size_t>(size()) * chunk * sizeof(double);
  }

  shared_state* state_ = nullptr;
};

shared_meeting::shared_meeting(backend& library) : meeting(library.rank(), library.size()) {
  const std::uint64_t key = library.broadcast_from_zero(static_cast<std::uint64_t>(getpid()));
  const std::string name = "/weft-bench-" + std::to_string(key);
  int segment = -1;
  if (rank() == 0) {
    segment = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (segment < 0) fail("cannot create the shared segment " + name);
    if (ftruncate(segment, static_cast<off_t>(segment_bytes())) != 0) fail("cannot size the segment " + name);
  }
  library.blocking({});
  if (rank() != 0) segment = shm_open(name.c_str(), O_RDWR, 0600);
  if (segment < 0)
    fail("cannot open the shared segment " + name + ", give --meeting to ranks on several hosts");
  void* memory = mmap(nullptr, segment_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  close(segment);
  if (memory == MAP_FAILED) fail("cannot map the shared segment " + name);
  state_ =
      static_cast<shared_state*>(memory); // zero-filled by the kernel, the valid first state of every field
  library.blocking({});
  if (rank() == 0) shm_unlink(name.c_str());
}

void shared_meeting::align() {
  barrier_cell& cell = state_->aligned;
  const std::uint32_t before = cell.generation.load(std::memory_order_acquire);
  if (last_to_arrive(cell, size())) return;
  while (cell.generation.load(std::memory_order_acquire) == before)
    relax();
}

void shared_meeting::rest() {
  barrier_cell& cell = state_->resting;
  const std::uint32_t before = cell.generation.load(std::memory_order_acquire);
  if (last_to_arrive(cell, size())) {
    futex(cell.generation, FUTEX_WAKE, INT_MAX);
    return;
  }
  while (cell.generation.load(std::memory_order_acquire) == before)
    futex(cell.generation, FUTEX_WAIT, before);
}

void shared_meeting::maximum(std::span<double> values) {
  for (std::size_t first = 0; first < values.size(); first += chunk) {
    const auto part = values.subspan(first, std::min(chunk, values.size() - first));
    std::copy(part.begin(), part.end(), row(rank()));
    rest();
    for (int rank = 0; rank < size(); ++rank)
      for (std::size_t i = 0; i < part.size(); ++i)
        part[i] = std::max(part[i], row(rank)[i]);
    rest();
  }
}

} // namespace

std::unique_ptr<meeting> meet_in_memory(backend& library) {
  return std::make_unique<shared_meeting>(library);
}

} // namespace perf
