// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/room.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weft::transport::ucx {

namespace {

// Beside the large one, of UCX 1.13: a queue, and memory for the messages that come in.
constexpr std::size_t small_segments[] = {16 << 10, 4608 << 10};

// A file there is written in full at once, by each rank of the host.
bool fits_into_shm_files(std::size_t bytes, std::size_t ranks) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) return false;
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::uint64_t memory = static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
                               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t more : small_segments)
    bytes += more;
  return bytes <= free / ranks && bytes <= memory / ranks;
}

[[noreturn]] void refuse(std::size_t bytes, int why) {
  const bool limited = why != ENOMEM;
  throw std::runtime_error(
      "cannot reserve " + std::to_string(bytes >> 20) +
      " MiB of shared memory for a rank: " + std::strerror(why) +
      (limited
           ? ", and /dev/shm has no room for it; lower WEFT_HEAP_SIZE (a rank takes twice as much), or raise "
             "kernel.shmmax, kernel.shmall and kernel.shmmni or enlarge /dev/shm"
           : "; lower WEFT_HEAP_SIZE (a rank takes twice as much)"));
}

} // namespace

memory_trial::memory_trial(std::size_t bytes, std::size_t ranks) {
  found_.no_system_v = hold(bytes);
  for (const std::size_t more : small_segments)
    if (found_.no_system_v == 0) found_.no_system_v = hold(more);
  found_.files_fit = fits_into_shm_files(bytes, ranks);
}

memory_trial::~memory_trial() {
  for (const void* at : held_)
    shmdt(at);
}

// 0, or why the system gives no segment of this size. It is marked as removed at once, and stays while it is
// attached.
int memory_trial::hold(std::size_t bytes) {
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | S_IRUSR | S_IWUSR);
  if (id < 0) return errno;
  const void* at = shmat(id, nullptr, 0);
  const int why = at == reinterpret_cast<void*>(-1) ? errno : 0;
  shmctl(id, IPC_RMID, nullptr);
  if (why == 0) held_.push_back(at);
  return why;
}

shared_memory choose_memory(std::span<const memory_offer> of_host, std::size_t bytes) {
  const auto limited =
      std::ranges::find_if(of_host, [](const memory_offer& o) { return o.no_system_v != 0; });
  if (limited == of_host.end()) return shared_memory::system_v;
  const auto fit = [](const memory_offer& o) { return o.no_system_v != ENOMEM && o.files_fit != 0; };
  if (!std::ranges::all_of(of_host, fit)) refuse(bytes, limited->no_system_v);
  return shared_memory::files;
}

} // namespace weft::transport::ucx
