// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/stage.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <upc_castable.h>

namespace modes {
namespace {

constexpr unsigned hang_seconds = 60;

// For the signal handler.
stage* watched = nullptr;
std::uint32_t watched_number = 0;
char watched_text[256];

// Where rank 0's memory can be opened by the others.
struct address {
  int pid, fd;
};

address publish(address mine) {
  const upc_shared_ptr_t place = upc_all_alloc(1, sizeof(address));
  if (MYTHREAD == 0) upc_memput(place, &mine, sizeof mine);
  upc_barrier();
  upc_memget(&mine, place, sizeof mine);
  return mine;
}

void append(char* to, std::size_t room, const char* text) {
  std::strncat(to, text, room - std::strlen(to) - 1);
}
void append(char* to, std::size_t room, int number) {
  char digits[3] = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10), 0};
  append(to, room, number < 10 ? digits + 1 : digits);
}

} // namespace

stage::stage() {
  if (THREADS > most_ranks) throw std::runtime_error("the stage is too small for so many ranks");
  address a{getpid(), -1};
  if (MYTHREAD == 0) {
    a.fd = memfd_create("stage", MFD_CLOEXEC);
    if (a.fd < 0 || ftruncate(a.fd, sizeof(everybodys)) != 0)
      throw std::runtime_error("no memory for the stage");
  }
  a = publish(a);
  const std::string path = "/proc/" + std::to_string(a.pid) + "/fd/" + std::to_string(a.fd);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof(everybodys), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || memory == MAP_FAILED) throw std::runtime_error("cannot open the stage at " + path);
  close(fd);
  shared_ = static_cast<everybodys*>(memory);
  upc_barrier();
  if (MYTHREAD == 0) close(a.fd);
  watched = this;
  std::signal(SIGALRM, hang);
}

stage::~stage() {
  alarm(0);
  watched = nullptr;
  munmap(shared_, sizeof(everybodys));
}

void stage::barrier() {
  const std::uint32_t all = ++barriers_ * static_cast<std::uint32_t>(THREADS);
  word& arrivals = shared_->arrivals;
  arrivals.fetch_add(1);
  while (arrivals.load() < all)
    rest();
}

void stage::complain(const trial& t, const std::string& what) {
  violations().fetch_add(1);
  std::printf("%s: %s\n", t.describe().c_str(), what.c_str());
  std::fflush(stdout);
}

void stage::watch(const trial& t) {
  alarm(hang_seconds);
  watched_number = 0;
  std::snprintf(watched_text, sizeof watched_text, "%s", t.describe().c_str());
  watched_number = t.number;
}

// Functions that a signal handler may call only.
void stage::hang(int) {
  if (watched == nullptr || watched->shared_->hung.fetch_add(1) != 0) _exit(1);
  char text[1024] = "hung: ";
  append(text, sizeof text, watched_text);
  for (int rank = 0; rank < THREADS; ++rank) {
    const actor& a = watched->of(rank);
    append(text, sizeof text, "; rank ");
    append(text, sizeof text, rank);
    append(text, sizeof text,
           a.left.load() == watched_number     ? " has left"
           : a.called.load() == watched_number ? " is stuck in it"
                                               : " has not called");
  }
  append(text, sizeof text, "\n");
  (void)!write(STDOUT_FILENO, text, std::strlen(text));
  _exit(1);
}

void rest() {
  const timespec moment{0, 20'000};
  nanosleep(&moment, nullptr);
}

bool wait_for(const std::function<bool()>& fact, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!fact()) {
    if (std::chrono::steady_clock::now() > end) return false;
    rest();
  }
  return true;
}

} // namespace modes
