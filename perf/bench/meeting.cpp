#include "perf/bench/meeting.hpp"

#include "perf/bench/backend.hpp"
#include "perf/bench/pin.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <fcntl.h>

namespace perf {
namespace {

// A counting barrier: the last to arrive resets the count, then moves the generation (release), which the
// others watch (acquire). The reset cannot be overtaken, because nobody arrives again before the generation
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

} // namespace

struct meeting::shared_state {
  barrier_cell aligned;
  barrier_cell resting;
  alignas(64) double rows[1];
};

meeting::meeting(backend& library)
    : rank_(library.rank()), size_(library.size()), share_cores_(library.size() > usable_cores()) {
  const std::uint64_t key = library.broadcast_from_zero(static_cast<std::uint64_t>(getpid()));
  const std::string name = "/weft-bench-" + std::to_string(key);
  int segment = -1;
  if (rank_ == 0) {
    segment = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (segment < 0) fail("cannot create the shared segment " + name);
    if (ftruncate(segment, static_cast<off_t>(segment_bytes())) != 0) fail("cannot size the segment " + name);
  }
  library.blocking({});
  if (rank_ != 0) segment = shm_open(name.c_str(), O_RDWR, 0600);
  if (segment < 0) fail("cannot open the shared segment " + name + ", run all ranks on one machine");
  void* memory = mmap(nullptr, segment_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  close(segment);
  if (memory == MAP_FAILED) fail("cannot map the shared segment " + name);
  state_ =
      static_cast<shared_state*>(memory); // zero-filled by the kernel, the valid first state of every field
  library.blocking({});
  if (rank_ == 0) shm_unlink(name.c_str());
}

meeting::~meeting() {
  munmap(state_, segment_bytes());
}

std::size_t meeting::segment_bytes() const {
  return sizeof(shared_state) + static_cast<std::size_t>(size_) * chunk * sizeof(double);
}

double* meeting::row(int rank) const {
  return state_->rows + static_cast<std::size_t>(rank) * chunk;
}

void meeting::align() {
  barrier_cell& cell = state_->aligned;
  const std::uint32_t before = cell.generation.load(std::memory_order_acquire);
  if (last_to_arrive(cell, size_)) return;
  while (cell.generation.load(std::memory_order_acquire) == before) {
    if (share_cores_) {
      sched_yield();
    } else {
      __builtin_ia32_pause();
    }
  }
}

void meeting::rest() {
  barrier_cell& cell = state_->resting;
  const std::uint32_t before = cell.generation.load(std::memory_order_acquire);
  if (last_to_arrive(cell, size_)) {
    futex(cell.generation, FUTEX_WAKE, INT_MAX);
    return;
  }
  while (cell.generation.load(std::memory_order_acquire) == before)
    futex(cell.generation, FUTEX_WAIT, before);
}

void meeting::maximum(std::span<double> values) {
  for (std::size_t first = 0; first < values.size(); first += chunk) {
    const auto part = values.subspan(first, std::min(chunk, values.size() - first));
    std::copy(part.begin(), part.end(), row(rank_));
    rest();
    for (int rank = 0; rank < size_; ++rank)
      for (std::size_t i = 0; i < part.size(); ++i)
        part[i] = std::max(part[i], row(rank)[i]);
    rest();
  }
}

double meeting::maximum(double value) {
  maximum(std::span<double>(&value, 1));
  return value;
}

} // namespace perf
