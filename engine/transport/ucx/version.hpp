#pragma once

namespace weft::transport::ucx {

// Of the UCX that this process has loaded.
const char* version();

} // namespace weft::transport::ucx
