# SPDX-License-Identifier: BSD-3-Clause
# Warnings and sanitizers, one interface target for every target of the project; and the compiler's cache.
add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
# The compiler of GNU collects its garbage later: a tenth of its time, for a tenth more of memory.
target_compile_options(weft_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000>)
if(WEFT_ABLATE)
  target_compile_definitions(weft_flags INTERFACE WEFT_ABLATE)
endif()
if(WEFT_SANITIZE)
  target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# ccache where it is installed, unless a launcher is set: an empty one is none. With precompiled headers it must be told
# that what they define and when they were made is of no interest.
find_program(WEFT_CCACHE ccache DOC "Compiler cache, used unless a compiler launcher is set")
if(WEFT_CCACHE)
  set(cached ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${WEFT_CCACHE})
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${cached})
    endif()
  endforeach()
  target_compile_options(weft_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
