# What `cmake --install` puts under a prefix. Everything finds the rest relative to itself, so a prefix may move.
if(TARGET weft)
  include(CMakePackageConfigHelpers)
  set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

  file(GLOB weft_c_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/*.h)
  file(GLOB weft_cpp_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/weft/*.hpp ${PROJECT_SOURCE_DIR}/api/weft/*.h)
  install(FILES ${weft_c_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${weft_cpp_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)

  install(TARGETS weft EXPORT weft_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT weft_targets NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${weft_package_dir})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in
    ${PROJECT_BINARY_DIR}/weft-config.cmake INSTALL_DESTINATION ${weft_package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
    DESTINATION ${weft_package_dir})

  string(REGEX REPLACE "[^/]+" ".." weft_prefix_from_pc ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(TARGET weft_tool)
  # The tool finds the library beside it, wherever both are.
  set_target_properties(weft_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS weft_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(GLOB weft_man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${weft_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
