// SPDX-License-Identifier: BSD-3-Clause
// The calls of UCX by which the library makes requests, in front of the real ones: the library finds these
// first, as it would those of another version of UCX. A request that fails later is one of ours: who polls
// is told, and no thread sleeps before that.
#include "tests/requests/failing_requests.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <ucp/api/ucp.h>

namespace requests {
namespace {

constexpr ucs_status_t error = UCS_ERR_IO_ERROR;
std::atomic<long> left{0};
std::atomic<failure> how{failure::refused};
std::atomic<ucp_worker_h> worker{nullptr};

// Under the library's right to drive, as all requests are.
struct {
  ucp_send_nbx_callback_t callback = nullptr;
  void* user = nullptr;
  bool at_next_poll = false;
} later;
bool is_ours(const void* request) {
  return request == &later;
}

// The real function of that name.
template <class Function> Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_it() {
  return left.load(std::memory_order_relaxed) > 0 && left.fetch_sub(1, std::memory_order_relaxed) == 1;
}

// At the end of what was done.
void report_error(void* request, ucs_status_t, void*) {
  later.at_next_poll = false;
  later.callback(request, error, later.user);
}

// `make` makes the real request, with these parameters.
template <class Make>
ucs_status_ptr_t pass(const ucp_request_param_t* p, bool can_be_done, const Make& make) {
  if (how == failure::done && !can_be_done) return make(p);
  if (!is_it()) return make(p);
  if (how == failure::refused) return UCS_STATUS_PTR(error);
  if (how == failure::exhausted) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
  later = {p->cb.send, p->user_data, false};
  if (how == failure::done) {
    ucp_request_param_t ours = *p;
    ours.cb.send = report_error;
    if (const ucs_status_ptr_t request = make(&ours); UCS_PTR_IS_PTR(request)) return request;
  }
  later.at_next_poll = true;
  if (ucp_worker_h w = worker) ucp_worker_signal(w);
  return &later;
}

} // namespace

failure failure_named(const std::string& name) {
  if (name == "refused") return failure::refused;
  if (name == "exhausted") return failure::exhausted;
  if (name == "undone") return failure::undone;
  if (name == "done") return failure::done;
  std::fprintf(stderr, "no such failure: %s\n", name.c_str());
  std::_Exit(2);
}

void fail_request(long n, failure h) {
  how.store(h);
  left.store(n);
}
bool has_failed() {
  return left.load() <= 0;
}

} // namespace requests

using namespace requests;

extern "C" {

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void* from, size_t bytes, uint64_t to, ucp_rkey_h key,
                             const ucp_request_param_t* p) {
  static auto* const put = real<decltype(ucp_put_nbx)>("ucp_put_nbx");
  return pass(p, true, [&](const ucp_request_param_t* q) { return put(ep, from, bytes, to, key, q); });
}
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* to, size_t bytes, uint64_t from, ucp_rkey_h key,
                             const ucp_request_param_t* p) {
  static auto* const get = real<decltype(ucp_get_nbx)>("ucp_get_nbx");
  return pass(p, true, [&](const ucp_request_param_t* q) { return get(ep, to, bytes, from, key, q); });
}
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t* p) {
  static auto* const flush = real<decltype(ucp_ep_flush_nbx)>("ucp_ep_flush_nbx");
  return pass(p, true, [&](const ucp_request_param_t* q) { return flush(ep, q); });
}
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void* header, size_t header_bytes,
                                 const void* data, size_t count, const ucp_request_param_t* p) {
  static auto* const send = real<decltype(ucp_am_send_nbx)>("ucp_am_send_nbx");
  return pass(p, false, [&](const ucp_request_param_t* q) {
    return send(ep, id, header, header_bytes, data, count, q);
  });
}

unsigned ucp_worker_progress(ucp_worker_h w) {
  static auto* const progress = real<decltype(ucp_worker_progress)>("ucp_worker_progress");
  worker.store(w, std::memory_order_relaxed);
  const unsigned events = progress(w);
  if (!later.at_next_poll) return events;
  report_error(&later, error, nullptr);
  return events + 1;
}
ucs_status_t ucp_worker_arm(ucp_worker_h w) {
  static auto* const arm = real<decltype(ucp_worker_arm)>("ucp_worker_arm");
  return later.at_next_poll ? UCS_ERR_BUSY : arm(w);
}
void ucp_request_free(void* request) {
  static auto* const free = real<decltype(ucp_request_free)>("ucp_request_free");
  if (!is_ours(request)) free(request);
}

} // extern "C"
