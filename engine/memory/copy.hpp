#pragma once
#include <cstdint>

namespace weft::engine {

// Copies between two places that do not overlap, one of which another core has just written or read. Small
// copies are memcpy. Large ones run page by page, with the lines of the next page fetched meanwhile (the
// destination's for writing), so that the transfers of the lines between the cores overlap. Streaming stores
// are not used: the reader is about to need the data.
void copy_bytes(void* to, const void* from, std::uint64_t bytes);

} // namespace weft::engine
