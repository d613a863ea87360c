// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/arena.hpp"
#include "tests/calls/bytes.hpp"
#include "tests/calls/reference.hpp"
#include "tests/calls/report.hpp"
#include "tests/calls/scenario.hpp"
#include "tests/calls/tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

// The memory of this rank during one case: what every byte has to be, and the writing and the spoiling of
// data exactly when the modes allow it.
namespace calls {

class ledger {
public:
  ledger(const scenario& s, std::uint64_t number, const paints& colours, const arena& memory, report& tell);

  // Paints everything. What IN_NOSYNC may touch at once is in place afterwards; a barrier has to follow.
  void begin();
  // Nothing has been written to the destination yet, where the mode says so; then the data is put in place.
  void before_post(std::size_t call);
  // Under IN_ALLSYNC, while the call is under way: nothing has been written as long as a member is missing.
  void look_at_gate(std::size_t call);
  // What the mode promises has happened; what it allows is spoilt.
  void after_exit(std::size_t call);
  // With OUT_ALLSYNC, after the exit: the destination of another member is full.
  void check_other(std::size_t call, std::uint32_t other);
  // After the last barrier: every byte of the arena.
  void finish();

  // Of calls whose result is not defined: no element is lost. Collective, behind finish().
  void count_elements();

  // Takes one byte of the first block that arrives for another one: the test must fail then.
  void corrupt_reference() { corrupt_ = true; }

private:
  // The part of this rank in a call.
  struct share {
    bool member = false;
    bool settled = false; // the image has the blocks that arrive
    std::vector<arrival> incoming;
    std::vector<block> sources;
    std::vector<row> rows, poisoned_rows;
  };

  void find_share(std::size_t call);
  void put_data(std::size_t call);
  void spoil(std::size_t call);
  void settle(std::size_t call);
  void paint_both(std::uint64_t key, std::uint64_t offset, std::uint64_t bytes);
  void write_both(std::uint64_t offset, const void* from, std::size_t bytes);
  void write_both(const row& r) { write_both(r.offset, r.bytes.data(), r.bytes.size()); }
  std::vector<std::byte> contents(std::size_t call, const arrival& one) const;
  // True if they are equal, or have the same values.
  bool alike(std::size_t call, const std::byte* found, const std::byte* wanted, std::uint64_t bytes) const;
  bool compare(std::uint64_t offset, std::uint64_t bytes, const std::string& when);
  std::string whose(std::uint64_t offset) const;
  std::string name(std::size_t call) const;

  const scenario& s_;
  const std::uint64_t number_; // of the case, from 1
  const paints& colours_;
  const arena& memory_;
  report& tell_;
  const std::uint32_t me_, threads_;
  std::vector<std::byte> image_;
  std::vector<share> shares_;
  bool corrupt_ = false;
};

} // namespace calls
