// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace perf {

// A TCP connection that sends at once what it is given. Every function throws when the other end has gone.
class connection {
public:
  explicit connection(int descriptor);
  ~connection();
  connection(connection&& other) noexcept;
  connection& operator=(connection&&) = delete;

  void send(std::span<const std::byte> bytes);
  // Asleep until all has come.
  void receive(std::span<std::byte> bytes);
  // Sends and receives at the same time, awake until both are done; calls `relax` between two looks.
  void transfer(std::span<const std::byte> out, std::span<std::byte> in, const std::function<void()>& relax);

private:
  int descriptor_;
};

// Who waits at an address, HOST:PORT, for connections.
class listener {
public:
  explicit listener(const std::string& address);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  connection accept();

private:
  int descriptor_;
};

// Tries again until a process listens there, for half a minute.
connection connect_to(const std::string& address);

} // namespace perf
