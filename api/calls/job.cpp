#include "api/include/weft/job.h"
#include "api/calls/registry.hpp"
#include "api/calls/split_barrier.hpp"
#include "api/checks/block_check.hpp"
#include "api/checks/failure.hpp"
#include "api/checks/phase_record.hpp"
#include "api/runtime/runtime.hpp"

namespace weft {

void weft_init(int* argc, char*** argv) {
  constexpr const char* call = "weft_init";
  if (api::runtime::initialised()) api::fail(call, "", "", "was called before: call it once");
  api::naming(call, [&] {
    api::runtime::init(argc, argv);
    api::runtime& rt = api::runtime::get(call);
    api::block_check::on = rt.checks_calls();
    api::allocate_registered(rt);
    api::phase_record::open(rt);
  });
}

void weft_finalize() {
  constexpr const char* call = "weft_finalize";
  api::runtime::get(call);
  api::require_outside_user_code(call);
  // Whether or not it comes to a good end, this is the end.
  struct forget {
    ~forget() {
      api::abandon_split_barrier();
      api::forget_registered();
      api::phase_record::close();
      api::block_check::on = false;
    }
  } const at_the_end;
  api::naming(call, [] { api::runtime::finalize(); });
}

uint64_t weft_statistic(const char* name) {
  constexpr const char* call = "weft_statistic";
  if (name == nullptr) api::fail(call, "name", "null", "must be the name of a counter");
  return api::runtime::get(call).statistic(name);
}

int upc_mythread() {
  return static_cast<int>(api::runtime::get("MYTHREAD").rank());
}

int upc_threads() {
  return static_cast<int>(api::runtime::get("THREADS").size());
}

} // namespace weft
