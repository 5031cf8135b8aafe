# Headers, library, program, carom.pc and a CMake package: find_package(carom) or pkg-config carom.
include(CMakePackageConfigHelpers)

install(TARGETS carom EXPORT carom-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS carom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(BUILD_SHARED_LIBS)
  install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
  configure_package_config_file(cmake/carom-config.cmake.in ${CMAKE_BINARY_DIR}/carom-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/carom-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/carom-config.cmake ${CMAKE_BINARY_DIR}/carom-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
endif()
configure_file(cmake/carom.pc.in ${CMAKE_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
