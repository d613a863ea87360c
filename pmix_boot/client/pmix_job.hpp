#pragma once
// A job as a client of PMIx.

#include "pmix_boot/client/job.hpp"

namespace weft::boot {

class death_watch;
class launcher_watch;

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

} // namespace weft::boot
