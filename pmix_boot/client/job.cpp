// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/job.hpp"

#include "pmix_boot/client/jobs.hpp"
#include "pmix_boot/client/launch_environment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>

namespace weft::boot {

namespace {

constexpr const char* key_name = "weft.job.key";

std::uint64_t random_key() {
  std::random_device source;
  std::uint64_t key = 0;
  while (key == 0)
    key = (std::uint64_t{source()} << 32) | source();
  return key;
}

} // namespace

std::unique_ptr<job> job::join(const announcement& announce) {
  if (announces_a_job()) return std::make_unique<pmix_job>(announce);
  refuse_other_launchers();
  return std::make_unique<exchange_job>(exchange{}, announce);
}

std::unique_ptr<job> job::join(exchange brought, const announcement& announce) {
  return std::make_unique<exchange_job>(std::move(brought), announce);
}

void job::number_nodes(const std::vector<std::string>& name_of_rank) {
  std::map<std::string, std::uint32_t> numbers;
  nodes_.clear();
  for (const std::string& name : name_of_rank)
    nodes_.push_back(numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second);
  local_size_ = static_cast<std::uint32_t>(std::count(nodes_.begin(), nodes_.end(), nodes_[rank_]));
  local_rank_ = static_cast<std::uint32_t>(std::count(nodes_.begin(), nodes_.begin() + rank_, nodes_[rank_]));
  one_host_ = local_size_ == size_;
}

std::string job::another_host() const {
  for (std::uint32_t rank = 0; !one_host() && rank < size_; ++rank)
    if (nodes_[rank] != nodes_[rank_]) return host_of(rank);
  return {};
}

void job::agree_on_key() {
  if (rank_ == 0) {
    key_ = random_key();
    put(key_name, std::as_bytes(std::span(&key_, 1)));
  }
  commit();
  fence();
  const std::vector<std::byte> bytes = get(0, key_name);
  if (bytes.size() != sizeof key_) throw boot_error("the job key of rank 0 has the wrong size");
  std::memcpy(&key_, bytes.data(), sizeof key_);
}

void job::abort(int status, const std::string& message) {
  // A launcher prints the message, if there is one.
  if (singleton_) std::fprintf(stderr, "weft: %s\n", message.c_str());
  end(status == 0 ? 1 : status, message);
}

void job::end(int status, const std::string& message) {
  end_all(status, message);
  _exit(status);
}

namespace {

// The name of this host, and what tells it apart from another one of that name: a number of its start.
using identity = std::array<char, 256>;

identity own_identity() {
  char name[128] = {};
  gethostname(name, sizeof name - 1);
  std::string start;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> start;
  const std::string both = std::string(name) + ' ' + start;
  identity mine{};
  std::copy_n(both.begin(), std::min(both.size(), mine.size() - 1), mine.begin());
  return mine;
}

// Texts and bytes one behind the other, each behind its length.
void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  const auto length = std::as_bytes(std::span(&size, 1));
  to.insert(to.end(), length.begin(), length.end());
  to.insert(to.end(), bytes.begin(), bytes.end());
}
std::span<const std::byte> take(std::span<const std::byte>& from) {
  std::uint64_t size = 0;
  std::memcpy(&size, from.data(), sizeof size);
  const auto bytes = from.subspan(sizeof size, size);
  from = from.subspan(sizeof size + size);
  return bytes;
}

} // namespace

exchange_job::exchange_job(exchange brought, const announcement& announce)
    : brought_(std::move(brought)), known_(brought_.size) {
  rank_ = brought_.rank;
  size_ = brought_.size;
  singleton_ = !brought_.allgather;
  const identity mine = own_identity();
  const std::vector<std::byte> all = gather(std::as_bytes(std::span(mine)));
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    names.emplace_back(reinterpret_cast<const char*>(all.data()) + rank * mine.size());
    hosts_.push_back(names.back().substr(0, names.back().find(' ')));
  }
  number_nodes(names);
  if (announce) announce(*this);
  agree_on_key();
}

std::vector<std::byte> exchange_job::gather(std::span<const std::byte> mine) const {
  std::vector<std::byte> all(mine.size() * size_);
  if (singleton_)
    std::copy(mine.begin(), mine.end(), all.begin());
  else if (!all.empty())
    brought_.allgather(mine, all.data());
  return all;
}

void exchange_job::put(const std::string& name, std::span<const std::byte> value) {
  fresh_[name].assign(value.begin(), value.end());
}

void exchange_job::fence() {
  std::vector<std::byte> mine;
  for (const auto& [name, value] : fresh_) {
    append(mine, std::as_bytes(std::span(name)));
    append(mine, value);
  }
  fresh_.clear();
  const std::uint64_t size = mine.size();
  const std::vector<std::byte> raw = gather(std::as_bytes(std::span(&size, 1)));
  std::vector<std::uint64_t> sizes(size_);
  std::memcpy(sizes.data(), raw.data(), raw.size());
  const std::uint64_t longest = *std::max_element(sizes.begin(), sizes.end());
  mine.resize(longest);
  const std::vector<std::byte> all = gather(mine);
  for (std::uint32_t rank = 0; rank < size_; ++rank)
    for (auto rest = std::span(all).subspan(rank * longest, sizes[rank]); !rest.empty();) {
      const auto name = take(rest), value = take(rest);
      known_[rank][std::string(reinterpret_cast<const char*>(name.data()), name.size())].assign(value.begin(),
                                                                                                value.end());
    }
}

bool exchange_job::fence(const std::function<bool()>& meanwhile) {
  if (singleton_) return true;
  std::atomic<bool> over{false};
  bool all_can_come = true;
  std::thread beside([&] {
    while (all_can_come && !over.load(std::memory_order_acquire)) {
      all_can_come = meanwhile();
      std::this_thread::yield();
    }
  });
  const auto end = [&] {
    over.store(true, std::memory_order_release);
    beside.join();
  };
  try {
    brought_.barrier();
  } catch (...) {
    end();
    throw;
  }
  end();
  return all_can_come;
}

std::vector<std::byte> exchange_job::get(std::uint32_t rank, const std::string& name) const {
  if (const auto mine = fresh_.find(name); rank == rank_ && mine != fresh_.end()) return mine->second;
  const auto found = known_.at(rank).find(name);
  if (found == known_[rank].end())
    throw boot_error("cannot get \"" + name + "\" of rank " + std::to_string(rank) +
                     ": it has not published it");
  return found->second;
}

void exchange_job::end_all(int status, const std::string& message) {
  if (brought_.abort) brought_.abort(status, message);
}

} // namespace weft::boot
