# Headers of other projects that most sources include, read once for all targets that ask for it:
#
#   weft_precompile(target)   what the library stands on
#
# None of the project's own: a change of one would compile everything again. A source includes what it needs all the
# same, and compiles without (CMAKE_DISABLE_PRECOMPILE_HEADERS=ON).

# weft_add_precompiled(name LIBRARIES ... HEADERS ...): a target of which nothing is used but its precompiled header.
function(weft_add_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;HEADERS")
  set(nothing ${PROJECT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${nothing} CONTENT "")
  add_library(${name} OBJECT ${nothing})
  target_link_libraries(${name} PRIVATE weft_flags ${arg_LIBRARIES})
  list(TRANSFORM arg_HEADERS REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

set(weft_standard_headers algorithm array atomic bit chrono cstdint cstdio cstdlib cstring deque functional map memory
  mutex numeric optional set span sstream stdexcept string string_view thread unordered_map utility vector)
weft_add_precompiled(weft_precompiled LIBRARIES weft_logging HEADERS ${weft_standard_headers} fmt/core.h)

function(weft_precompile target)
  target_precompile_headers(${target} REUSE_FROM weft_precompiled)
endfunction()
