# Headers of other projects that most sources include, read once for all targets that ask for it:
#
#   weft_precompile(target)           what the library stands on
#   weft_precompile_options(target)   what programs with options stand on
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

# As CMake compiles the sources of an executable, which have a precompiled header of their own for it.
function(weft_compile_for_executable target)
  set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIE)
endfunction()

# Of programs with options. CLI11 must have been found.
function(weft_precompile_options target)
  if(NOT TARGET weft_precompiled_options)
    find_package(nlohmann_json QUIET)
    set(libraries CLI11::CLI11)
    set(headers ${weft_standard_headers} CLI/CLI.hpp)
    if(nlohmann_json_FOUND)
      list(APPEND libraries nlohmann_json::nlohmann_json)
      list(APPEND headers nlohmann/json.hpp)
    endif()
    weft_add_precompiled(weft_precompiled_options LIBRARIES ${libraries} HEADERS ${headers})
    weft_compile_for_executable(weft_precompiled_options)
  endif()
  target_precompile_headers(${target} REUSE_FROM weft_precompiled_options)
endfunction()
