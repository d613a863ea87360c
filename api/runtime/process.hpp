// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/between_hosts.hpp"
#include "api/runtime/deaths.hpp"
#include "api/runtime/job_trace.hpp"
#include "api/runtime/reports.hpp"
#include "api/runtime/runtime.hpp"
#include "api/runtime/start.hpp"
#include "engine/call_place.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/transport.hpp"
#include "pmix_boot/client/job.hpp"
#include "progress/control/atomics.hpp"
#include "progress/control/block_finder.hpp"
#include "progress/control/locks.hpp"
#include "progress/control/teams.hpp"
#include "progress/driving/progress_thread.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace weft::api {

// The real runtime: a job, the UCX transport, an engine on it, and its progress thread.
class process_runtime final : public runtime {
public:
  // With the exchange that the program brings, or else as the launcher says.
  explicit process_runtime(const engine::settings& s, const boot::exchange* brought = nullptr);
  ~process_runtime() override;
  // Ends the job for this rank; collective. Throws if that could not be done together with all others; it has
  // come to its end even so. Nothing else may be called afterwards.
  void close();

  std::uint32_t rank() const override { return job_.rank(); }
  std::uint32_t size() const override { return job_.size(); }
  team_calls& teams() override { return *teams_; }
  control::lock_calls& locks() override { return *locks_; }
  control::atomic_value apply_by_owner(std::uint32_t rank, std::uint64_t offset,
                                       const control::atomic_operation& op) override {
    return atomics_->ask(rank, offset, op);
  }

  handle post_barrier(std::optional<int> value) override;
  std::optional<given_value> heard() const override;
  void run_barrier(std::optional<int> value) override;

  state query(handle h) noexcept override { return as_state(engine_->query(h)); }
  state test(handle h) override { return as_state(engine_->test(h)); }
  void wait(handle h) override { engine_->wait(h); }

  std::uint64_t completions() const noexcept override { return engine_->completions(); }
  std::size_t find_ready(std::span<const upc_coll_handle_t> handles) const noexcept override {
    const auto ready = [&](handle h) { return h != 0 && engine_->query(h) != engine_type::status::pending; };
    return static_cast<std::size_t>(std::ranges::find_if(handles, ready) - handles.begin());
  }
  void progress() override { engine_->progress(); }
  std::size_t outstanding() const noexcept override { return engine_->unfinished(); }
  bool moved_by_calls() const override { return engine_->options().drive != progress::mode::dedicated; }
  bool has_no_thread() const override { return engine_->options().drive == progress::mode::caller; }
  void drive_until(const std::function<bool(progress::look)>& fact, std::chrono::nanoseconds nap) override {
    engine_->drive_until(fact, nap);
  }

  std::uint64_t private_offset(const void* memory) const override;
  progress::statistics& counts() override { return engine_->counts(); }
  void* direct(std::uint32_t rank, std::uint64_t offset) override;
  void put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) override;
  handle post_transfer(const progress::one_sided_request& r) override { return engine_->post(r); }
  void await(const std::function<bool(progress::look)>& fact, const std::function<std::string()>& text,
             std::chrono::nanoseconds nap) override;
  void tell_host() override { engine_->tell_host(); }

  std::uint64_t allocate_all(std::size_t bytes) override { return heap_->allocate_all(bytes); }
  std::uint64_t allocate_global(std::size_t bytes) override { return heap_->allocate_global(bytes); }
  std::uint64_t allocate_local(std::size_t bytes) override { return heap_->allocate_local(bytes); }
  std::uint64_t free_block(std::uint32_t rank, std::uint64_t offset) override {
    return heap_->free_block(rank, offset);
  }
  std::uint64_t free_block_of_all(std::uint32_t rank, std::uint64_t offset) override {
    return heap_->free_block_of_all(rank, offset);
  }
  bool in_heap(std::uint64_t offset, engine::checked bytes) const override {
    return heap_->contains(offset, bytes);
  }
  bool in_symmetric_heap(std::uint64_t offset, engine::checked bytes) const override {
    return heap_->contains_symmetric(offset, bytes);
  }
  std::size_t heap_bytes() const override { return settings_.heap_size; }
  bool checks_calls() const override { return engine_->options().tuning.check; }
  std::optional<engine::heap::block> block_below(std::uint32_t rank, std::uint64_t offset) const override {
    return blocks_->below(rank, offset);
  }

  std::uint64_t statistic(const std::string& name) const override;
  [[noreturn]] void abort_job(int status, const std::string& message) override;
  [[noreturn]] void end_job(int status, const std::string& message) override;

private:
  using net = transport::ucx::ucx_transport;
  using engine_type = progress::engine<net>;

  // Between two looks for connections over which nothing comes back.
  static constexpr std::chrono::milliseconds silence_period{1000};

  static state as_state(engine_type::status s) { return static_cast<state>(s); }
  void publish();
  void watch_neighbours();
  void lose(std::uint32_t rank, death_watch::news what);
  progress::fate fate_of(std::uint32_t rank, death_watch::news what) const;
  void look_for_silence();
  void end_silent_connections();
  double node_cores() const;
  collectives::tuning agree_on_tuning();
  std::string difference_on_node() const;
  void require_alike() const;
  void open_transport(const control::heap_layout& l);
  void open_services(const control::heap_layout& l);
  void serve(std::uint32_t from, const control::request& r);
  void open_engine(const collectives::tuning& tuning, const control::heap_layout& l);
  progress::barrier_summary summary(std::optional<int> value) const;
  graph::binding place_of_call() const {
    return {.from = checks_calls() ? engine::call_place::here().in_program() : 0};
  }
  void print_statistics() const;
  void disconnect();
  void take_leave() noexcept;
  void leave_in_disorder() noexcept;

  engine::settings settings_;
  std::atomic<bool> ending_{false}; // no thread needs to hear of a death any more, but the end does
  std::atomic<bool> died_at_the_end_{false};
  bool open_ = true;
  start_log start_;
  start_room room_;    // before all that opens files
  death_watch deaths_; // outlives any thread that reports to it
  const std::unique_ptr<boot::job> joined_;
  boot::job& job_ = *joined_;
  job_trace trace_;
  std::optional<between_hosts> between_;
  bool silent_before_ = false;       // of the thread of the death watch
  std::vector<std::uint32_t> nodes_; // by rank, as the lanes see them
  std::atomic<bool> leaving_{false}; // from here on a closed connection is no death
  std::unique_ptr<net> net_;
  program_memory memory_;
  std::unique_ptr<engine_type> engine_;
  progress::channel* all_ = nullptr;
  progress::barrier_summary heard_; // of the barrier that was posted last
  std::unique_ptr<control::heap_service<net>> heap_;
  std::unique_ptr<control::inquiries<net>> inquiries_;
  std::unique_ptr<control::lock_service<net>> locks_;
  std::unique_ptr<control::atomic_service<net>> atomics_;
  std::unique_ptr<control::block_finder<net>> blocks_;
  std::unique_ptr<control::team_registry<net>> teams_;
  std::unique_ptr<progress::progress_thread<net>> thread_;
  std::unique_ptr<wait_reporter> reports_;
};

} // namespace weft::api
