// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

namespace weft::api {

inline void flush_streams() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// Another thread may hold a stream, as one that waits for input does, and a pipe may have no reader: what is
// not written within the patience is lost.
inline void flush_streams_in_time() {
  constexpr std::chrono::seconds patience{2};
  const auto written = std::make_shared<std::promise<void>>();
  std::future<void> answer = written->get_future();
  try {
    std::thread([written] {
      flush_streams();
      written->set_value();
    }).detach();
  } catch (const std::system_error&) { // no thread is to be had
    return flush_streams();
  }
  answer.wait_for(patience);
}

} // namespace weft::api
