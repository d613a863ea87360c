// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/session.hpp"

#include <cstring>
#include <string>

namespace perf {

session::session(backend& library, meeting& ranks, limits settings, std::size_t bytes_per_buffer)
    : library_(library), ranks_(ranks), settings_(settings) {
  for (int slot = 0; slot < session::pairs; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    sources_[at] = library.allocate(bytes_per_buffer);
    destinations_[at] = library.allocate(bytes_per_buffer);
    std::memset(sources_[at].local, 0, bytes_per_buffer); // page faults belong to no figure
    std::memset(destinations_[at].local, 0, bytes_per_buffer);
  }
  // The least over the ranks: the maximum of the negated values.
  work_.set_step_ns(-ranks.maximum(-work_.measure_step_ns()));
}

trial::trial(session& shared, operation op, std::size_t bytes)
    : shared_(shared), library_(shared.library()), data_(op, library_.rank(), library_.size(), bytes) {
  for (int slot = 0; slot < session::pairs; ++slot)
    calls_[static_cast<std::size_t>(slot)] = {op, shared.destination(slot), shared.source(slot), bytes};
}

void trial::write(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  iterations_[at] = shared_.next_iteration();
  data_.write_source(calls_[at].source.local, iterations_[at]);
}

void trial::read(int slot) const {
  const auto at = static_cast<std::size_t>(slot);
  if (!data_.read_destination(calls_[at].destination.local, iterations_[at])) fail(slot);
}

void trial::verify(int slot) const {
  const auto at = static_cast<std::size_t>(slot);
  if (!data_.check_destination(calls_[at].destination.local, iterations_[at])) fail(slot);
}

void trial::touch() {
  data_.write_source(calls_[0].source.local, 0);
  touched_ ^= data_.read_destination(calls_[0].destination.local, 0);
}

void trial::fail(int slot) const {
  const call& what = calls_[static_cast<std::size_t>(slot)];
  throw wrong_data(std::string(name_of(what.op)) + " of " + std::to_string(what.bytes) +
                   " bytes: the destination of rank " + std::to_string(library_.rank()) +
                   " does not hold what was sent");
}

} // namespace perf
