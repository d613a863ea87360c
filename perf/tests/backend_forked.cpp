// SPDX-License-Identifier: BSD-3-Clause
// A library that does nothing but what the driver's own tests need: ranks are forked, memory is shared, and
// each operation is two barriers with plain copies between them. WEFT_BENCH_RANKS says how many ranks,
// WEFT_BENCH_FAULT which mistake the library makes, and the driver must notice.
#include "perf/bench/unequal.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace perf {
namespace {

constexpr std::size_t bytes_per_rank = std::size_t{64} << 20;

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

// A rank that failed ends the job: here that is rank 0, whose end takes the other ranks along.
void end_with_child(int) {
  int status = 0;
  while (waitpid(-1, &status, WNOHANG) > 0)
    if (status != 0) _exit(EXIT_FAILURE);
}

class forked_backend final : public backend {
public:
  forked_backend()
      : size_(std::stoi(environment("WEFT_BENCH_RANKS", "2"))), fault_(environment("WEFT_BENCH_FAULT", "")) {
    constexpr int shared_map = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    const std::size_t bytes = bytes_per_rank * (static_cast<std::size_t>(size_) + 1);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared_map, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map the arena");
    arena_ = static_cast<std::byte*>(memory);
    barrier_ =
        reinterpret_cast<pthread_barrier_t*>(arena_ + bytes_per_rank * static_cast<std::size_t>(size_));
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier_, &attributes, static_cast<unsigned>(size_));
    start_ranks();
  }

  ~forked_backend() override {
    if (rank_ != 0) return;
    std::signal(SIGCHLD, SIG_DFL);
    int status = 0;
    while (::wait(&status) > 0)
      if (status != 0) _exit(EXIT_FAILURE);
  }

  std::string_view name() const override { return "forked"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  buffer allocate(std::size_t bytes) override {
    const std::size_t offset = used_;
    used_ += (bytes + 63) / 64 * 64;
    if (used_ > bytes_per_rank) throw std::runtime_error("the arena is too small");
    return {at(rank_, offset), offset};
  }

  std::uint64_t broadcast_from_zero(std::uint64_t value) override {
    auto* cell = reinterpret_cast<std::uint64_t*>(barrier_ + 1);
    if (rank_ == 0) *cell = value;
    meet();
    const std::uint64_t answer = *cell;
    meet();
    return answer;
  }

  void blocking(const call& what) override {
    meet();
    if (!(fault_ == "stale" && rank_ == size_ - 1 && ++calls_ == 20)) pull(what);
    if (fault_ == "swapped") swap_words(what);
    meet();
  }

  void exchange_unequal(const unequal_blocks& b, way by) override {
    meet();
    const bool stale = fault_ == "stale" && by == way::linear && rank_ == size_ - 1 && ++calls_ == 7;
    for (std::size_t k = 0; k != b.given.size() && !stale; ++k)
      std::memcpy(at(static_cast<int>(k), b.destination.token + b.destination.offset) + b.there[k],
                  static_cast<const std::byte*>(b.source.local) + b.given_at[k], b.given[k]);
    meet();
    if (fault_ == "swapped" && by == way::pairwise) {
      auto* const last =
          static_cast<std::byte*>(b.destination.local) + b.taken_at.back() + b.taken.back() - 1;
      *last ^= std::byte{1};
    }
  }

  void post(const call& what, int slot) override {
    blocking(what);
    posted_[static_cast<std::size_t>(slot)] = true;
  }
  void wait(int slot) override { posted_[static_cast<std::size_t>(slot)] = false; }
  // Only now and then: something was under way before.
  void test(int) override {}
  bool is_complete(int) override { return ++asked_ % 2 == 0; }
  int wait_any(int count) override {
    int slot = 0;
    while (slot != count && !posted_[static_cast<std::size_t>(slot)])
      ++slot;
    if (slot != count && !(fault_ == "lost" && slot == count / 2)) wait(slot);
    return slot;
  }
  int wait_some(int count) override {
    const auto end = posted_.begin() + count;
    const auto completed = std::count(posted_.begin(), end, true);
    std::fill(posted_.begin(), end, false);
    return completed != 0 && fault_ == "forgotten" ? static_cast<int>(completed) - 1
                                                   : static_cast<int>(completed);
  }
  std::optional<std::uint64_t> statistic(const char*) const override { return 0; }

private:
  void start_ranks() {
    std::signal(SIGCHLD, end_with_child);
    for (int rank = 1; rank < size_; ++rank) {
      if (fork() != 0) continue;
      rank_ = rank;
      std::signal(SIGCHLD, SIG_DFL);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      return;
    }
  }

  std::byte* at(int rank, std::size_t offset) const {
    return arena_ + static_cast<std::size_t>(rank) * bytes_per_rank + offset;
  }

  void meet() { pthread_barrier_wait(barrier_); }

  void pull(const call& what) {
    if (is_reduction(what.op)) return reduce(what);
    auto* destination = static_cast<std::byte*>(what.destination.local);
    const std::size_t blocks = destination_blocks(what.op, rank_, size_);
    for (std::size_t i = 0; i < blocks; ++i) {
      const int sender = sender_of(what.op, static_cast<int>(i));
      const bool distinct = what.op == operation::exchange || what.op == operation::scatter;
      const std::size_t block = distinct ? static_cast<std::size_t>(rank_) : 0;
      std::memcpy(destination + i * what.bytes,
                  at(sender, what.source.token + what.source.offset) + block * what.bytes, what.bytes);
    }
  }

  void reduce(const call& what) {
    auto* const to = static_cast<std::uint64_t*>(what.destination.local);
    const std::size_t count = what.bytes / sizeof(std::uint64_t);
    if (destination_blocks(what.op, rank_, size_) == 0) return;
    std::memset(to, 0, what.op == operation::reduce_all ? sizeof *to : what.bytes);
    std::uint64_t sum = 0;
    for (int rank = fault_ == "misplaced" ? 1 : 0; rank < size_; ++rank) {
      const auto* const from =
          reinterpret_cast<const std::uint64_t*>(at(rank, what.source.token + what.source.offset));
      for (std::size_t k = 0; k < count; ++k) {
        sum += from[k];
        if (what.op == operation::reduce_all)
          to[0] = sum;
        else if (what.op != operation::prefix_reduce)
          to[k] += from[k];
        else if (rank == rank_)
          to[k] = sum;
      }
    }
  }

  int sender_of(operation op, int block) const {
    if (op == operation::permute) return fault_ == "misplaced" ? rank_ : permuted_from(rank_, size_);
    return fault_ == "misplaced" ? size_ - 1 - block : block;
  }

  // Keeps the sum of the block, so only the comparison of each word can tell.
  static void swap_words(const call& what) {
    auto* words = static_cast<std::uint64_t*>(what.destination.local);
    if (what.bytes >= 2 * sizeof(std::uint64_t)) std::swap(words[0], words[1]);
  }

  int size_;
  int rank_ = 0;
  std::string fault_;
  std::byte* arena_ = nullptr;
  pthread_barrier_t* barrier_ = nullptr;
  std::size_t used_ = 0;
  int calls_ = 0;
  int asked_ = 0;
  std::array<bool, slots> posted_{};
};

} // namespace

const char* const rank_variable = "WEFT_BENCH_RANK";

std::unique_ptr<backend> make_backend(int*, char***) {
  return std::make_unique<forked_backend>();
}

} // namespace perf
