// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/job.hpp"

#include "pmix_boot/client/jobs.hpp"
#include "pmix_boot/client/launch_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
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

} // namespace weft::boot
