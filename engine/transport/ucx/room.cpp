#include "engine/transport/ucx/room.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weft::transport::ucx {

namespace {

// 0, or why the system gives no System V segment of this size. Nothing is left behind, and no page is taken.
int try_system_v(std::size_t bytes) {
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | S_IRUSR | S_IWUSR);
  if (id < 0) return errno;
  const void* at = shmat(id, nullptr, 0);
  const int why = at == reinterpret_cast<void*>(-1) ? errno : 0;
  if (why == 0) shmdt(at);
  shmctl(id, IPC_RMID, nullptr);
  return why;
}

// A file there is written in full at once, by each rank of the host.
bool fits_into_shm_files(std::size_t bytes, std::size_t ranks) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) return false;
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::uint64_t memory = static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
                               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes <= free / ranks && bytes <= memory / ranks;
}

[[noreturn]] void refuse(std::size_t bytes, int why) {
  const bool limited = why != ENOMEM;
  throw std::runtime_error(
      "cannot reserve " + std::to_string(bytes >> 20) +
      " MiB of shared memory for a rank: " + std::strerror(why) +
      (limited
           ? ", and /dev/shm has no room for it; lower WEFT_HEAP_SIZE (a rank takes twice as much), or raise "
             "kernel.shmmax and kernel.shmall or enlarge /dev/shm"
           : "; lower WEFT_HEAP_SIZE (a rank takes twice as much)"));
}

} // namespace

// The memory for those who open no shared-memory transport comes last: it is private to the process.
std::string place_for_segment(std::size_t bytes, std::size_t ranks) {
  const int why = try_system_v(bytes);
  if (why == 0) return "md:sysv,mmap";
  if (why == ENOMEM || !fits_into_shm_files(bytes, ranks)) refuse(bytes, why);
  return "md:posix,mmap";
}

} // namespace weft::transport::ucx
