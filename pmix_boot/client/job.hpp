// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The job as one rank sees it: which ranks there are, which of them share a node, and the exchange of small
// values at start-up. Three ways to be in one: as a client of PMIx, by an exchange that the program brings,
// and alone.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::boot {

struct boot_error : std::runtime_error {
  using runtime_error::runtime_error;
};

// What a program brings that has its ranks together already, as one of MPI has. Each throws boot_error if it
// cannot be done.
struct exchange {
  std::uint32_t rank = 0, size = 1;
  // Collective: as many bytes from each, which then lie in `all` in the order of the ranks.
  std::function<void(std::span<const std::byte> mine, std::byte* all)> allgather;
  std::function<void()> barrier;
  // Ends all ranks, from any thread. It may return: the process then ends by itself.
  std::function<void(int status, const std::string& why)> abort;
};

class job {
public:
  // What `announce` puts, when all but the key is known, the others see when they have joined.
  using announcement = std::function<void(job&)>;

  // Joins the job that the environment announces, or a job of this process alone if it announces none.
  // Collective: it contains the first fence. Throws boot_error with the way out if the job cannot be joined,
  // or if another kind of launcher started this process. From here to finalize() the process ends with a line
  // and a non-zero status when its launcher is gone.
  static std::unique_ptr<job> join(const announcement& announce = {});
  // The job of the ranks that have this exchange.
  static std::unique_ptr<job> join(exchange brought, const announcement& announce = {});

  // Leaves the job if finalize() was not called.
  virtual ~job() = default;
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
  std::uint32_t local_rank() const { return local_rank_; }
  // Nodes may be virtual, several on one host.
  bool one_host() const { return one_host_; }
  // The name of a host other than this one, for a job of several; empty if the launcher does not tell.
  std::string another_host() const;
  // The name of a rank's host; empty if the launcher does not tell.
  virtual std::string host_of(std::uint32_t rank) const = 0;

  // Publishes a value; the others see it after commit() here and the next fence().
  virtual void put(const std::string& name, std::span<const std::byte> value) = 0;
  virtual void commit() = 0;
  // A barrier of all ranks that also spreads what they committed before it.
  virtual void fence() = 0;
  // A barrier for a rank that others may still need: it does `meanwhile` again and again until all have come,
  // or until that says no, as when a rank cannot come any more. False then: no other fence may follow.
  virtual bool fence(const std::function<bool()>& meanwhile) = 0;
  // A value that `rank` published before the last fence. A missing one is an error, not a wait.
  virtual std::vector<std::byte> get(std::uint32_t rank, const std::string& name) const = 0;

  // Ends every rank of the job and then this process. May be called by any thread, also while others are
  // inside a call of this class; from a callback of on_peer_death only this process ends, and the launcher
  // sees it.
  [[noreturn]] void abort(int status, const std::string& message);
  // The same on purpose: the status may be 0, and the launcher then ends the job as one that went well.
  [[noreturn]] void end(int status, const std::string& message);

  // Calls back at most once for each rank whose death the launcher reports, in a thread of PMIx: the callback
  // must be short and call nothing of this class but abort(). Later calls replace the callback.
  // Many launchers report nothing: this is a help, not the only means.
  virtual void on_peer_death(std::function<void(std::uint32_t rank)> callback) = 0;

  // The launcher has gone: the ranks of the job end one after the other, within a second or two. Any thread,
  // until finalize().
  virtual bool launcher_is_gone() const = 0;

  // Leaves the job; nothing else may be called afterwards.
  virtual void finalize() = 0;

protected:
  job() = default;
  // May return, and then this process ends by itself.
  virtual void end_all(int status, const std::string& message) = 0;
  // Ranks that have the same name share a node.
  void number_nodes(const std::vector<std::string>& name_of_rank);
  // Rank 0 draws it. Collective: it spreads, too, what was put before.
  void agree_on_key();

  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  bool singleton_ = false;
  bool one_host_ = true;

private:
  std::uint32_t local_size_ = 1;
  std::uint32_t local_rank_ = 0;
  std::uint64_t key_ = 0;
  std::vector<std::uint32_t> nodes_;
};

} // namespace weft::boot
