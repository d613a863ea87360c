#include "engine/transport/ucx/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <ucs/debug/debug.h>

namespace weft::transport::ucx {

namespace {

const void* library_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) == 0 ? nullptr : info.dli_fbase;
}

bool handled_by_ucx(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0) return false;
  const auto* handler = reinterpret_cast<const void*>(action.sa_handler);
  return handler != nullptr &&
         library_of(handler) == library_of(reinterpret_cast<const void*>(ucs_debug_disable_signal));
}

bool is_error(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

bool user_wants(int signal) {
  if (is_error(signal)) return std::getenv("UCX_HANDLE_ERRORS") || std::getenv("UCX_ERROR_SIGNALS");
  return std::getenv("UCX_DEBUG_SIGNO") != nullptr;
}

} // namespace

void give_back_signals() {
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (handled_by_ucx(signal) && !user_wants(signal)) ucs_debug_disable_signal(signal);
}

} // namespace weft::transport::ucx
