// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/deaths.hpp"

#include "engine/out_of_memory.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace weft::api {

namespace {

// The 22nd field of its line; the second is the program's name, which may hold anything. 0 if there is none.
// Streams keep want of memory to themselves, and a wrong number would be a death: nothing is allocated here.
std::uint64_t beginning_of(std::int64_t pid) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%lld/stat", static_cast<long long>(pid));
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');
  for (int k = 3; k <= 22 && at != nullptr; ++k)
    at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

} // namespace

process_name process_name::of_this() {
  struct stat numbering {};
  (void)stat("/proc/self/ns/pid", &numbering);
  return {getpid(), beginning_of(getpid()), numbering.st_ino};
}

death_watch::death_watch(handler dead) : dead_(std::move(dead)) {}

void death_watch::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);
  bell_.ring();
  thread_.join();
}

death_watch::~death_watch() {
  stop();
  for (std::size_t k = 1; k < descriptors_.size(); ++k)
    close(descriptors_[k].fd);
}

void death_watch::watch(std::uint32_t rank, const process_name& process) {
  if (process.numbering != process_name::of_this().numbering) return;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0));
  if (descriptor < 0) {
    if (errno == ESRCH) report(rank, news::death);
    return;
  }
  // The descriptor pins its process: if that is still the one that began then, it will stay it.
  const std::uint64_t began = beginning_of(process.pid);
  if (began != 0 && process.began != 0 && began != process.began) {
    close(descriptor);
    return report(rank, news::death);
  }
  descriptors_.push_back({descriptor, POLLIN, 0});
  ranks_.push_back(rank);
}

void death_watch::start() {
  sigset_t all, before;
  sigfillset(&all); // signals are the application's
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "weft-deaths");
}

// What came first counts.
void death_watch::report(std::uint32_t rank, news what) noexcept {
  news before = news::none;
  told_of_[rank].reported.compare_exchange_strong(before, what, std::memory_order_release,
                                                  std::memory_order_relaxed);
  bell_.ring();
}

void death_watch::serve() noexcept {
  while (!stop_.load(std::memory_order_relaxed)) {
    tell();
    sleep();
    if (look_) look_();
  }
}

// Until a thread rings, or a process has ended: a descriptor becomes readable then, for ever. Or until it is
// time to look.
void death_watch::sleep() {
  if (::poll(descriptors_.data(), descriptors_.size(), static_cast<int>(period_.count())) <= 0) return;
  bell_.drain();
  for (std::size_t k = descriptors_.size(); k-- > 1;) {
    if (descriptors_[k].revents == 0) continue;
    close(descriptors_[k].fd);
    told_of_[ranks_[k]].reported.store(news::death, std::memory_order_relaxed); // to this thread itself
    descriptors_.erase(descriptors_.begin() + static_cast<std::ptrdiff_t>(k));
    ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

void death_watch::tell() {
  for (std::uint32_t rank = 0; rank < told_of_.size(); ++rank) {
    told& of = told_of_[rank];
    const news what = of.reported.load(std::memory_order_acquire);
    if (what == news::none || of.passed_on) continue;
    of.passed_on = true;
    engine::must_have_memory("the end of a dead thread's operations", [&] { dead_(rank, what); });
  }
}

} // namespace weft::api
