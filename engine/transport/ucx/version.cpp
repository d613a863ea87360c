#include "engine/transport/ucx/version.hpp"

#include <ucp/api/ucp.h>

namespace weft::transport::ucx {

const char* version() {
  return ucp_get_version_string();
}

} // namespace weft::transport::ucx
