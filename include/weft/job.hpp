// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "error.hpp"
#include "job.h"
#include "team.hpp"

#include <concepts>
#include <exception>
#include <utility>

namespace weft {

namespace detail {
// Ends the whole job with the line of the error that is on its way, and status 1.
[[noreturn]] WEFT_EXPORT void end_by_exception() noexcept;
// weft_finalize; an error becomes a line, and ends the process with status 1.
WEFT_EXPORT void end_of_scope() noexcept;
} // namespace detail

// The life of the library, as a scope of main: it starts the library, and its end, which all ranks come to,
// ends it. What is made of the library lives inside of it.
//
//   int main(int argc, char** argv) {
//     const weft::job job(argc, argv);
//     std::printf("rank %d of %d\n", job.rank(), job.size());
//   }
//
// An error that leaves the scope, caught further out or not, ends the job: each rank that fails prints one
// line, with its number and the call, and the status is 1. So does an exception of the program that is caught
// further out; one that nothing catches ends the process by abort(), as always, behind a line that names the
// rank and what was thrown. So no rank waits for one that is gone.
class [[nodiscard]] job {
public:
  job() : job([] { weft_init(nullptr, nullptr); }) {}
  job(int& argc, char**& argv) : job([&] { weft_init(&argc, &argv); }) {}
  // For processes that are together already, see weft_init_with; weft/mpi.h has weft::mpi_job.
  explicit job(const weft_exchange_t& exchange) : job([&] { weft_init_with(&exchange); }) {}
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  ~job() {
    if (std::uncaught_exceptions() != exceptions_) detail::end_by_exception();
    detail::end_of_scope();
  }

  // The number of the calling rank, and how many there are.
  int rank() const { return upc_mythread(); }
  int size() const { return upc_threads(); }
  // All ranks, and those of this host.
  team all() const { return {}; }
  team node() const { return team::node(); }
  // weft::barrier of all ranks.
  void barrier(line_of_call where = line_of_call::here()) const { weft::barrier(all(), where); }

protected:
  template <std::invocable Start> explicit job(Start&& start) : exceptions_(std::uncaught_exceptions()) {
    start();
  }

private:
  int exceptions_;
};

} // namespace weft
