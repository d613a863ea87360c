// SPDX-License-Identifier: BSD-3-Clause
// A rank that meets, or makes, one kind of trouble: fault_client SCENARIO. The last rank is the one that goes
// wrong. What the launcher says and returns is checked by launcher_test.py; what the ranks see is checked
// here.

#include "pmix_boot/client/job.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using weft::boot::boot_error;
using weft::boot::job;

constexpr std::chrono::seconds patience{30};

bool is_victim(const job& me) {
  return me.rank() + 1 == me.size();
}

// Lets one thread wait for what PMIx's thread reports.
class death_note {
public:
  void write(std::uint32_t rank) {
    const std::lock_guard lock(mutex_);
    ++times_;
    rank_ = rank;
    written_.notify_all();
  }
  std::optional<std::uint32_t> wait() {
    std::unique_lock lock(mutex_);
    written_.wait_for(lock, patience, [this] { return rank_.has_value(); });
    return rank_;
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }

private:
  std::mutex mutex_;
  std::condition_variable written_;
  std::optional<std::uint32_t> rank_;
  int times_ = 0;
};

// A fence without the dead rank may succeed or fail, but it must come back. What it says, if it fails.
std::string fence_of_survivors(job& me) {
  try {
    me.fence();
    return "passed";
  } catch (const boot_error& error) {
    return error.what();
  }
}

int tell_survivors(job& me, death_note& note) {
  const auto dead = note.wait();
  if (dead != me.size() - 1) return 1;
  for (int i = 0; i < 3; ++i)
    fence_of_survivors(me);
  std::printf("survivor %u was told %d times\n", me.rank(), note.times());
  return 0;
}

// The survivors have asked to be told.
int death_told() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  death_note note;
  me.on_peer_death([&](std::uint32_t rank) { note.write(rank); });
  me.fence();
  if (is_victim(me)) raise(SIGKILL);
  return tell_survivors(me, note);
}

// They ask only when it has happened.
int death_told_late() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  const pid_t pid = getpid();
  me.put("fault_client.pid", std::as_bytes(std::span(&pid, 1)));
  me.commit();
  me.fence();
  if (is_victim(me)) raise(SIGKILL);
  pid_t victim = 0;
  std::memcpy(&victim, me.get(me.size() - 1, "fault_client.pid").data(), sizeof victim);
  while (kill(victim, 0) == 0)
    std::this_thread::yield();
  death_note note;
  me.on_peer_death([&](std::uint32_t rank) { note.write(rank); });
  return tell_survivors(me, note);
}

// The survivors wait in the fence that the victim never comes to.
int death_in_fence() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  if (is_victim(me)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // most often they are in it then
    raise(SIGKILL);
  }
  const std::string first = fence_of_survivors(me);
  for (int i = 0; i < 2; ++i)
    fence_of_survivors(me);
  std::printf("survivor %u is out of the fence: %s\n", me.rank(), first.c_str());
  return 0;
}

// One thread aborts while another is inside a fence that cannot complete.
int aborts() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  if (!is_victim(me)) {
    me.fence();
    return 0;
  }
  std::thread inside([&] {
    try {
      me.get(0, "nobody.published.this");
    } catch (const boot_error&) {
    }
  });
  me.abort(7, "the answer was wrong");
}

// The launcher finds the abort and the end of the rank that called it in the same look.
int aborts_unseen() {
  const std::unique_ptr<job> joined = job::join();
  if (is_victim(*joined)) {
    kill(getppid(), SIGSTOP);
    joined->abort(7, "the answer was wrong");
  }
  std::this_thread::sleep_for(patience);
  return 0;
}

// The callback of a death may end the process.
int aborts_in_callback() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  me.on_peer_death([&](std::uint32_t) { me.abort(9, "a peer died"); });
  me.fence();
  if (is_victim(me)) raise(SIGKILL);
  std::this_thread::sleep_for(patience);
  return 0;
}

int exits_without_leaving() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  if (is_victim(me)) _exit(0);
  // Wait to be ended: a survivor that failed on its own account could be noticed first.
  fence_of_survivors(me);
  std::this_thread::sleep_for(patience);
  return 0;
}

// The others fail because it has left, before it has said why it does.
int leaves_and_says_why() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  if (!is_victim(me)) return fence_of_survivors(me) == "passed" ? 1 : 4;
  me.finalize();
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // most often one has failed then
  std::printf("the memory is too small\n");
  return 4;
}

int never_joins() {
  const char* rank = std::getenv("PMIX_RANK");
  if (rank != nullptr && std::string(rank) == "1") return 0;
  const std::unique_ptr<job> joined = job::join();
  return 0;
}

int joins() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  me.fence();
  me.finalize();
  std::printf("one of %u\n", me.size());
  return 0;
}

// What a rank starts inherits the rank's variables.
int starts_another() {
  const std::unique_ptr<job> joined = job::join();
  job& me = *joined;
  me.fence();
  const int status = is_victim(me) ? std::system("/proc/$PPID/exe joins") : 0;
  me.fence();
  me.finalize();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

} // namespace

int check_what_a_client_finds(int argc, char** argv); // boot_client.cpp

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "map") return check_what_a_client_finds(argc - 1, argv + 1);
  const std::map<std::string, int (*)()> scenarios{{"joins", joins},
                                                   {"starts_another", starts_another},
                                                   {"death_told", death_told},
                                                   {"death_told_late", death_told_late},
                                                   {"death_in_fence", death_in_fence},
                                                   {"aborts", aborts},
                                                   {"aborts_unseen", aborts_unseen},
                                                   {"aborts_in_callback", aborts_in_callback},
                                                   {"exits_without_leaving", exits_without_leaving},
                                                   {"leaves_and_says_why", leaves_and_says_why},
                                                   {"never_joins", never_joins}};
  const auto scenario = argc == 2 ? scenarios.find(argv[1]) : scenarios.end();
  return scenario == scenarios.end() ? 2 : scenario->second();
} catch (const boot_error& error) {
  std::fprintf(stderr, "fault_client: %s\n", error.what());
  return 3;
}
