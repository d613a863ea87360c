#include "pmix_boot/client/pmix_version.hpp"

#include <pmix.h>

namespace weft::boot {

const char* pmix_version() {
  return PMIx_Get_version();
}

} // namespace weft::boot
