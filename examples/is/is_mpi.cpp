// SPDX-License-Identifier: BSD-3-Clause
// The MPI form of NAS IS, to be shown beside the one by upc_all_exchange_x: the same keys, buckets and
// checks; counts go by MPI_Allreduce and MPI_Alltoall, keys by MPI_Alltoallv, as in the benchmark.
//
//   is_openmpi [CLASS]
#include "examples/is/is_benchmark.hpp"
#include "examples/is/is_buckets.hpp"
#include "examples/support/mpi_ranks.hpp"

#include <stdexcept>

namespace {

class by_alltoallv final : public is::ranking {
public:
  by_alltoallv(const is::problem& p, example::mpi_ranks ranks)
      : ranks_(ranks), buckets_(p, ranks.rank(), ranks.ranks()), counts_(buckets_.count()),
        totals_(buckets_.count()), outgoing_(buckets_.own()), incoming_(buckets_.most()),
        sent_(ranks.ranks()), from_(ranks.ranks()), got_(ranks.ranks()), to_(ranks.ranks()) {}

  void rank(std::span<const is::key> mine) override {
    buckets_.count(mine, counts_.data());
    MPI_Allreduce(counts_.data(), totals_.data(), static_cast<int>(counts_.size()), MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    buckets_.share_out(totals_.data());
    const std::vector<std::size_t> begin = buckets_.deal(mine, counts_.data(), outgoing_.data());
    for (std::size_t r = 0; r != sent_.size(); ++r) {
      sent_[r] = static_cast<int>(begin[r + 1] - begin[r]);
      from_[r] = static_cast<int>(begin[r]);
    }
    const std::size_t got = receive();
    std::uint64_t before = 0;
    const std::uint64_t here = got;
    MPI_Exscan(&here, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    buckets_.count_received({incoming_.data(), got});
    buckets_.set_before(ranks_.rank() == 0 ? 0 : before);
  }

  std::size_t part_of_rank(is::key wanted) override { return buckets_.rank_here(wanted); }
  std::vector<is::key> sorted() override { return buckets_.sorted(); }

private:
  // Returns how many keys came.
  std::size_t receive() {
    MPI_Alltoall(sent_.data(), 1, MPI_INT, got_.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::size_t all = 0;
    for (std::size_t r = 0; r != got_.size(); ++r) {
      to_[r] = static_cast<int>(all);
      all += static_cast<std::size_t>(got_[r]);
    }
    if (all > incoming_.size()) throw std::runtime_error("a rank would get more keys than it has room for");
    MPI_Alltoallv(outgoing_.data(), sent_.data(), from_.data(), MPI_UINT32_T, incoming_.data(), got_.data(),
                  to_.data(), MPI_UINT32_T, MPI_COMM_WORLD);
    return all;
  }

  example::mpi_ranks ranks_;
  is::buckets buckets_;
  std::vector<int> counts_, totals_;
  std::vector<is::key> outgoing_, incoming_;
  std::vector<int> sent_, from_, got_, to_;
};

bool run(const std::string& name) {
  const is::problem& p = is::find_problem(name);
  example::mpi_ranks ranks;
  if (!is::can_be_cut(p, ranks.ranks()))
    throw std::runtime_error(
        "the keys cannot be cut into so many parts: start it with a power of two of ranks");
  by_alltoallv ranking(p, ranks);
  const is::outcome result = is::benchmark(p, ranking, ranks).run();
  const bool verified = result.passed == is::checks;
  if (ranks.rank() == 0)
    example::print_seconds("is", p.name, ranks.ranks(), "exchange", verified, result.seconds);
  return verified;
}

} // namespace

int main(int argc, char** argv) {
  return example::run_mpi_program("is", argc, argv, run);
}
