# Tests that run as a job of several ranks: one ctest for each combination of size, nodes, lane and launcher.
#
#   weft_add_multirank_test(NAME name TARGET executable NP 1 2 4
#                           [LANES direct ucp] [NODES 1 2] [LAUNCHERS weft mpirun]
#                           [ARGS ...] [SETTINGS WEFT_X=y ...] [LABELS ...] [TIMEOUT seconds])
#
# NODES are virtual nodes, which only `weft run` offers; combinations with more nodes than ranks are left out.
# The labels tsan and asan put the test into the sanitizer builds.
find_program(WEFT_MPIRUN NAMES mpirun.openmpi DOC "Open MPI's launcher, for the tests under mpirun")

# Builds TARGET for the tests labelled tsan or asan, whichever of the labels are given.
function(weft_build_for_sanitizers target)
  foreach(label tsan asan)
    if(label IN_LIST ARGN)
      add_dependencies(${label}_tests ${target})
    endif()
  endforeach()
endfunction()

# The command that starts NP ranks; the program and its arguments follow it.
function(weft_launch_command result launcher ranks nodes)
  if(launcher STREQUAL "weft")
    set(command $<TARGET_FILE:weft_tool> run -n ${ranks})
    if(nodes GREATER 1)
      list(APPEND command --nodes ${nodes})
    endif()
  elseif(launcher STREQUAL "mpirun")
    set(command ${WEFT_MPIRUN} -n ${ranks} --allow-run-as-root --oversubscribe --bind-to none)
  else()
    message(FATAL_ERROR "launcher '${launcher}' is not known: use weft or mpirun")
  endif()
  set(${result} ${command} PARENT_SCOPE)
endfunction()

# One ctest. A rank counts as a processor, and every job as two at least: jobs must not starve each other.
function(weft_add_job_test test ranks lane)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TIMEOUT" "COMMAND;LABELS;SETTINGS")
  set(processors ${ranks})
  if(processors LESS 2)
    set(processors 2)
  endif()
  add_test(NAME ${test} COMMAND ${arg_COMMAND})
  set_tests_properties(${test} PROPERTIES
    TIMEOUT ${arg_TIMEOUT} PROCESSORS ${processors} LABELS "${arg_LABELS}" ENVIRONMENT "WEFT_LANE=${lane};${arg_SETTINGS}")
endfunction()

function(weft_add_multirank_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TARGET;TIMEOUT" "NP;LANES;NODES;LAUNCHERS;ARGS;LABELS;SETTINGS")
  if(NOT arg_NAME OR NOT arg_TARGET OR NOT arg_NP OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_multirank_test needs NAME, TARGET and NP; not known: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(default "LANES direct" "NODES 1" "LAUNCHERS weft" "TIMEOUT 120")
    separate_arguments(default)
    list(POP_FRONT default name)
    if(NOT arg_${name})
      set(arg_${name} ${default})
    endif()
  endforeach()

  weft_build_for_sanitizers(${arg_TARGET} ${arg_LABELS})
  foreach(launcher IN LISTS arg_LAUNCHERS)
    set(node_counts ${arg_NODES})
    if(launcher STREQUAL "weft")
      weft_build_for_sanitizers(weft_tool ${arg_LABELS})
    else()
      set(node_counts 1)
    endif()
    if(launcher STREQUAL "mpirun" AND NOT WEFT_MPIRUN)
      message(STATUS "${arg_NAME}: not tested under mpirun, Open MPI is not installed")
      continue()
    endif()
    foreach(ranks IN LISTS arg_NP)
      foreach(nodes IN LISTS node_counts)
        if(nodes GREATER ranks)
          continue()
        endif()
        weft_launch_command(command ${launcher} ${ranks} ${nodes})
        set(test ${arg_NAME}.${launcher}.n${ranks})
        if(nodes GREATER 1)
          string(APPEND test .nodes${nodes})
        endif()
        foreach(lane IN LISTS arg_LANES)
          weft_add_job_test(${test}.${lane} ${ranks} ${lane}
            COMMAND ${command} $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS}
            TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABELS} SETTINGS ${arg_SETTINGS})
        endforeach()
      endforeach()
    endforeach()
  endforeach()
endfunction()
