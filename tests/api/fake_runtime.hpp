// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"
#include "engine/collectives/operations.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

// A runtime of several ranks in one process, seen from one of them: memory is real, collectives are only
// recorded, and what is posted is complete when the test says so.
class fake_runtime final : public weft::api::runtime {
public:
  using handle = weft::api::handle;
  using request = weft::collectives::request;

  struct recorded {
    request r;
    weft::graph::binding at;
    bool blocking;
    weft::api::team_calls::team team;
  };

  // What weft_init makes.
  static inline std::uint32_t next_size = 4;
  static inline std::uint32_t next_rank = 0;
  static fake_runtime& instance();

  fake_runtime(std::uint32_t rank, std::uint32_t size);

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }

  weft::api::team_calls& teams() override { return teams_; }

  // Of one thread: whoever else holds a lock, the test says.
  struct lone_locks final : weft::control::lock_calls {
    using name = weft::control::lock_name;
    using outcome = weft::control::lock_outcome;
    name allocate() override { return {0, ++last, local_begin}; }
    name allocate_all() override { return allocate(); }
    outcome lock(const name& l) override { return asked(l); }
    outcome attempt(const name& l) override { return asked(l); }
    outcome unlock(const name& l) override { return asked(l); }
    outcome free(const name& l) override { return asked(l); }
    outcome free_all(const name& l) override { return asked(l); }
    outcome asked(const name& l) {
      calls.push_back(l);
      return next;
    }
    std::vector<name> calls;
    outcome next;
    std::uint32_t last = 0;
  } lone;
  weft::control::lock_calls& locks() override { return lone; }
  std::size_t applied_by_owner = 0;
  weft::control::atomic_value apply_by_owner(std::uint32_t rank, std::uint64_t offset,
                                             const weft::control::atomic_operation& op) override {
    ++applied_by_owner;
    return weft::control::apply(memory(rank, offset), op);
  }

  handle post_barrier(std::optional<int> value) override;
  std::optional<weft::api::given_value> heard() const override { return heard_; }
  std::optional<weft::api::given_value> heard_; // for the test to set
  void run_barrier(std::optional<int> value) override { barriers.push_back(value); }

  state query(handle h) noexcept override;
  state test(handle h) override;
  void wait(handle h) override;
  std::uint64_t completions() const noexcept override { return completions_; }
  std::size_t find_ready(std::span<const upc_coll_handle_t> handles) const noexcept override;
  void progress() override;
  bool by_calls = false; // and what is left, for the test to set
  std::size_t left = 0;
  std::size_t outstanding() const noexcept override { return left; }
  bool moved_by_calls() const override { return by_calls; }
  void drive_until(const std::function<bool(weft::progress::look)>& fact,
                   std::chrono::nanoseconds nap) override;

  void* direct(std::uint32_t rank, std::uint64_t offset) override;
  void put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) override;
  handle post_transfer(const weft::progress::one_sided_request& r) override;

  std::uint64_t private_offset(const void* memory) const override {
    return reinterpret_cast<std::uintptr_t>(memory) -
           reinterpret_cast<std::uintptr_t>(segments_[rank_].data());
  }
  weft::progress::statistics counted;
  weft::progress::statistics& counts() override { return counted; }

  std::uint64_t allocate_all(std::size_t bytes_per_rank) override {
    return allocate(next_offset_, local_begin, bytes_per_rank);
  }
  std::uint64_t allocate_global(std::size_t bytes_per_rank) override { return allocate_all(bytes_per_rank); }
  std::uint64_t allocate_local(std::size_t bytes) override {
    return allocate(next_local_, local_begin + local_size, bytes);
  }
  // Blocks begin at multiples of 64.
  std::uint64_t free_block(std::uint32_t rank, std::uint64_t offset) override {
    const bool again = std::find(freed.begin(), freed.end(), std::pair{rank, offset}) != freed.end();
    if (!again && offset % 64 == 0) freed.push_back({rank, offset});
    return again ? 0 : offset / 64 * 64;
  }
  std::uint64_t free_block_of_all(std::uint32_t rank, std::uint64_t offset) override {
    barriers.push_back(std::nullopt);
    return rank_ == 0 ? free_block(rank, offset) : offset / 64 * 64;
  }
  bool in_heap(std::uint64_t offset, weft::engine::checked bytes) const override;
  bool in_symmetric_heap(std::uint64_t offset, weft::engine::checked bytes) const override;
  std::size_t heap_bytes() const override { return heap_size; }
  bool check = false;
  bool checks_calls() const override { return check; }

  std::uint64_t statistic(const std::string& name) const override { return name == "posts" ? posts : 0; }
  [[noreturn]] void abort_job(int status, const std::string& message) override;
  [[noreturn]] void end_job(int status, const std::string& message) override;

  // For the test: what was called, and what is to happen.
  static constexpr std::size_t heap_begin = 64, heap_size = 1 << 20;
  static constexpr std::size_t local_begin = heap_begin + heap_size + (64 << 10), local_size = 64 << 10;
  std::vector<recorded> collectives;
  std::vector<std::optional<int>> barriers;
  std::vector<handle> entered;
  std::vector<handle> waited;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> freed;
  std::set<std::uint32_t> out_of_reach; // ranks without loads and stores
  std::size_t tested = 0;               // calls that drive progress
  std::size_t puts = 0, gets = 0, bytes_put = 0;
  std::vector<weft::progress::one_sided_request> transfers; // posted; nothing is moved for them
  bool room_for_transfers = true;
  std::uint64_t posts = 0;
  std::map<handle, std::string> failures; // what an operation fails with
  std::function<void()> meanwhile;        // what happens whenever a call drives progress
  std::uint64_t message = 0; // not 0: each rank is alone on its host, and a message has so many bytes
  bool room_for_teams = true;
  bool room_for_channels = true;
  std::vector<std::vector<std::uint32_t>> channels; // of this rank's own, by number; no ranks: all
  mutable std::size_t queries = 0;                  // handles that were looked at among several
  void finish(handle h) { completions_ += pending_.erase(h); }
  // A team of these ranks of the job.
  weft::api::team_calls::team make_team(std::vector<std::uint32_t> ranks) {
    return *teams_.make(weft::api::team_calls::all, ranks);
  }
  std::vector<std::uint32_t> members(weft::api::team_calls::team t) const { return teams_.members.at(t); }
  std::byte* memory(std::uint32_t rank, std::uint64_t offset) { return segments_[rank].data() + offset; }

private:
  // The teams that are always there, of all ranks, and those that a test or a call makes of ranks of the job.
  struct listed_teams final : weft::api::team_calls {
    explicit listed_teams(fake_runtime& runtime) : of(runtime) {}
    std::uint32_t size(team t) const override;
    std::uint32_t rank(team t) const override { return member(t, of.rank()); }
    std::uint32_t thread(team t, std::uint32_t member) const override;
    std::uint32_t member(team t, std::uint32_t rank) const override;
    team split(team, int, int) override { return 0; }
    std::optional<team> make(team parent, std::span<const std::uint32_t> ranks) override;
    std::optional<team> make(std::uint32_t, std::uint32_t, const gathering&) override { return std::nullopt; }
    void free(team t) override { members.erase(t); }
    team own_channel(std::span<const std::uint32_t> ranks) override;
    handle post(team t, const request& r, const weft::graph::binding& at) override;
    handle post(team t, std::span<const weft::collectives::bound_request> series) override;
    void run(team t, const request& r, const weft::graph::binding& at) override;
    bool touches_own(team, const request& r) override {
      return r.bytes <= (of.message != 0 ? of.message : weft::collectives::computes(r.op) ? 0 : 2048);
    }
    std::uint64_t piece_of_series(team, const request& r) override {
      return r.bytes > of.message ? of.message : 0;
    }
    weft::collectives::in_messages longest_in_messages(team) override {
      return {of.message, 16 * of.message};
    }
    std::uint64_t longest_along(team) override { return of.message; }
    void await_all_entered(team, handle h) override { of.entered.push_back(h); }

    fake_runtime& of;
    std::map<team, std::vector<std::uint32_t>> members;
    team last = node;
  };
  listed_teams teams_{*this};
  static std::uint64_t allocate(std::uint64_t& next, std::uint64_t end, std::size_t bytes);
  handle issue();

  std::uint32_t rank_, size_;
  std::vector<std::vector<std::byte>> segments_;
  std::uint64_t next_offset_ = heap_begin, next_local_ = local_begin;
  handle last_handle_ = 0;
  std::set<handle> pending_;
  std::uint64_t completions_ = 0;
};
