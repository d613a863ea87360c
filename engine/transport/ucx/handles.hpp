// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <ucp/api/ucp.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace weft::transport::ucx {

struct ucx_error : std::runtime_error {
  ucx_error(const std::string& what, ucs_status_t status)
      : std::runtime_error(what + ": " + ucs_status_string(status)), status(status) {}
  ucs_status_t status;
};

inline void check(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) throw ucx_error(what, status);
}

// UCX objects end in the opposite order of their beginning: remote keys, endpoints, memory, worker, context.
struct context_delete {
  void operator()(ucp_context_h c) const { ucp_cleanup(c); }
};
struct worker_delete {
  void operator()(ucp_worker_h w) const { ucp_worker_destroy(w); }
};
struct memory_delete {
  ucp_context_h context = nullptr;
  void operator()(ucp_mem_h m) const { ucp_mem_unmap(context, m); }
};
struct address_delete {
  ucp_worker_h worker = nullptr;
  void operator()(ucp_address_t* a) const { ucp_worker_release_address(worker, a); }
};
struct rkey_delete {
  void operator()(ucp_rkey_h k) const { ucp_rkey_destroy(k); }
};
struct config_delete {
  void operator()(ucp_config_t* c) const { ucp_config_release(c); }
};
template <class Handle, class Delete> using owned = std::unique_ptr<std::remove_pointer_t<Handle>, Delete>;

using context_ptr = owned<ucp_context_h, context_delete>;
using worker_ptr = owned<ucp_worker_h, worker_delete>;
using memory_ptr = owned<ucp_mem_h, memory_delete>;
using address_ptr = owned<ucp_address_t*, address_delete>;
using rkey_ptr = owned<ucp_rkey_h, rkey_delete>;
using config_ptr = owned<ucp_config_t*, config_delete>;

} // namespace weft::transport::ucx
