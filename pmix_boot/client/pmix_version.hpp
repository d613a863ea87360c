#pragma once

namespace weft::boot {

// Of the PMIx library that this process has loaded.
const char* pmix_version();

} // namespace weft::boot
