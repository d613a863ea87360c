// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/limits.hpp"

#include "pmix_boot/client/pmix_info.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace weft::boot {

namespace {

rlim_t limit_of(__rlimit_resource_t resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

struct kind_of_memory {
  __rlimit_resource_t limit;
  int rights; // of a mapping that counts
  int field;  // of /proc/self/statm: pages that count
  const char* name;
  const char* option;
};
constexpr kind_of_memory addresses{RLIMIT_AS, PROT_NONE, 1, "addresses", "ulimit -v"};
constexpr kind_of_memory data{RLIMIT_DATA, PROT_READ | PROT_WRITE, 6, "memory of its own", "ulimit -d"};

// Of this process. 0 if the system does not tell.
std::size_t used(const kind_of_memory& kind) {
  std::size_t pages = 0;
  std::ifstream counts("/proc/self/statm");
  for (int k = 0; k < kind.field; ++k)
    counts >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void require(const kind_of_memory& kind, std::size_t bytes, const std::string& needed_by,
             const std::string& or_else) {
  const rlim_t limit = limit_of(kind.limit);
  if (limit == RLIM_INFINITY) return;
  void* const at = mmap(nullptr, bytes, kind.rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) {
    munmap(at, bytes);
    return;
  }
  const auto kibibytes = [](std::size_t b) { return std::to_string((b + 1023) / 1024); };
  throw boot_error(needed_by + " needs " + std::to_string(bytes >> 20) + " MiB of " + kind.name +
                   " more than the limit of " + kibibytes(limit) + " KiB (" + kind.option +
                   ") leaves; raise it, as in " + kind.option + " " + kibibytes(used(kind) + bytes) +
                   or_else);
}

} // namespace

void require_files(std::size_t files, const std::string& needed_by) {
  std::vector<int> taken;
  taken.reserve(files);
  int why = 0;
  while (why == 0 && taken.size() < files) {
    const int file = eventfd(0, EFD_CLOEXEC);
    if (file < 0)
      why = errno;
    else
      taken.push_back(file);
  }
  for (const int file : taken)
    close(file);
  if (why == 0) return;
  const std::string rule = needed_by + " needs " + std::to_string(files) + " open files more, and ";
  const std::string found = std::to_string(taken.size());
  if (why != EMFILE) throw boot_error(rule + "the host has " + found + "; raise its fs.file-max");
  const rlim_t limit = limit_of(RLIMIT_NOFILE);
  throw boot_error(rule + "the limit of " + std::to_string(limit) + " (ulimit -n) leaves " + found +
                   "; raise it, as in ulimit -n " + std::to_string(limit + files - taken.size()));
}

void require_addresses(std::size_t bytes, const std::string& needed_by, const std::string& or_else) {
  require(addresses, bytes, needed_by, or_else);
}

void require_data(std::size_t bytes, const std::string& needed_by) {
  require(data, bytes, needed_by, "");
}

namespace {

// Threads of all users; more than any limit if the system does not tell.
std::size_t threads_of_system() {
  std::ifstream load("/proc/loadavg");
  std::string averages;
  std::size_t running = 0, all = 0;
  char slash = 0;
  for (int k = 0; k < 3; ++k)
    load >> averages;
  return load >> running >> slash >> all ? all : ~std::size_t{0} >> 1;
}

// As many as may be begun, up to a number. They wait, with signals left to others, and end with this.
class waiting_threads {
public:
  explicit waiting_threads(std::size_t most) {
    all_.reserve(most);
    until_.lock();
    sigset_t none, before;
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    while (all_.size() < most && begin())
      ;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~waiting_threads() {
    until_.unlock();
    for (const pthread_t t : all_)
      pthread_join(t, nullptr);
  }
  waiting_threads(const waiting_threads&) = delete;
  waiting_threads& operator=(const waiting_threads&) = delete;
  std::size_t count() const { return all_.size(); }

private:
  bool begin() {
    constexpr std::size_t stack = 256 * 1024;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, stack);
    const auto wait = [](void* until) -> void* {
      const std::lock_guard lock(*static_cast<std::mutex*>(until));
      return nullptr;
    };
    pthread_t made;
    const bool begun = pthread_create(&made, &small, wait, &until_) == 0;
    pthread_attr_destroy(&small);
    if (begun) all_.push_back(made);
    return begun;
  }

  std::mutex until_;
  std::vector<pthread_t> all_;
};

} // namespace

void require_threads(std::size_t threads, const std::string& needed_by) {
  const rlim_t limit = limit_of(RLIMIT_NPROC);
  if (limit == RLIM_INFINITY || threads_of_system() + threads <= limit) return;
  const std::size_t left = waiting_threads(threads).count();
  if (left == threads) return;
  throw boot_error(needed_by + " needs " + std::to_string(threads) +
                   " threads and processes more, and the limit of " + std::to_string(limit) +
                   " of this user (ulimit -u) leaves " + std::to_string(left) +
                   "; raise it, as in ulimit -u " + std::to_string(limit + threads - left));
}

} // namespace weft::boot
