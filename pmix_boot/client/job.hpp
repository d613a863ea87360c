#pragma once
// The job as one rank sees it: who takes part, which ranks share a node, and the exchange of small values at
// start-up. A thin RAII class over a PMIx client. Without a launcher the job has one rank, and no PMIx.

#include "pmix_boot/client/pmix_info.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::boot {

class death_watch;
class launcher_watch;

class job {
public:
  // Joins the job. Collective: it contains the first fence. Throws boot_error with the way out if the
  // environment announces a job that cannot be joined, or if another kind of launcher started this process.
  // From here to finalize() the process ends with a line and a non-zero status when its launcher is gone.
  // What `announce` puts, when all but the key is known, the others see when they have joined.
  explicit job(const std::function<void(job&)>& announce = {});
  // Leaves the job if finalize() was not called.
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  // True when no launcher started this process.
  bool singleton() const { return singleton_; }
  // 64 random bits, the same on every rank of the job and on no other job.
  std::uint64_t key() const { return key_; }

  // The node of every rank, numbered from 0 by first appearance in rank order.
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }
  std::uint32_t local_size() const { return local_size_; }
  // Nodes may be virtual, several on one host.
  bool one_host() const { return local_size_ == size_ || nspace_.starts_with(own_launcher); }
  // The name of a host other than this one, for a job of several; empty if the launcher does not tell.
  std::string another_host() const;
  // The name of a rank's host; empty if the launcher does not tell.
  std::string host_of(std::uint32_t rank) const;
  std::uint32_t local_rank() const { return local_rank_; }

  // Publishes a value; the others see it after commit() here and the next fence().
  void put(const std::string& name, std::span<const std::byte> value);
  void commit();
  // A barrier of all ranks that also spreads what they committed before it.
  void fence();
  // The same for a rank that others may still need: it does `meanwhile` again and again until all have come,
  // or until that says no, as when somebody cannot come any more. False then: no other fence may follow.
  bool fence(const std::function<bool()>& meanwhile);
  // A value that `rank` published before the last fence. A missing one is an error, not a wait.
  std::vector<std::byte> get(std::uint32_t rank, const std::string& name) const;

  // Ends every rank of the job and then this process. May be called by any thread, also while others are
  // inside a call of this class; from a callback of on_peer_death only this process ends, and the launcher
  // sees it.
  [[noreturn]] void abort(int status, const std::string& message);
  // The same on purpose: the status may be 0, and the launcher then ends the job as one that went well.
  [[noreturn]] void end(int status, const std::string& message);

  // Calls back at most once for each rank whose death the launcher reports, in a thread of PMIx: the callback
  // must be short and call nothing of this class but abort(). Later calls replace the callback.
  // Many launchers report nothing: this is a help, not the only means.
  void on_peer_death(std::function<void(std::uint32_t rank)> callback);

  // The launcher has gone: the ranks of the job end one after the other, within a second or two. Any thread,
  // until finalize().
  bool launcher_is_gone() const;

  // Leaves the job; nothing else may be called afterwards.
  void finalize();

private:
  void be_alone();
  void join(const std::function<void(job&)>& announce);
  void refuse_second_program() const;
  void read_job_size();
  void read_nodes();
  void agree_on_key();

  std::string nspace_;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  std::uint32_t local_size_ = 1;
  std::uint32_t local_rank_ = 0;
  std::uint64_t key_ = 0;
  bool singleton_ = false;
  bool joined_ = false;
  std::map<std::string, std::vector<std::byte>> own_values_; // of a singleton
  std::vector<std::uint32_t> nodes_;
  std::unique_ptr<launcher_watch> launcher_;
  std::unique_ptr<death_watch> deaths_;
};

} // namespace weft::boot
