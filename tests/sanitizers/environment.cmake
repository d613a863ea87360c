# SPDX-License-Identifier: BSD-3-Clause
# ctest reads this before it starts a test: the settings of the file beside it. tests/schedule.py reads that file too.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/environment lines REGEX "^[A-Z_]+=")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([A-Z_]+)=(.*)$" found "${line}")
  if(NOT DEFINED ENV{${CMAKE_MATCH_1}})
    set(ENV{${CMAKE_MATCH_1}} "${CMAKE_MATCH_2}")
  endif()
endforeach()
