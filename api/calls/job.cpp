// SPDX-License-Identifier: BSD-3-Clause
#include "include/weft/job.h"
#include "api/calls/allocation.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "api/checks/handle_record.hpp"
#include "api/checks/phase_record.hpp"
#include "api/runtime/reports.hpp"
#include "api/runtime/runtime.hpp"
#include "engine/settings.hpp"
#include "include/upc_tick.h"
#include "pmix_boot/client/job.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unistd.h>

namespace weft {
namespace api {
namespace {

boot::exchange as_brought(const weft_exchange_t& e) {
  const auto require = [](int status, const char* what) {
    if (status != 0) throw boot::boot_error(exchange_failure(what, status));
  };
  return {.rank = static_cast<std::uint32_t>(e.rank),
          .size = static_cast<std::uint32_t>(e.size),
          .allgather =
              [e, require](std::span<const std::byte> mine, std::byte* all) {
                require(e.allgather(e.context, mine.data(), mine.size(), all), "allgather");
              },
          .barrier = [e, require] { require(e.barrier(e.context), "barrier"); },
          .abort = [e](int status, const std::string& why) { e.abort(e.context, status, why.c_str()); }};
}

void init(const char* call, const boot::exchange* brought) {
  if (runtime::initialised()) fail(call, "", "", "was called before: call it once");
  end_well_if_uncaught();
  naming(call, [&] {
    runtime::init(brought);
    runtime& rt = runtime::get(call);
    block_check::on = rt.checks_calls();
    note_own_process(&rt);
    allocate_registered(rt);
    phase_record::open(rt);
    handle_record::open(rt);
  });
}

} // namespace
} // namespace api

void weft_init(int*, char***) {
  api::init("weft_init", nullptr);
}

void weft_init_with(const weft_exchange_t* exchange) {
  constexpr const char* call = "weft_init_with";
  api::require_exchange(call, exchange);
  const boot::exchange brought = api::as_brought(*exchange);
  api::init(call, &brought);
}

void weft_finalize() {
  constexpr const char* call = "weft_finalize";
  api::runtime& rt = api::runtime::get(call);
  api::require_outside_user_code(call);
  if (api::handle_record::on) api::handle_record::tell(rt.rank());
  // Whether or not it comes to a good end, this is the end.
  struct forget {
    ~forget() {
      api::abandon_split_barrier();
      api::note_own_process(nullptr);
      api::forget_registered();
      api::phase_record::close();
      api::handle_record::close();
      api::block_check::on = false;
    }
  } const at_the_end;
  api::naming(call, [] { api::runtime::finalize(); });
}

uint64_t weft_setting(const char* name) {
  constexpr const char* call = "weft_setting";
  if (name == nullptr) api::fail(call, "name", "null", "must be the name of a setting");
  const auto& table = engine::settings_table();
  const auto is = [name](const engine::setting_entry& e) { return std::string_view(name) == e.name; };
  const auto entry = std::ranges::find_if(table, is);
  if (entry == table.end()) api::fail(call, "name", name, "must be a setting: weft info lists them");
  std::vector<std::string> warnings;
  return api::naming(call, [&] { return entry->number(engine::present_settings(warnings)); });
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

void upc_global_exit(int status) {
  const int code = status & 0xff;
  api::flush_streams_in_time();
  if (api::runtime::initialised()) {
    api::runtime& rt = api::runtime::get("upc_global_exit");
    rt.end_job(code, "upc_global_exit was called on thread " + std::to_string(rt.rank()));
  }
  _exit(code);
}

upc_tick_t upc_ticks_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<upc_tick_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

uint64_t upc_ticks_to_ns(upc_tick_t ticks) {
  return ticks;
}

} // namespace weft
