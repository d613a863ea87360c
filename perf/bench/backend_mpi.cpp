// SPDX-License-Identifier: BSD-3-Clause
// One source for every MPI: compiled once with Open MPI's and once with MPICH's header.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "perf/bench/unequal.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <vector>

namespace perf {
namespace {

#if defined(OPEN_MPI)
constexpr std::string_view library = "openmpi";
constexpr const char* launcher_rank = "OMPI_COMM_WORLD_RANK";
#else
constexpr std::string_view library = "mpich";
constexpr const char* launcher_rank = "PMI_RANK";
#endif

constexpr std::size_t page = 4096;

struct aligned_free {
  void operator()(void* memory) const { std::free(memory); }
};
using memory = std::unique_ptr<void, aligned_free>;

int count_of(std::size_t bytes) {
  return static_cast<int>(bytes);
}
template <class T> std::vector<int> counts_of(const std::vector<T>& all) {
  return {all.begin(), all.end()};
}

// An error of MPI aborts the job (the default handler), so no return code needs a check.
class mpi_backend final : public backend {
public:
  mpi_backend(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    requests_.fill(MPI_REQUEST_NULL);
    receives_.fill(MPI_REQUEST_NULL);
  }
  ~mpi_backend() override { MPI_Finalize(); }

  std::string_view name() const override { return library; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  buffer allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + page - 1) / page * page;
    memory block(std::aligned_alloc(page, rounded));
    if (!block) throw std::bad_alloc();
    void* local = block.get();
    owned_.push_back(std::move(block));
    return {local, owned_.size() - 1};
  }

  std::uint64_t broadcast_from_zero(std::uint64_t value) override {
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
  }

  void blocking(const call& what) override {
    const int count = count_of(what.bytes);
    void* source = what.source.local;
    void* destination = what.destination.local;
    const MPI_Comm team = team_of(what);
    switch (what.op) {
    case operation::barrier:
      MPI_Barrier(team);
      break;
    case operation::broadcast:
      MPI_Bcast(rank_ == 0 ? source : destination, count, MPI_BYTE, 0, team);
      copy_at_root(what);
      break;
    case operation::scatter:
      MPI_Scatter(source, count, MPI_BYTE, destination, count, MPI_BYTE, 0, team);
      break;
    case operation::gather:
      MPI_Gather(source, count, MPI_BYTE, destination, count, MPI_BYTE, 0, team);
      break;
    case operation::gather_all:
      MPI_Allgather(source, count, MPI_BYTE, destination, count, MPI_BYTE, team);
      break;
    case operation::exchange:
      MPI_Alltoall(source, count, MPI_BYTE, destination, count, MPI_BYTE, team);
      break;
    case operation::permute: // MPI has no such collective
      MPI_Sendrecv(source, count, MPI_BYTE, permuted_to(rank_, size_), 0, destination, count, MPI_BYTE,
                   permuted_from(rank_, size_), 0, team, MPI_STATUS_IGNORE);
      break;
    case operation::team_reduce:
      MPI_Reduce(source, destination, words(what), MPI_UINT64_T, MPI_SUM, 0, team);
      break;
    case operation::team_allreduce:
      MPI_Allreduce(source, destination, words(what), MPI_UINT64_T, MPI_SUM, team);
      break;
    case operation::reduce_all:
      own_ = sum_of(what);
      MPI_Allreduce(&own_, destination, 1, MPI_UINT64_T, MPI_SUM, team);
      break;
    case operation::prefix_reduce:
      own_ = scan(what);
      MPI_Exscan(&own_, &before_, 1, MPI_UINT64_T, MPI_SUM, team);
      add_before(what);
      break;
    }
  }

  void exchange_unequal(const unequal_blocks& b, way by) override {
    const std::vector<int> given = counts_of(b.given), given_at = counts_of(b.given_at),
                           taken = counts_of(b.taken), taken_at = counts_of(b.taken_at);
    const auto* const from = static_cast<const std::byte*>(b.source.local);
    auto* const to = static_cast<std::byte*>(b.destination.local);
    if (by == way::collective) {
      MPI_Alltoallv(from, given.data(), given_at.data(), MPI_BYTE, to, taken.data(), taken_at.data(),
                    MPI_BYTE, MPI_COMM_WORLD);
      return;
    }
    for (int round = 0; round < size_; ++round) {
      const int receiver = (rank_ + round) % size_, sender = (rank_ + size_ - round) % size_;
      const auto out = static_cast<std::size_t>(receiver), in = static_cast<std::size_t>(sender);
      if (by == way::pairwise) {
        MPI_Sendrecv(from + given_at[out], given[out], MPI_BYTE, receiver, 0, to + taken_at[in], taken[in],
                     MPI_BYTE, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        const auto slot = static_cast<std::size_t>(round);
        MPI_Irecv(to + taken_at[in], taken[in], MPI_BYTE, sender, 0, MPI_COMM_WORLD, &receives_[slot]);
        MPI_Isend(from + given_at[out], given[out], MPI_BYTE, receiver, 0, MPI_COMM_WORLD, &requests_[slot]);
      }
    }
    if (by == way::pairwise) return;
    MPI_Waitall(size_, receives_.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(size_, requests_.data(), MPI_STATUSES_IGNORE);
  }

  void post(const call& what, int slot) override {
    const int count = count_of(what.bytes);
    void* source = what.source.local;
    void* destination = what.destination.local;
    const MPI_Comm team = team_of(what);
    MPI_Request* request = &requests_[static_cast<std::size_t>(slot)];
    switch (what.op) {
    case operation::barrier:
      MPI_Ibarrier(team, request);
      break;
    case operation::broadcast:
      MPI_Ibcast(rank_ == 0 ? source : destination, count, MPI_BYTE, 0, team, request);
      copy_at_root(what);
      break;
    case operation::scatter:
      MPI_Iscatter(source, count, MPI_BYTE, destination, count, MPI_BYTE, 0, team, request);
      break;
    case operation::gather:
      MPI_Igather(source, count, MPI_BYTE, destination, count, MPI_BYTE, 0, team, request);
      break;
    case operation::gather_all:
      MPI_Iallgather(source, count, MPI_BYTE, destination, count, MPI_BYTE, team, request);
      break;
    case operation::exchange:
      MPI_Ialltoall(source, count, MPI_BYTE, destination, count, MPI_BYTE, team, request);
      break;
    case operation::permute: // one function for both came with MPI 4 only
      MPI_Irecv(destination, count, MPI_BYTE, permuted_from(rank_, size_), slot, team,
                &receives_[static_cast<std::size_t>(slot)]);
      MPI_Isend(source, count, MPI_BYTE, permuted_to(rank_, size_), slot, team, request);
      break;
    case operation::team_reduce:
      MPI_Ireduce(source, destination, words(what), MPI_UINT64_T, MPI_SUM, 0, team, request);
      break;
    case operation::team_allreduce:
      MPI_Iallreduce(source, destination, words(what), MPI_UINT64_T, MPI_SUM, team, request);
      break;
    case operation::reduce_all:
      own_ = sum_of(what);
      MPI_Iallreduce(&own_, destination, 1, MPI_UINT64_T, MPI_SUM, team, request);
      break;
    case operation::prefix_reduce: // the sums in front of it must be there before they are added
      blocking(what);
      break;
    }
  }

  void wait(int slot) override {
    MPI_Request& receive = receives_[static_cast<std::size_t>(slot)];
    if (receive != MPI_REQUEST_NULL) MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&requests_[static_cast<std::size_t>(slot)], MPI_STATUS_IGNORE);
  }
  void test(int slot) override {
    int done = 0;
    MPI_Test(&receives_[static_cast<std::size_t>(slot)], &done, MPI_STATUS_IGNORE);
    MPI_Test(&requests_[static_cast<std::size_t>(slot)], &done, MPI_STATUS_IGNORE);
  }
  bool is_complete(int slot) override {
    int received = 0, sent = 0;
    MPI_Request_get_status(receives_[static_cast<std::size_t>(slot)], &received, MPI_STATUS_IGNORE);
    MPI_Request_get_status(requests_[static_cast<std::size_t>(slot)], &sent, MPI_STATUS_IGNORE);
    return received != 0 && sent != 0;
  }
  int wait_any(int count) override {
    int slot = 0;
    MPI_Waitany(count, requests_.data(), &slot, MPI_STATUS_IGNORE);
    return slot;
  }
  int wait_some(int count) override {
    int completed = 0;
    MPI_Waitsome(count, requests_.data(), &completed, completed_.data(), MPI_STATUSES_IGNORE);
    return completed;
  }

  std::optional<std::uint64_t> statistic(const char*) const override { return std::nullopt; }

private:
  // What an MPI program computes itself, of words that lie together.
  static int words(const call& what) { return count_of(what.bytes / sizeof(std::uint64_t)); }
  static std::uint64_t sum_of(const call& what) {
    const auto* const from = static_cast<const std::uint64_t*>(what.source.local);
    return std::accumulate(from, from + words(what), std::uint64_t{0});
  }
  static std::uint64_t scan(const call& what) {
    const auto* const from = static_cast<const std::uint64_t*>(what.source.local);
    auto* const to = static_cast<std::uint64_t*>(what.destination.local);
    std::uint64_t sum = 0;
    for (int k = 0; k < words(what); ++k)
      to[k] = sum += from[k];
    return sum;
  }
  void add_before(const call& what) const {
    if (rank_ == 0) return;
    auto* const to = static_cast<std::uint64_t*>(what.destination.local);
    for (int k = 0; k < words(what); ++k)
      to[k] += before_;
  }

  // UPC's broadcast fills the destination of the root too; MPI's has only one buffer there. In scatter and
  // gather the root's own block is copied by both.
  void copy_at_root(const call& what) {
    if (rank_ == 0) std::memcpy(what.destination.local, what.source.local, what.bytes);
  }

  MPI_Comm team_of(const call& what) {
    if (!what.apart) return MPI_COMM_WORLD;
    if (second_team_ == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &second_team_);
    return second_team_;
  }

  std::uint64_t own_ = 0, before_ = 0; // of one reduction at a time
  int rank_ = 0;
  int size_ = 0;
  MPI_Comm second_team_ = MPI_COMM_NULL;
  std::vector<memory> owned_;
  std::array<MPI_Request, slots> requests_;
  std::array<MPI_Request, slots> receives_; // of permutations, whose requests_ are the sends
  std::array<int, slots> completed_{};
};

} // namespace

const char* const rank_variable = launcher_rank;

std::unique_ptr<backend> make_backend(int* argc, char*** argv) {
  return std::make_unique<mpi_backend>(argc, argv);
}

} // namespace perf
