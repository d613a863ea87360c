// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/event_gate.hpp"

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <system_error>
#include <unistd.h>

namespace weft::progress {

namespace {

bool listen_to(int descriptor, int events, int how, bool on) {
  epoll_event readable{};
  readable.events = on ? std::uint32_t{EPOLLIN} : 0;
  return ::epoll_ctl(descriptor, how, events, &readable) == 0;
}

} // namespace

event_gate::event_gate(int events, std::chrono::nanoseconds a_while)
    : events_(events), while_(a_while), spell_(a_while) {
  if (events < 0) return;
  descriptor_ = ::epoll_create1(EPOLL_CLOEXEC);
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (descriptor_ >= 0 && timer_ >= 0 && listen_to(descriptor_, events, EPOLL_CTL_ADD, true) &&
      listen_to(descriptor_, timer_, EPOLL_CTL_ADD, true))
    return;
  const int wrong = errno;
  for (const int opened : {descriptor_, timer_})
    if (opened >= 0) ::close(opened);
  throw std::system_error{wrong, std::generic_category(),
                          "cannot listen to the network: raise the limit of open files (ulimit -n)"};
}

event_gate::~event_gate() {
  for (const int opened : {descriptor_, timer_})
    if (opened >= 0) ::close(opened);
}

// These cannot fail: the descriptors are there, and nothing is allocated.
void event_gate::listen(bool on) noexcept {
  if (descriptor_ >= 0) listen_to(descriptor_, events_, EPOLL_CTL_MOD, on);
}

bool event_gate::drain_timer() noexcept {
  std::uint64_t times = 0;
  return timer_ >= 0 && ::read(timer_, &times, sizeof times) > 0;
}

void event_gate::set_timer(std::chrono::nanoseconds until) noexcept {
  if (timer_ < 0) return;
  itimerspec when{};
  when.it_value.tv_nsec = until.count();
  ::timerfd_settime(timer_, 0, &when, nullptr);
}

} // namespace weft::progress
