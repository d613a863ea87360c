// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The kinds of jobs; job::join makes one of them.

#include "pmix_boot/client/job.hpp"

#include <map>

namespace weft::boot {

class death_watch;
class launcher_watch;

// A job as a client of PMIx.
class pmix_job final : public job {
public:
  explicit pmix_job(const announcement& announce);
  ~pmix_job() override;

  std::string host_of(std::uint32_t rank) const override;
  void put(const std::string& name, std::span<const std::byte> value) override;
  void commit() override;
  void fence() override;
  bool fence(const std::function<bool()>& meanwhile) override;
  std::vector<std::byte> get(std::uint32_t rank, const std::string& name) const override;
  void on_peer_death(std::function<void(std::uint32_t rank)> callback) override;
  bool launcher_is_gone() const override;
  void finalize() override;

private:
  void end_all(int status, const std::string& message) override;
  void join(const announcement& announce);
  void refuse_second_program() const;
  void read_job_size();
  void read_nodes();

  std::string nspace_;
  bool joined_ = false;
  std::unique_ptr<launcher_watch> launcher_;
  std::unique_ptr<death_watch> deaths_;
};

// A job whose ranks are together already, by an exchange that the program brings; and that of a process which
// is alone, with nothing to exchange.
class exchange_job final : public job {
public:
  exchange_job(exchange brought, const announcement& announce);

  std::string host_of(std::uint32_t rank) const override { return hosts_[rank]; }
  void put(const std::string& name, std::span<const std::byte> value) override;
  void commit() override {}
  void fence() override;
  // In a thread of its own it does `meanwhile`; where that says no, it still waits for the barrier, which
  // ends with the job.
  bool fence(const std::function<bool()>& meanwhile) override;
  std::vector<std::byte> get(std::uint32_t rank, const std::string& name) const override;
  // What brought the ranks together ends them together.
  void on_peer_death(std::function<void(std::uint32_t)>) override {}
  bool launcher_is_gone() const override { return false; }
  void finalize() override {}

private:
  void end_all(int status, const std::string& message) override;
  using values = std::map<std::string, std::vector<std::byte>>;
  std::vector<std::byte> gather(std::span<const std::byte> mine) const;

  const exchange brought_;
  std::vector<std::string> hosts_; // by rank
  values fresh_;                   // since the last fence
  std::vector<values> known_;      // by rank
};

} // namespace weft::boot
