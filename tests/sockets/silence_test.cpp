// SPDX-License-Identifier: BSD-3-Clause
// Which connections are silent: those whose other end's system owes a sign of life. Over loopback; a filter
// of the receiving socket that drops everything is the network that carries no more.
//
// Mutations that this catches: data that are sent again and again are not looked at (UCX's jobs mostly have
// an idle connection as well, which the system asks about), nor its questions; who only has no room is
// silent.
#include "engine/transport/ucx/sockets.hpp"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace weft::tests {
namespace {

using namespace std::chrono_literals;

void set(int socket, int level, int name, int value) {
  ASSERT_EQ(0, setsockopt(socket, level, name, &value, sizeof value));
}

// Two ends of a connection. The near one's system asks after a second, and three times, before it gives the
// other one up: nothing may come back for 1 + (3 - 2) * `apart` seconds.
class connection {
public:
  explicit connection(int events, int apart = 1) {
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const name = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(0, bind(listening, name, size));
    EXPECT_EQ(0, listen(listening, 1));
    EXPECT_EQ(0, getsockname(listening, name, &size));
    EXPECT_EQ(0, connect(near, name, size));
    far = accept(listening, nullptr, nullptr);
    close(listening);
    set(near, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(near, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(near, IPPROTO_TCP, TCP_KEEPINTVL, apart);
    set(near, IPPROTO_TCP, TCP_KEEPCNT, 3);
    fcntl(near, F_SETFL, O_NONBLOCK);
    epoll_event what{};
    EXPECT_EQ(0, epoll_ctl(events, EPOLL_CTL_ADD, near, &what));
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    close(near);
    close(far);
  }

  void cut() {
    sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog program{1, &nothing};
    ASSERT_EQ(0, setsockopt(far, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
  }
  bool sends(std::size_t bytes) {
    static constexpr std::array<char, 65536> data{};
    return send(near, data.data(), bytes, MSG_NOSIGNAL) > 0;
  }

  int near = socket(AF_INET, SOCK_STREAM, 0);
  int far = -1;
};

class silence : public testing::Test {
protected:
  ~silence() override {
    close(inner);
    close(outer);
  }

  // As UCX has it: an interface's events below a worker's.
  silence() {
    epoll_event what{};
    EXPECT_EQ(0, epoll_ctl(outer, EPOLL_CTL_ADD, inner, &what));
  }

  // Until `socket` is silent, or the system gave the connection up; what else is silent is in `others`.
  bool comes(int socket) {
    for (int tenths = 0; tenths < 300; ++tenths, std::this_thread::sleep_for(100ms)) {
      bool found = false;
      for (const transport::ucx::silent_socket& one : transport::ucx::silent_sockets(outer)) {
        if (one.descriptor != socket) {
          others.push_back(one.descriptor);
          continue;
        }
        EXPECT_EQ(one.address, "127.0.0.1");
        EXPECT_GE(one.seconds, 2);
        found = true;
      }
      if (found) return true;
      int wrong = 0;
      socklen_t size = sizeof wrong;
      if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &wrong, &size) != 0 || wrong != 0) return false;
    }
    return false;
  }

  int inner = epoll_create1(EPOLL_CLOEXEC);
  int outer = epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> others;
};

TEST_F(silence, data_that_are_sent_again_and_again) {
  connection lost(inner);
  lost.cut();
  ASSERT_TRUE(lost.sends(1));
  EXPECT_TRUE(comes(lost.near));
}

TEST_F(silence, an_idle_connection_whose_questions_are_not_answered) {
  connection lost(inner, 4); // seconds to look, until the system ends it
  lost.cut();
  EXPECT_TRUE(comes(lost.near));
}

TEST_F(silence, who_is_idle_or_takes_nothing_in_is_not_silent) {
  connection idle(inner), full(inner), lost(inner);
  lost.cut();
  ASSERT_TRUE(lost.sends(1));
  while (full.sends(65536))
    ;
  ASSERT_TRUE(comes(lost.near));
  // The system asks for room ever more seldom; by then two seconds go by without an answer.
  for (int tenths = 0; tenths < 60; ++tenths, std::this_thread::sleep_for(100ms))
    ASSERT_TRUE(comes(lost.near));
  EXPECT_EQ(others, std::vector<int>{});
}

TEST_F(silence, whoever_does_not_ask_is_never_silent) {
  connection lost(inner), quiet(inner);
  set(quiet.near, SOL_SOCKET, SO_KEEPALIVE, 0);
  quiet.cut();
  lost.cut();
  ASSERT_TRUE(quiet.sends(1));
  ASSERT_TRUE(lost.sends(1));
  EXPECT_TRUE(comes(lost.near));
  EXPECT_EQ(others, std::vector<int>{});
}

} // namespace
} // namespace weft::tests
