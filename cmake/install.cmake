# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts under a prefix. Everything finds the rest relative to itself, so a prefix may move.
# Components are the packages of cmake/packages.cmake; what names none is for those who compile.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# What debuggers need stays in the build: it is most of the bytes.
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)")
endif()

file(GLOB weft_c_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
file(GLOB weft_cpp_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/weft/*.hpp
  ${PROJECT_SOURCE_DIR}/include/weft/*.h)
install(FILES ${weft_c_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${weft_cpp_headers} ${PROJECT_SOURCE_DIR}/mpi/include/weft/mpi.h ${PROJECT_BINARY_DIR}/include/weft/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)

install(TARGETS weft EXPORT weft_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(NOT BUILD_SHARED_LIBS AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  # What the line above does to programs and shared libraries.
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libweft.a\" COMMAND_ERROR_IS_FATAL ANY)")
endif()
install(EXPORT weft_targets NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${weft_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in
  ${PROJECT_BINARY_DIR}/weft-config.cmake INSTALL_DESTINATION ${weft_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  DESTINATION ${weft_package_dir})

# A static library brings nothing: what it stands on is linked with it, by pkg-config --static.
if(NOT BUILD_SHARED_LIBS)
  set(weft_pc_static "Requires.private: ucx pmix\nLibs.private: -lstdc++ -lm -pthread\n")
endif()
string(REGEX REPLACE "[^/]+" ".." weft_prefix_from_pc ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The tool needs no library of ours.
if(TARGET weft_tool)
  install(TARGETS weft_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/weft COMPONENT tools)
endif()

# It loads the library that is installed beside it.
if(BUILD_SHARED_LIBS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/weft DESTINATION ${CMAKE_INSTALL_LIBDIR}/python PATTERN __pycache__ EXCLUDE)
endif()

# What valgrind and the sanitizers are not to say of PMIx, for programs that use the library.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/suppressions DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)

file(GLOB weft_man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${weft_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

# For `module load weft`, where a site's module path has the folder. It finds the prefix from its own place.
configure_file(${PROJECT_SOURCE_DIR}/packaging/weft.lua.in ${PROJECT_BINARY_DIR}/${PROJECT_VERSION}.lua @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/${PROJECT_VERSION}.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/weft
  COMPONENT tools)

# After `make install`: a C and a C++ program are compiled against what was installed, and run as two ranks.
add_custom_target(installcheck VERBATIM COMMAND ${PROJECT_SOURCE_DIR}/tests/install/installcheck.sh
  ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_LIBDIR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
include(cmake/packages.cmake)
