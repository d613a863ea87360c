// SPDX-License-Identifier: BSD-3-Clause
#include "tests/api/fake_runtime.hpp"
#include "include/weft/error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <unistd.h>

namespace {
std::unique_ptr<fake_runtime> current;
}

namespace weft::api {

runtime& runtime::get(const char* call) {
  if (!current) throw error(call, "", "", "the library is not initialised: call weft_init first");
  return *current;
}
bool runtime::initialised() noexcept {
  return current != nullptr;
}
void runtime::init(const boot::exchange*) {
  current = std::make_unique<fake_runtime>(fake_runtime::next_rank, fake_runtime::next_size);
  ++begun;
}
void runtime::finalize() {
  current.reset();
}

} // namespace weft::api

fake_runtime& fake_runtime::instance() {
  return *current;
}

fake_runtime::fake_runtime(std::uint32_t rank, std::uint32_t size)
    : rank_(rank), size_(size),
      segments_(size, std::vector<std::byte>(local_begin + local_size, std::byte{0xee})) {
  castable_.begin = heap_begin;
  castable_.whole_heap = local_begin + local_size - heap_begin;
}

fake_runtime::handle fake_runtime::issue() {
  pending_.insert(++last_handle_);
  return last_handle_;
}

fake_runtime::handle fake_runtime::post_barrier(std::optional<int> value) {
  barriers.push_back(value);
  return issue();
}

fake_runtime::state fake_runtime::query(handle h) noexcept {
  if (h == 0 || h > last_handle_) return state::never_issued;
  return pending_.contains(h) ? state::pending : state::complete;
}

std::size_t fake_runtime::find_ready(std::span<const upc_coll_handle_t> handles) const noexcept {
  std::size_t at = 0;
  for (; at != handles.size(); ++at) {
    if (handles[at] == 0) continue;
    ++queries;
    if (!pending_.contains(handles[at])) break;
  }
  return at;
}

void fake_runtime::progress() {
  ++tested;
  if (meanwhile) meanwhile();
}

// A wait that nothing can end fails.
void fake_runtime::drive_until(const std::function<bool(weft::progress::look)>& fact,
                               std::chrono::nanoseconds /*nap*/) {
  for (int idle = 0; !fact(weft::progress::look::part); ++idle) {
    const std::uint64_t before = completions_;
    progress();
    if (completions_ != before) idle = 0;
    if (idle == 100) throw std::logic_error("waits for ever");
  }
}

fake_runtime::state fake_runtime::test(handle h) {
  progress();
  const state s = query(h);
  if (s == state::complete) wait(h);
  return s;
}

void fake_runtime::wait(handle h) {
  waited.push_back(h);
  finish(h);
  if (const auto failure = failures.extract(h)) throw std::runtime_error(failure.mapped());
}

std::uint32_t fake_runtime::listed_teams::size(team t) const {
  if (t == all || t == node) return of.size();
  const auto found = members.find(t);
  return found == members.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

std::uint32_t fake_runtime::listed_teams::thread(team t, std::uint32_t member) const {
  return t == all || t == node ? member : members.at(t).at(member);
}

std::uint32_t fake_runtime::listed_teams::member(team t, std::uint32_t rank) const {
  if (t == all || t == node) return rank;
  const std::vector<std::uint32_t>& list = members.at(t);
  return static_cast<std::uint32_t>(std::find(list.begin(), list.end(), rank) - list.begin());
}

std::optional<weft::api::team_calls::team>
fake_runtime::listed_teams::make(team, std::span<const std::uint32_t> ranks) {
  if (!of.room_for_teams) return std::nullopt;
  if (std::find(ranks.begin(), ranks.end(), of.rank()) == ranks.end()) return 0;
  members.emplace(++last, std::vector<std::uint32_t>(ranks.begin(), ranks.end()));
  return last;
}

weft::api::team_calls::team fake_runtime::listed_teams::own_channel(std::span<const std::uint32_t> ranks) {
  if (!of.room_for_channels) return 0;
  of.channels.emplace_back(ranks.begin(), ranks.end());
  return own | (of.channels.size() - 1);
}

fake_runtime::handle fake_runtime::listed_teams::post(team t, const request& r,
                                                      const weft::graph::binding& at) {
  ++of.posts;
  of.collectives.push_back({r, at, false, t});
  return of.issue();
}

fake_runtime::handle
fake_runtime::listed_teams::post(team t, std::span<const weft::collectives::bound_request> series) {
  for (const auto& [of_series, at] : series.first(series.size() - 1))
    of.collectives.push_back({of_series, at, false, t});
  return post(t, series.back().of, series.back().at);
}

void fake_runtime::listed_teams::run(team t, const request& r, const weft::graph::binding& at) {
  of.collectives.push_back({r, at, true, t});
}

void* fake_runtime::direct(std::uint32_t rank, std::uint64_t offset) {
  return out_of_reach.contains(rank) ? nullptr : memory(rank, offset);
}

void fake_runtime::put(std::uint32_t rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  ++puts;
  bytes_put += bytes;
  std::memcpy(memory(rank, offset), from, bytes);
}

void fake_runtime::get(void* to, std::uint32_t rank, std::uint64_t offset, std::size_t bytes) {
  ++gets;
  std::memcpy(to, memory(rank, offset), bytes);
}

fake_runtime::handle fake_runtime::post_transfer(const weft::progress::one_sided_request& r) {
  if (!room_for_transfers) return 0;
  transfers.push_back(r);
  return issue();
}

std::uint64_t fake_runtime::allocate(std::uint64_t& next, std::uint64_t end, std::size_t bytes) {
  if (bytes > end - next) return 0;
  const std::uint64_t offset = next;
  next += (bytes + 63) / 64 * 64;
  return offset;
}

bool fake_runtime::in_symmetric_heap(std::uint64_t offset, weft::engine::checked bytes) const {
  const std::uint64_t end = heap_begin + heap_size;
  return offset >= heap_begin && offset <= end && bytes <= end - offset;
}

bool fake_runtime::in_heap(std::uint64_t offset, weft::engine::checked bytes) const {
  const std::uint64_t end = local_begin + local_size;
  return in_symmetric_heap(offset, bytes) ||
         (offset >= local_begin && offset <= end && bytes <= end - offset);
}

void fake_runtime::abort_job(int status, const std::string&) {
  _exit(status);
}

void fake_runtime::end_job(int status, const std::string&) {
  _exit(status);
}
