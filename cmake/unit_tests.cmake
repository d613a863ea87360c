# SPDX-License-Identifier: BSD-3-Clause
# GoogleTests that need no job. All are linked into one executable, weft_unit_tests.
#
#   weft_add_units(folder SOURCES ... [LABELS tsan asan] [SHARDS n] [TOGETHER name] [APART source...]
#                  [UNSANITIZED test...])
#
# adds test sources. Their tests get the name of the folder in front: graph.topology.a_test. Tests of suites whose name
# begins with "long" belong to the long suite. A build with a sanitizer has the folders that are labelled with its name,
# each as a few processes (SHARDS) that play its tests, for there each start of a process is dear; but for those that are
# UNSANITIZED, expressions of GoogleTest. Eight sources of a call
# are compiled together, those of one with TOGETHER all: where each has the engine of the same transport, that is most of
# the work.
#
#   weft_finish_units()     makes the executable and registers the tests; once, at the end
include(GoogleTest)
set(WEFT_UNITS "" CACHE STRING "the folders of which unit tests are built, all if empty")

# How fast a test's own code runs matters less than how fast it is built.
function(weft_build_tests_quickly target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

function(weft_add_units folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS;TOGETHER" "SOURCES;LABELS;APART;UNSANITIZED")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_units ${folder}: needs SOURCES; not known: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if((WEFT_SANITIZER_LABEL AND NOT WEFT_SANITIZER_LABEL IN_LIST arg_LABELS) OR
     (WEFT_UNITS AND NOT folder IN_LIST WEFT_UNITS))
    return()
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  # The suites of these sources, as expressions of GoogleTest.
  set(suites)
  set(number 0)
  foreach(source IN LISTS arg_SOURCES)
    file(REAL_PATH ${source} file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_SOURCES ${file})
    math(EXPR batch "${number} / 8")
    if(arg_TOGETHER)
      set(batch ${arg_TOGETHER})
    endif()
    math(EXPR number "${number} + 1")
    # Some have names for what is local to them that others have too: each by itself.
    if(source IN_LIST arg_APART)
      set(batch apart_${number})
    endif()
    set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_BATCHES ${folder}_${batch})
    file(STRINGS ${file} lines REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST)\\(")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file}) # a new suite is a new test
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1" suite "${line}")
      if(line MATCHES "^TYPED_TEST")
        string(APPEND suite /)
      endif()
      list(APPEND suites ${suite})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES suites)
  set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_FOLDERS ${folder})
  set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_UNSANITIZED_${folder} ${arg_UNSANITIZED})
  set_property(GLOBAL APPEND PROPERTY WEFT_UNIT_SUITES_${folder} ${suites})
  set_property(GLOBAL PROPERTY WEFT_UNIT_SHARDS_${folder} ${arg_SHARDS})
endfunction()

# The expression that selects these suites, plain, typed (suite/) or with parameters; whose names begin with "long", or
# not. What is instantiated with the name of a suite in front is no part of it.
function(weft_unit_filter result long)
  set(parts)
  foreach(suite IN LISTS ARGN)
    if(suite MATCHES "/$")
      if(NOT long OR suite MATCHES "^long")
        list(APPEND parts ${suite}*)
      endif()
    elseif(long)
      list(APPEND parts long*/${suite}.*)
      if(suite MATCHES "^long")
        list(APPEND parts ${suite}.*)
      endif()
    else()
      list(APPEND parts ${suite}.* */${suite}.*)
    endif()
  endforeach()
  string(JOIN ":" filter ${parts})
  if(NOT long)
    string(APPEND filter "-long*")
  endif()
  set(${result} "${filter}" PARENT_SCOPE)
endfunction()

function(weft_finish_units)
  get_property(sources GLOBAL PROPERTY WEFT_UNIT_SOURCES)
  get_property(folders GLOBAL PROPERTY WEFT_UNIT_FOLDERS)
  get_property(batches GLOBAL PROPERTY WEFT_UNIT_BATCHES)
  list(REMOVE_DUPLICATES folders)
  foreach(source batch IN ZIP_LISTS sources batches)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  add_executable(weft_unit_tests ${sources})
  set_property(TARGET weft_unit_tests PROPERTY UNITY_BUILD_MODE GROUP)
  target_include_directories(weft_unit_tests PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(weft_unit_tests PRIVATE
    WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    WEFT_SEMANTICS_PAGE="${PROJECT_SOURCE_DIR}/docs/semantics.md"
    WEFT_PLAN_DIGESTS="${PROJECT_SOURCE_DIR}/tests/graph/plans.digest")
  target_link_libraries(weft_unit_tests PRIVATE test_calls weft_threads weft_simulated weft_verify weft_options
    weft_core weft::weft GTest::gmock GTest::gtest_main Threads::Threads)
  foreach(library ft_core weft_bench_parts weft_launcher) # no test of theirs is for a sanitizer
    if(TARGET ${library} AND NOT WEFT_SANITIZER_LABEL)
      target_link_libraries(weft_unit_tests PRIVATE ${library})
    endif()
  endforeach()
  weft_build_tests_quickly(weft_unit_tests)
  target_precompile_headers(weft_unit_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <atomic> <functional>
    <map> <random> <span> <string> <thread> <vector>)
  weft_build_for_sanitizers(weft_unit_tests tsan asan)

  foreach(folder IN LISTS folders)
    get_property(suites GLOBAL PROPERTY WEFT_UNIT_SUITES_${folder})
    get_property(shards GLOBAL PROPERTY WEFT_UNIT_SHARDS_${folder})
    weft_unit_filter(filter FALSE ${suites})
    if(WEFT_SANITIZER_LABEL)
      get_property(left_out GLOBAL PROPERTY WEFT_UNIT_UNSANITIZED_${folder})
      string(JOIN ":" filter "${filter}" ${left_out}) # behind the suites that begin with "long"
      math(EXPR last "${shards} - 1")
      foreach(shard RANGE ${last})
        set(test ${folder}.units.${shard})
        add_test(NAME ${test} COMMAND weft_unit_tests --gtest_brief=1 --gtest_filter=${filter})
        set_tests_properties(${test} PROPERTIES TIMEOUT 900 COST 40 LABELS "unit;${WEFT_SANITIZER_LABEL}"
          ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
      endforeach()
      continue()
    endif()
    gtest_discover_tests(weft_unit_tests TEST_PREFIX ${folder}. TEST_FILTER "${filter}" TEST_LIST ${folder}_units
      DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 300 LABELS unit)
    weft_unit_filter(filter TRUE ${suites})
    gtest_discover_tests(weft_unit_tests TEST_PREFIX ${folder}. TEST_FILTER "${filter}" TEST_LIST ${folder}_long_units
      DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 900 LABELS long)
  endforeach()
endfunction()
