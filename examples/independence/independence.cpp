// SPDX-License-Identifier: BSD-3-Clause
// Independence of weft's exchange; independence_mpi.cpp measures the same of an MPI.
#include "examples/independence/measure.hpp"
#include "examples/support/shared_blocks.hpp"

namespace {

using independence::word;

class weft_library {
public:
  int rank() const { return static_cast<int>(MYTHREAD); }
  int size() const { return static_cast<int>(THREADS); }
  void barrier() { upc_barrier; }
  std::vector<double> gather(double value) { return gather_(value); }
  word* source() { return source_.local<word>(); }
  word* destination() { return destination_.local<word>(); }

  void exchange(std::size_t nbytes) {
    upc_all_exchange(destination_.shared(), source_.shared(), nbytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }
  void post(std::size_t nbytes) {
    posted_ = upc_all_exchange(destination_.shared(), source_.shared(), nbytes,
                               UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  }
  void wait() { upc_wait(posted_); }

private:
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * independence::largest; }

  example::shared_blocks source_{bytes()};
  example::shared_blocks destination_{bytes()};
  example::gatherer<double> gather_;
  upc_coll_handle_t posted_{};
};

int measure() {
  weft_library library;
  return independence::run(library, "weft");
}

} // namespace

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  try {
    const int status = measure();
    weft_finalize();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "independence: %s\n", error.what());
    std::fflush(nullptr);
    std::quick_exit(EXIT_FAILURE);
  }
}
