// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/jobs.hpp"

#include "pmix_boot/client/launch_environment.hpp"
#include "pmix_boot/client/pmix_event.hpp"
#include "pmix_boot/client/pmix_info.hpp"

#include <pmix.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace weft::boot {

namespace {

// A get of a dead rank's value can wait for ever under some launchers.
constexpr int get_timeout_seconds = 30;
constexpr std::chrono::seconds abort_patience{5}, last_patience{2};
constexpr std::chrono::seconds init_patience{60};

// An attribute that the launcher published when it started the job, if it did.
template <class T>
std::optional<T> published(const pmix_proc_t& process, const char* attribute, const info_array& directives,
                           std::optional<T> (*as)(const pmix_value_t&)) {
  pmix_value_t* raw = nullptr;
  if (PMIx_Get(&process, attribute, directives.data(), directives.size(), &raw) != PMIX_SUCCESS ||
      raw == nullptr)
    return std::nullopt;
  return as(*owned_value(raw));
}
auto job_number(const pmix_proc_t& process, const char* attribute, const info_array& directives) {
  return published(process, attribute, directives, as_number);
}
auto job_string(const pmix_proc_t& process, const char* attribute, const info_array& directives) {
  return published(process, attribute, directives, as_string);
}

// A name of the rank's node that is the same for all ranks of that node. The number comes first: two virtual
// nodes may carry one host name.
std::string node_name(const pmix_proc_t& process, const info_array& directives) {
  if (const auto number = job_number(process, PMIX_NODEID, directives))
    return std::string("#").append(std::to_string(*number));
  if (const auto host = job_string(process, PMIX_HOSTNAME, directives)) return *host;
  throw boot_error("the launcher does not tell the node of rank " + std::to_string(process.rank) +
                   "; start the job with a launcher that publishes PMIX_NODEID or PMIX_HOSTNAME");
}

void require_passed(pmix_status_t fence) {
  if (fence == PMIX_ERR_PARTIAL_SUCCESS)
    throw boot_error(
        "another rank ended before all ranks of the job had come to the same place: its own lines "
        "and the launcher's say why; start the job again");
  require_success(fence, "fence of the job");
}

// No answer ever comes when the port of a launcher that is gone belongs to another program now: PMIx would
// wait for ever.
pmix_status_t init_in_time(pmix_proc_t& self) {
  struct answer {
    pmix_proc_t self{};
    std::promise<pmix_status_t> status;
  };
  const auto pending = std::make_shared<answer>();
  std::future<pmix_status_t> status = pending->status.get_future();
  std::thread([pending] { pending->status.set_value(PMIx_Init(&pending->self, nullptr, 0)); }).detach();
  if (status.wait_for(init_patience) == std::future_status::timeout) return PMIX_ERR_TIMEOUT;
  self = pending->self;
  return status.get();
}

} // namespace

pmix_job::pmix_job(const announcement& announce) {
  refuse_child_of_rank();
  refuse_job_of_mpi();
  join(announce);
}

void pmix_job::join(const announcement& announce) {
  pmix_proc_t self{};
  const pmix_status_t status = init_in_time(self);
  // With "unreachable" PMIx would go on as a job of one.
  if (status != PMIX_SUCCESS)
    throw boot_error(
        "cannot join the job as " + announced_rank() +
        ", which its variables announce: " + pmix_text(status) +
        "; its launcher is gone, or they were copied from another process: " + without_announcement);
  joined_ = true;
  nspace_ = self.nspace;
  rank_ = self.rank;
  try {
    mark_as_rank(nspace_, rank_);
    launcher_ = std::make_unique<launcher_watch>(rank_);
    refuse_second_program();
    read_job_size();
    refuse_world_of_one(size_);
    read_nodes();
    if (announce) announce(*this);
    agree_on_key();
  } catch (...) {
    finalize();
    throw;
  }
}

pmix_job::~pmix_job() {
  try {
    finalize();
  } catch (const boot_error& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
  }
}

// The launcher forgets a job that its ranks have left, and a program that comes behind them, in the same
// shell, is told of a job without a size and without nodes.
void pmix_job::refuse_second_program() const {
  info_array directives;
  directives.add(PMIX_OPTIONAL, true);
  if (job_number(process_name(nspace_, PMIX_RANK_WILDCARD), PMIX_JOB_SIZE, directives) ||
      job_number(process_name(nspace_, rank_), PMIX_NODEID, directives) ||
      job_string(process_name(nspace_, rank_), PMIX_HOSTNAME, directives))
    return;
  throw boot_error("an earlier program has been " + announced_rank() +
                   " and has left it, as in sh -c './a; ./b': " + joins_once);
}

void pmix_job::read_job_size() {
  const auto size = job_number(process_name(nspace_, PMIX_RANK_WILDCARD), PMIX_JOB_SIZE, info_array());
  if (!size || *size == 0 || rank_ >= *size)
    throw boot_error("the launcher does not tell the size of the job (PMIX_JOB_SIZE)");
  size_ = static_cast<std::uint32_t>(*size);
}

void pmix_job::read_nodes() {
  // What the launcher published is here already; asking the server for what it did not publish may wait.
  info_array directives;
  directives.add(PMIX_OPTIONAL, true);
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < size_; ++rank)
    names.push_back(node_name(process_name(nspace_, rank), directives));
  number_nodes(names);
  one_host_ = one_host_ || nspace_.starts_with(own_launcher);
}

std::string pmix_job::host_of(std::uint32_t rank) const {
  info_array directives;
  directives.add(PMIX_OPTIONAL, true);
  return job_string(process_name(nspace_, rank), PMIX_HOSTNAME, directives).value_or("");
}

void pmix_job::put(const std::string& name, std::span<const std::byte> value) {
  pmix_value_t wrapped{};
  wrapped.type = PMIX_BYTE_OBJECT;
  // PMIx copies the bytes and does not write to them.
  wrapped.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(value.data()));
  wrapped.data.bo.size = value.size();
  require_success(PMIx_Put(PMIX_GLOBAL, name.c_str(), &wrapped), "cannot publish \"" + name + "\"");
}

void pmix_job::commit() {
  require_success(PMIx_Commit(), "cannot commit what was published");
}

void pmix_job::fence() {
  // Without collection some launchers let a fence pass before the other nodes have come to it.
  info_array directives;
  directives.add(PMIX_COLLECT_DATA, true);
  require_passed(PMIx_Fence(nullptr, 0, directives.data(), directives.size()));
}

bool pmix_job::fence(const std::function<bool()>& meanwhile) {
  info_array directives;
  directives.add(PMIX_COLLECT_DATA, true);
  constexpr int under_way = 1; // no status of PMIx is positive
  auto status = std::make_unique<std::atomic<int>>(under_way);
  const auto passed = [](pmix_status_t result, void* where) {
    static_cast<std::atomic<int>*>(where)->store(result, std::memory_order_release);
  };
  const pmix_status_t begun =
      PMIx_Fence_nb(nullptr, 0, directives.data(), directives.size(), passed, status.get());
  if (begun == PMIX_OPERATION_SUCCEEDED) return true;
  require_passed(begun);
  while (status->load(std::memory_order_acquire) == under_way) {
    if (!meanwhile()) {
      (void)status.release(); // PMIx may still write to it
      return false;
    }
    std::this_thread::yield();
  }
  require_passed(status->load(std::memory_order_relaxed));
  return true;
}

std::vector<std::byte> pmix_job::get(std::uint32_t rank, const std::string& name) const {
  const std::string what = "cannot get \"" + name + "\" of rank " + std::to_string(rank);
  const pmix_proc_t process = process_name(nspace_, rank);
  info_array directives;
  directives.add(PMIX_IMMEDIATE, true).add_seconds(PMIX_TIMEOUT, get_timeout_seconds);
  pmix_value_t* raw = nullptr;
  require_success(PMIx_Get(&process, name.c_str(), directives.data(), directives.size(), &raw), what);
  const owned_value value(raw);
  if (value->type != PMIX_BYTE_OBJECT) throw boot_error(what + ": it is not an array of bytes");
  const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
  return {bytes, bytes + value->data.bo.size};
}

void pmix_job::end_all(int status, const std::string& message) {
  // In PMIx's own thread a blocking call would wait for itself; a launcher that died must not keep us either.
  if (!deaths_ || !deaths_->in_callback()) {
    std::promise<void> done;
    std::future<void> answer = done.get_future();
    std::thread([&done, status, &message] {
      PMIx_Abort(status, message.c_str(), nullptr, 0);
      done.set_value();
    }).detach();
    // The launcher ends this process as well. Gone before the others, it would be a death to them.
    if (answer.wait_for(abort_patience) == std::future_status::ready)
      std::this_thread::sleep_for(last_patience);
  }
}

void pmix_job::on_peer_death(std::function<void(std::uint32_t)> callback) {
  if (deaths_) return deaths_->set_callback(std::move(callback));
  deaths_ = std::make_unique<death_watch>(nspace_, size_, std::move(callback));
  deaths_->start();
}

bool pmix_job::launcher_is_gone() const {
  return launcher_ != nullptr && launcher_->has_seen_it_go();
}

void pmix_job::finalize() {
  if (!std::exchange(joined_, false)) return;
  deaths_.reset();
  launcher_.reset();
  require_success(PMIx_Finalize(nullptr, 0), "cannot leave the job");
}

} // namespace weft::boot
