#include "api/include/weft/job.h"
#include "api/runtime/runtime.hpp"
#include "api/runtime/streams.hpp"

#include <string>
#include <unistd.h>

namespace weft {

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
