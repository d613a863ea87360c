#include "api/include/weft/job.h"
#include "api/runtime/runtime.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace weft {
namespace api {
namespace {

constexpr std::chrono::seconds patience{2};

void flush_streams() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// Another thread may hold a stream, as one that waits for input does, and a pipe may have no reader: what is
// not written within the patience is lost.
void flush_streams_in_time() {
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

} // namespace
} // namespace api

void upc_global_exit(int status) {
  const int code = status & 0xff;
  api::flush_streams_in_time();
  if (api::runtime::initialised()) {
    api::runtime& rt = api::runtime::get("upc_global_exit");
    rt.end_job(code, "upc_global_exit was called on thread " + std::to_string(rt.rank()));
  }
  _exit(code);
}

} // namespace weft
