// SPDX-License-Identifier: BSD-3-Clause
// How the scope of weft::job ends: by itself, by an error of the library, by an exception of the program, and
// with arrays, teams and operations that outlive it or differ. One line of the rank, and a status, each time.
// With WEFT_CHECK=1, that handles are told which no call has completed, or two.
//
//   scopes WHAT
//
// Mutations that this catches: an error in a destructor that ends by terminate; a scope that is left by an
// exception and waits for the other ranks; a handle that is told although it was completed; a line in a
// header where two calls differ.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

namespace {

weft::array<int> before_the_job(3); // zeros, from its begin on
std::optional<weft::team> behind_the_job;

void use(const weft::job& job, std::string_view what) {
  const bool last = job.rank() == job.size() - 1;
  weft::array<double> a(static_cast<std::size_t>(job.size())), b(a.size());
  if (what == "well") {
    behind_the_job = job.all().split(0);
    before_the_job.on(job.rank())[2] += 4;
    weft::pending at_the_end = weft::exchange(b, a);
    if (before_the_job[2] != 4 || before_the_job[0] != 0) throw std::runtime_error("no zeros");
  }
  if (what == "handles") { // one that is completed by no call, and one that is completed twice
    static_cast<void>(weft::exchange(b, a).release());
    upc_coll_handle_t h = weft::gather_all(b, a.local().first(1)).release(), copy = h;
    upc_wait(h);
    upc_wait(copy);
    upc_wait(copy); // it is 0 by now
  }
  if (what == "error" && last) b.on(job.size())[0] = 1;
  if (what == "exception" && last) throw std::runtime_error("of the program");
  if (what == "caught" && last) { // an error that was dealt with is no more to blame
    try {
      b.on(job.size())[0] = 1;
    } catch (const weft::error&) {
    }
    throw std::runtime_error("another");
  }
  if (what == "lengths") weft::array<int> differs(10 + static_cast<std::size_t>(job.rank()));
  if (what == "spans") { // of a function in a header that is not inlined
    std::vector<double> x(4 + static_cast<std::size_t>(job.rank())), y(x.size());
    weft::reduce_all(y, x, UPC_ADD).wait();
  }
  job.barrier();
}

} // namespace

WEFT_PROGRAM(scopes) {
  if (argv[1] == std::string_view("uncaught")) {
    const weft::job job(argc, argv);
    use(job, "caught");
  }
  try {
    const weft::job job(argc, argv);
    use(job, argv[1]);
  } catch (const std::exception& e) {
    std::printf("not reached: %s\n", e.what());
    return 0;
  }
  std::puts("ended");
  return 0;
}
