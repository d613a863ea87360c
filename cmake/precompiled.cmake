# SPDX-License-Identifier: BSD-3-Clause
# Headers of other projects that most sources include, read once for all targets that ask for it: weft_precompile(target).
# None of the project's own: a change of one would compile everything again. A source includes what it needs all the
# same, and compiles without (CMAKE_DISABLE_PRECOMPILE_HEADERS=ON).

# A target of which nothing is used but its precompiled header.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/weft_precompiled.cpp CONTENT "")
add_library(weft_precompiled OBJECT ${PROJECT_BINARY_DIR}/weft_precompiled.cpp)
target_link_libraries(weft_precompiled PRIVATE weft_flags)
target_precompile_headers(weft_precompiled PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cstdint> <cstdio>
  <cstdlib> <cstring> <deque> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream>
  <stdexcept> <string> <string_view> <thread> <unordered_map> <utility> <vector>)

function(weft_precompile target)
  target_precompile_headers(${target} REUSE_FROM weft_precompiled)
endfunction()
