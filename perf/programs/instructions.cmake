# SPDX-License-Identifier: BSD-3-Clause
# The program whose calls callgrind counts. Included here by perf/, and by the runner into the build of another
# commit, right behind its project(): so both are made in the same way.
add_executable(weft_bench_instructions ${CMAKE_CURRENT_LIST_DIR}/instructions.cpp)
target_compile_features(weft_bench_instructions PRIVATE cxx_std_20)
set_target_properties(weft_bench_instructions PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(weft_bench_instructions PRIVATE weft)
