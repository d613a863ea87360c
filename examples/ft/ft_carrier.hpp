// SPDX-License-Identifier: BSD-3-Clause
// How blocks of FT travel by this library: between buffers in shared memory.
#pragma once

#include "examples/ft/ft_problem.hpp"
#include "examples/support/shared_blocks.hpp"

#include <upc_collective_cray.h>
#include <upc_nb.h>

namespace ft {

class shared_carrier {
public:
  using travelling = upc_handle_t;

  explicit shared_carrier(std::size_t nbytes) : source_(nbytes), destination_(nbytes) {}

  static std::size_t ranks() { return static_cast<std::size_t>(THREADS); }
  complex* source() const { return source_.local<complex>(); }
  complex* destination() const { return destination_.local<complex>(); }

  // A thread packs its own source and unpacks its own destination only: the MYSYNC modes are all it needs.
  void exchange(std::size_t nbytes) {
    upc_all_exchange(destination_.shared(), source_.shared(), nbytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }

  // It returns when all threads have entered, each of which has completed its last one. So a source may be
  // written again behind the next but one, although completion is local.
  travelling begin(std::size_t nbytes) {
    return cray_upc_team_alltoall_nb(destination_.shared(), source_.shared(), nbytes, CRAY_UPC_TEAM_ALL);
  }
  static void complete(travelling t) { upc_sync(t); }

private:
  example::shared_blocks source_, destination_;
};

} // namespace ft
