# Registers the GoogleTests of an executable, and builds it for the sanitizers if a label asks for that:
#
#   weft_discover_tests(executable [LABELS unit tsan asan] [TIMEOUT seconds] [FILTER pattern] [LIST name])
#
# LIST is needed when an executable is registered more than once. gtest_discover_tests alone takes one label only:
# it writes a list of them as separate words, and ctest then drops all but the first.
include(GoogleTest)

function(weft_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;FILTER;LIST" "LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_discover_tests does not know ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LIST)
    set(arg_LIST ${target}_discovered)
  endif()
  set(filter)
  if(arg_FILTER)
    set(filter TEST_FILTER ${arg_FILTER})
  endif()

  weft_build_for_sanitizers(${target} ${arg_LABELS})
  gtest_discover_tests(${target} TEST_LIST ${arg_LIST} ${filter} DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # ctest reads this after the list of tests.
  set(labels ${CMAKE_CURRENT_BINARY_DIR}/${arg_LIST}_labels.cmake)
  file(WRITE ${labels} "if(${arg_LIST})
  set_tests_properties(\${${arg_LIST}} PROPERTIES LABELS \"${arg_LABELS}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
endfunction()
